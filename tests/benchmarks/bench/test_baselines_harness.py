"""The harness for CBMC: its text, and, compiled with a C compiler, the flags that it sets in random runs."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import MODELS, fresh_names
from small_programs import program, project

from benchmarks.bench.tools import cbmc, outcome
from benchmarks.bench.tools.harness import covered, harness
from benchmarks.bench.tools.protocol import Task
from bmc.errors import InputRefused, UsageError
from bmc.explicit.batch import Batch
from bmc.native.original import find_compiler
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.subject import Subject
from properties.monitor import Monitor

GOLDEN = Path(__file__).parent / "harness_latch.c"
FLOATS = MODELS.parent / "floats" / "controllers"

DRIVER = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned long long next_value(void) {
  unsigned long long value;
  if (scanf("%llu", &value) != 1) exit(0);
  return value;
}
#define __CPROVER_input(name, value) ((void)(value))
#include "harness.c"
void __CPROVER_assume(int condition) { if (!condition) { puts("refused"); exit(0); } }
unsigned char cc_nondet_unsigned_char(void) { return next_value(); }
unsigned short cc_nondet_unsigned_short(void) { return next_value(); }
unsigned int cc_nondet_unsigned_int(void) { return next_value(); }
unsigned long long cc_nondet_unsigned_long_long(void) { return next_value(); }
float cc_nondet_float(void) { unsigned bits = next_value(); float x; memcpy(&x, &bits, 4); return x; }
double cc_nondet_double(void) { unsigned long long bits = next_value(); double x; memcpy(&x, &bits, 8); return x; }
void __CPROVER_assert(int condition, const char *description) { FLAGS printf("%d\\n", !condition); }
int main(void) { chaincover_main(); }
"""


def drawn(subject: Subject, runs: int, steps: int) -> list[Run]:
    """Random runs of allowed steps."""
    batch = Batch(subject.system, [goal.antecedent for goal in subject.goals], 5)
    manner = batch.manner(runs)
    found = batch.go_on(batch.repeated(batch.initial(), runs), replace(manner, falls=manner.falls), steps)
    return [
        batch.run(batch.initial(), found.run_inputs(number, int(found.valid[number])))
        for number in np.argsort(-found.valid, kind="stable").tolist()
    ]


def expected(subject: Subject, run: Run) -> list[str]:
    """What the harness has to print after each step."""
    hits = Monitor(subject.goals).covered(run)
    lines = []
    for step in range(1, run.length + 1):
        flags = [any(k + goal.length <= step for k in hits[goal.name]) for goal in subject.goals]
        lines.append("".join(str(int(flag)) for flag in flags))
    return lines


def printed(target: Path, subject: Subject, run: Run) -> list[str]:
    """What the harness prints after each step of ``run``."""
    given = "\n".join(str(step[var.name]) for step in run.inputs for var in subject.system.inputs)
    done = subprocess.run([str(target)], input=given, capture_output=True, text=True, check=True)
    return [line.split()[0] for line in done.stdout.splitlines()]


def built(subject: Subject, folder: Path) -> Path:
    """The harness, compiled with a driver that reads inputs and prints flags."""
    made = harness(subject)
    files = [name for name in made.write(folder) if not name.endswith("harness.c")]
    flags = "".join(f'printf("%d", {covered(number)}); ' for number in range(len(subject.goals)))
    (folder / "driver.c").write_text(DRIVER.replace("FLAGS", flags + 'printf(" ");'))
    compiler = find_compiler()
    assert compiler is not None
    compilation = subject.model.native.compilation
    places = [str(Path(source).parent) for source in compilation.sources] + list(compilation.include_dirs)
    places += [str(Path(path).parent) for _, path in compilation.stand_ins]
    words = [word for place in places for word in ("-I", place)] + [f"-D{n}={v}" for n, v in compilation.defines]
    target = folder / "driver"
    command = [compiler, "-std=gnu11", "-w", *words, str(folder / "driver.c"), *files, "-o", str(target), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target


REMEMBERS = (
    '[ranges]\n"i->b" = [0, 1]\n"i->a" = "0..3"\n'
    '[constraints]\nassume = ["i->a != 3 || X(i->a) != 3"]\n'
    '[[property]]\ntext = "soon: G(rise(i->b) && s->n > 2 -> F[0,3](s->n > 5))"\n'
    '[[property]]\ntext = "far: cover(i->a == 1 && X(i->a == 2) && X[3](s->n == 4))"\n'
    '[[property]]\ntext = "sum: cover(X[2](s->n) == s->n + 2 && i->b)"\n'
)
"""A condition over two steps, a deadline, and goals of several steps, one of which compares values of two steps."""


@pytest.mark.slow
@pytest.mark.needs_compiler
@pytest.mark.parametrize("name", ["alarm", "elevator", "fan", "mixer", "turnsignal", "wiper", "belt", "cruise", "mode"])
def test_the_flags_are_what_the_goals_mean(name: str, tmp_path: Path) -> None:
    place = FLOATS / name if name in ("cruise", "mode") else MODELS / name
    with fresh_names():
        subject = load(read_project(str(place)))
        target = built(subject, tmp_path)
        for run in drawn(subject, 12, 60):
            assert printed(target, subject, run) == expected(subject, run)


@pytest.mark.needs_compiler
def test_goals_of_several_steps_and_what_the_project_remembers(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(program("if (i->b && s->n < 9) s->n++; else if (i->a == 3) s->n = 0;"))
    (tmp_path / "chaincover.toml").write_text(project(REMEMBERS))
    with fresh_names():
        subject = load(read_project(str(tmp_path)))
        target = built(subject, tmp_path / "out")
        ever = set[int]()
        for run in drawn(subject, 30, 40):
            assert printed(target, subject, run) == expected(subject, run)
            ever |= {place for place, flag in enumerate(expected(subject, run)[-1]) if flag == "1"}
        assert ever == {0, 1, 2}
        twice = [{"i->a": 3, "i->b": 0}, {"i->a": 3, "i->b": 0}]
        simulator = Simulator(subject.system)
        assert printed(target, subject, simulator.run(simulator.initial(), twice)) == ["000", "refused"]


def test_the_harness_of_latch_is_as_it_was() -> None:
    with fresh_names():
        made = harness(load(read_project(str(MODELS / "latch"))))
    assert made.files["harness.c"] == GOLDEN.read_text()
    assert re.fullmatch(r'#include ".*latch\.c"\n', made.files["source-0.c"])
    assert (made.inputs, made.chosen) == (("set", "reset"), ())


def test_a_static_local_of_a_goal_stands_at_file_scope() -> None:
    with fresh_names():
        made = harness(load(read_project(str(MODELS / "turnsignal"))))
    original = (MODELS / "turnsignal" / "turnsignal.c").read_text()
    assert made.files["source-0.c"] == original.replace("  static uint8_t ticks;", "  extern uint8_t ticks;")
    assert '#include "source-0.c"\nuint8_t ticks;\n' in made.files["harness.c"]


@pytest.mark.parametrize("declared", ["static unsigned char\n  hidden;", "static unsigned char other, hidden;"])
def test_a_static_local_that_is_not_declared_by_itself_on_a_line_is_refused(declared: str, tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(program(f"{declared}\n  hidden = i->b; s->n = hidden;"))
    (tmp_path / "chaincover.toml").write_text(project('[[property]]\ntext = "h: cover(hidden == 1)"\n'))
    with fresh_names(), pytest.raises(InputRefused, match="cannot see the static local 'compute::hidden'"):
        harness(load(read_project(str(tmp_path))))


TRACE = """[
 {"program": "CBMC 6"},
 {"messageType": "STATUS-MESSAGE", "messageText": "Building error trace"},
 {"description": "CC_WANTED", "status": "failed", "trace": [
  {"stepType": "function-call"},
  {"stepType": "input", "inputID": "cc_in_0", "values": [{"binary": "00000001", "data": "1"}]},
  {"stepType": "input", "inputID": "cc_in_1", "values": [{"binary": "00000000", "data": "0"}]},
  {"stepType": "input", "inputID": "cc_in_0", "values": [{"data": "0ull"}]},
  {"stepType": "input", "inputID": "cc_in_1", "values": [{"data": "1ull"}]}
 ]},
 {"cProverStatus": "failure"}
]"""


def test_a_trace_tells_the_inputs_of_each_step() -> None:
    with fresh_names():
        subject = load(read_project(str(MODELS / "latch")))
        answer = cbmc.answer_of(TRACE, True)
        (trace,) = answer.traces
        case = cbmc.case_of(trace, harness(subject), subject)
    assert list(case.inputs) == [{"set": 1, "reset": 0}, {"set": 0, "reset": 1}]
    assert answer.message == ""


def test_what_was_cut_by_the_time_is_read_as_far_as_it_goes() -> None:
    assert cbmc.answer_of(TRACE[: TRACE.index('"inputID": "cc_in_1"')], False).traces == []
    assert len(cbmc.answer_of(TRACE[: TRACE.index('{"cProverStatus')], False).traces) == 1
    wrong = '[{"messageType": "ERROR", "messageText": "syntax error"}]'
    assert cbmc.answer_of(wrong, True).message == "syntax error"
    assert cbmc.answer_of("", False).traces == []


def test_what_is_missing_is_told_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CBMC", "no-such-cbmc")
    tool = cbmc.Cbmc()
    assert "no-such-cbmc" in tool.missing()
    assert "github.com/diffblue/cbmc" in tool.missing()
    with pytest.raises(UsageError, match="no-such-cbmc"):
        cbmc.Installed.at("no-such-cbmc")
    settings = {"mode": "per-goal", "path": "elsewhere", "unwind": 4}
    assert settings.keys() == tool.settings
    words = list(tool.command(Task(MODELS / "latch", (), settings, 1, 9.0, 100), tmp_path))
    given = cbmc.main.make_context("cbmc", words[3:]).params
    assert (given["mode"], given["where"], given["unwind"]) == ("per-goal", "elsewhere", 4)


@pytest.mark.needs_compiler
@pytest.mark.parametrize(
    ("name", "mode", "chains", "length"), [("latch", "chain", 1, 6), ("cruise", "per-goal", 4, 21)]
)
def test_cbmc_finds_what_is_known(name: str, mode: str, chains: int, length: int, tmp_path: Path) -> None:
    if not shutil.which(cbmc.place()):
        pytest.skip("needs CBMC")
    with fresh_names():
        cbmc.main.main([str(MODELS / name), "--mode", mode, "-o", str(tmp_path)], standalone_mode=False)
    (found,) = outcome.read(tmp_path, 0)
    assert (found.chains, found.length, found.minimal) == (chains, length, mode == "chain")
    assert set(found.verdicts.values()) == {"covered"}
