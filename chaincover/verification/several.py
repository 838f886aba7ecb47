"""``chains.json``: each chain that it names, what it says of them together, and that fewer would not do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, replace
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from pysmt.shortcuts import TRUE, And, Not, Or, Symbol

from bmc import ending
from bmc.errors import counted
from bmc.evaluation.vectors import Column
from bmc.native.cache import built_anew
from bmc.records import dataclass
from bmc.system.transition import Run
from chaincover.certificate import Certificate, Prices
from chaincover.chain import COVERED, NO_WAY_TO_FINAL, STATUSES, UNREACHABLE, Bounds, Chain, Hit, Verdict
from chaincover.claims import conflict
from chaincover.formats.document import (
    BoundsClaim,
    Document,
    GoalClaim,
    Summary,
    read_document,
    read_summary,
    without_chain,
)
from chaincover.formats.recorded_subject import load_for
from chaincover.formats.writer import chains_document
from chaincover.options import Options
from chaincover.project.bounds import UseOfBounds
from chaincover.project.load import Request
from chaincover.result import ChainResult, Conflict, Requirements, SeveralChains
from chaincover.subject import Subject
from chaincover.verification.checks import Checks, Listener
from chaincover.verification.claims import SOURCES, tests
from chaincover.verification.clauses import Clauses
from chaincover.verification.fields import FIELDS, INFORMATIVE_OF_ALL, NOTHING_KNOWN, compared, project, tests_of
from chaincover.verification.limits import Clock, Limits
from chaincover.verification.prices import PRICES
from chaincover.verification.report import HOLDS, NOTE, OPEN, UNCLAIMED, WRONG, Line, Verification, limited
from chaincover.verification.requirements import rulings_again, without_proof
from chaincover.verification.search import covers
from chaincover.verification.values import BOUND, wrong_rulings
from chaincover.verification.verification import proved_requirements, statement_of, verify

TOGETHER, FEWEST, TOTAL = "all chains", "number of chains", "total length"
CONFLICTS = ("conflicts", "conflicts of goals in all runs")
TOO_LARGE = "not looked at again: too many states or inputs"
WAYS = 10
"""Two sets of goals are compared so many times as fast as a node of the search over all runs is looked at."""
AT_ONCE = 16
"""So many entries of arrays are compared in the time of two sets."""
MOST_GOALS = 24
"""Above this number of goals, without those that come with others, the least total length is not computed."""


@built_anew()
def verify_chains(place: Path, request: Request, limits: Limits, listener: Listener | None = None) -> Verification:
    """Check a summary and every chain that it names, with the options of the command line. Errors as in ``verify``."""
    listener = listener or Listener()
    summary = read_summary(place)
    documents = [replace(read_document(place.parent / entry.file), several=True) for entry in summary.entries]
    known = {goal.name: goal for document in documents for goal in document.goals}
    named = [known.get(claim.name, claim) for claim in summary.verdicts]
    first = documents[0] if documents else without_chain(summary)
    settings = replace(first.settings, criteria=_criteria(summary, documents))
    subject = load_for(replace(first, place=place, goals=tuple(named), settings=settings), request, UseOfBounds.REFUSED)
    ending.reads(str)
    clock = Clock(limits)
    lines: list[Line] = []
    for entry, document in zip(summary.entries, documents, strict=True):
        names = {goal.name for goal in document.goals}
        goals = tuple(goal for goal in subject.goals if goal.name in names)
        part = replace(subject, goals=goals, observers=replace(subject.observers, goals=goals))
        found = verify(part, document, replace(limits, seconds=clock.left), _named(listener, entry.file))
        lines += [replace(line, check=f"{entry.file}: {line.check}") for line in found.lines]
    left = _left(summary, first)
    checks = Checks(statement_of(subject, left), clock, listener)
    for line in _of_all(_All(summary, documents, subject, left), checks, lines):
        listener.line(line)
        lines.append(line)
    return Verification(str(place), tuple(lines))


def _criteria(summary: Summary, documents: Sequence[Document]) -> tuple[str, ...]:
    """The criteria that the summary names, then those that only its chains name."""
    given = summary.data.get("settings")
    named = given.get("coverage") if isinstance(given, Mapping) else None
    own = [text for text in named if isinstance(text, str)] if isinstance(named, list) else []
    return tuple(dict.fromkeys([*own, *(text for document in documents for text in document.settings.criteria)]))


def _named(listener: Listener, file: str) -> Listener:
    """``listener``, told of which chain each line is."""
    return replace(listener, line=lambda line: listener.line(replace(line, check=f"{file}: {line.check}")))


def _left(summary: Summary, first: Document) -> Document:
    """A document that claims what the summary says of goals that no chain covers, with its certificate, and nothing
    else; it has the settings of the ``first`` chain, or of the summary itself."""
    left, none = (
        tuple(claim for claim in summary.verdicts if claim.verdict != COVERED),
        BoundsClaim(None, 0, False, None),
    )
    return replace(first, goals=left, chain=None, bounds=none, certificate=summary.certificate)


@dataclass(frozen=True)
class _All:
    """What is said of the chains of ``documents`` together, and of the goals that are ``left`` (``_left``)."""

    summary: Summary
    documents: Sequence[Document]
    subject: Subject
    left: Document


def _of_all(every: _All, checks: Checks, lines: Sequence[Line]) -> Iterator[Line]:
    """What is said of all chains together; ``lines`` are those on each of them."""
    summary, documents, subject, left = every.summary, every.documents, every.subject, every.left
    if not documents:
        text = "the file names no chain, so neither sources nor macros: the program is looked at as it is now"
        yield Line(SOURCES, NOTE, text)
    yield _together(summary, documents)
    rulings = rulings_again(subject, summary)
    again = compared(_made_again(every, rulings), summary.data, INFORMATIVE_OF_ALL)
    faults = limited([*wrong_rulings(rulings, summary.requirements), *again])
    text = "those that follow from the program, the project and the chains were made again"
    yield Line(FIELDS, WRONG if faults else HOLDS, text, faults)
    yield from filter(None, [project(subject, replace(left, goals=summary.verdicts))])
    if any(claim.test is not None for claim in left.goals):
        yield tests(subject, left)
    apart = [conflict(names) for names, at_all in zip(summary.conflicts, summary.at_all, strict=True) if at_all]
    conflicts = checks.runs(CONFLICTS, apart)
    yield conflicts
    priced: PricedLines = {}
    if summary.certificate is not None:
        yield from checks.of_setting()
        priced = _priced(summary, summary.certificate, checks)
        yield from (line for _, line in priced.values())
    alone = documents and 0 < summary.lower <= documents[0].bounds.lower
    bounds = [line for line in lines if line.check.endswith(f": {BOUND}")]
    yield from _number(summary, checks, (conflicts, priced), bounds[0] if alone else None)
    if left.goals:
        yield checks.uncovered()
    yield from filter(None, without_proof(subject, summary))
    yield from proved_requirements(subject, summary.requirements, checks.clock, checks.listener)


def _made_again(every: _All, rulings: Requirements) -> dict[str, Any]:
    """The summary of the chains, and of what it claims of them, by the writer."""
    summary, documents, subject, where = every.summary, every.documents, every.subject, every.left.where
    steps = {
        hit.goal: (number, hit.step)
        for number, document in reversed([*enumerate(documents, 1)])
        for hit in (() if document.chain is None else document.chain.hits)
    }
    claimed = {claim.name: claim for claim in summary.verdicts}
    verdicts = []
    for goal in (goal.name for goal in subject.goals):
        number, step = steps.get(goal, (0, None))
        own = claimed.get(goal, GoalClaim(goal, "", "", None, ""))
        left = own.verdict if own.verdict in STATUSES[1:] else "not covered"
        verdicts.append(Verdict(goal, COVERED if number else left, step, own.detail))
    found = SeveralChains(
        results=tuple(_result(document) for document in documents),
        verdicts=tuple(verdicts),
        certificate=summary.certificate,
        conflicts=_told_conflicts(summary, {goal.name for goal in subject.goals}),
        number_minimal=summary.number_minimal,
        bounds=Bounds(summary.lower, summary.length if documents else None, ""),
        tests=tests_of(subject, (claim for claim in summary.verdicts if claim.name not in steps), where),
        requirements=rulings,
    )
    return chains_document(subject, Options(overlap=every.left.settings.overlap), found)


def _told_conflicts(summary: Summary, known: set[str]) -> tuple[Conflict, ...]:
    """The conflicts that are told, as far as they are some of at least two ``known`` goals; each is named once."""
    told = dict(zip(summary.conflicts, summary.at_all, strict=True))
    fitting = {names: at_all for names, at_all in told.items() if {*names} <= known and len({*names}) > 1}
    return tuple(Conflict(tuple(dict.fromkeys(names)), "", at_all) for names, at_all in fitting.items())


def _result(document: Document) -> ChainResult:
    """Length, bound and credited goals of one chain, as they stand in its file."""
    claim, bounds = document.chain, document.bounds
    hits = () if claim is None else tuple(Hit(*astuple(hit)) for hit in claim.hits)
    chain = None if claim is None else Chain(Run((), ({},) * claim.steps), (), hits)
    return ChainResult(chain, (), Bounds(bounds.lower, bounds.length, ""), None, NOTHING_KNOWN, Options())


def _together(summary: Summary, documents: Sequence[Document]) -> Line:
    """The steps of all chains, against their own files."""
    faults = []
    total = sum(0 if document.chain is None else document.chain.steps for document in documents)
    if total != summary.length:
        faults.append(f"the chains have {counted(total, 'step')}, not {summary.length}")
    if summary.minimal and summary.lower != summary.length:
        faults.append(f"the chains are said to be minimal: {counted(summary.length, 'step')}, bound {summary.lower}")
    reached = {goal: n for n, document in reversed([*enumerate(documents, 1)]) for goal in document.credited}
    covered = [claim for claim in summary.verdicts if claim.name in reached]
    faults += [f"{c.name}: {c.detail}" for c in covered if c.detail != f"chain {reached[c.name]}"]
    text = f"{counted(len(documents), 'chain')}, {counted(total, 'step')}, {counted(len(reached), 'goal')}"
    return Line(TOGETHER, WRONG if faults else HOLDS, text, tuple(faults))


PricedLines = Mapping[str, tuple[Prices, Line]]
"""By the check that rests on them: prices of several chains, and whether they hold."""


def _priced(summary: Summary, proof: Certificate, checks: Checks) -> PricedLines:
    """The prices of ``proof``, which is that of the summary."""
    said = Certificate(
        proof.goals,
        checks.setting.end,
        proof.overlap,
        normal_form=proof.normal_form,
        validity=proof.validity,
        together=proof.together,
        counted=proof.counted,
        monitors=proof.monitors,
    )
    faults = [] if proof == said else ["the certificate has claims that are none of several chains"]
    strange = [goal for goal in proof.goals if goal not in _covered(summary)]
    if strange or len({*proof.goals}) < len(proof.goals):
        faults.append(f"it is about other goals than the chains: {', '.join(strange) or 'one of them twice'}")
    if proof.overlap not in ("allow", checks.setting.overlap):
        faults.append(f"it is about chains with overlap '{proof.overlap}'")
    if proof.validity is not None and proof.validity.steps is not None:
        faults.append(f"its facts are about runs of up to {counted(proof.validity.steps, 'step')}")
    found: dict[str, tuple[Prices, Line]] = {}
    for each in proof.together:
        check = FEWEST if each.chains is None else TOTAL
        if check in found:
            faults.append(f"it has two claims of the {check}")
        line = Line(PRICES, WRONG, "of several chains", tuple(faults)) if faults else checks.together(each)
        found[check] = each, replace(line, check=f"{PRICES}, {check}")
    return found or {"": (Prices(0, {}), Line(PRICES, WRONG, "there are none"))}


def _number(summary: Summary, checks: Checks, shown: tuple[Line, PricedLines], alone: Line | None) -> Iterator[Line]:
    """Whether fewer chains would do, or as many of fewer steps in all; one chain rests on its own bound, ``alone``.

    ``shown``: whether the conflicts are ones, and whether prices hold.
    """
    conflicts, priced = shown
    number = len(summary.entries)
    fewest = Line(FEWEST, UNCLAIMED, f"{number}; nothing is said about fewer")
    if number == 1:
        fewest = Line(FEWEST, HOLDS, "one, and none would cover nothing")
    elif summary.number_minimal:
        fewest = _fewest(summary, conflicts, priced.get(FEWEST), checks.clock)
    yield fewest
    if number == 1 and alone is not None:
        yield Line(TOTAL, alone.verdict, "that of the one chain: see its lower bound")
    elif summary.lower:
        yield _total(summary, checks, priced.get(TOTAL))
    else:
        yield Line(TOTAL, UNCLAIMED, f"{counted(summary.length, 'step')}; nothing is said about shorter ones")


def _fewest(summary: Summary, conflicts: Line, priced: tuple[Prices, Line] | None, clock: Clock) -> Line:
    """Whether prices, or else the conflicts, do not allow fewer chains; ``conflicts`` says whether they are ones."""
    number, left = len(summary.entries), _open(summary)
    if left:
        return Line(FEWEST, WRONG, f"it is left open whether some chain covers {', '.join(left)}")
    if priced is not None and priced[0].bound >= number and priced[1].verdict == HOLDS:
        return Line(FEWEST, HOLDS, f"no {number - 1} will do: see the prices")
    claimed = [names for names, at_all in zip(summary.conflicts, summary.at_all, strict=True) if at_all]
    fewer = fits(_covered(summary), claimed, number - 1, clock) if number else False
    if fewer:
        return Line(FEWEST, WRONG, f"the conflicts would allow {counted(number - 1, 'chain')}")
    if number == 0:
        return Line(FEWEST, HOLDS, "none, as no goal is covered")
    if conflicts.verdict != HOLDS:
        return Line(FEWEST, conflicts.verdict, conflicts.text, conflicts.details)
    if fewer is None:
        return Line(FEWEST, OPEN, "not done: the solver did not find out whether fewer chains can share out the goals")
    return Line(FEWEST, HOLDS, f"no {number - 1} will do: {conflicts.text}")


def _open(summary: Summary) -> list[str]:
    """The goals of which it is left open whether some chain covers them."""
    return [claim.name for claim in summary.verdicts if claim.verdict not in (COVERED, UNREACHABLE, NO_WAY_TO_FINAL)]


def _total(summary: Summary, checks: Checks, priced: tuple[Prices, Line] | None) -> Line:
    """Whether so many chains take at least so many steps in all, by prices, or else by all sets of goals that one run
    covers."""
    number, goals, marks = len(summary.entries), _covered(summary), checks.marks
    steps = counted(summary.lower, "step")
    if summary.lower > summary.length:
        return Line(TOTAL, WRONG, f"the bound {summary.lower} is above the {summary.length} steps of the chains")
    if priced is not None and priced[1].verdict == HOLDS and _enough(priced[0], summary):
        return Line(TOTAL, HOLDS, f"no {number} chains take less than {steps} in all: see the prices")
    if marks is None or checks.confirmation.differences:
        return Line(TOTAL, OPEN, TOO_LARGE)
    found = covers(marks, goals, checks.clock)
    goals = goals if found is None else telling(goals, found)
    if found is None or len(goals) > MOST_GOALS:
        return Line(TOTAL, OPEN, TOO_LARGE)
    least = least_total(goals, found, number, checks.clock)
    if least is None:
        return Line(TOTAL, OPEN, "not done: more ways to choose the runs than the effort allows, or no time left")
    if least < summary.lower:
        return Line(TOTAL, WRONG, f"{number} chains of {least:.0f} steps in all cover the goals, below {summary.lower}")
    return Line(TOTAL, HOLDS, f"no {number} chains take less than {steps} in all")


def _enough(prices: Prices, summary: Summary) -> bool:
    """Whether ``prices`` are of so many chains, and give the bound on their steps."""
    return prices.chains == len(summary.entries) and prices.bound >= summary.lower


def _covered(summary: Summary) -> list[str]:
    return [claim.name for claim in summary.verdicts if claim.verdict == COVERED]


def fits(goals: Sequence[str], conflicts: Sequence[Sequence[str]], number: int, clock: Clock) -> bool | None:
    """Whether ``goals`` can be shared out among ``number`` chains so that none has all goals of a conflict.

    None where the solver did not finish. Goals that exclude each other in pairs need a chain each; which one a goal
    gets makes no difference, so the first of them gets the first chain, and so on.
    """
    sets = [frozenset(names) for names in conflicts if {*names} <= {*goals}]
    apart = _apart(goals, sets)
    clauses = Clauses(clock)
    chains = [{goal: clauses.own(Symbol(f"{goal} in chain {place}")) for goal in goals} for place in range(number)]
    for goal in goals:
        open_to = [chains[n] for n in range(number) if goal not in apart or n == apart.index(goal)]
        clauses.demand(Or([chain[goal] for chain in open_to]))
    for names, chain in product(sets, chains):
        clauses.demand(Not(And([chain[goal] for goal in names])))
    return clauses.possible(TRUE())


def _apart(goals: Sequence[str], conflicts: Sequence[frozenset[str]]) -> list[str]:
    """Some of ``goals`` that exclude each other in pairs, those in many ``conflicts`` first."""
    apart: list[str] = []
    for goal in sorted(goals, key=lambda goal: -sum(goal in names for names in conflicts)):
        if all(frozenset((goal, other)) in conflicts for other in apart):
            apart.append(goal)
    return apart


def telling(goals: Sequence[str], sets: Iterable[frozenset[str]]) -> list[str]:
    """Those of ``goals`` that runs have to be chosen for, where one run covers each of ``sets``.

    A goal is left out which every set has that has a certain other one: whatever covers that one covers it too. Of
    goals that only come together the first is left.
    """
    places: dict[str, set[int]] = {goal: set() for goal in goals}
    for number, names in enumerate(sets):
        for goal in names & places.keys():
            places[goal].add(number)
    left = list(goals)
    for goal in reversed(goals):
        if any(other != goal and places[other] and places[other] <= places[goal] for other in left):
            left.remove(goal)
    return left


def least_total(goals: Sequence[str], covers: Mapping[frozenset[str], int], number: int, clock: Clock) -> float | None:
    """The least total length of at most ``number`` runs that cover ``goals`` together, infinite if they cannot.

    ``covers``: for each set of goals that one run covers, its least length. None where there are too many ways to
    choose. The first runs are chosen one by one, each among those that cover the missing goal that the fewest cover;
    the last one is looked up in a table of all sets of goals.
    """
    bits = [1 << place for place in range(len(goals))]
    looked, whole, most = len(goals) * (1 << len(goals)) / AT_ONCE, (1 << len(goals)) - 1, WAYS * clock.limits.nodes
    if looked > most or clock.over:
        return None
    known = dict(zip(goals, bits, strict=True))
    every = np.array([sum(known[name] for name in names & known.keys()) for names in covers], np.int64)
    shortest = _shortest(every, np.array([*covers.values()], float), bits)
    sets = _undominated(np.unique(every), shortest, bits)
    rarest = sorted(bits, key=lambda bit: (int((sets & bit > 0).sum()), bit))
    done, steps, least = np.zeros(1, np.int64), np.zeros(1), float(shortest[whole])
    for _ in range(number - 1):
        ways = [(done[:0], steps[:0])]
        for before, so_far in zip(done.tolist(), steps.tolist(), strict=True):
            missing = next((bit for bit in rarest if not before & bit), 0)  # some run must cover it
            chosen = sets[sets & missing > 0]
            looked += 1 + len(chosen) / AT_ONCE
            if looked > most or clock.over:
                return None
            ways.append((before | chosen, so_far + shortest[chosen]))
            least = min(least, float((ways[-1][1] + shortest[whole & ~ways[-1][0]]).min(initial=inf)))
        done, which = np.unique(np.concatenate([way[0] for way in ways]), return_inverse=True)
        steps = np.full(len(done), inf)
        np.minimum.at(steps, which, np.concatenate([way[1] for way in ways]))
        far = _farthest(done, shortest, bits)
        done, steps = done[steps + far < least], steps[steps + far < least]  # the others lead to nothing shorter
    return least


def _farthest(done: Column, shortest: Column, bits: Sequence[int]) -> Column:
    """The least length of a run that covers the farthest goal which is missing in each of the sets ``done``."""
    missing: Column = np.max([np.where(done & bit, 0, shortest[bit]) for bit in bits], axis=0, initial=0)
    return missing


def _undominated(sets: Column, shortest: Column, bits: Sequence[int]) -> Column:
    """``sets`` without those that have a goal less than another one which takes a run no longer."""
    for bit in bits:
        sets = sets[(sets & bit > 0) | (shortest[sets | bit] > shortest[sets])]
    return sets


def _shortest(sets: Column, lengths: Column, bits: Sequence[int]) -> Column:
    """For each set of goals, told by ``bits``, the least of ``lengths`` of the runs that cover all of it."""
    shortest = np.full(1 << len(bits), inf)
    np.minimum.at(shortest, sets, lengths)
    shortest[0] = 0
    for bit in bits:
        halves = shortest.reshape(-1, 2, bit)
        np.minimum(halves[:, 0], halves[:, 1], out=halves[:, 0])
    return shortest
