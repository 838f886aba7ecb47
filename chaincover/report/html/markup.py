"""Text, numbers and links as HTML and SVG have them, so that no name, note or verdict can break out of its place."""

from __future__ import annotations

import html
import json
import math
import re
from typing import Any
from urllib.parse import quote

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_DRIVE = re.compile("[A-Za-z]:")


def escaped(text: object) -> str:
    """Text for the inside of an element or of a quoted attribute; characters that XML forbids are replaced."""
    return html.escape(FORBIDDEN.sub("\ufffd", str(text)))


def script_json(data: Any) -> str:
    """``data`` as JSON for the inside of a script element: nothing in it ends the element or opens a comment."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def number(value: float) -> str:
    """Three digits that count, as the paper prints numbers: 0.53, 7.04, 89.6, 192; whole numbers whole."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) or abs(value) >= 99.95:
        return f"{value:.0f}"
    if abs(value) < 0.005:
        return f"{value:.1g}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"


def average(value: float) -> str:
    """A whole number, or one decimal, as the paper prints averages: 2.8, 24.6."""
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def link(place: str) -> str:
    """``place`` below the folder of the page as a relative address; '' if it is not below it."""
    parts = place.split("/")
    if "" in parts or ".." in parts or "\\" in place or _DRIVE.match(place):
        return ""
    return quote(FORBIDDEN.sub("\ufffd", place))
