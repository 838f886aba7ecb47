"""What all pages share: texts, numbers and links as HTML and SVG have them, so that no name, note or verdict can break
out of its place; templates with autoescape, one style sheet, and a policy that lets in the page's own alone.

The policy (Content-Security-Policy) names the hashes of the page's own style sheet and script: nothing is loaded, and
no text of a result that found its way into the page could run.
"""

from __future__ import annotations

import html
import json
import math
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup

if TYPE_CHECKING:
    from jinja2 import Environment

FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Characters that turn the direction of the writing, so that a text reads otherwise than it stands there."""
_TURNING_JSON = re.compile(r"(?<!\\)((?:\\\\)*)\\u(061c|200[ef]|202[a-e]|206[6-9])")
_DRIVE = re.compile("[A-Za-z]:")

SHARED_STYLE = "kit.css"


def escaped(text: object) -> str:
    """Text for the inside of an element or of a quoted attribute; characters that XML forbids are replaced."""
    return html.escape(_plain(str(text)))


def _plain(text: str) -> str:
    """``text`` without characters that HTML forbids; those that turn the writing stand there as ``\\u202e``."""
    return _TURNING.sub(lambda found: f"\\u{ord(found[0]):04x}", FORBIDDEN.sub("\ufffd", text))


def script_json(data: Any) -> str:
    """``data`` as JSON for the inside of a script element: nothing in it ends the element or opens a comment."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    text = _TURNING_JSON.sub(r"\1\\\\u\2", text)
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


def own(name: str, room: str = __name__.rpartition(".")[0]) -> str:
    """The text of the file ``name`` that stands beside the modules of ``room``."""
    return (files(room) / name).read_text(encoding="utf-8")


@cache
def environment(room: str) -> Environment:
    """The templates beside the modules of ``room``: everything is escaped, and a name that is not there is an error."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined  # drawings and lists of findings need none

    made = Environment(
        loader=FunctionLoader(lambda name: own(name, room)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.finalize = clean
    made.filters |= {"unbroken": unbroken, "breakable": breakable}
    return made


def unbroken(text: str) -> Markup:
    """A formula or a command, whose arrows and options are not broken behind their hyphens at the end of a line."""
    return Markup(re.sub(r"(-&gt;|(?<!\S)--?\w[\w-]*)", r'<span class="whole">\1</span>', escaped(text)))


def breakable(name: str) -> Markup:
    """A name, which may be broken behind underscores and colons, and before an arrow."""
    parts = re.sub("([_:]+)", r"\1<wbr>", escaped(name))
    return Markup(parts.replace("-&gt;", '<wbr><span class="whole">-&gt;</span>'))


def clean(value: Any) -> Any:
    """A text as the page shows it, plainly; anything else as it is."""
    return _plain(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def drawing(text: str) -> Markup:
    """A drawing that escapes its own texts, as it stands in a page."""
    return Markup(_plain(text))


def policy(style: str, script: str) -> str:
    """The Content-Security-Policy of a page with this style sheet and script, each as it stands in its element."""
    return (
        f"default-src 'none'; style-src 'sha256-{_hash(style)}'; script-src 'sha256-{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def page(room: str, template: str, styles: Sequence[str], scripts: Sequence[str], values: Mapping[str, Any]) -> str:
    """The page of a ``template`` of ``room`` as text.

    ``styles`` and ``scripts`` are texts that are joined; ``values`` are for the template; ``data`` among them is what
    the scripts read, from the element ``data``. The template has ``policy``, ``style`` and ``script`` besides.
    """
    style, script = own(SHARED_STYLE) + "".join(styles), "".join(scripts)
    parts = {"policy": policy(style, script), "style": Markup(style), "script": Markup(script)}
    data = Markup(script_json(values["data"]))
    return environment(room).get_template(template).render({**values, **parts, "data": data})
