"""Graphs on disk: used again where nothing changed, left alone where something did, and never trusted blindly."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from boards import board_of
from command_line import chaincover
from cruise import INIT, OFF, PROPERTIES, at_speed, button, cruise, prop
from listeners import Told
from machines import Case, random_machine
from paper_examples import figure_5
from problems import problem_of
from pysmt.shortcuts import TRUE, And

from bmc.engines import choose as choose_engine
from chaincover.graph import cache as graph_cache
from chaincover.graph.cache import GraphCache, default_folder, graph_key
from chaincover.graph.growth import Growth
from chaincover.graph.reachability import GraphBuilder, Level
from chaincover.limits import Limits
from chaincover.options import Options
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.questions import Questions
from chaincover.result import ChainResult

CRUISE: Case = (cruise(), PROPERTIES, INIT)
ASKED = Options(engine="sat")
"""The edges are asked for, not taken from the enumerated states."""

CODE = """\
typedef struct { int go; } t_in;
typedef struct { int n; } t_st;
void init(t_st *s) { s->n = 0; }
void compute(t_in *i, t_st *s) { if (i->go && s->n < 5) s->n++; else s->n = 0; }
"""
GOALS = ("--property", "two: cover(n == 2)", "--property", "four: cover(n == 4)", "--final", "init")


def same(a: ChainResult, b: ChainResult) -> bool:
    """Whether all is equal but the effort, and what queries happened to show beside their answers."""

    def bare(result: ChainResult) -> ChainResult:
        graph = replace(result.graph, queries=0, seconds=0.0, upper={})
        return replace(result, answered=replace(result.answered, cached=0, effort=0.0, profile=()), graph=graph)

    return bare(a) == bare(b)


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("graph-*.json"))


def kept(folder: Path) -> list[int]:
    """The values of K in the file that was used last."""
    place = max(files(folder), key=lambda place: place.stat().st_mtime_ns)
    return [level["depth"] for level in json.loads(place.read_text())["levels"]]


@pytest.mark.parametrize("options", [ASKED, replace(ASKED, overlap="forbid"), replace(ASKED, bound=6)])
def test_the_second_run_takes_all_levels_from_disk(tmp_path: Path, options: Options) -> None:
    options = replace(options, cache=tmp_path / "deep" / "er")
    first, second = generate(problem_of(*CRUISE), options), generate(problem_of(*CRUISE), options)
    assert (first.answered.cached, second.answered.cached) == (0, len(kept(tmp_path / "deep" / "er")))
    assert kept(tmp_path / "deep" / "er")[-1] == second.depth
    assert first.graph.queries > 0
    assert second.graph.queries == 0
    assert second.chain is not None
    assert same(first, second)
    assert same(first, replace(generate(problem_of(*CRUISE), replace(options, cache=None)), options=options))
    assert len(files(tmp_path / "deep" / "er")) == 1


def test_enumerated_states_need_no_disk(tmp_path: Path) -> None:
    assert generate(problem_of(*CRUISE), Options(cache=tmp_path)).answered.exact
    assert files(tmp_path) == []


@pytest.mark.parametrize("seed", [0, 3, 4, 5, 6])
def test_runs_on_machines_are_the_same_with_and_without(tmp_path: Path, seed: int) -> None:
    """Dead ends, goals that nothing satisfies, and chains that need repair among them."""
    system, goals, final = random_machine(seed)
    never = replace(goals[0], name="never", antecedent=And(goals[0].antecedent, TRUE()).substitute({}))
    options = Options(bound=8, cache=tmp_path, engine="sat")
    first = generate(Problem(system, (*goals, never), final), options)
    again = generate(Problem(system, (*goals, never), final), options)
    assert again.answered.cached == len(kept(tmp_path)) >= 1
    assert kept(tmp_path)[-1] == first.depth
    assert again.graph.queries == 0
    assert same(first, again)


def cached(case: Case, options: Options) -> int:
    """How many levels come from the disk when the graph of ``case`` grows, which writes them there."""
    board, _ = board_of(case, options, engine=choose_engine(options.engine))
    growth = Growth(board.questions, options)
    found = growth.cached
    growth.extend()
    growth.keep()
    return found


def test_whatever_changes_the_graph_misses(tmp_path: Path) -> None:
    system, goals, final = CRUISE
    options = replace(ASKED, cache=tmp_path)
    cached(CRUISE, options)
    other = cruise(fixed=False)
    changed: list[tuple[Case, Options]] = [
        ((other, goals, final), options),
        ((system, goals[:3], final), options),
        ((system, (*goals[:3], prop("p4", And(OFF, at_speed(2), button))), final), options),
        ((system, (*goals[:3], replace(goals[3], length=2)), final), options),
        ((system, (*goals[:3], replace(goals[3], name="other")), final), options),
        ((system, tuple(reversed(goals)), final), options),
        ((system, goals, None), options),
        (CRUISE, replace(options, overlap="forbid")),
        (CRUISE, replace(options, bound=5)),
        (CRUISE, replace(options, effort=2.0)),
        (CRUISE, replace(options, engine="z3")),
        ((replace(system, input_constraint=TRUE()), goals, final), options),
        ((replace(system, state=(replace(system.state[0], init=None), *system.state[1:])), goals, final), options),
    ]
    for case, wanted in changed:
        assert cached(case, wanted) == 0
    assert len(files(tmp_path)) == 1 + len(changed)
    assert cached(CRUISE, options) > 0


def test_what_leaves_the_graph_alone_hits(tmp_path: Path) -> None:
    system, goals, final = CRUISE
    options = replace(ASKED, cache=tmp_path)
    cached(CRUISE, options)
    without = tuple(replace(goal, consequent=None) for goal in goals)
    assert cached((system, without, final), options) > 0
    assert cached(CRUISE, replace(options, ordering="exact", time_limit=600.0)) > 0
    assert cached(CRUISE, replace(options, query_limit=9.0)) == 0, "a limit by time is not repeatable"
    assert len(files(tmp_path)) == 1


def test_keys_differ_by_the_values_of_inputs_and_invariants() -> None:
    system, goals, final = figure_5()
    problem = problem_of(system, goals, final)
    key = graph_key(problem, [60])
    assert key == graph_key(problem_of(*figure_5()), [60])
    narrow = replace(system, inputs=(replace(system.inputs[0], values=((0, 1),)),))
    stuck = replace(system, defined=goals[0].antecedent.substitute({}))
    keys = {key, *(graph_key(problem_of(s, goals, final), [60]) for s in (narrow, stuck))}
    keys |= {graph_key(problem, settings) for settings in ([6], ["6", 0], [])}
    keys.add(graph_key(problem_of(system, goals, final, "forbid"), [60]))
    assert len(keys) == 7


def test_levels_with_edges_that_the_solver_gave_up_on_are_not_kept(tmp_path: Path) -> None:
    """The next run, with another limit, asks for these edges again."""
    cache, edge = GraphCache(tmp_path), ("init", "a")
    known = Level(0, {}, {edge: 1}, {edge: 1}, {}, (), ())
    given_up = Level(1, {}, {edge: 1}, {}, {}, (edge,), ())
    cache.keep("key", [known, given_up, replace(given_up, depth=2)])
    assert cache.levels("key") == (known,)
    cache.keep("other", [given_up])
    assert cache.levels("other") == ()


DAMAGE = {
    "empty": lambda text: "",
    "cut": lambda text: text[: len(text) // 2],
    "no object": lambda text: "[1, 2]",
    "binary": lambda text: "\udcff\udcfe",
    "another key": lambda text: text.replace('"key": "', '"key": "0'),
    "another schema": lambda text: text.replace("graph-cache/4", "graph-cache/1"),
    "no levels": lambda text: json.dumps({**json.loads(text), "levels": 7}),
    "a level lacks its weights": lambda text: text.replace('"weights"', '"heights"', 1),
    "infinite": lambda text: text.replace(", 1]", ", 1e999]", 1),
    "another distance": lambda text: text.replace(", 2]", ", 3]"),
    "one level less": lambda text: json.dumps({**json.loads(text), "levels": json.loads(text)["levels"][1:]}),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_ignored_and_replaced(tmp_path: Path, kind: str) -> None:
    options = replace(ASKED, cache=tmp_path)
    first = generate(problem_of(*CRUISE), options)
    (place,) = files(tmp_path)
    whole = place.read_bytes()
    place.write_text(DAMAGE[kind](whole.decode()), encoding="utf-8", errors="surrogateescape")
    assert place.read_bytes() != whole
    again = generate(problem_of(*CRUISE), options)
    assert again.answered.cached == 0
    assert same(first, again)
    assert generate(problem_of(*CRUISE), options).answered.cached == len(kept(tmp_path)) >= 1
    assert kept(tmp_path)[-1] == first.depth


def test_a_folder_that_cannot_be_used_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    for folder in (blocked, blocked / "below"):
        result = generate(problem_of(*CRUISE), replace(ASKED, cache=folder))
        assert result.chain is not None
        assert result.answered.cached == 0
    assert blocked.read_text() == "in the way"


def test_a_folder_that_is_a_file_name_of_the_cache(tmp_path: Path) -> None:
    """Where the file should lie is a folder."""
    first = generate(problem_of(*CRUISE), replace(ASKED, cache=tmp_path))
    (place,) = files(tmp_path)
    place.unlink()
    place.mkdir()
    again = generate(problem_of(*CRUISE), replace(ASKED, cache=tmp_path))
    assert same(first, again)
    assert os.listdir(tmp_path) == [place.name], "no temporary file is left"


def test_a_file_that_cannot_be_touched_is_still_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = generate(problem_of(*CRUISE), replace(ASKED, cache=tmp_path))

    def denied(*args: object) -> None:
        raise PermissionError(1, "not permitted")

    monkeypatch.setattr(graph_cache.os, "utime", denied)
    assert generate(problem_of(*CRUISE), replace(ASKED, cache=tmp_path)).answered.cached == len(kept(tmp_path)) >= 1
    assert kept(tmp_path)[-1] == first.depth


def test_only_the_files_used_last_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_cache, "MOST_FILES", 3)
    cache = GraphCache(tmp_path)
    near, far = {("init", "a"): 1}, {("a", "b"): 2}
    level = Level(1, near, near, far, {**near, ("a", "b"): 4}, (), ("c",))
    keys = [str(n) * 64 for n in range(5)]
    for age, key in enumerate(keys[:3]):
        cache.keep(key, [level])
        os.utime(tmp_path / f"graph-{key[:32]}.json", (age, age))
    assert cache.levels(keys[0]) == (level,)
    cache.keep(keys[3], [level, level])
    assert [bool(cache.levels(key)) for key in keys] == [True, False, True, True, False]
    assert cache.levels(keys[3]) == (level, level)
    assert all(stat.S_IMODE(place.stat().st_mode) == 0o644 for place in files(tmp_path))


def test_an_interrupted_run_is_continued(tmp_path: Path) -> None:
    for case in (CRUISE, figure_5(), random_machine(4)):
        options = Options(cache=tmp_path / case[0].name, bound=9, engine="sat")
        whole = generate(problem_of(*case), replace(options, cache=None))
        stopped = generate(problem_of(*case), options, Told("graph: K = 0"))
        assert (stopped.stopped_by, stopped.depth) == ("interrupt", 0)
        again = generate(problem_of(*case), options)
        assert again.answered.cached == 1
        assert again.graph.queries <= whole.graph.queries
        assert (again.graph.queries == 0) == (again.depth == 0)
        assert same(replace(whole, options=options), again)
        assert (
            generate(problem_of(*case), options).answered.cached
            == len(kept(tmp_path / case[0].name))
            >= again.answered.cached
        )
        assert kept(tmp_path / case[0].name)[-1] == again.depth


def answers(level: Level) -> Level:
    """``level`` without what queries happened to show beside their answers: a fresh session shows other runs."""
    return replace(level, upper={})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("overlap", ["allow", "forbid"])
def test_a_builder_goes_on_from_any_level(seed: int, overlap: str) -> None:
    system, goals, final = random_machine(seed)
    whole = GraphBuilder(Questions(Problem(system, tuple(goals), final, overlap), choose_engine("z3"), Limits()), 6)
    for _ in range(7):
        whole.extend()
    assert len(whole.levels) == 7
    for known in (0, 1, 3, 7):
        builder = GraphBuilder(
            Questions(Problem(system, tuple(goals), final, overlap), choose_engine("z3"), Limits()),
            6,
            levels=whole.levels[:known],
        )
        assert builder.depth == -1
        for _ in range(7):
            builder.extend()
        a, b = (replace(x.graph(), queries=0, seconds=0.0, upper={}) for x in (whole, builder))
        assert a == b
        assert [answers(level) for level in builder.levels] == [answers(level) for level in whole.levels]
        assert builder.complete == whole.complete
        assert (builder.graph().queries == 0) == (known == 7 or whole.levels[-1] in whole.levels[:known])


def test_levels_are_taken_over_for_as_long_as_the_same_k_are_asked_for() -> None:
    """What runs show at a level depends on those before: another way through K makes its own levels."""
    system, goals, final = random_machine(4)
    whole = GraphBuilder(Questions(Problem(system, tuple(goals), final, "allow"), choose_engine("z3"), Limits()))
    for k in (0, 1, 3, 6, 9):
        whole.extend(k)
    for way in ((0, 1, 3, 6), (0, 2, 3), (0, 1, 4, 6, 9), (3, 6)):
        fresh, known = (
            GraphBuilder(
                Questions(Problem(system, tuple(goals), final, "allow"), choose_engine("z3"), Limits()), levels=levels
            )
            for levels in ((), whole.levels)
        )
        for k in way:
            fresh.extend(k)
            known.extend(k)
        assert (known.graph().queries == 0) == (way == (0, 1, 3, 6))
        assert known.levels[: len(way)] == fresh.levels
        assert [level.depth for level in known.levels[len(way) :]] == ([9] if way == (0, 1, 3, 6) else [])


def write_model(folder: Path, code: str = CODE) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "c.c").write_text(code)
    return folder / "c.c"


def chain_of(source: Path, target: Path, *more: str) -> tuple[bytes, int]:
    """The chain's document, and the number of levels that came from disk."""
    outcome = chaincover("generate", source, *GOALS, "-o", target, "--no-replay", "--engine", "sat", *more)
    assert outcome.code == 0, outcome
    return (target / "chain.json").read_bytes(), json.loads((target / "run.json").read_text())["levels_from_cache"]


def test_documents_are_byte_identical(tmp_path: Path) -> None:
    source = write_model(tmp_path / "m")
    runs = [chain_of(source, tmp_path / name) for name in "ab"]
    without = chain_of(source, tmp_path / "c", "--no-cache")
    assert runs[0][0] == runs[1][0] == without[0]
    assert (runs[0][1], without[1]) == (0, 0)
    assert runs[1][1] > 0
    assert len(files(default_folder())) == 1


def test_comments_hit_and_behaviour_misses(tmp_path: Path) -> None:
    chain_of(write_model(tmp_path / "m"), tmp_path / "a")
    comment = write_model(tmp_path / "m", "/* changed */\n" + CODE.replace("s->n++;", "s->n++; // up\n"))
    assert chain_of(comment, tmp_path / "b")[1] > 0
    assert chain_of(write_model(tmp_path / "m", CODE.replace("< 5", "< 6")), tmp_path / "c")[1] == 0
    assert chain_of(write_model(tmp_path / "m"), tmp_path / "d", "--overlap", "forbid")[1] == 0
    assert chain_of(write_model(tmp_path / "m"), tmp_path / "e", "--property", "one: cover(n == 1)")[1] == 0
