"""Enforcement over a stream: a label in, a decision out, for one or more attributes; as plain data that can be stored.

A reply to a line says whether the generation is taken, and under ``next`` what the next one has to show: the same
generation made anew when it is not taken, and otherwise the one after it. Whoever asks for the value before it
generates and whoever drafts first and regenerates only on refusal speak the same language.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from justicia.errors import ShieldError
from justicia.generations.labels import label_text
from justicia.generations.shield import Shield
from justicia.generations.spec import Spec, whole_number
from justicia.words import counted, did_you_mean, listed, shown

__all__ = ["ENFORCEMENT_SCHEMA", "Enforcement", "parse_line"]

ENFORCEMENT_SCHEMA = "justicia.enforcement/1"


def parse_line(text: bytes, number: int) -> Any:
    """A line of JSON.

    Raises
    ------
    ShieldError
        With the line's number.
    """
    try:
        return json.loads(text)
    except UnicodeDecodeError:
        raise ShieldError(f"line {number} is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ShieldError(f"line {number} is no JSON: {error.msg}") from None
    except (RecursionError, ValueError):
        raise ShieldError(f"line {number} cannot be read: nested too deeply, or a number is too long") from None


class Enforcement:
    """Shields of several attributes, side by side.

    Parameters
    ----------
    spec : Spec
        Its attributes need a beta each; unknown words, separators and what a label off its domain is taken for count.
    margin, choice, seed
        As of `Shield`.
    retries : int
        How often a generation that is not allowed is to be made again.
    assume : bool
        Take what is asked for as delivered: where labels are drafts, and nothing is regenerated.

    Attributes
    ----------
    step : int
        Generations taken.
    attempt : int
        Refusals of the generation that is to come.
    lines : int
        Labels read.
    reply : dict
        The last reply.

    Raises
    ------
    ShieldError
    """

    def __init__(
        self, spec: Spec, *, margin: int = 0, choice: str = "edf", seed: int = 0, retries: int = 0, assume: bool = False
    ) -> None:
        if not spec.attributes:
            raise ShieldError("no attribute is named: name its column, domain and beta, or a spec")
        for attribute in spec.attributes.values():
            if attribute.beta is None:
                raise ShieldError(f"attribute {shown(attribute.name)} needs a beta")
        self.spec = spec
        self.retries, self.assume = whole_number(retries, "retries", 0), assume
        self.shields = {}
        for name, held in spec.attributes.items():
            try:
                self.shields[name] = Shield(held.domain, held.beta, margin=margin, choice=choice, seed=seed)
            except ShieldError as error:
                raise ShieldError(f"attribute {shown(name)}: {error}") from None
        self.step, self.attempt, self.lines = 0, 0, 0
        self.run: str | None = None
        self.reply: dict[str, Any] = {"step": 0, "attempt": 0, "next": self._next()}

    @property
    def enforced(self) -> int:
        """Generations at which something was forced, over all attributes."""
        return sum(shield.enforced for shield in self.shields.values())

    @property
    def failed(self) -> int:
        """Forced generations that showed nothing that was allowed."""
        return sum(shield.failed for shield in self.shields.values())

    @property
    def missed(self) -> int:
        """Times that a value was absent for beta generations in a row."""
        return sum(shield.missed for shield in self.shields.values())

    def _next(self) -> dict[str, Any]:
        found = {}
        for name, shield in self.shields.items():
            decision = shield.next()
            if decision is not None:
                allowed = [value for value in shield.values if value in decision.allowed]
                found[name] = {"value": decision.value, "allowed": allowed, "reason": decision.reason}
        return found

    def take(self, line: Any, number: int) -> dict[str, Any]:
        """Take a line in, and reply.

        Parameters
        ----------
        line : object
            A mapping of attribute to label; of one attribute, the label alone. A label is a value, a list of values, or
            null. Beside these, step, attempt and the spec's run column are read, and other keys are not.
        number : int
            Of the line, for messages.

        Raises
        ------
        ShieldError
            When the line means nothing; then nothing has changed.
        """
        labels = self._labels(line, number)
        refused = [name for name, shield in self.shields.items() if not shield.admits(labels[name])]
        self.lines += 1
        if refused and not self.assume and self.attempt < self.retries:
            self.attempt += 1
            self.reply = {"step": self.step + 1, "attempt": self.attempt, "taken": False, "next": self._next()}
            return self.reply
        assumed = refused if self.assume else []
        for name in assumed:
            decision = self.shields[name].next()
            labels[name] = None if decision is None else decision.value
        missed = {name: shield.observe(labels[name]) for name, shield in self.shields.items()}
        attempt, self.attempt = self.attempt, 0
        self.step += 1
        self.reply = {"step": self.step, "attempt": attempt, "taken": True}
        if assumed:
            self.reply["assumed"] = assumed
        elif refused:
            self.reply["failed"] = refused
        late = {name: list(values) for name, values in missed.items() if values}
        if late:
            self.reply["missed"] = late
        self.reply["next"] = self._next()
        return self.reply

    def place(self, line: Any, number: int) -> tuple[int, int | None] | None:
        """Step and attempt that a line names; None when it names no step.

        Raises
        ------
        ShieldError
        """
        if not isinstance(line, Mapping) or "step" not in line or "step" in self.shields:
            return None
        found = [line["step"], line.get("attempt", 0)]
        for name, value, least in zip(("step", "attempt"), found, (1, 0), strict=True):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ShieldError(f"line {number}: {name} is a whole number from {least} on, not {shown(repr(value))}")
        return found[0], found[1] if "attempt" in line else None

    def _labels(self, line: Any, number: int) -> dict[str, Any]:
        names = list(self.shields)
        if not isinstance(line, Mapping):
            if len(names) != 1:
                raise ShieldError(
                    f"line {number} is a label alone, and there are {len(names)} attributes: {listed(names)}"
                )
            line = {names[0]: line}
        absent = [name for name in names if name not in line]
        if absent:
            hint = did_you_mean(absent[0], line) if line else ""
            raise ShieldError(f"line {number} lacks {listed(absent)}{hint}; write null for an unknown label")
        labels = {name: self._label(line[name], name, number) for name in names}
        if self.spec.run and self.spec.run in line:
            run = label_text(line[self.spec.run])
            if self.run is not None and run != self.run:
                raise ShieldError(
                    f"line {number} is of run {shown(run)}, those before of {shown(self.run)}: keep one state a run"
                )
            self.run = run
        return labels

    def _label(self, value: Any, name: str, number: int) -> list[str]:
        attribute = self.spec.attributes[name]
        parts = value if isinstance(value, list) else [value]
        if attribute.separator is not None:
            parts = [
                each
                for part in parts
                for each in (part.split(attribute.separator) if isinstance(part, str) else [part])
            ]
        found = []
        for part in parts:
            if isinstance(part, (Mapping, list)):
                raise ShieldError(f"line {number}: {shown(name)} is neither one value nor a list of values")
            text = "" if part is None else label_text(part)
            if text in attribute.domain:
                found.append(text)
            elif text and text not in attribute.unknown and self.spec.off_domain == "error":
                raise ShieldError(
                    f"line {number}: {shown(text)!r} is no value of {shown(name)}"
                    f"{did_you_mean(text, attribute.domain)}; name it as --unknown, or pass --off-domain none|unknown"
                )
        return found

    def settings(self) -> dict[str, Any]:
        """What the decisions depend on beside the labels."""
        held = self.spec.attributes
        return {
            "shields": {name: shield.settings() for name, shield in self.shields.items()},
            "unknown": {name: sorted(attribute.unknown) for name, attribute in held.items()},
            "separator": {name: attribute.separator for name, attribute in held.items()},
            "off_domain": self.spec.off_domain,
            "run": self.spec.run,
            "retries": self.retries,
            "assume": self.assume,
        }

    def to_dict(self) -> dict[str, Any]:
        """Settings and state, by the contract ``justicia.enforcement/1``."""
        return {
            "schema": ENFORCEMENT_SCHEMA,
            "settings": self.settings(),
            "step": self.step,
            "attempt": self.attempt,
            "lines": self.lines,
            "run": self.run,
            "reply": self.reply,
            "shields": {name: shield.state() for name, shield in self.shields.items()},
        }

    def restore(self, held: Any) -> None:
        """Take the state of `to_dict` back.

        Raises
        ------
        ShieldError
            When it is none, or was made with other settings.
        """
        if not isinstance(held, Mapping) or held.get("schema") != ENFORCEMENT_SCHEMA:
            raise ShieldError(f"it is no state of an enforcement: its schema is not {ENFORCEMENT_SCHEMA}")
        now, then = self.settings(), held.get("settings")
        if then != now:
            differs = [key for key in now if not isinstance(then, Mapping) or then.get(key) != now[key]]
            raise ShieldError(f"it was made with other settings ({listed(differs)}): pass those, or name another file")
        numbers = [held.get(name) for name in ("step", "attempt", "lines")]
        states, reply = held.get("shields"), held.get("reply")
        if (
            any(isinstance(number, bool) or not isinstance(number, int) or number < 0 for number in numbers)
            or not isinstance(states, Mapping)
            or set(states) != set(self.shields)
            or not all(isinstance(state, Mapping) for state in states.values())
            or not isinstance(reply, Mapping)
        ):
            raise ShieldError("it is broken: restore it from a copy, or name another file")
        for name, shield in self.shields.items():
            shield.restore(states[name])
            if shield.step != numbers[0]:
                raise ShieldError(f"it is broken: {shown(name)} stands at step {shield.step}, not {numbers[0]}")
        self.step, self.attempt, self.lines = (int(number or 0) for number in numbers)
        self.run = None if held.get("run") is None else str(held["run"])
        self.reply = dict(reply)

    @property
    def text(self) -> str:
        """One line about what has happened."""
        return (
            f"{counted(self.step, 'generation')}, {self.enforced:,} enforced, {self.failed:,} of these failed, "
            f"{counted(self.missed, 'value')} missed"
        )
