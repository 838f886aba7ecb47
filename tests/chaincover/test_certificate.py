"""The certificate as a list of claims: what is written is read, and what is no such list is refused."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from command_line import ROOT

from chaincover.certificate import (
    Acceleration,
    Certificate,
    CutPrice,
    NoRun,
    Part,
    PathFact,
    Prices,
    Validity,
    as_data,
    from_data,
)
from chaincover.formats.output import to_json

SCHEMA = json.loads((ROOT / "chaincover/formats/schemas/chain.json").read_text())
WHOLE = Certificate(
    goals=("a", "b"),
    end="final",
    overlap="allow",
    lower=7,
    invariants=("s <= 3", "one of 8 reachable states"),
    formulas={"s <= 3": "(bvule |s| #b011)"},
    edges=(PathFact(("init", "a"), 2), PathFact(("a", "b"), 0)),
    paths=(PathFact(("init", "a", "b"), 4),),
    order_bound=3,
    refuted=(3, 7),
    exhausted=8,
    normal_form={"t": "#b0"},
    validity=Validity("true", {"now": (9, 2)}, None),
    unreachable=("c", "d"),
    no_way_to_end=("e",),
    conflicts=(("a", "f"), ("b", "f", "g")),
    most=NoRun(("a", "b", "f"), 3),
    prices=Prices(2, {"a": 3}, (CutPrice("b", 1, (0,)),), ("s",), ((4,),), 6),
    acceleration=Acceleration({"t": (0, 5)}, 1, 4, ("t",)),
    counted=("s", "t"),
    monitors={"a": "(= |s@1| #b001)"},
)
"""A certificate that claims everything there is to claim."""
WHOLE = replace(WHOLE, part=Part(("s",), "true", WHOLE))
LEAST = Certificate((), "end", "allow")


def written(proof: Certificate) -> Any:
    return json.loads(to_json(as_data(proof)))


@pytest.mark.parametrize("proof", [WHOLE, LEAST])
def test_what_is_written_is_read(proof: Certificate) -> None:
    assert from_data(written(proof)) == proof
    schema = {"$defs": SCHEMA["$defs"], "$ref": "#/$defs/certificate"}
    jsonschema.validate(written(proof), schema)


TOGETHER = (Prices(0, {"a": 1}, bound=2, chains=None), Prices(2, {"a": 3, "b": 1}, bound=9, chains=2))


def test_only_several_chains_have_prices_together() -> None:
    """In the file of one chain nothing reads such prices: there they could claim anything."""
    proof = Certificate(("a", "b"), "final", "allow", together=TOGETHER)
    assert from_data(written(proof), several=True) == proof
    with pytest.raises(ValueError, match="prices of several chains"):
        from_data(written(proof))


@pytest.mark.parametrize("chains", ["2", 2.5, True, None])
def test_a_number_of_chains_that_is_no_number_is_refused(chains: Any) -> None:
    data = written(Certificate(("a", "b"), "final", "allow", together=TOGETHER))
    next(claim for claim in data["claims"] if claim["of"] == "chains")["chains"] = chains
    with pytest.raises((TypeError, ValueError)):
        from_data(data, several=True)


def test_each_claim_is_of_one_kind_and_stands_on_a_line() -> None:
    claims = written(WHOLE)["claims"]
    kinds = [claim["claim"] for claim in claims]
    assert kinds == ["never"] * 11 + ["inductive"] * 2 + ["prices"] * 2 + ["simulates"] * 3
    assert written(LEAST)["claims"] == []
    lines = [line.strip(" ,") for line in to_json(as_data(WHOLE)).splitlines()]
    assert '{"claim": "never", "path": ["init", "a"], "before": 2}' in lines
    assert [json.loads(line) for line in lines if '"claim":' in line] == claims


def test_a_list_that_is_no_other_than_it_is_written() -> None:
    """Doubled, in another order, one more, one of another kind: every such list is refused."""
    draw, whole = random.Random(1), written(WHOLE)
    for at, claim in enumerate(whole["claims"]):
        doubled = [*whole["claims"][: at + 1], claim, *whole["claims"][at + 1 :]]
        assert (
            refused(whole, doubled) or (claim["claim"] == "never" and "first" not in claim) or claim["before"] is None
        )
        for name in claim:
            assert refused(whole, changed(whole["claims"], at, {key: claim[key] for key in claim if key != name}))
        assert refused(whole, changed(whole["claims"], at, {**claim, "more": 1}))
        others = {*("never", "inductive", "prices", "simulates", "ever")} - {claim["claim"]}
        assert all(refused(whole, changed(whole["claims"], at, {**claim, "claim": kind})) for kind in others)
    for _ in range(50):
        claims = draw.sample(whole["claims"], len(whole["claims"]))
        proof = None if claims == whole["claims"] or refused(whole, claims) else from_data({**whole, "claims": claims})
        assert proof is None or written(proof)["claims"] == claims, "goals and paths of a kind may be in any order"


@pytest.mark.parametrize(
    "claim",
    [
        {"claim": "never", "goals": ["a"], "least": None, "before": 7, "to_end": True, "first": 3},
        {"claim": "never", "goals": ["a", "b"], "least": None, "before": 7, "to_end": False, "first": 3},
        {"claim": "never", "goals": ["a", "b"], "least": 1, "before": 7, "to_end": True, "first": 3},
        {"claim": "never", "goals": ["a", "b"], "least": None, "before": 7, "to_end": True, "first": -1},
        {"claim": "never", "goals": ["a", "b"], "least": None, "before": 7, "to_end": True, "first": 7},
        {"claim": "never", "goals": ["a", "b"], "least": None, "before": 6, "to_end": True, "first": 0, "searched": 8},
        {"claim": "never", "goals": ["a"], "least": None, "before": 7, "to_end": True, "first": 0, "searched": 8},
        {"claim": "never", "goals": ["a", "b"], "least": None, "before": None, "to_end": False, "first": 0},
        {"claim": "never", "goals": ["a", "b"], "least": 2, "before": None, "to_end": False, "first": 0},
        {"claim": "never", "path": ["init", "a"], "before": "2"},
        {"claim": "never", "path": ["init", 5], "before": 2},
        {"claim": "inductive", "name": "x", "formula": 3},
        {"claim": "prices", "of": "orders", "bound": "3"},
        {"claim": "prices", "of": "goals", "bound": 3},
        {"claim": "simulates", "cells": {"t": ["0"]}, "kept": 0, "bound": 0, "slow": []},
        {"claim": "simulates", "cells": {"t": 5}, "kept": 0, "bound": 0, "slow": []},
        [],
        "never",
        None,
    ],
)
def test_a_claim_that_no_certificate_has_is_refused(claim: Any) -> None:
    assert refused(written(Certificate(("a", "b"), "end", "allow", 7)), [claim])


@pytest.mark.parametrize("counted", [{}, "s", None, [["s"]], [5]])
def test_what_is_no_list_of_names_is_refused_though_it_is_informative(counted: Any) -> None:
    with pytest.raises(TypeError):
        from_data({**written(WHOLE), "counted": counted})


def refused(whole: Any, claims: list[Any]) -> bool:
    """Whether a certificate with these ``claims`` cannot be read."""
    try:
        from_data({**copy.deepcopy(whole), "claims": claims})
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        return True
    return False


def changed(claims: list[Any], at: int, claim: Any) -> list[Any]:
    return [*claims[:at], claim, *claims[at + 1 :]]
