"""What the site takes from the code when it is built: lists for the reference, and drawings.

A line ``<!-- made from the code: NAME -->`` of a page becomes the Markdown that the function of this name gives (in
``lists.py``), a line ``<!-- drawing: NAME -->`` a figure (in ``drawings.py``). A line ``<!-- result of: COMMAND -->``
becomes the picture that the command draws after all that stands above it on its page, or a link to the report that it
writes. Nothing of it is kept in the checkout.
A link to a file outside of ``docs`` is one to a copy of it. ``@(FILE.py:NAME)`` becomes the name of a function or class
with the file and the line where it is defined.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import drawings
import lists
from pages import Folder, steps

ROOT = Path(__file__).resolve().parents[2]
_PLACE = re.compile(r"@\((\w[\w/]*\.py):(\w+)\)")
_MADE = re.compile(r"^<!-- (made from the code|drawing): ([\w-]+) -->$", re.M)


def _replaced(found: re.Match[str]) -> str:
    kind, name = found.groups()
    makers = lists.MAKERS if kind == "made from the code" else drawings.MAKERS
    return makers[name]()


def place_of(file: str, name: str) -> int:
    """The number of the line of ``file`` that defines the function or class ``name``. ValueError where none does."""
    for number, row in enumerate((ROOT / file).read_text(encoding="utf-8").splitlines(), 1):
        if re.match(rf"(def|class) {name}\b", row):
            return number
    raise ValueError(f"{file} has no {name}")


def _placed(found: re.Match[str]) -> str:
    file, name = found.groups()
    return f"`{name}` (`{file}:{place_of(file, name)}`)"


def _with_results(text: str, beside: Path) -> str:
    """``text`` with the results of its commands; reports are written into the folder ``beside`` the page."""
    all_steps = [*steps(text)]
    results = [number for number, step in enumerate(all_steps) if step.kind == "result"]
    if not results:
        return text
    pieces, done = [], 0
    with tempfile.TemporaryDirectory() as place:
        folder = Folder(Path(place))
        for step in all_steps[: results[-1] + 1]:
            if step.kind == "result":
                pieces += [text[done : step.start], _shown(folder.result(step), step.name, beside)]
                done = step.end
            elif step.kind == "command":
                folder.run(step.text)
            else:
                folder.write(step)
    return "".join([*pieces, text[done:]])


def _shown(result: str, name: str, beside: Path) -> str:
    if name.endswith(".svg"):
        return drawings.waveform(result)
    beside.mkdir(parents=True, exist_ok=True)
    (beside / name).write_text(result, encoding="utf-8")
    return f'```{{raw}} html\n<p class="report"><a href="{beside.name}/{name}">Open the report {name}</a></p>\n```'


def _read(app: Any, page: str, source: list[str]) -> None:
    outside = "../" * (page.count("/") + 1)
    source[0] = _with_results(source[0], Path(app.outdir) / page)
    source[0] = _PLACE.sub(_placed, _MADE.sub(_replaced, source[0])).replace(f"]({outside}", f"](path:{outside}")


def _signature(*given: Any) -> tuple[str, str] | None:
    """The signature of a record: a default that has no text of its own is left out."""
    signature, returned = given[-2:]
    return signature and (re.sub(r"<[^<>]* object[^<>]*>", "...", signature), returned)


def setup(app: Any) -> dict[str, Any]:
    """Sphinx's way to find an extension."""
    app.connect("source-read", _read)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
