"""Runs, waits and questions from states that few runs reach: what they note is true, and where one means alone ends
another one goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from boards import Kept
from chain_checks import check_run
from enumerated import one_step
from problems import problem_of
from pysmt.shortcuts import BVULT, TRUE, BVAdd, Equals, Ite
from random_systems import random_case

from benchmarks.checks.generated.systems import generated_case
from bmc.engines import choose
from bmc.formulas.unroll import at
from bmc.models.c.source.survey import apart
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, StateVariable, TransitionSystem, ValueType
from chaincover.known import Board, Known
from chaincover.limits import UNITS, Limits
from chaincover.options import Options
from chaincover.pipeline import STAGES
from chaincover.problem import Problem
from chaincover.project.load import Request, load_request
from chaincover.replaying.judge import Judge
from chaincover.runs import archive, explore
from chaincover.runs.archive import conditions
from chaincover.runs.explore import Exploration
from chaincover.stages import take_turns
from properties.goal import Goal
from properties.monitor import Monitor

LOCK = """\
typedef struct { unsigned char ready, have, byte; } t_in;
typedef struct { unsigned short warm; unsigned char at, sum, buf[3]; unsigned char open; } t_st;
void init(t_st *s) { s->warm = 0; s->at = 0; s->sum = 0; s->buf[0] = s->buf[1] = s->buf[2] = 0; s->open = 0; }
void compute(t_in *i, t_st *s) {
  if (!i->ready) s->warm = 0; else if (s->warm < 400) s->warm++;
  if (s->warm < 400) s->at = 0;
  else if (i->have) {
    if (s->at < 3) s->buf[s->at++] = i->byte;
    else {
      unsigned char sum = (unsigned char)(s->buf[0] * 7 + (s->buf[1] ^ s->buf[2]));
      s->at = 0;
      s->open = i->byte == sum && s->buf[0] == 0x5A && s->buf[1] == 0xC3 && s->buf[2] > 200;
    }
  }
}
"""
"""It opens after 400 steps of warming up and a word of four bytes, the last of which is a checksum."""


def board_of(problem: Problem, units: float = 20.0, engine: str = "auto") -> Board:
    limits, chosen = Limits(effort=units / UNITS), choose(engine)
    limits.watch(chosen)
    return Board(Known(problem), Options(overlap=problem.overlap), chosen, limits, Kept(), Judge(problem))


def lock(folder: Path) -> Problem:
    (folder / "lock.c").write_text(LOCK, encoding="utf-8")
    goals = ("cover(s->open == 1)", "cover(s->warm == 399)")
    return load_request(Request(str(folder / "lock.c"), properties=goals, final="s->open == 0 && s->warm == 0")).problem


def explored(problem: Problem, units: float = 20.0) -> Board:
    board = board_of(problem, units)
    take_turns([stage for stage in STAGES if stage.name == "explore"], board)
    return board


def test_a_checksum_after_a_long_wait_is_met(tmp_path: Path) -> None:
    with apart():
        board = explored(lock(tmp_path))
        chain = board.known.chain
        assert chain is not None
        assert board.known.complete
        assert chain.length > 400
        problem = board.known.problem
        check_run(problem.system, problem.goals, problem.final, problem.overlap, chain.run)


@pytest.mark.slow
@pytest.mark.parametrize("means", ["_ask", "_await"])
def test_neither_questions_nor_waits_are_enough(means: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Exploration, means, lambda self: False)
    with apart():
        assert not explored(lock(tmp_path), 2.0).known.complete


def drawn(seed: int, overlap: str = "allow") -> Problem:
    case = generated_case(seed, states=16, goals=4, longest=2) if seed % 2 else random_case(seed, longest=2)
    return problem_of(*one_step((case.system, case.goals, case.final), overlap), overlap)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_noted_of_a_state_is_what_the_simulator_says(seed: int) -> None:
    """The way leads there in as many steps, all of them allowed, and covers the goals that were noted."""
    problem = drawn(seed)
    board = board_of(problem, 2.0)
    search, simulator = Exploration(board), Simulator(problem.system)
    for _ in range(12):
        search.go_on()
    noted, monitor = search.archive, Monitor(list(problem.goals))
    assert len(noted.kept) > 1
    for number in noted.kept.tolist():
        run = simulator.run(simulator.initial(), noted.inputs(number))
        assert run.length == noted.steps[number]
        assert simulator.valid_part(run).length == run.length
        assert run.states[-1] == noted.state(number)
        covered = monitor.covered(run)
        assert [bool(covered[goal.name]) for goal in problem.goals] == noted.covers[number].tolist()


@pytest.mark.parametrize("overlap", ["allow", "forbid"])
def test_chains_are_runs_through_the_goals_they_name(overlap: str) -> None:
    chains = 0
    for seed in range(6):
        problem = drawn(seed, overlap)
        if (chain := explored(problem, 0.5).known.chain) is not None:
            chains += 1
            check_run(problem.system, problem.of(chain.goals).goals, problem.final, overlap, chain.run)
    assert chains > 2


def test_an_engine_that_asks_about_one_state_at_a_time_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore, "GroupSession", int)  # no session is one
    with apart():
        assert explored(lock(tmp_path), 40.0).known.complete


def test_a_full_archive_gives_way_to_a_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    class Counted(Exploration):
        def __init__(self, board: Board) -> None:
            begun.append(self)
            super().__init__(board)

    for room in (archive, explore):
        monkeypatch.setattr(room, "KEPT", 16)
    monkeypatch.setattr(explore, "Exploration", Counted)
    with apart():
        board = explored(lock(tmp_path), 4.0)
    assert len(begun) > 1
    assert board.known.chain is not None


COUNT, GO = ValueType("explored count", 8), ValueType("explored go", 1)


def counter() -> TransitionSystem:
    """An input sets the counter back before it is compared."""
    count, go = COUNT.symbol("explored_count"), GO.symbol("explored_go")
    now = Ite(Equals(go, GO.constant(1)), COUNT.constant(0), count)
    more = Ite(Equals(now, COUNT.constant(9)), COUNT.constant(100), BVAdd(now, COUNT.constant(1)))
    state = (StateVariable("explored_count", COUNT, COUNT.constant(0), more),)
    return TransitionSystem("counter", state, (InputVariable("explored_go", GO, ((0, 1),)),), TRUE())


def test_conditions_are_those_of_the_step_without_its_choices() -> None:
    """The comparison reads the input; what it says of the state is whether the counter is 9."""
    assert conditions(counter()) == [Equals(COUNT.symbol("explored_count"), COUNT.constant(9))]


def test_of_states_that_are_alike_the_one_with_more_goals_is_kept() -> None:
    system = counter()
    noted = archive.Archive(system, 1, {"explored_count": 3})
    inputs = {"explored_go": np.array([[1], [0]], np.uint8)}
    states = {"explored_count": np.array([[3], [1], [2]], np.uint8)}
    runs = archive.Runs(states, inputs, 2, np.array([2]))
    assert noted.kept.tolist() == [0]
    assert not len(noted.add(np.array([0]), runs, np.array([[archive.NEVER]]), [], 0))
    assert noted.add(np.array([0]), runs, np.array([[2]]), [], 0).tolist() == [1]
    assert noted.kept.tolist() == [1]
    assert noted.inputs(1) == [{"explored_go": 1}, {"explored_go": 0}]


KEY, HELD = ValueType("explored key", 8), ValueType("explored hold", 9)


def keyed() -> TransitionSystem:
    """One key begins what takes 300 steps, as long as that key stays."""
    key, held = KEY.symbol("explored_key"), HELD.symbol("explored_hold")
    more = Ite(BVULT(held, HELD.constant(300)), BVAdd(held, HELD.constant(1)), held)
    after = Ite(Equals(key, KEY.constant(173)), more, HELD.constant(0))
    state = (StateVariable("explored_hold", HELD, HELD.constant(0), after),)
    return TransitionSystem("keyed", state, (InputVariable("explored_key", KEY, ((0, 255),)),), TRUE())


def test_waits_keep_the_inputs_by_which_a_state_was_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn inputs hardly ever are that key, and questions do not look so far ahead."""
    for means in ("_ask", "_draw", "_join", "_end"):
        monkeypatch.setattr(Exploration, means, lambda self: False)
    system = keyed()
    held = HELD.symbol("explored_hold")
    formulas = {"begun": Equals(held, HELD.constant(1)), "done": Equals(held, HELD.constant(300))}
    goals = [Goal(name, at(each, 0), None, 0) for name, each in formulas.items()]
    board, simulator = board_of(problem_of(system, goals, None), 1.0), Simulator(system)
    board.offer(simulator.run(simulator.initial(), [{"explored_key": 173}]))
    take_turns([stage for stage in STAGES if stage.name == "explore"], board)
    chain = board.known.chain
    assert chain is not None
    assert chain.goals == {"begun", "done"}
    assert chain.length == 300


def test_waits_begin_where_each_condition_holds_in_turn() -> None:
    """What is chosen has a state for each value that a condition asks for, before others are chosen twice."""
    system = counter()
    count = COUNT.symbol("explored_count")
    noted = archive.Archive(system, 1, {"explored_count": 0}, [Equals(count, COUNT.constant(2 * n)) for n in range(4)])
    values = np.arange(10, dtype=np.uint8)[:, None]
    runs = archive.Runs({"explored_count": values}, {"explored_go": np.zeros((9, 1), np.uint8)}, 9, np.array([9]))
    noted.add(np.array([0]), runs, np.array([[archive.NEVER]]), [], 0)
    tried = np.zeros(archive.KEPT, np.int64)
    chosen = noted.varied(tried, 5)
    assert {noted.state(number)["explored_count"] for number in chosen} == {0, 2, 4, 6, 9}
    tried[chosen] += 1
    assert len(noted.varied(tried, 2)) == 2


def test_states_near_to_a_missing_goal_are_gone_on_from_first() -> None:
    """The state in which the second goal is covered is nearest to the third one; it is not the first one again."""
    system = keyed()
    held = HELD.symbol("explored_hold")
    goals = [Goal(f"at {value}", at(Equals(held, HELD.constant(value)), 0), None, 0) for value in (1, 200, 300)]
    board, simulator = board_of(problem_of(system, goals, None), 1.0), Simulator(system)
    board.offer(simulator.run(simulator.initial(), [{"explored_key": 173}] * 299))
    search = Exploration(board)
    search._take_known()
    tried = np.zeros(archive.KEPT, np.int64)
    nearest = search._near(tried, 1)
    assert [search.archive.state(number)["explored_hold"] for number in nearest] == [200]
    tried[nearest] += 1
    assert search._near(tried, 1) != nearest
