"""All faults: ``python -m tests.faults [--scenes NAME] [--seed 0] [--moments 4] [--write docs/faults.md]``.

Root mounts a small file system for full disks; others leave those out. It takes an hour on two cores. With ``--keep
FILE`` what was seen is added to a file, and several runs, each of some commands, make one table.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import signal
import sys
import tempfile
from pathlib import Path

from tests.faults.faults import all_faults, small_disk
from tests.faults.injecting import Seen, expect, inject
from tests.faults.scenes import SCENES, prepare
from tests.faults.table import write_page


def main() -> None:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description="Inject faults into whole commands.")
    parser.add_argument("--scenes", default="", help="only those whose name holds this")
    parser.add_argument("--faults", default="", help="only those whose name holds this")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--moments", type=int, default=4, help="of every signal and command")
    parser.add_argument("--keep", type=Path, help="JSON lines of what was seen, added to")
    parser.add_argument("--write", type=Path, help="a page whose table is replaced")
    asked = parser.parse_args()
    # A request to end is an exception, so that the disk is taken away.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    seen: list[Seen] = []
    with tempfile.TemporaryDirectory(prefix="faults-") as name, small_disk() as disk:
        inputs = Path(name) / "inputs"
        inputs.mkdir()
        prepare_all(inputs)
        for number, scene in enumerate(SCENES):
            if asked.scenes not in scene.name:
                continue
            usual = expect(scene, inputs)
            for fault in all_faults(scene, asked.moments, asked.seed + number, disk):
                if asked.faults not in fault.name:
                    continue
                one = inject(scene, inputs, fault, usual, disk)
                seen.append(one)
                if asked.keep is not None:
                    with asked.keep.open("a") as file:
                        file.write(json.dumps(dataclasses.asdict(one)) + "\n")
                said = "; ".join(one.faults) or "as it should be"
                print(f"{one.scene} | {one.fault} | {one.code} | {one.line[:100]} | {said}", flush=True)
    wrong = [one for one in seen if one.faults]
    print(f"{len(seen)} faults injected, {len(wrong)} not as it should be")
    if asked.write is not None:
        kept = seen
        if asked.keep is not None:
            kept = [Seen(**json.loads(line)) for line in asked.keep.read_text().splitlines()]
        write_page(asked.write, kept)
    sys.exit(1 if wrong else 0)


def prepare_all(inputs: Path) -> None:
    """Inputs, and those that other commands make."""
    import contextlib
    import io
    import os

    from justicia.cli import main as run

    prepare(inputs)
    before = Path.cwd()
    people = ("people.csv", "--sensitive", "sex,race", "--label", "hired", "--favorable", "yes")
    os.chdir(inputs)
    try:
        for words in (
            ("population", "fit", *people, "--out", "given.json", "--quiet"),
            ("verify", "--model", "tree.pkl", "--data", *people, "--json", "audit.json", "--quiet"),
            (
                "encode",
                "--model",
                "tree.pkl",
                "--data",
                *people,
                "--population",
                "independent",
                "--out",
                "given.sdimacs",
            ),
        ):
            with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
                run(words)
    finally:
        os.chdir(before)


if __name__ == "__main__":
    main()
