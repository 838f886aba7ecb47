"""Stages in turns: each is paused when its turn is over, goes on where it was, and all end when nothing is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from weakref import finalize

import pytest
from boards import board_of, run_by
from machines import fork

from bmc import footprint
from bmc.engines.protocol import WORK, Cost
from bmc.errors import LimitReached, MemoryLimitReached
from chaincover import pipeline
from chaincover.chain import NO_WAY_TO_FINAL
from chaincover.facts import CHAIN, Fact
from chaincover.known import Board, Reason
from chaincover.limits import LOOK, QUESTION, UNITS, Limits
from chaincover.reductions import smaller_search
from chaincover.requirements import violations
from chaincover.stages import FIRST_TURN, LONGEST_TURN, MOST_TURNS, PARTS, Stage, await_news, pause, take_turns

Work = Callable[[Board], None]


def steps(log: list[str], name: str, number: int, units: float = FIRST_TURN) -> Work:
    """A stage that spends ``units`` before each of ``number`` entries."""

    def work(board: Board) -> None:
        for step in range(number):
            log.append(f"{name}{step}")
            board.limits.spend(units)
            board.limits.check()

    return work


def small_board(limits: Limits | None = None) -> Board:
    return board_of(fork(stuck=False), limits=limits)[0]


def test_no_stage_starves_another_and_each_goes_on_where_it_was() -> None:
    log: list[str] = []
    take_turns([Stage("a", steps(log, "a", 4)), Stage("b", steps(log, "b", 4))], small_board())
    assert log[:2] == ["a0", "b0"]
    assert [entry for entry in log if entry[0] == "a"] == ["a0", "a1", "a2", "a3"]
    assert [entry for entry in log if entry[0] == "b"] == ["b0", "b1", "b2", "b3"]
    assert log.index("b1") < log.index("a3")


def test_turns_get_longer_while_nothing_is_found() -> None:
    log: list[str] = []
    take_turns([Stage("a", steps(log, "a", 40)), Stage("b", steps(log, "b", 40))], small_board())
    changes = [place for place in range(1, len(log)) if log[place][0] != log[place - 1][0]]
    turns = [b - a for a, b in zip([0, *changes], changes, strict=False)]
    assert turns[:6] == [1, 1, 2, 2, 4, 4]
    assert max(turns) <= LONGEST_TURN / FIRST_TURN


def test_a_question_without_a_limit_does_not_starve_the_others() -> None:
    """It is paused where it has gone on for as long as a question of a run with an effort of 1 beyond its turn."""
    log: list[str] = []

    def asking(board: Board) -> None:
        for portion in range(3 * QUESTION):
            log.append(f"a{portion}")
            board.limits.spend(1.0)
            board.limits.rest()

    take_turns([Stage("a", asking), Stage("b", steps(log, "b", 1))], small_board())
    assert log.index("b0") == QUESTION + 1
    assert log[-1] == f"a{3 * QUESTION - 1}"


@pytest.mark.parametrize("effort", [0.1, 1.0, 10.0, None])
def test_what_may_be_planned_and_asked_does_not_depend_on_the_effort(effort: float | None) -> None:
    """So a run with more effort begins as one with less. Only a question ends where the effort does."""
    limits = Limits(effort=effort)
    assert limits.foreseen == UNITS
    assert limits.question() == (None if effort is None else QUESTION)
    limits.spend(3 * UNITS)
    assert limits.foreseen == 3 * UNITS
    assert limits.question() == (None if effort is None else 3 * QUESTION if effort > 3 else 1)


def test_a_question_of_a_share_takes_no_more_than_the_share() -> None:
    assert Limits(effort=1.0).portion(2.0).question() == 2
    assert Limits().portion(2.0).question() is not None
    assert Limits(effort=1.0).portion(20.0).question() == QUESTION


def test_stages_with_the_same_question_alternate_within_a_turn() -> None:
    log: list[str] = []
    part = FIRST_TURN / PARTS
    both = [Stage(name, steps(log, name, 2 * PARTS, part), question="same") for name in ("a", "b")]
    take_turns([*both, Stage("c", steps(log, "c", 1))], small_board())
    alternating = [f"{name}{step}" for step in range(PARTS) for name in ("a", "b")]
    assert log[: len(alternating) + 1] == [*alternating, "c0"]


def test_a_stage_that_alternates_and_finds_something_goes_on_for_a_few_turns() -> None:
    log: list[str] = []
    part, board = FIRST_TURN / PARTS, small_board()

    def finding(board: Board) -> None:
        for bound in range(1, 99):
            log.append("a")
            board.prove(searched=bound, basis="search")
            board.limits.spend(part)
            board.limits.check()

    stages = [Stage("a", finding, question="same"), Stage("b", steps(log, "b", 99, part), question="same")]
    take_turns([*stages, Stage("c", steps(log, "c", 1))], board)
    first = log[: log.index("c0")]
    assert (first.count("a"), len(first) - first.count("a")) == (MOST_TURNS * PARTS, PARTS)


def test_a_bound_that_rises_too_slowly_to_meet_the_chain_has_no_further_turn() -> None:
    """By a step in the work that is foreseen, to a chain of eight steps."""
    log: list[str] = []
    board = small_board()
    assert board.offer(run_by(board.known.problem.system, 1, 1, 0, 0, 0, 0, 0, 1))
    assert board.known.complete

    def rising(board: Board) -> None:
        for bound in range(1, 4):
            board.prove(order_bound=bound)
            log.append("bound")
            board.limits.spend(UNITS / 2)
            board.limits.check()

    take_turns([Stage("a", rising), Stage("b", steps(log, "b", 4))], board)
    assert log[:3] == ["bound", "b0", "bound"]


def test_a_first_turn_may_be_longer() -> None:
    log: list[str] = []
    take_turns(
        [Stage("a", steps(log, "a", 9), first_turn=5 * FIRST_TURN), Stage("b", steps(log, "b", 1))], small_board()
    )
    assert log[:7] == ["a0", "a1", "a2", "a3", "a4", "b0", "a5"]


def test_an_early_turn_is_as_short_as_it_says_and_the_stage_goes_on_from_there() -> None:
    log: list[str] = []
    work = steps(log, "a", 9, FIRST_TURN / 10)
    early = Stage("a", work, lambda board: FIRST_TURN / 5, once=True)
    take_turns([early, Stage("b", steps(log, "b", 2, FIRST_TURN)), Stage("a", work)], small_board())
    assert log == ["a0", "a1", "b0", *(f"a{step}" for step in range(2, 9)), "b1"]


def test_an_early_turn_that_covered_more_goals_but_not_all_is_followed_by_another() -> None:
    log: list[str] = []

    def finding(board: Board) -> None:
        for word, choices in (("near", (0, 1)), ("all", (1, 1, 0, 0, 1))):
            board.offer(run_by(board.known.problem.system, *choices))
            log.append(word)
            pause()
        log.append("nothing more")

    take_turns([Stage("a", finding, once=True), Stage("b", steps(log, "b", 1)), Stage("a", finding)], small_board())
    assert log == ["near", "all", "b0", "nothing more"]


def test_an_early_turn_is_left_out_where_it_is_not_wanted_any_more() -> None:
    log: list[str] = []
    work = steps(log, "a", 1)
    take_turns(
        [
            Stage("listing", steps(log, "listing", 1)),
            Stage("a", work, until=(Fact("an entry", lambda board: bool(log)),), once=True),
            Stage("b", steps(log, "b", 1)),
            Stage("a", work),
        ],
        small_board(),
    )
    assert log == ["listing0", "b0", "a0"]


def test_an_early_stage_goes_on_for_other_targets() -> None:
    log: list[str] = []

    def ruling_out(board: Board) -> None:
        log.append(" ".join(board.known.targets))
        if "far" in board.known.targets:
            board.rule_out({"far": Reason(NO_WAY_TO_FINAL, "so it is")})

    early = Stage("a", ruling_out, once=True)
    take_turns([early, Stage("b", steps(log, "b", 1)), Stage("a", ruling_out)], small_board())
    assert log == ["far near", "near", "b0"]


def test_a_stage_that_found_something_goes_on() -> None:
    log: list[str] = []
    board = small_board()

    def finding(board: Board) -> None:
        for choices in ((0, 1), (1, 1, 0, 0, 1)):
            board.offer(run_by(board.known.problem.system, *choices))
            log.append("better")
            pause()
        log.append("nothing more")

    take_turns([Stage("finding", finding), Stage("b", steps(log, "b", 1))], board)
    assert log == ["better", "better", "nothing more", "b0"]


def test_a_stage_waits_until_something_is_known() -> None:
    log: list[str] = []

    def waiting(board: Board) -> None:
        await_news(board, CHAIN)
        log.append("there is a chain")

    def finding(board: Board) -> None:
        log.append("search")
        board.offer(run_by(board.known.problem.system, 0, 1))

    take_turns([Stage("waiting", waiting), Stage("finding", finding, gives=(CHAIN,))], small_board())
    assert log == ["search", "there is a chain"]


def test_stages_that_wait_for_each_other_end() -> None:
    def waiting(board: Board) -> None:
        await_news(board, CHAIN)
        pytest.fail("there is no chain")

    log: list[str] = []
    both = [Stage(name, waiting, gives=(CHAIN,)) for name in ("one", "other")]
    take_turns([*both, Stage("a", steps(log, "a", 9))], small_board())
    assert len(log) == 9


def test_a_stage_begins_once_all_that_it_needs_is_known() -> None:
    log: list[str] = []
    known: set[str] = set()
    one, other = (Fact(name, lambda board, name=name: name in known) for name in ("one", "other"))  # type: ignore[misc]

    def giving(name: str) -> Work:
        def work(board: Board) -> None:
            board.limits.spend(FIRST_TURN)
            board.limits.check()
            log.append(name)
            known.add(name)

        return work

    take_turns(
        [
            Stage("both", steps(log, "both", 1), needs=(one, other)),
            Stage("either", steps(log, "either", 1), needs=(one | other,)),
            Stage("one", giving("one"), gives=(one,)),
            Stage("other", giving("other"), needs=(one,), gives=(other,)),
        ],
        small_board(),
    )
    assert log == ["one", "other", "both0", "either0"]


def test_a_stage_has_no_turn_where_all_that_it_gives_is_known() -> None:
    log: list[str] = []
    some = Fact("some entries", lambda board: len(log) > 2)
    stages = [Stage(name, steps(log, name, 9), gives=(some,)) for name in ("a", "b")]
    take_turns(stages, small_board())
    assert len(log) <= 4


def test_a_stage_ends_where_nobody_is_left_who_gives_what_it_needs() -> None:
    """Also in the middle of its work, and what it holds is given back. One that is for the targets may begin anew."""
    held, log, some = set[str](), list[str](), Fact("something", lambda board: False)

    def waiting(board: Board) -> None:
        held.add("memory")
        try:
            await_news(board, some)
        finally:
            held.remove("memory")

    def looking(board: Board) -> None:
        for _ in range(9):
            log.append("held" if held else "free")
            board.limits.spend(FIRST_TURN)
            board.limits.check()

    for for_targets, last in ((False, "free"), (True, "held")):
        log.clear()
        giver = Stage("giver", steps([], "", 1), gives=(some,), for_targets=for_targets)
        waits = Stage("waiting", waiting, for_targets=False)
        take_turns([waits, giver, Stage("looking", looking)], small_board())
        assert (log[0], log[-1]) == ("held", last)


def test_a_turn_may_be_put_off_by_a_round() -> None:
    log: list[str] = []
    always = Fact("always", lambda board: True)
    take_turns([Stage("a", steps(log, "a", 1), put_off=always), Stage("b", steps(log, "b", 3))], small_board())
    assert log[:2] == ["b0", "a0"]


@pytest.mark.parametrize(
    "stages", [pipeline.STAGES, smaller_search.STAGES, smaller_search.ON_STATES, violations.STAGES]
)
def test_each_stage_has_a_name_of_its_own_and_what_each_needs_another_one_gives(stages: Sequence[Stage]) -> None:
    works = {stage.name: stage.work for stage in stages}
    assert len({*works.values()}) == len(works)
    assert all(works[stage.name] is stage.work for stage in stages)
    given = {fact for stage in stages for fact in stage.gives}
    for stage in stages:
        for need in stage.needs:
            assert need.known(small_board()) or given.intersection(need.parts or (need,)), (stage.name, need.says)


@pytest.mark.parametrize("for_targets", [True, False])
def test_a_stage_for_the_targets_begins_anew_when_these_are_others(for_targets: bool) -> None:
    log: list[str] = []

    def for_goals(board: Board) -> None:
        log.append(" ".join(board.known.targets))
        await_news(board, CHAIN)

    def ruling_out(board: Board) -> None:
        board.rule_out({"far": Reason(NO_WAY_TO_FINAL, "so it is")})

    take_turns(
        [Stage("a", for_goals, for_targets=for_targets), Stage("b", ruling_out, for_targets=False)], small_board()
    )
    assert log == (["far near", "near"] if for_targets else ["far near"])


def test_a_stage_that_has_ended_begins_anew_for_other_targets() -> None:
    log: list[str] = []

    def ended(board: Board) -> None:
        log.append(" ".join(board.known.targets))

    def ruling_out(board: Board) -> None:
        board.limits.spend(1)
        board.limits.check()
        board.rule_out({"far": Reason(NO_WAY_TO_FINAL, "so it is")})

    take_turns([Stage("a", ended), Stage("b", ruling_out, for_targets=False)], small_board())
    assert log == ["far near", "near"]


def test_the_effort_ends_stages_without_end() -> None:
    log: list[str] = []
    board = small_board(Limits(effort=0.1))
    take_turns([Stage("a", steps(log, "a", 10**9)), Stage("b", steps(log, "b", 10**9))], board)
    assert board.limits.used_up
    assert {entry[0] for entry in log} == {"a", "b"}
    assert board.limits.spent <= 6 + LONGEST_TURN


def test_what_is_done_is_said_again_while_it_takes_long() -> None:
    """Without that a line of progress stands still in a long turn, and a better answer waits to be written."""
    board, kept = board_of(fork(stuck=False))

    def long(board: Board) -> None:
        board.say("long: it has begun")
        for _ in range(20):
            board.limits.spend(LOOK / 4)
            board.limits.check()

    take_turns([Stage("long", long)], board)
    assert kept.texts.count("long: it has begun") >= 5


def test_a_settled_run_ends_at_once() -> None:
    log: list[str] = []

    def settling(board: Board) -> None:
        board.offer(run_by(board.known.problem.system, 1, 1, 0, 0, 1))
        board.prove(order_bound=5)
        log.append("settled")
        pause()
        log.append("too much")

    take_turns([Stage("a", settling), Stage("b", steps(log, "b", 1))], small_board())
    assert log == ["settled"]


@pytest.mark.parametrize(
    ("want", "why"), [(MemoryLimitReached("too much of it"), "too much of it"), (MemoryError(), "no memory was left")]
)
def test_a_stage_without_memory_ends_alone(want: Exception, why: str) -> None:
    log: list[str] = []

    def hungry(board: Board) -> None:
        raise want

    board, kept = board_of(fork(stuck=False))
    take_turns([Stage("hungry", hungry), Stage("b", steps(log, "b", 3))], board)
    assert log == ["b0", "b1", "b2"]
    assert {*kept.texts} == {f"hungry: ended, because {why}"}
    assert board.known.gave_up == (f"hungry: {why}",)


class Held:
    """Stands for the memory of the process: what stages have taken, in bytes, and not given back."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, allowed: int) -> None:
        self.bytes = 0
        monkeypatch.setattr(footprint, "taken", lambda: self.bytes)
        monkeypatch.setattr(footprint, "allowed", lambda: allowed)

    def stage(self, log: list[str], name: str, number: int, each: int) -> Stage:
        """Takes ``each`` bytes more in each of its steps, and gives all back when it ends, however it does."""

        def work(board: Board) -> None:
            own = 0
            try:
                for step in range(number):
                    own, self.bytes = own + each, self.bytes + each
                    log.append(f"{name}{step}")
                    board.limits.spend(FIRST_TURN)
                    board.limits.check()
            finally:
                self.bytes -= own

        return Stage(name, work)


def test_the_stage_that_takes_most_gives_up_whoever_is_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """The large one is paused when the small one takes the last bytes; the run goes on without the large one."""
    log: list[str] = []
    held, (board, _) = Held(monkeypatch, allowed=100), board_of(fork(stuck=False))
    take_turns([held.stage(log, "large", 9, 45), held.stage(log, "small", 6, 6)], board)
    assert [entry for entry in log if entry.startswith("small")] == [f"small{step}" for step in range(6)]
    assert [entry for entry in log if entry.startswith("large")] == ["large0", "large1", "large2"]
    assert board.known.gave_up == ("large: the memory limit of 0 MB was reached",)
    assert held.bytes == 0


class Garbage:
    """Takes ``size`` of ``held`` until it is collected: it refers to itself."""

    def __init__(self, held: Held, size: int) -> None:
        self.me = self
        held.bytes += size
        finalize(self, setattr, held, "bytes", 0)


def test_no_stage_gives_up_where_garbage_takes_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not collected by itself where few objects take much."""
    log: list[str] = []
    held, (board, _) = Held(monkeypatch, allowed=100), board_of(fork(stuck=False))

    def wasteful(board: Board) -> None:
        for step in range(9):
            Garbage(held, 45)
            log.append(f"step {step}")
            board.limits.spend(FIRST_TURN)
            board.limits.check()

    take_turns([Stage("wasteful", wasteful)], board)
    assert board.known.gave_up == ()
    assert log == [f"step {step}" for step in range(9)]


def test_stages_give_up_until_enough_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []
    held, (board, _) = Held(monkeypatch, allowed=100), board_of(fork(stuck=False))
    held.bytes = 40  # of what no stage can give back
    take_turns([held.stage(log, "a", 9, 25), held.stage(log, "b", 9, 20), held.stage(log, "c", 3, 5)], board)
    assert [each.partition(":")[0] for each in board.known.gave_up] == ["a", "b"]
    assert "c2" in log


def test_where_giving_up_does_not_help_the_run_ends_as_at_any_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[str] = []
    held, (board, _) = Held(monkeypatch, allowed=100), board_of(fork(stuck=False))
    held.bytes = 101  # of what no stage can give back
    with pytest.raises(MemoryLimitReached) as ended:
        take_turns([held.stage(log, "a", 9, 1), held.stage(log, "b", 9, 1)], board)
    assert (ended.value.limit, ended.value.exit_code) == ("memory limit", 5)
    assert log == ["a0"]
    board.limits.spend(FIRST_TURN)
    with pytest.raises(MemoryLimitReached):  # outside of stages nobody gives up
        board.limits.check()


@pytest.mark.parametrize("ending", [LimitReached("over"), KeyboardInterrupt()])
def test_a_limit_or_an_interrupt_ends_all(ending: BaseException) -> None:
    def stopped(board: Board) -> None:
        raise ending

    log: list[str] = []
    board = small_board()
    with pytest.raises(type(ending)):
        take_turns([Stage("a", stopped), Stage("b", steps(log, "b", 3))], board)
    assert log == []
    board.limits.spend(99)
    board.limits.check()


class Engine:
    """Something that counts its work, and has no limits."""

    def __init__(self) -> None:
        self.cost = Cost()


def test_a_share_does_not_count_what_others_ask_engines_for_meanwhile() -> None:
    """What the stage asked for that made the share counts, and so does what is asked for between two of its turns in
    a share of that share."""
    engine, limits = Engine(), Limits()
    limits.watch(engine)
    spent: list[tuple[float, float]] = []

    def sharing(board: Board) -> None:
        share = board.limits.portion(100.0)
        part = share.portion(100.0)
        for _ in range(3):
            engine.cost.work += WORK
            spent.append((share.spent, part.spent))
            board.limits.spend(LONGEST_TURN)
            board.limits.check()

    def asking(board: Board) -> None:
        for _ in range(3):
            engine.cost.work += 10 * WORK
            board.limits.spend(LONGEST_TURN)
            board.limits.check()

    take_turns([Stage("a", sharing), Stage("b", asking)], small_board(limits))
    assert spent == [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]
    assert limits.spent == 33.0 + 6 * LONGEST_TURN


def test_a_pause_outside_of_stages_is_none() -> None:
    pause()
