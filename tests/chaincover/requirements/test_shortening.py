"""Runs that violate requirements without detours and without steps that nothing needs, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import fresh_names, write_files

from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.limits import UNITS, Limits
from chaincover.options import Options
from chaincover.problem import Problem
from chaincover.project.load import Request, load_request
from chaincover.requirements.violations import Search, shortened
from chaincover.result import Silent
from chaincover.subject import Subject
from properties.goal import violation
from properties.monitor import Monitor

HEATER = """\
static int heat; static unsigned char clock; _Bool alarm;
void init(void) { heat = 0; clock = 0; alarm = 0; }
void step(_Bool on) { clock++; if (on) heat += 3; else if (heat > 0) heat--; alarm = heat > 30; }
"""
PROJECT = """\
name = "heater"
[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "step"
[interface]
input = ["on"]
output = ["alarm"]
[[property]]
id = "cool"
text = "G(on -> X(!alarm))"
[[property]]
id = "soon"
text = "G(rise(alarm) -> F[0,4](!alarm))"
"""


@pytest.fixture
def heater(tmp_path: Path) -> Subject:
    """A heater beside a clock that no requirement reads."""
    write_files(tmp_path, {"c.c": HEATER, "chaincover.toml": PROJECT})
    with fresh_names():
        return load_request(Request(str(tmp_path / "chaincover.toml")))


def run_of(subject: Subject, pattern: str) -> Run:
    """The run in which the heater is on in the steps of ``#``."""
    simulator = Simulator(subject.system)
    return simulator.run(simulator.initial({}), tuple({"on": int(each == "#")} for each in pattern))


def violated(subject: Subject, name: str) -> Problem:
    """The problem of a run that violates the property ``name``."""
    goal = next(goal for goal in subject.goals if goal.name == name)
    return Problem(subject.system, (violation(goal, {"on"}),), None)


def test_idle_steps_and_detours_are_left_out(heater: Subject) -> None:
    """The states of a detour are alike but for the clock, which the requirement does not depend on."""
    idle_first_and_a_way_back = "..." + "####" + "." * 12 + "###########"
    problem = violated(heater, "cool")
    run = shortened(problem, run_of(heater, idle_first_and_a_way_back), Limits())
    assert [inputs["on"] for inputs in run.inputs] == [1] * 11
    assert Monitor(problem.goals).covered(run) == {"violation:cool": [10]}
    assert run.states[-1]["clock"] == 11, "the run is one from init, in all its variables"


def test_steps_that_nothing_needs_are_left_out_though_no_state_comes_twice(heater: Subject) -> None:
    problem = violated(heater, "cool")
    run = shortened(problem, run_of(heater, "####." + "####." + "####." + "####"), Limits())
    assert run.length == 11


def test_with_little_effort_what_was_left_out_by_then_stays(heater: Subject) -> None:
    problem, long = violated(heater, "cool"), run_of(heater, "####." * 60)
    end = Monitor(problem.goals).covered(long)["violation:cool"][0] + 1
    run = Run(long.states[: end + 1], long.inputs[:end])
    lengths = [shortened(problem, run, Limits(effort=units / UNITS)).length for units in (1e-9, 1.0)]
    assert lengths == [end, 11]


def test_a_run_to_a_deadline_that_passes_keeps_the_steps_in_which_it_passes(heater: Subject) -> None:
    problem = violated(heater, "soon")
    long = run_of(heater, "..." + "#" * 11 + "." * 20 + "#" * 20)
    end = problem.over("violation:soon", Monitor(problem.goals).covered(long)["violation:soon"][0])
    run = shortened(problem, Run(long.states[: end + 1], long.inputs[:end]), Limits())
    assert run.length < end - 3
    steps = Monitor(problem.goals).covered(run)["violation:soon"]
    assert [problem.over("violation:soon", step) for step in steps] == [run.length]


def test_a_run_that_was_made_shorter_is_called_shortest_only_where_that_is_proved(heater: Subject) -> None:
    search = Search(heater.problem, Options(), Limits(), Silent())
    assert search.take([run_of(heater, "....." + "#" * 12)])
    ruling = next(each for each in search.tidied("").rulings if each.goal == "cool")
    assert ruling.failure is not None
    assert (ruling.failure.run.length, ruling.failure.step, ruling.failure.shortest) == (11, 10, False)
    assert ruling.detail == "a run of 11 steps violates it"
