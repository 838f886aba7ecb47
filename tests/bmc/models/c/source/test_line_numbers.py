"""What ``__LINE__`` is in every layout: continued lines, comments and calls over several, conditions, #line."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from drawn_seeds import seeds

from bmc.models.c.source.preprocess import Given, preprocess
from bmc.models.c.source.types import DATA_MODELS
from bmc.native.original import find_compiler

pytestmark = pytest.mark.needs_compiler

MACROS = (
    "#define HERE __LINE__\n#define ONE(x) (x __LINE__ HERE)\n#define TWO(x, y) y x + \\\n __LINE__ \\\n ONE(x)\n"
    "#define TEXT(x) #x\n#define NOTHING\n#define VA(...) (__VA_ARGS__) HERE\n"
)


def expanded(file: Path) -> tuple[list[str], list[str]]:
    """The words of a file after preprocessing: ours, and the compiler's."""
    command = [find_compiler() or "cc", "-E", "-P", "-w", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "error: " not in done.stderr, file.read_text() + done.stderr
    text = preprocess(str(file), Given(), DATA_MODELS["lp64"]).text
    ours = "\n".join(row for row in text.splitlines() if not row.startswith("#line"))
    return words(ours), words(done.stdout)


def words(text: str) -> list[str]:
    for sign in "+();,":
        text = text.replace(sign, f" {sign} ")
    return text.split()


class Layout:
    """A text that uses ``__LINE__``, broken into lines at random."""

    def __init__(self, seed: int) -> None:
        self.source = random.Random(seed)
        self.lines = 1 + MACROS.count("\n")

    def gap(self, directive: bool = False) -> str:
        """What may stand between two tokens; a directive ends with its line."""
        joints = ["\\\n", " \\\n  ", "\\\n\\\n", "/* a \\\n b */", "\\\n /* */ ", " \\ \n "]
        breaks = ["\n", "\n\n", "/* a\n b */", "/* a\n\\\n b \\\n\n */", "// a\n", "// a \\\n b\n", " \f\n"]
        return self.source.choice([" "] * 6 + joints + ["/* a\n b */"] if directive else [" "] * 8 + joints + breaks)

    def term(self, depth: int = 0) -> str:
        kind = self.source.choice(["line", "line", "here", "split", "one", "two", "va", "text", "nothing"])
        inner = [self.term(depth + 1) for _ in range(2)] if depth < 3 else ["__LINE__", "HERE"]
        first, second = (f"{self.gap()}{text}{self.gap()}" for text in inner)
        return {
            "line": "__LINE__",
            "here": "HERE",
            "split": "__LI\\\nNE__",
            "one": f"ONE{self.gap()}({first})",
            "two": f"TWO({first},{second})",
            "va": f"VA{self.gap()}({first},{second})",
            "text": "TEXT(__LINE__)",
            "nothing": f"NOTHING{self.gap()}__LINE__",
        }[kind]

    def row(self) -> str:
        kind = self.source.choice(["terms", "terms", "terms", "line", "condition"])
        if kind == "line":
            given = self.source.choice(["100", "7", f'200{self.gap(True)}"other.c"', "HERE"])
            return f"\n#{self.source.choice(['', ' '])}line {given}{self.gap(True)}\n"
        if kind == "condition":
            test = f"__LINE__{self.gap(True)}%{self.gap(True)}3 == HERE{self.gap(True)}% 2"
            return f"\n#if {test}\nyes __LINE__\n#else{self.gap(True)}\nno __LINE__\n#endif\n"
        return self.gap().join(f"{self.term()}{self.gap()}+" for _ in range(3)) + f"{self.gap()};"

    def text(self) -> str:
        return MACROS + self.gap().join(self.row() for _ in range(12)) + "\n"


@seeds(16)
def test_lines_are_those_of_the_compiler(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.getbasetemp() / "lines.c"
    file.write_text(Layout(seed).text())
    ours, theirs = expanded(file)
    assert ours == theirs, file.read_text()


@pytest.mark.parametrize("end", ["\\\n", "\\ \n", " // a \\", "\n\f\n__LINE__"])
def test_the_last_line_may_be_continued(end: str, tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(f"a __LINE__ \\\n __LINE__ {end}")
    ours, theirs = expanded(tmp_path / "c.c")
    assert ours == theirs
