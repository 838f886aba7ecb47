"""The elements of a page as a test looks at them: tables as texts, addresses, ids, and what is not well-formed."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any


class Page(HTMLParser):
    """A page: the texts of its tables' rows by the table's caption or id, of its headings, and all its addresses.

    ``wrong``: tags that close nothing, handlers in attributes, styles in attributes (the policy forbids both).
    """

    VOID = ("meta", "input", "br", "wbr", "link")

    def __init__(self, text: str) -> None:
        super().__init__()
        self.source = text
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []
        self.headings: list[str] = []
        self.items: list[str] = []
        self.text = ""
        self.wrong: list[str] = []
        self.elements: dict[str, str] = {}
        self.feed(text)
        self.close()
        self.wrong += self.open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attributes if name in ("src", "href")]
        self.wrong += [f"{tag} {name}" for name, _ in attributes if name.startswith("on") or name == "style"]
        self.ids += [value or "" for name, value in attributes if name == "id"]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")
        if tag in ("h1", "h2", "h3"):
            self.headings.append("")
        if tag == "li":
            self.items.append("")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """An element of SVG that has no content."""

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            self.elements[self.open[-1]] = data
            return
        self.text += data
        for inside, texts in (("td", self.rows), ("th", self.rows)):
            if inside in self.open and texts and texts[-1]:
                texts[-1][-1] += data
                break
        if {"h1", "h2", "h3"} & {*self.open}:
            self.headings[-1] += data
        if "li" in self.open:
            self.items[-1] += data

    @property
    def data(self) -> Any:
        """What the page's script reads."""
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', self.source, re.S)
        assert found is not None
        return json.loads(found[1])

    def row(self, first: str) -> list[str]:
        """The row of a table whose first cell is ``first``."""
        return next([cell.strip() for cell in row] for row in self.rows if row and row[0].strip() == first)

    def allowed(self) -> dict[str, str]:
        """For ``style`` and ``script``, whether the hash that the policy allows is that of the page's own."""
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', self.source)
        assert policy is not None
        assert policy[1].startswith("default-src &#39;none&#39;;")
        return {
            kind: "own" if _hash(self.elements[kind]) in policy[1].replace("&#39;", "'") else "other"
            for kind in ("style", "script")
        }


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
