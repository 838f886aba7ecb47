"""There is a first chain before what may take long, also where a counter runs freely and states have no end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from boards import board_of, run_by
from listeners import Told
from machines import fork
from pysmt.shortcuts import FALSE

from bmc.system.transition import Run
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.project.load import Request, load_request
from chaincover.reductions import slicing
from chaincover.reductions.reduction import Reduction
from chaincover.runs.random import RandomRuns

CLOCK = """\
typedef struct { _Bool go; } t_input; typedef struct { unsigned long now, last; unsigned char t, fc_m; } t_state;
void init(t_state *s){ s->now=0; s->last=0; s->t=0; s->fc_m=0; }
void compute(t_input *i,t_state *s){ s->now += 100;
  if(s->now >= s->last + 100){ s->last += 100; if(s->t<255) s->t++; }
  if(s->fc_m==0){ if(i->go){ s->fc_m=1; s->t=0; } }
  else if(s->fc_m==1){ if(s->t>=50) s->fc_m=2; else if(!i->go) s->fc_m=0; } else if(!i->go) s->fc_m=0; }
"""
BESIDE = """\
typedef struct { _Bool go; double x; } t_input;
typedef struct { unsigned time; double level, peak; unsigned up, down; unsigned char fc_m; } t_state;
void init(t_state *s){ s->time=0; s->level=0; s->peak=0; s->up=0; s->down=4000000000u; s->fc_m=0; }
void compute(t_input *i,t_state *s){ s->time += 10;
  if(s->up < 4000000000u) s->up++; if(s->down > 0) s->down--;
  s->level = i->x; if(s->level > s->peak) s->peak = s->level;
  if(s->fc_m==0){ if(i->go && s->up > 5 && s->peak > 1.0) s->fc_m=1; }
  else if(s->fc_m==1){ if(s->time % 70 == 0 && s->down < 3999999990u) s->fc_m=2; } else if(!i->go) s->fc_m=0; }
"""
NO_INPUT = """\
typedef struct { int n; unsigned char fc_m; } t_state;
void init(t_state *s){ s->n=0; s->fc_m=0; }
void compute(t_state *s){ if (s->n < 100000000) s->n += 7;
  if(s->fc_m==0){ if(s->n > 20) s->fc_m=1; }
  else if(s->fc_m==1){ if(s->n >= 50) s->fc_m=2; } else if (s->n % 5 == 0) s->fc_m=0; }
"""
TRIPLE = CLOCK.replace("s->now >= s->last + 100", "s->now * 3 >= s->last * 3 + 300")
"""It has no normal form of finitely many states."""

FIRST_UNITS = 2.5
"""Units of work within which there is the first chain; about as many seconds."""


def modes(text: str, place: Path) -> Problem:
    """The problem of a program whose variable ``fc_m`` has the values 0 to 2."""
    file = place / "c.c"
    file.write_text(text, encoding="utf-8")
    return load_request(Request(str(file), cover=("transitions(fc_m, 0..2)",), final="none")).problem


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "goals"),
    [
        (TRIPLE, 4),
        pytest.param(BESIDE, 3, marks=pytest.mark.evidence),
        pytest.param(NO_INPUT, 3, marks=pytest.mark.evidence),
    ],
)
def test_random_runs_give_a_chain_before_states_are_searched_in_layers(text: str, goals: int, tmp_path: Path) -> None:
    told = Told("exact graph")
    found = generate(modes(text, tmp_path), Options(), told)
    assert found.chain is not None
    assert len(found.chain.hits) == goals
    assert found.answered.effort < FIRST_UNITS


@pytest.mark.slow
def test_a_normal_form_that_takes_long_waits_for_random_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is known by then is told, and goes on to be known in the normal form."""
    goals: list[int] = []
    told = Told("exact graph")
    made = slicing._prover

    def prover(options: Options, limits: Limits) -> object:
        def slow() -> float | None:
            goals.append(max((len(result.chain.hits) for result in told.results if result.chain), default=0))
            limits.spend(1.0)
            limits.check()
            return None

        return made(options, limits), slow

    def normal_states(
        asked: tuple[object, Callable[[], float | None]], least: int | None = None
    ) -> Callable[[Problem], Reduction]:
        def reduce(problem: Problem) -> Reduction:
            for _ in range(4):
                asked[1]()
            return Reduction(problem, lambda result: result, {"s->now": FALSE()})

        return reduce

    monkeypatch.setattr(slicing, "_prover", prover)
    monkeypatch.setattr(slicing, "normal_states", normal_states)
    found = generate(modes(CLOCK, tmp_path), Options(), told)
    assert goals[0] >= 1, "there is a first chain"
    assert {*goals[1:]} == {4}, "the whole turn of random runs comes before the rest of it"
    assert found.chain is not None
    assert len(found.chain.hits) == 4


@pytest.mark.slow
def test_what_random_runs_know_is_told_before_they_are_paused(tmp_path: Path) -> None:
    problem, limits = modes(CLOCK, tmp_path), Limits()
    told: list[Run] = []
    paused: list[tuple[int, int]] = []
    runs = RandomRuns(problem, limits)
    runs.before_pause = told.append

    def pause() -> None:
        paused.append((runs._told, runs._most))
        limits.pause_after(0.001, pause)

    limits.pause_after(0.001, pause)
    last = list(runs.runs())[-1]
    assert all(known == most for known, most in paused)
    assert paused[-1][1] > 1
    assert told
    assert all(run.length <= last.length for run in told)


def test_a_run_of_the_problem_before_is_one_of_the_problem_now() -> None:
    """Its states are other ones, such as the differences of clocks; its inputs are the same."""
    board, _ = board_of(fork(stuck=False))
    run = run_by(board.known.problem.system, 1, 0, 0)
    before = Run(tuple({"clock": step, **state} for step, state in enumerate(run.states)), run.inputs)
    assert board.replay(before) == run
