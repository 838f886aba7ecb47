"""The commands of README and docs, run as they stand there in a folder of their own, and what they print.

    python tests/support/pages.py            run the commands of all pages, and say where the output is another one
    python tests/support/pages.py --write    the same, and write the output that came into the pages
    python tests/support/pages.py PAGE ...   only these pages

Blocks of the languages ``sh`` and ``console`` are run in the order of the page, in a folder that has a copy of the
bundled models and machines and a ``chaincover``: by a shell, but in this process where a line has nothing but
``chaincover``. In a ``console`` block commands follow ``$``, and the lines below are what they print: a line ``...``
stands for any lines; seconds, the C compiler and versions may be others. A command that fails is followed by ``$ echo
$?``. A comment before a block says what it is: ``<!-- file: NAME -->`` or ``<!-- append: NAME -->`` makes a file of
its text, ``<!-- change: NAME -->`` applies a ``diff``, ``<!-- printed by: COMMAND -->`` is what the command prints,
and what follows ``<!-- not run: REASON -->`` is not run. A line ``<!-- result of: COMMAND -->`` stands for the
picture or the report that the command writes to ``-o FILE.svg`` or ``-o FILE.html``. Installation, tests and site
(``pip``, ``pytest``, ``sphinx-build``) are left to ``.ci/run``.
"""

from __future__ import annotations

import difflib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from command_line import run_here

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "index.md", *sorted((ROOT / "docs").glob("[!ad]*/*.md"))]
"""Those whose commands are run: of development notes some take hours."""
COMPARED_BY_TESTS = [
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("index.md", "tutorial/index.md", "explanation/environment.md")),
    *(ROOT / "docs" / "how-to" / f"{name}.md" for name in ("embedded-coder", "messages", "requirements")),
    ROOT / "docs" / "how-to" / "reading-a-finding.md",
]
"""What a newcomer types first, and what shows a run as a picture."""

_BLOCK = re.compile(
    r"^(?:<!-- (file|append|change|printed by|not run): (.*?) -->\n)?^```(\w*)[^\n]*\n(.*?)^```$", re.M | re.S
)
_RESULT = re.compile(r"^<!-- result of: (.* -o (\S+\.(?:svg|html))\b.*) -->$", re.M)
_LEFT_TO_CI = re.compile(
    r"(?<![\w])(pip|pytest|sphinx-build|git clone|-m venv|ruff|mypy|lint-imports|-m benchmarks[.\w]*)(?!\w)"
)
_COMPILER = re.compile(r"\b(?:gcc|cc|clang)(?: \([^)]*\))? (\d[\d.]*\d)")
_MASKED = (
    (_COMPILER, "a compiler"),
    (re.compile(r"\n +(?=\S)"), " "),  # where a line is wrapped depends on the compiler's name
    (re.compile(r"\b\d+(\.\d+)? s\b"), "N s"),
    (re.compile(r"(?<=chaincover, version )\S+"), "N"),
)
_PROGRESS = re.compile(r" *\d+\.\d s  .*\n")
_CALL = r"(?:\.venv/bin/)?chaincover(?: (?:'[^']*'|[\w./:,=+@-])+)*"
PLAIN = re.compile(rf"{_CALL}(?: && {_CALL})*")
"""Calls in which a shell has nothing to do but to take quotes away."""
TIMEOUT = 600
COLUMNS = 80
"""Characters of a line that a command prints."""
WIDTH = 82
"""Characters of a line that fit beside the navigation of the site: the name of the compiler may be longer."""


@dataclass(frozen=True)
class Step:
    """A part of a page: a command with the output that is shown below, or a file of the page.

    ``start`` and ``end`` are where the output, or the line of a result, stands in the text of the page; ``shown`` is
    None where no output is shown. ``name`` is the file that is written.
    """

    kind: str
    text: str
    shown: str | None = None
    start: int = 0
    end: int = 0
    name: str = ""


def steps(text: str) -> Iterator[Step]:
    """The files, commands and results of a page, in its order."""
    for found in sorted([*_BLOCK.finditer(text), *_RESULT.finditer(text)], key=lambda each: each.start()):
        if found.re is _RESULT:
            yield Step("result", found.group(1), start=found.start(), end=found.end(), name=found.group(2))
            continue
        mark, name, language, body = found.groups()
        if mark in ("file", "append", "change"):
            yield Step(mark, body, name=name)
        elif mark == "printed by":
            yield Step("command", name, body, found.start(4), found.end(4))
        elif mark != "not run" and language == "sh":
            for command in body.replace("\\\n", " ").splitlines():
                if command.strip() and not command.lstrip().startswith("#"):
                    yield Step("command", command.strip())
        elif mark != "not run" and language == "console":
            yield from _console(body, found.start(4))


def _console(body: str, place: int) -> Iterator[Step]:
    command, shown, start = "", "", 0
    for row in [*body.splitlines(keepends=True), "$ "]:
        if command.endswith("\\\n"):
            command += row
        elif row.startswith("$ "):
            if command:
                yield Step("command", command.replace("\\\n", " ").strip(), shown, start, start + len(shown))
            command, shown = row[2:], ""
        else:
            shown += row
        place += len(row)
        if not shown:
            start = place


def masked(text: str) -> str:
    """``text`` without what differs from run to run."""
    text = "".join(f"{row.rstrip()}\n" for row in text.splitlines())
    for pattern, mark in _MASKED:
        text = pattern.sub(mark, text)
    return text


def agrees(shown: str, printed: str) -> bool:
    """Whether a page may show ``shown`` for what a command printed; a line ``...`` stands for any lines."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.$\n?", masked(shown), flags=re.M)]
    return re.fullmatch(r"(?:.*\n)*".join(parts), masked(printed)) is not None


def widest(text: str) -> int:
    """Characters of the longest line."""
    return max(map(len, text.splitlines()), default=0)


def shortened_like(shown: str, printed: str) -> str:
    """``printed`` as a page shows it: with as many lines before and after a line ``...`` as ``shown`` has."""
    rows, old = printed.splitlines(keepends=True), shown.splitlines()
    if "..." in old:
        before, after = old.index("..."), len(old) - 1 - old.index("...")
        if len(rows) > before + after:
            rows = [*rows[:before], "...\n", *rows[len(rows) - after :]]
    return _COMPILER.sub(r"gcc \1", "".join(rows))


class Folder:
    """A folder in which the commands of a page are run, with copies of what is bundled."""

    def __init__(self, place: Path) -> None:
        self.place = place
        for name in ("models", "machines"):
            shutil.copytree(ROOT / "benchmarks" / name, place / "benchmarks" / name)
        program = place / ".venv" / "bin" / "chaincover"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m chaincover "$@"\n')
        program.chmod(0o755)
        path = os.pathsep.join([str(program.parent), str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        self._variables = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": str(COLUMNS)}
        self._code, self._last = 0, ""

    def run(self, command: str) -> str:
        """What ``command`` prints, progress left out; one that fails has to be followed by ``echo $?``."""
        if command == "echo $?":
            code, self._code = self._code, 0
            return f"{code}\n"
        if self._code:
            self.end()
        code, printed = self._run_here(command) if PLAIN.fullmatch(command) else self._run_by_shell(command)
        self._code, self._last = code, f"$ {command}\n{printed}"
        return "".join(row for row in printed.splitlines(keepends=True) if not _PROGRESS.fullmatch(row))

    def _run_here(self, command: str) -> tuple[int, str]:
        """Exit code and output of calls of ``chaincover`` joined by ``&&``, none of which loads it again."""
        printed = io.StringIO()
        code = 0
        for is_call, words in groupby(shlex.split(command), lambda word: word != "&&"):
            if is_call and not code:
                code = run_here([*words][1:], self.place, printed, printed, {"COLUMNS": str(COLUMNS)})
        return code, printed.getvalue()

    def _run_by_shell(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.place,
            env=self._variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        return done.returncode, done.stdout

    def result(self, step: Step) -> str:
        """The file that the command of ``step`` writes."""
        self.run(step.text)
        self.end()
        return (self.place / step.name).read_text(encoding="utf-8")

    def write(self, step: Step) -> None:
        """Do to a file what a page tells to do."""
        place = self.place / step.name
        place.parent.mkdir(parents=True, exist_ok=True)
        if step.kind == "file":
            place.write_text(step.text, encoding="utf-8")
        elif step.kind == "append":
            place.write_text(place.read_text(encoding="utf-8") + step.text, encoding="utf-8")
        else:
            rows = step.text.splitlines(keepends=True)
            old, new = ("".join(row[1:] for row in rows if row[0] in kept) for kept in (" -", " +"))
            text = place.read_text(encoding="utf-8")
            if text.count(old) != 1:
                raise AssertionError(f"{step.name} has the changed lines {text.count(old)} times:\n{old}")
            place.write_text(text.replace(old, new), encoding="utf-8")

    def end(self) -> None:
        """The last command must not have failed."""
        if self._code:
            raise AssertionError(f"exit code {self._code}, and no 'echo $?' follows:\n{self._last}")


def run_page(page: Path, folder: Folder, left_out: re.Pattern[str] = _LEFT_TO_CI) -> tuple[str, list[str]]:
    """Run the commands of a page; its text with the output that came, and what differs from what it shows."""
    text = page.read_text(encoding="utf-8")
    made, done, differences = [], 0, []
    for step in steps(text):
        if step.kind == "result":
            folder.result(step)
        elif step.kind != "command":
            folder.write(step)
        elif not left_out.search(step.text):
            printed = folder.run(step.text)
            if step.shown is None:
                continue
            now = shortened_like(step.shown, printed)
            if agrees(step.shown, printed) and widest(step.shown) <= max(WIDTH, widest(now)):
                continue
            rows = difflib.unified_diff(step.shown.splitlines(), now.splitlines(), "page", "now", lineterm="", n=1)
            differences.append("\n".join([f"$ {step.text}", *rows]))
            made += [text[done : step.start], now]
            done = step.end
    folder.end()
    return "".join([*made, text[done:]]), differences


def main(arguments: list[str]) -> int:
    """Run pages; 1 if one shows another output than came."""
    write = "--write" in arguments
    named = [Path(name).resolve() for name in arguments if name != "--write"]
    code = 0
    for page in named or PAGES:
        with tempfile.TemporaryDirectory() as place:
            try:
                text, differences = run_page(page, Folder(Path(place)))
            except AssertionError as error:
                text, differences = "", [str(error)]
                code = 1
        if differences:
            print(f"{page.relative_to(ROOT)}\n" + "\n".join(differences))
            code = code if write else 1
            if write and text:
                page.write_text(text, encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
