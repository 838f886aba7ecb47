"""Every search begins with the same smaller problem: a light whose clock counts on for ever has 253 states there."""

from __future__ import annotations

import json

import pytest
from command_line import MODELS, chaincover

from bmc.errors import StepTooLarge
from bmc.explicit.enumeration import PORTION, Enumeration
from chaincover.graph import enumerated
from chaincover.graph.enumerated import analysed
from chaincover.limits import PER_UNIT, Limits
from chaincover.options import Options
from chaincover.partition.set_cover import sets_of_goals
from chaincover.pipeline import generate
from chaincover.problem import Problem
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.reductions import slicing
from chaincover.reductions.slicing import smaller_problem

LIGHT = MODELS / "stairlight"


def test_the_graph_is_that_of_all_states() -> None:
    graph = json.loads(chaincover("graph", LIGHT).out)
    weights = {(edge["from"], edge["to"]): edge["weight"] for edge in graph["edges"]}
    assert weights["cleaned", "dims"] == 91
    assert graph["open"] == []


@pytest.mark.evidence
def test_compared_orders_give_chains() -> None:
    outcome = chaincover("compare", LIGHT, "--ordering", "exact", "--seeds", 1, "--json")
    assert outcome.code == 0
    (row,) = outcome.json["orderings"]
    assert row["chain_length"]["median"] == row["final"]["length"] == outcome.json["lower_bound"] == 356


def test_sets_of_goals_are_all_found() -> None:
    subject = load(read_project(str(LIGHT)))
    limits = Limits(effort=1.0)
    found = sets_of_goals(Problem(subject.system, subject.goals, subject.final), Options(), limits)
    assert found is not None
    assert found.complete
    assert (found.states, max(len(cover.goals) for cover in found.covers)) == (253, 4)


@pytest.mark.evidence
def test_facts_about_goals_speak_of_states_in_the_normal_form() -> None:
    found = chaincover("check", LIGHT, "--compare", "0", "--json").json
    facts = found["goal_facts"]
    assert (facts["reachable_states"], facts["states_in_normal_form"]) == (253, ["l->now", "l->since"])
    assert facts["lemma_3"]["applies"] == "yes"
    assert not any("l->since" in fact["variables"] for fact in found["found_invariants"])


def test_few_states_are_enumerated_once_and_need_no_normal_form(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(prover: object) -> None:
        raise AssertionError("a normal form is looked for")

    monkeypatch.setattr(slicing, "normal_states", asked)
    problem = load(read_project(MODELS / "heater")).problem
    small = slicing.smaller_problem(problem, Options(), Limits())
    assert small.enumeration is not None
    assert small.enumeration.graph is not None
    made: list[Problem] = []

    def begun(asked_for: Problem) -> Enumeration:
        made.append(asked_for)
        return enumeration_of(asked_for)

    enumeration_of = enumerated.enumeration_of
    monkeypatch.setattr(enumerated, "enumeration_of", begun)
    result = generate(problem, Options(effort=1.0))
    assert len(made) == 1
    assert result.certificate is not None
    assert result.certificate.exhausted == small.enumeration.states


def test_many_states_get_a_normal_form() -> None:
    small = slicing.smaller_problem(load(read_project(LIGHT)).problem, Options(), Limits())
    assert ([*small.normal_form], small.enumeration) == (["l->now", "l->since"], None)


def test_what_keeps_states_from_being_enumerated_is_told_by_the_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(*given: object) -> None:
        raise StepTooLarge("the formulas of a step are too large for a solver")

    monkeypatch.setattr(slicing, "advance", too_large)
    small = slicing.smaller_problem(load(read_project(MODELS / "heater")).problem, Options(), Limits())
    assert small.enumeration is None


def test_no_solver_is_made_to_enumerate_states_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    monkeypatch.setattr(enumerated, "_least_inputs", lambda *given: made.append(given))
    floats = MODELS.parent / "floats" / "controllers" / "mode"
    small = slicing.smaller_problem(load(read_project(floats)).problem, Options(), Limits())
    assert small.enumeration is not None
    assert not made
    with pytest.raises(AttributeError):
        small.enumeration.advance(10 * PORTION)
    assert made, "with more work it is"


@pytest.mark.slow
def test_a_slice_counts_by_the_nodes_of_the_step() -> None:
    subject = load(read_project(str(LIGHT)))
    problem = Problem(subject.system, subject.goals, subject.final)
    spent = []
    for nodes in (PER_UNIT.analysed_nodes, 4 * PER_UNIT.analysed_nodes):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(enumerated, "PER_UNIT", PER_UNIT._replace(analysed_nodes=nodes // 4))
            counted = analysed(problem.system)
            limits = Limits(effort=1.0)
            smaller_problem(problem, Options(), limits)
            spent.append((counted, limits.spent))
    (four, more), (once, less) = spent
    assert four == pytest.approx(4 * once)
    assert more - less == pytest.approx(four - once)
    assert once > 0
