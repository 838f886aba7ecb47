"""What all pages share: templates with autoescape, one style sheet, and a policy that lets in the page's own alone.

The policy (Content-Security-Policy) names the hashes of the page's own style sheet and script: nothing is loaded, and
no text of a result that found its way into the page could run.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateNotFound
from markupsafe import Markup

from chaincover.report.html.markup import FORBIDDEN, script_json

SHARED_STYLE = "kit.css"


def own(name: str, room: str = __name__.rpartition(".")[0]) -> str:
    """The text of the file ``name`` that stands beside the modules of ``room``."""
    return (files(room) / name).read_text(encoding="utf-8")


class _Beside(BaseLoader):
    """Templates are files beside the modules of a room."""

    def __init__(self, room: str) -> None:
        self._room = room

    def get_source(self, environment: Environment, template: str) -> tuple[str, None, None]:
        try:
            return own(template, self._room), None, None
        except OSError:
            raise TemplateNotFound(template) from None


@cache
def environment(room: str) -> Environment:
    """Templates of ``room``: everything is escaped, and a name that is not there is an error."""
    made = Environment(
        loader=_Beside(room), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.finalize = clean
    return made


def clean(value: Any) -> Any:
    """A text without characters that HTML forbids; anything else as it is."""
    return FORBIDDEN.sub("\ufffd", value) if isinstance(value, str) and not isinstance(value, Markup) else value


def drawing(text: str) -> Markup:
    """A drawing that escapes its own texts, as it stands in a page."""
    return Markup(FORBIDDEN.sub("\ufffd", text))


def policy(style: str, script: str) -> str:
    """The Content-Security-Policy of a page with this style sheet and script, each as it stands in its element."""
    return (
        f"default-src 'none'; style-src 'sha256-{_hash(style)}'; script-src 'sha256-{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def page(
    room: str, template: str, styles: Sequence[str], scripts: Sequence[str], values: Mapping[str, Any], data: Any
) -> str:
    """The page of a ``template`` of ``room`` as text.

    ``styles`` and ``scripts`` are texts that are joined; ``values`` are for the template; ``data`` is what the scripts
    read, from the element ``data``. The template has ``policy``, ``style``, ``script`` and ``data`` besides.
    """
    style, script = own(SHARED_STYLE) + "".join(styles), "".join(scripts)
    parts = {"policy": policy(style, script), "style": Markup(style), "script": Markup(script)}
    parts["data"] = Markup(script_json(data))
    return environment(room).get_template(template).render(**values, **parts)
