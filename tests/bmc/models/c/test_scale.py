"""The encoding grows as the code does, and joins of many paths agree with the compiled original."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from c_support import agreement, fresh_environment, own_environment, read  # noqa: F401
from counted_calls import calls_in

from benchmarks.measures.scale.controllers import DEPTH, Subject
from benchmarks.measures.scale.run import configured, count, count_terms
from bmc.analysis.slice import slice_system
from bmc.explicit.batch import Batch
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.model import CModel
from bmc.stack import with_deep_stack

needs_compiler = pytest.mark.needs_compiler


def subject(folder: Path, lines: int, seed: int = 0) -> CModel:
    fresh_environment()
    file = folder / "ctl.c"
    file.write_text(Subject(lines, seed).text(), encoding="utf-8")
    return read_c(configured(file))


def test_the_controllers_are_what_they_are_said_to_be() -> None:
    text = Subject(10_000).text()
    assert text == Subject(10_000).text()
    assert 9_900 < text.count("\n") < 10_100
    assert text.count("else if (") >= 1_190
    assert text.count("\n  if (") + text.count("  if (") >= 1_190
    deepest = max(len(line) - len(line.lstrip()) for line in text.splitlines() if line.lstrip().startswith("if ("))
    assert deepest == 2 * DEPTH


@pytest.mark.slow
def test_terms_grow_as_the_lines_do(tmp_path: Path) -> None:
    per_line = [count_terms(subject(tmp_path, lines).system) / lines for lines in (600, 1_200, 2_400)]
    assert max(per_line) < 1.5 * min(per_line)


def test_a_line_takes_few_calls(tmp_path: Path) -> None:
    """Of Python's functions, to read it, to slice it, and to make what random runs are computed by."""
    lines, found = 300, list[CModel]()
    reading = with_deep_stack(lambda: calls_in(lambda: found.append(subject(tmp_path, lines))))
    system = found[0].system
    observed = [var.symbol for var in system.state[:3]]
    slicing = calls_in(lambda: slice_system(system, observed, observed[:1]))
    running = calls_in(lambda: Batch(system, observed))
    assert reading < 1_000 * lines
    assert slicing < 110 * lines
    assert running < 220 * lines


CHAIN = "else if (a == {0}) {{ s.v{0} = b; s.w = {0}; }}\n"
RETURN = "if (a == {0}) {{ s.v{0} = b; return; }}\ns.u{0} = a > {0};\n"
CASE = "case {0}: s.v{0} = b; break;\n"
FALL = "case {0}: s.v{0} = b;\n"
BREAK = "if (a == {0}) {{ s.v{0} = b; break; }}\ns.u{0} = a > {0};\n"
SHAPES = {
    "else-if chain": ("if (a < 0) s.w = 0;\n", CHAIN, ""),
    "early returns": ("", RETURN, ""),
    "switch": ("switch (a) {\n", CASE, "default: s.w = b; }"),
    "fallthrough": ("switch (a) {\n", FALL, "}"),
    "breaks": ("do {\n", BREAK, "} while (0);"),
}


def shaped(shape: str, size: int) -> str:
    """A step function of one shape; each of its ``size`` parts writes a field of its own."""
    start, part, end = SHAPES[shape]
    fields = "".join(f"int v{i}, u{i};" for i in range(size))
    body = "".join(part.format(i) for i in range(size))
    return f"struct {{ {fields} int w; }} s; void step(int a, int b) {{ {start}{body}{end} }}"


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_joins_do_not_multiply_terms(shape: str, tmp_path: Path) -> None:
    small, large = (
        count(*(var.next for var in read(tmp_path, shaped(shape, size)).system.state)) for size in (30, 120)
    )
    assert large < 5 * small


def test_a_nest_of_elses_does_not_multiply_terms(tmp_path: Path) -> None:
    def nest(size: int) -> str:
        fields = "".join(f"int v{i}, u{i};" for i in range(size))
        opened = "".join(f"if (a > {i}) {{ s.v{i} = b;\n" for i in range(size))
        closed = "".join(f"}} else s.u{i} = b;\n" for i in range(size))
        return f"struct {{ {fields} }} s; void step(int a, int b) {{ {opened} {closed} }}"

    small, large = (count(*(v.next for v in read(tmp_path, nest(size)).system.state)) for size in (30, 120))
    assert large < 5 * small


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("seed", range(1))
def test_a_controller_agrees_with_the_compiled_original(seed: int, tmp_path: Path) -> None:
    result = agreement(subject(tmp_path, 600, seed), pairs=100)
    assert result.steps == 100
    assert not result.differences


class Paths:
    """Random programs whose paths part and join in every way: ifs, returns, breaks, falls through, calls."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops = 0
        self.names = 0

    def text(self) -> str:
        helpers = "".join(self._function(f"static int f{i}(int p)", ["f0(a)"][:i]) for i in range(2))
        step = self._function("int step(int a, int b)", ["f0(a)", "f1(b)"])
        return f"int g0, g1, g2, g3, g4, g5; unsigned char c0, c1;\n{helpers}{step}"

    def _function(self, head: str, calls: list[str]) -> str:
        argument = "int a = p, b = p >> 1;" if "int p" in head else ""
        body = "\n".join(self._statements(3, calls, False))
        return f"{head} {{ {argument} int t = 0;\n{body}\nreturn g{self.random.randrange(6)} ^ t; }}\n"

    def _target(self) -> str:
        return self.random.choice(["g0", "g1", "g2", "g3", "g4", "g5", "c0", "c1", "t"])

    def _term(self) -> str:
        return self.random.choice(["a", "b", "g0", "g1", "g2", "c0", "c1", "t", str(self.random.randrange(9))])

    def _condition(self) -> str:
        test = (
            f"({self._term()} & {self.random.randrange(1, 8)}) {self.random.choice(['==', '!=', '<'])} {self._term()}"
        )
        if self.random.random() < 0.2:
            return f"{test} && (g{self.random.randrange(6)} = {self._term()}) != 1"
        return f"{test} || !{self._term()}" if self.random.random() < 0.2 else test

    def _statements(self, depth: int, calls: list[str], inside: bool) -> Iterator[str]:
        for _ in range(self.random.randint(1, 3)):
            yield from self._statement(depth, calls, inside)

    def _block(self, depth: int, calls: list[str], inside: bool) -> str:
        return "{ " + "\n".join(self._statements(depth - 1, calls, inside)) + " }"

    def _statement(self, depth: int, calls: list[str], inside: bool) -> Iterator[str]:
        kind = self.random.random() if depth > 0 else 0.0
        if kind < 0.35:
            yield f"{self._target()} = {self._term()} {self.random.choice('&|^')} {self._term()};"
        elif kind < 0.42 and calls:
            yield f"{self._target()} = {self.random.choice(calls)};"
        elif kind < 0.48:
            yield f"if ({self._condition()}) {{ {self._target()} = {self._term()}; return {self._term()}; }}"
        elif kind < 0.53 and inside:
            yield f"if ({self._condition()}) {self.random.choice(['break', 'continue'])};"
        elif kind < 0.8:
            links = [f"if ({self._condition()}) {self._block(depth, calls, inside)}"]
            while self.random.random() < 0.5:
                links.append(f"if ({self._condition()}) {self._block(depth, calls, inside)}")
            last = f" else {self._block(depth, calls, inside)}" if self.random.random() < 0.5 else ""
            yield " else ".join(links) + last
        elif kind < 0.9 and self.loops < 2:
            self.loops += 1
            self.names += 1
            name = f"i{self.names}"
            yield f"for (int {name} = 0; {name} < 2; {name}++) {self._block(depth, calls, True)}"
            self.loops -= 1
        else:
            bodies = [" ".join(self._statements(depth - 1, calls, False)) for _ in range(3)]
            ends = [(body, self.random.choice(["", "break;"])) for body in bodies]
            cases = "".join(f"case {k}: {body} {end}\n" for k, (body, end) in enumerate(ends))
            yield f"switch ({self._term()} & 3) {{ {cases} default: {self._target()} = {self._term()}; }}"


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("seed", range(1, 4))
def test_paths_that_part_and_join_agree_with_the_compiled_original(seed: int, tmp_path: Path) -> None:
    result = agreement(read(tmp_path, Paths(seed).text()), pairs=100)
    assert result.steps > 80
    assert not result.differences
    assert not result.traps
