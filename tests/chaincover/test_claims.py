"""What results claim that no run does: which claims there are, and which follow from others."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, combinations, product

import pytest

from bmc.errors import NAMED, listed
from chaincover.certificate import Certificate, NoRun, PathFact
from chaincover.chain import COVERED, EXCLUDED, NO_WAY_TO_FINAL, NOT_WITHIN_BOUND, UNDECIDED, UNREACHABLE, Verdict
from chaincover.claims import Claim, Said, of_result, of_rulings
from chaincover.verification.verdicts import about_runs
from properties.goal import violation_name

NOTHING = Certificate((), "end", "allow")
PROOF = replace(
    NOTHING,
    goals=("a", "b"),
    edges=(PathFact(("init", "a"), 1),),
    paths=(PathFact(("init", "a", "b"), 3),),
    refuted=(2, 4),
    lower=3,
    unreachable=("u",),
    no_way_to_end=("w",),
    conflicts=(("a", "c"),),
    most=NoRun(("a", "b", "c"), 3),
)


def said(*verdicts: Verdict, proof: Certificate | None = None, covered: tuple[str, ...] | None = ("a", "b")) -> Said:
    return Said(verdicts, covered, proof, 0 if proof is None else proof.lower, {"bound": None, "max_length": None})


def told(claims: tuple[Claim, ...]) -> dict[str, object]:
    return {claim.text: claim.says for claim in claims}


def test_the_claims_of_a_certificate() -> None:
    """Each once, though verdicts say two of them again."""
    again = Verdict("u", UNREACHABLE), Verdict("w", NO_WAY_TO_FINAL)
    assert told(of_result(said(*again, proof=PROOF))) == {
        "no chain of 2 steps or fewer covers a, b": NoRun(("a", "b"), before=3),
        "no chain of 3 steps or fewer covers a, b": NoRun(("a", "b"), before=4),
        "init -> a takes at least 1 step": PathFact(("init", "a"), 1),
        "init -> a -> b takes at least 3 steps": PathFact(("init", "a", "b"), 3),
        "no run covers u": NoRun(("u",), to_end=False),
        "no run covers w and then ends in the final condition": NoRun(("w",)),
        "no chain covers a, c together": NoRun(("a", "c")),
        "no chain covers more than 2 of a, b, c": NoRun(("a", "b", "c"), 3),
    }


def test_what_verdicts_say_in_words() -> None:
    searched, most = "all 5 reachable states were searched", "no chain covers more than 2 of them at all"
    assert told(of_result(said(Verdict("w", NO_WAY_TO_FINAL, detail="found within K = 3")))) != {}
    bounded = replace(said(Verdict("w", NO_WAY_TO_FINAL, detail="none within K = 3")), settings={"bound": 3})
    assert of_result(bounded) == ()
    excluded = Verdict("c", EXCLUDED, detail=most)
    assert told(of_result(said(Verdict("a", COVERED, 1), Verdict("b", COVERED, 1), excluded))) == {
        "no chain covers more than 2 of a, b, c": NoRun(("a", "b", "c"), 3),
        "no chain covers a, b and c": NoRun(("a", "b", "c")),
    }
    apart = said(Verdict("a", EXCLUDED, detail=searched), Verdict("b", EXCLUDED, detail=searched), covered=None)
    assert told(of_result(apart)) == {
        "no chain covers a, b together": NoRun(("a", "b")),
        "no chain covers no goal and a": None,
        "no chain covers no goal and b": None,
    }


@pytest.mark.parametrize("status", [NOT_WITHIN_BOUND, UNDECIDED, EXCLUDED])
@pytest.mark.parametrize(("most", "lower", "claimed"), [(4, 9, True), (3, 9, False), (4, 4, False), (None, 9, False)])
def test_chains_that_are_too_long(status: str, most: int | None, lower: int, claimed: bool) -> None:
    """The words count only where they speak of the greatest length that was asked for, and of a bound above it."""
    detail = f"no chain of at most 4 steps covers all goals: none is shorter than {lower}"
    claims = of_result(replace(said(Verdict("c", status, detail=detail)), settings={"max_length": most}))
    assert (NoRun(("c",), before=lower) in [claim.says for claim in claims]) == claimed


def test_the_claims_of_rulings() -> None:
    proof = replace(NOTHING, edges=(PathFact(("init", violation_name("q")), 5),))
    never, shortest = of_rulings(["p"], proof)
    assert (never.text, never.says) == (
        "no run violates the requirement p",
        NoRun((violation_name("p"),), to_end=False),
    )
    assert shortest.says == PathFact(("init", violation_name("q")), 5)


def test_long_lists_are_cut() -> None:
    names = [f"g{number}" for number in range(NAMED + 2)]
    assert listed(names).endswith(f"g{NAMED - 1} and 2 more")
    assert (listed(names[:2]), listed([])) == ("g0, g1", "")


GOALS = ("a", "b", "c")
SETS = [*chain.from_iterable(combinations(GOALS, size) for size in range(4))]


def broken(claim: NoRun, covered: tuple[str, ...], length: int, ends: bool) -> bool:
    """Whether a run disproves ``claim``."""
    spoken = claim.first <= length < (99 if claim.before is None else claim.before) and (ends or not claim.to_end)
    return spoken and len({*covered} & {*claim.goals}) >= claim.enough


def test_a_claim_follows_only_from_one_that_says_as_much() -> None:
    """Against all runs of up to three steps that cover some of three goals."""
    runs = [*product(SETS, range(4), (True, False))]
    claims = [
        NoRun(goals, least, before, to_end, first)
        for goals, least, before, to_end, first in product(SETS[1:], (None, 1, 2), (None, 2, 3), (True, False), (0, 1))
    ]
    against = {claim: {run for run in runs if broken(claim, *run)} for claim in claims}
    follow = 0
    for one, other in product(claims, repeat=2):
        if one.implies(other):
            follow += 1
            assert against[other] <= against[one], (one, other)
    assert follow > len(claims)


def test_what_follows_from_another_claim_is_no_check_of_its_own() -> None:
    """An excluded goal, and a bound below that of the certificate; a conflict of other goals says nothing of it."""
    verdicts = [Verdict(name, COVERED, 1) for name in ("a", "b")] + [Verdict("c", EXCLUDED)]

    def asked(proof: Certificate) -> list[str]:
        return [claim.text for claim in about_runs(of_result(said(*verdicts, proof=proof)), proof, proof.lower)]

    own = "no chain covers a, b and c"
    bound = replace(NOTHING, goals=("a", "b"), lower=5, refuted=(2, 5))
    assert asked(bound) == [own]
    assert asked(replace(bound, conflicts=(("a", "c"),))) == ["no chain covers a, c together"]
    assert asked(replace(bound, conflicts=(("a", "d"),))) == ["no chain covers a, d together", own]
    assert asked(replace(bound, most=NoRun(("a", "b", "c"), 3))) == ["no chain covers more than 2 of a, b, c"]
    assert own in asked(replace(bound, most=NoRun(("a", "b", "d"), 3)))
