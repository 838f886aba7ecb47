"""Branches, conditions and MC/DC against what instrumented programs log while the compiled code runs."""

from __future__ import annotations

import itertools
import random
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from c_support import fresh_environment, own_environment, read
from coverage_programs import HEAD, INPUTS, MAIN, PROGRAMS, STATE, boolean_function, decides

from bmc.errors import Location
from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.model import CModel
from bmc.models.c.controller.reading import SourceConfig
from bmc.native.original import find_compiler
from bmc.system.simulation import Simulator
from bmc.system.transition import Run, Valuation
from properties.coverage import CoverageCriterion, generate_goals
from properties.goal import Goal
from properties.monitor import Monitor

__all__ = ["own_environment"]

CRITERIA = ("branches()", "conditions()", "mcdc()")
Entry = tuple[int, int, int]
"""A logged line, number and value."""
Places = dict[tuple[int, str], set[int]]
"""The steps at which a line had an outcome: ``true``, ``default``, ``2=false`` (of its second condition)."""


def goals_of(model: CModel, criterion: str) -> list[Goal]:
    return generate_goals(model, [CoverageCriterion(criterion, Location("test"))])


def random_run(model: CModel, steps: int, seed: int) -> Run:
    """Steps along one run, all of them defined, from small random values."""
    source = random.Random(seed)
    simulator = Simulator(model.system)
    states: list[Valuation] = [{**simulator.initial(), **{name: source.randrange(4) for name in STATE}}]
    inputs: list[Valuation] = []
    for _ in range(steps):
        inputs.append({name: source.randrange(-2, 4) % 256 for name in INPUTS})
        assert simulator.allowed(states[-1], inputs[-1])
        states.append(simulator.step(states[-1], inputs[-1]))
    return Run(tuple(states), tuple(inputs))


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def logged(source: Path, run: Run) -> list[list[Entry]]:
    """For each step of ``run`` what the compiled program logs."""
    command = find_compiler()
    assert command is not None
    program = source.with_suffix(".out")
    subprocess.run([*shlex.split(command), "-w", "-DLOG", str(source), "-o", str(program)], check=True)
    bits = {"s->n": 32}
    rows = []
    for state, inputs in zip(run.states, run.inputs, strict=False):
        values = {**state, **inputs}
        rows.append(" ".join(str(signed(values.get(name, 0), bits.get(name, 8))) for name in STATE + INPUTS))
    done = subprocess.run([str(program)], input="\n".join(rows), check=True, capture_output=True, text=True)
    steps = [[int(word) for word in line.split()] for line in done.stdout.splitlines()]
    assert len(steps) == len(run.inputs)
    return [[(w[k], w[k + 1], w[k + 2]) for k in range(0, len(w), 3)] for w in steps]


def branch_outcomes(lines: Sequence[str], step: Sequence[Entry]) -> Iterator[tuple[int, str]]:
    """(line, outcome) of the branches of a step; a logical expression that steers nothing is no branch."""
    for line, k, value in step:
        if k == 0 and re.search(r"\b(if|while|for) \(|\?", lines[line - 1]):
            yield line, "true" if value else "false"
        elif k == -1:
            body = _switch_body("\n".join(lines[line - 1 :]))
            labels = [int(number) for number in re.findall(r"\bcase (-?\d+):", body)]
            other = "default" if "default:" in body else "no-case"
            yield line, str(value) if value in labels else other


def _switch_body(text: str) -> str:
    """The body of the switch with which ``text`` begins, without switches (of one line) inside of it."""
    text = text[text.index("{") :]
    depth = list(itertools.accumulate({"{": 1, "}": -1}.get(character, 0) for character in text))
    return re.sub(r"switch .*\}", "", text[1 : depth.index(0)])


def evaluations(step: Sequence[Entry]) -> Iterator[tuple[int, dict[int, int]]]:
    """(line, values of the conditions that were evaluated) of each evaluation of a decision."""
    begun: dict[int, dict[int, int]] = {}
    for line, k, value in step:
        if k > 0:
            begun.setdefault(line, {})[k] = value
        elif k == 0:
            yield line, begun.pop(line)


def expected(text: str, steps: Sequence[Sequence[Entry]]) -> dict[str, Places]:
    """Where each criterion's goals are covered, by the log alone."""
    lines = text.splitlines()
    found: dict[str, Places] = {criterion: {} for criterion in CRITERIA}
    for number, step in enumerate(steps):
        for key in branch_outcomes(lines, step):
            found["branches()"].setdefault(key, set()).add(number)
        for line, seen in evaluations(step):
            function, numbers = boolean_function(lines[line - 1])
            for k, value in seen.items():
                key = line, f"{k}={'true' if value else 'false'}"
                found["conditions()"].setdefault(key, set()).add(number)
                if decides(function, numbers, seen, k):
                    found["mcdc()"].setdefault(key, set()).add(number)
    return found


def by_place(goals: Sequence[Goal], run: Run) -> Places:
    """Where each goal is covered by ``run``, by its line and outcome."""
    covered = Monitor(goals).covered(run)
    found: Places = {}
    for goal in goals:
        match = re.fullmatch(r"\w+:(\d+):\d+(?:=|\.(?=\d))(.*)", goal.name)
        assert match, goal.name
        assert goal.where is not None
        key = int(match[1]), match[2]
        assert key not in found
        assert key[0] == goal.where.line
        found[key] = set(covered[goal.name])
    return found


@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", PROGRAMS)
def test_goals_are_covered_where_the_compiled_program_says_so(name: str, tmp_path: Path) -> None:
    text = HEAD + PROGRAMS[name] + MAIN
    model = read(tmp_path, text, init=("init",), input=("i->*",))
    run = random_run(model, 400, seed=1)
    hit = expected(text, logged(tmp_path / "program.c", run))
    for criterion in CRITERIA:
        found = by_place(goals_of(model, criterion), run)
        assert set(hit[criterion]) <= set(found), criterion
        assert found == {key: hit[criterion].get(key, set()) for key in found}, criterion
        if name != "dead code":
            assert len(hit[criterion]) > 0.85 * len(found), "the run is too poor to tell"


def test_dead_code_gives_goals_that_nothing_satisfies(tmp_path: Path) -> None:
    """It is listed where its function is called at all; loops with a literal condition are no decisions."""
    text = """
    typedef struct { int x; } t; static int never(int x) { if (x) return 1; return 2; }
    static void set(t *s, int on, int v) { if (on) { if (v > 0 && s->x) s->x = v; } }
    void step(t *s, int a) {
      set(s, 0, a);
      if (0) s->x = never(a);
      do { s->x = a; } while (0);
      while (1) { break; }
      if (sizeof(a && a) > 4 ? a : 0) { s->x++; }
    }
    """
    model = read(tmp_path, text)
    goals = {g.name: g.antecedent for g in goals_of(model, "conditions()")}
    assert {name.rpartition(".")[0] for name in goals} == {
        "condition:3:44",  # if (on)
        "condition:3:54",  # if (v > 0 && s->x)
        "condition:6:7",  # if (0)
        "condition:9:7",  # if
        "condition:9:11",  # sizeof(a && a) > 4 ?
    }
    possible = {name for name, antecedent in goals.items() if not antecedent.is_false()}
    always = {"condition:3:44.1=false", "condition:6:7.1=false", "condition:9:11.1=false", "condition:9:7.1=false"}
    assert possible == always
    assert all(goals[name].is_true() for name in always)


def test_decisions_of_headers_and_several_files_are_told_apart(tmp_path: Path) -> None:
    """Code of a header that two files include is one decision; with several files, names begin with the file's."""
    (tmp_path / "limit.h").write_text("static inline int limit(int v) { return v > 9 ? 9 : v; }\n")
    (tmp_path / "other.c").write_text('#include "limit.h"\nint other(int v) { if (v) v = limit(v); return v; }\n')
    text = '#include "limit.h"\nint other(int v);\nint x;\nvoid step(int a) { x = limit(a - 1) + other(a); }\n'
    (tmp_path / "main.c").write_text(text)
    fresh_environment()
    model = read_c(SourceConfig("p", tuple(str(tmp_path / name) for name in ("main.c", "other.c")), step="step"))
    goals = goals_of(model, "branches()")
    names = [goal.name for goal in goals]
    assert names == [
        "branch:limit.h:1:41=true",
        "branch:limit.h:1:41=false",
        "branch:other.c:2:20=true",
        "branch:other.c:2:20=false",
    ]
    simulator = Simulator(model.system)
    for a in range(8, 13):
        covered = Monitor(goals).covered(simulator.run(simulator.initial(), [{"a": a}]))
        assert (covered[names[0]] == [0]) == (a > 9)  # limit(a) in the other file, limit(a - 1) here
        assert (covered[names[1]] == [0]) == (a - 1 <= 9)


def test_two_decisions_at_one_place_have_two_names(tmp_path: Path) -> None:
    """The parser places an expression where its first operand stands."""
    model = read(tmp_path, "int x; void step(int a, int b, int c) { x = (a ? b : c) && c; }")
    names = [goal.name for goal in goals_of(model, "mcdc()")]
    assert len(names) == len(set(names)) == 6
    assert {name.rpartition(".")[0] for name in names} == {"mcdc:1:46", "mcdc:1:46~2"}
    assert {g.text for g in goals_of(model, "branches()")} == {"a ?: is true", "a ?: is false"}


def test_macros_and_casts_in_case_labels(tmp_path: Path) -> None:
    text = """#define ON ((unsigned char)2U)
    enum { IDLE = 7 }; int x;
    void step(unsigned char a) { switch (a) { case ON: case IDLE: x = 1; break; case 'c': break; case 4 + 4: ; } }
    """
    goals = goals_of(read(tmp_path, text), "branches()")
    ends = [goal.name.rpartition("=")[2] for goal in goals]
    assert ends == ["2U", "IDLE", "case-3", "case-4", "no-case"]
    assert [goal.text for goal in goals][2] == "case 'c' in switch (a)"


def test_what_is_no_decision_of_the_step(tmp_path: Path) -> None:
    """Assertions, constant expressions, types, start values of statics, and what init or a property function calls."""
    text = """#include <assert.h>
    int x; void __CPROVER_assume(int c);
    void init(void) { x = x > 1 && x < 4; if (x) x = 0; }
    void p(int a) { __CPROVER_assume(a && x); if (a) x = 1; }
    void step(int a) {
      static int kept = 1 && 1; int list[1 || 0] = {0};
      __CPROVER_assume(a > 0 || x > 0);
      switch (a & 7) { case (1 && 1) + 4: x = list[0]; break; default: x = (int)sizeof(char[1 && 1]) + kept; }
      assert(x < 1000 && a != 7);
    }
    """
    model = read(tmp_path, text, init=("init",))
    assert goals_of(model, "conditions()") == goals_of(model, "mcdc()") == []
    assert [g.name for g in goals_of(model, "branches()")] == ["branch:8:7=case-1", "branch:8:7=default"]
