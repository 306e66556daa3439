"""Reads HTML reports in tests, strictly."""

from __future__ import annotations

import html5lib


def parsed(text):
    """The elements of a page; invalid HTML is an error."""
    page = html5lib.HTMLParser(namespaceHTMLElements=False, strict=True).parse(text)
    for element in page.iter():
        if isinstance(element.tag, str):
            element.tag = element.tag.split("}")[-1]
    return page


def text_of(element):
    """The words of an element, blanks made one."""
    return " ".join("".join(element.itertext()).split())
