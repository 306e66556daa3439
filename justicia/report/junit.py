"""Requirements as test cases, in the XML of JUnit that continuous integration reads.

A breached requirement is a failure, an undecided one an error: neither lets a gate pass, and the two are told apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from justicia.judging import RequirementAudit

__all__ = ["junit_xml"]

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, even escaped."""


def junit_xml(requirements: Sequence[RequirementAudit], data: str | None = None, model: str | None = None) -> str:
    """Requirements in JUnit's XML, one test case each.

    Parameters
    ----------
    requirements : sequence of RequirementAudit
    data, model : str, optional
        Names of what was audited.

    >>> from justicia.judging import RequirementAudit
    >>> held = RequirementAudit("disparate_impact>=0.8", "breached", "disparate_impact is 0.5")
    >>> '<failure message="disparate_impact is 0.5" type="breached">' in junit_xml([held])
    True
    """
    counts = {
        "tests": len(requirements),
        "failures": sum(held.status == "breached" for held in requirements),
        "errors": sum(held.status == "undecided" for held in requirements),
    }
    attributes = {name: str(number) for name, number in counts.items()}
    root = ElementTree.Element("testsuites", attributes)
    name = "justicia" + (f" {model}" if model else "") + (f" on {data}" if data else "")
    suite = ElementTree.SubElement(root, "testsuite", {"name": _held(name), **attributes, "skipped": "0", "time": "0"})
    for held in requirements:
        case = ElementTree.SubElement(
            suite, "testcase", {"classname": "justicia.requirements", "name": _held(held.text), "time": "0"}
        )
        if held.status == "met":
            ElementTree.SubElement(case, "system-out").text = _held(held.reason)
        else:
            tag = "failure" if held.status == "breached" else "error"
            problem = ElementTree.SubElement(case, tag, {"message": _held(held.reason), "type": held.status})
            problem.text = _held(f"{held.text}: {held.status}. {held.reason}")
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _held(text: str) -> str:
    """A text as XML can hold it."""
    return _NO_XML.sub("\ufffd", text)
