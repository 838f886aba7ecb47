"""What a result claims that no run does: one kind of data, listed once for whoever proves it or writes it out.

A claim about distances is a ``PathFact`` of a certificate, any other one a ``NoRun``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bmc.errors import counted, listed
from bmc.records import dataclass
from chaincover.certificate import Certificate, NoRun, PathFact
from chaincover.chain import (
    EXCLUDED,
    NO_WAY_TO_FINAL,
    NOT_WITHIN_BOUND,
    STORED,
    UNDECIDED,
    UNREACHABLE,
    Verdict,
)
from properties.goal import violation_name

EDGE, SUB_PATH, LENGTH, UNREACHED = "edge", "sub-path", "length", "unreachable goal"
NO_WAY_TO_END, CONFLICT, MOST, EXCLUDES = "no way to the end", "conflict", "most goals", "excluded goal"
NEVER, SHORTEST = "requirement", "shortest violation"
"""Kinds of claims."""

_SEARCHED = "reachable states were searched"
_MOST = re.compile(r"no chain covers more than (\d+) of them at all")
_SHORTER = re.compile(r"no chain of at most (\d+) steps? covers all goals: none is shorter than (\d+)")


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of a certain ``kind`` in words, with a short ``title``. ``says`` is None where no proof is claimed."""

    kind: str
    title: str
    text: str
    says: PathFact | NoRun | None


@dataclass(frozen=True)
class Said:
    """What a result says: its ``verdicts``, the goals that its chain covers (None without a chain), its certificate
    ``proof``, the bound ``lower`` and the ``settings`` of the search."""

    verdicts: Sequence[Verdict]
    covered: Sequence[str] | None
    proof: Certificate | None
    lower: int
    settings: Mapping[str, Any]


def of_result(said: Said) -> tuple[Claim, ...]:
    """Every claim of a result, each once: those of its certificate, then what verdicts say beyond these."""
    certified = () if said.proof is None else of_certificate(said.proof, said.lower)
    return (*dict.fromkeys([*certified, *_of_verdicts(said)]),)


def of_certificate(proof: Certificate, lower: int) -> Iterator[Claim]:
    """The claims of a certificate of the bound ``lower``."""
    refuted = proof.refuted_lengths
    if lower:
        yield _shorter(proof.goals, lower)
    if refuted is not None and refuted.before != lower:
        yield _shorter(proof.goals, refuted.before or 0)
    yield from (_path(EDGE if len(fact.path) == 2 else SUB_PATH, fact) for fact in (*proof.edges, *proof.paths))
    yield from map(_unreached, proof.unreachable)
    yield from map(_no_way, proof.no_way_to_end)
    yield from map(conflict, proof.conflicts)
    if proof.most is not None:
        yield _most(proof.most)


def of_rulings(never: Iterable[str], proof: Certificate) -> Iterator[Claim]:
    """That no run violates the requirements ``never``, and what ``proof`` says of the steps to violations of others."""
    for name in never:
        says = NoRun((violation_name(name),), to_end=False)
        yield Claim(NEVER, name, f"no run violates the requirement {name}", says)
    yield from (_path(SHORTEST, fact) for fact in proof.edges)


def conflict(names: Sequence[str]) -> Claim:
    """That no chain covers all goals ``names``."""
    return Claim(CONFLICT, "-".join(names), f"no chain covers {listed(names)} together", NoRun(tuple(names)))


def _shorter(goals: Sequence[str], before: int) -> Claim:
    text = f"no chain of {counted(before - 1, 'step')} or fewer covers {listed(goals) or 'no goal'}"
    return Claim(LENGTH, f"below-{before}", text, NoRun(tuple(goals), before=before))


def _path(kind: str, fact: PathFact) -> Claim:
    text = f"{' -> '.join(fact.path)} takes at least {counted(fact.at_least, 'step')}"
    return Claim(kind, "-".join(fact.path), text, fact)


def _unreached(name: str) -> Claim:
    return Claim(UNREACHED, name, f"no run covers {name}", NoRun((name,), to_end=False))


def _no_way(name: str) -> Claim:
    return Claim(NO_WAY_TO_END, name, f"no run covers {name} and then ends in the final condition", NoRun((name,)))


def _most(says: NoRun) -> Claim:
    text = f"no chain covers more than {says.enough - 1} of {listed(says.goals)}"
    return Claim(MOST, str(says.enough - 1), text, says)


# what verdicts say in words


def _of_verdicts(said: Said) -> Iterator[Claim]:
    """What the verdicts of a result claim, and what their details say where the certificate does not."""
    within_k = said.settings.get("bound") is not None
    some = tuple(v.goal for v in said.verdicts if v.status not in (UNREACHABLE, NO_WAY_TO_FINAL))
    for verdict in said.verdicts:
        if verdict.status == UNREACHABLE:
            yield _unreached(verdict.goal)
        elif verdict.status == NO_WAY_TO_FINAL and not (within_k and "within K" in verdict.detail):
            yield _no_way(verdict.goal)
    apart = _apart_in_details(said)
    if apart:
        yield conflict(apart)
    lower = _lower_in_details(said)
    if lower:
        yield _shorter(some, lower)
    yield from (_most(NoRun(some, number + 1)) for number in _most_in_details(said))
    yield from (_excluded(verdict, said) for verdict in said.verdicts if verdict.status == EXCLUDED)


def _apart_in_details(said: Said) -> list[str]:
    """The goals that no chain covers together, by details, if the certificate has no conflicts; [] with a chain."""
    if said.covered is not None or (said.proof and said.proof.conflicts):
        return []
    return [verdict.goal for verdict in said.verdicts if verdict.status == EXCLUDED and _SEARCHED in verdict.detail]


def _lower_in_details(said: Said) -> int:
    """The greatest bound that details give as the reason why no chain is as short as the user wants it; else 0."""
    most = said.settings.get("max_length")
    longest = STORED if most is None else most
    open_ones = (v for v in said.verdicts if v.status in (NOT_WITHIN_BOUND, EXCLUDED, UNDECIDED))
    shorter = [(int(found[1]), int(found[2])) for v in open_ones if (found := _SHORTER.search(v.detail))]
    return max((lower for length, lower in shorter if lower > length == longest), default=0)


def _most_in_details(said: Said) -> list[int]:
    """The most goals that one chain covers, by the first detail that says it, if the certificate does not."""
    if said.covered is None or (said.proof and said.proof.most):
        return []
    found = (_MOST.search(verdict.detail) for verdict in said.verdicts if verdict.status == EXCLUDED)
    return [int(match[1]) for match in found if match][:1]


def _excluded(verdict: Verdict, said: Said) -> Claim:
    """That no chain covers one more goal than the chain of a result; no proof is claimed for bounded sub-paths."""
    most = said.settings.get("max_length")
    text = f"no chain covers {listed(said.covered or ()) or 'no goal'} and {verdict.goal}"
    if said.covered is None or said.settings.get("bound") is not None or not isinstance(most, int | None):
        return Claim(EXCLUDES, verdict.goal, text, None)
    text += "" if most is None else f" in {counted(most, 'step')} or fewer"
    says = NoRun((*dict.fromkeys([*said.covered, verdict.goal]),), before=None if most is None else most + 1)
    return Claim(EXCLUDES, verdict.goal, text, says)
