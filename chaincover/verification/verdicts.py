"""Claims that no run does something, each proved again by the first means that can.

Where all reachable states are enumerated these are distances and a search over all runs;
else searches in layers, jumps of counters, induction, runs over cells, and an unrolling that a solver is asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from math import inf

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Not

from bmc.engines.protocol import Status
from bmc.errors import CheckDisagreed, counted
from bmc.formulas.unroll import shift
from bmc.records import dataclass
from chaincover.certificate import Certificate, NoRun, PathFact
from chaincover.claims import EXCLUDES, LENGTH, MOST, Claim
from chaincover.verification.acceleration import Jumps
from chaincover.verification.facts import MAYBE, Paths, WholeChains
from chaincover.verification.invariants import Assumed
from chaincover.verification.layers import Layers
from chaincover.verification.limits import INDUCTION, SHARES, Clock
from chaincover.verification.marks import FAR, Marks
from chaincover.verification.report import (
    HOLDS,
    OPEN,
    UNCLAIMED,
    WRONG,
    Line,
    Verdict,
    limited,
    told,
    told_inputs,
    worst,
)
from chaincover.verification.search import Outcome, search_some
from chaincover.verification.setting import Setting
from chaincover.verification.unrolling import Unrolling
from chaincover.weights import INIT

UNCOVERED = ("goals not covered", "claims about runs of any length")
EDGES, PATHS = ("edges", "bounds between two nodes"), ("sub-paths", "bounds on sub-paths")
LENGTHS = ("refuted lengths", "refuted lengths")
"""Checks of claims, and what claims they are."""
TOO_MANY = "too many states to look at all runs"

Check = tuple[str, str]
"""The name of a check, and what claims it is about."""


@dataclass(frozen=True)
class Prover:
    """Proves claims about runs of ``setting``. ``known`` is true of every state that can be reached.

    ``marks`` are all steps between reachable states, ``layers`` searches among these, where there is one. ``jumps`` are
    paths that see what all runs see, where the certificate speaks of counters. ``verdicts`` are those so far.
    """

    setting: Setting
    known: Assumed
    clock: Clock
    marks: Marks | None = None
    layers: Layers | None = None
    jumps: Callable[[], Jumps | None] = lambda: None
    verdicts: dict[PathFact, Verdict] = field(default_factory=dict)
    _chains: dict[tuple[str, ...], WholeChains] = field(default_factory=dict)

    @cached_property
    def _paths(self) -> Paths:
        return Paths(self.setting, self.known, self.clock)

    # distances

    def paths(self, check: Check, claims: Sequence[Claim], progress: Callable[[str], None]) -> Line:
        """The verdict on ``claims`` about paths: from the list of states, else all at the first share of effort, those
        that are open then at the next."""
        verdicts = self.verdicts
        facts = [claim.says for claim in claims if isinstance(claim.says, PathFact)]
        for share in SHARES if self.marks is None and self.layers is None else (1,):
            for number, fact in enumerate(facts, 1):
                if verdicts.get(fact, (OPEN, ""))[0] == OPEN:
                    progress(f"{check[0]}: {number} of {len(facts)}")
                    verdicts[fact] = self.no_path(fact, share)
            if self.clock.over or all(verdicts[fact][0] != OPEN for fact in facts):
                break
        return summed(check, ((c.text, verdicts[c.says]) for c in claims if isinstance(c.says, PathFact)))

    def no_path(self, fact: PathFact, share: float = 1) -> Verdict:
        """The verdict on one path, and why."""
        if not self.setting.knows(fact.path):
            return WRONG, "this is no path of goals from init to the end"
        if fact.at_least <= 0:
            return HOLDS, ""
        if self.clock.over:
            return OPEN, "no time was left"
        if self.marks is not None:
            return self._path_on_states(self.marks, fact)
        if self.layers is not None and len(fact.path) == 2:
            return self.layers.verdict(fact)
        return self._paths.verdict(fact, share)

    def _path_on_states(self, marks: Marks, fact: PathFact) -> Verdict:
        step = marks.least(fact.path)
        if step >= fact.at_least:
            return HOLDS, ""
        run = marks.witness(fact.path)
        if self.setting.sound(run) < run.length:
            raise CheckDisagreed(f"the run along {' -> '.join(fact.path)} takes a step that is not allowed")
        return WRONG, f"a run takes {step} ({told(self.setting.system, run, run.length, fact.path[0] == INIT)})"

    # what one run covers

    def of_run(self, claim: Claim, covered: Collection[str] | None) -> Verdict:
        """The verdict on ``claim``, of what one run covers; the chain covers the goals ``covered`` (None: no chain)."""
        says = claim.says
        if not isinstance(says, NoRun):
            return UNCLAIMED, "no proof is claimed"
        number = 0 if covered is None else len({*covered} & {*says.goals})
        exact = claim.kind != MOST or number == says.enough - 1
        if covered is not None and says.before is None and (number >= says.enough or not exact):
            return WRONG, f"the chain covers {number} of them"
        return self.no_run(says)

    def no_run(self, claim: NoRun, searched: Outcome | None = None) -> Verdict:
        """The verdict on ``claim``, and why. ``searched``: a search for such a run, where there was one."""
        goals = [*dict.fromkeys(claim.goals)]
        strange = [name for name in goals if name not in self.setting.by_name]
        if strange:
            return WRONG, f"{', '.join(strange)} is no goal"
        if claim.enough > len(goals):
            return HOLDS, "there are not so many goals"
        found = self._on_states(claim, goals, searched)
        return found if found[0] != OPEN or claim.enough < len(goals) else self._of_all(claim, goals, found)

    def _of_all(self, claim: NoRun, goals: Sequence[str], found: Verdict) -> Verdict:
        """The verdict on ``claim`` about all of its ``goals`` by other means than states, by which ``found`` is."""
        jumps, below = None if self.marks is not None else self.jumps(), inf if claim.before is None else claim.before
        if jumps is not None and jumps.no_path(goals, below, claim.to_end):
            return HOLDS, "no run among all in jumps of counters"
        if claim.before is not None and claim.to_end:
            if claim.goals not in self._chains:
                self._chains[claim.goals] = WholeChains(self.setting, goals, self.known.always, self.clock)
            return self._chains[claim.goals].verdict(claim)
        if self.marks is not None or len(goals) != 1 or claim.before is not None:
            return found
        verdict, why = never(self.setting, goals[0], self.known, self.clock)
        # a run covers it: whether one goes on to the end is left open
        return (OPEN, TOO_MANY) if verdict == WRONG and claim.to_end else (verdict, why)

    def _on_states(self, claim: NoRun, goals: Sequence[str], searched: Outcome | None) -> Verdict:
        """The verdict on ``claim`` by the search that there was, or else by all states."""
        if searched is not None or self.marks is None:
            return (OPEN, TOO_MANY) if searched is None else of_search(self.setting, claim, searched)
        marks = self.marks if claim.to_end else self.marks.anywhere
        starts, limit = [*marks.table.starts], FAR if claim.before is None else claim.before
        if claim.to_end:
            near = sum(int(marks.remaining[name][starts].min(initial=FAR)) < limit for name in goals)
        else:
            near = sum(bool(marks.begins(name).any()) for name in goals)
        pair = len(goals) == 2 and claim.enough == 2 and claim.before is None
        if near < claim.enough or (pair and not marks.both(*goals)):
            return HOLDS, "no run among all"
        return of_search(self.setting, claim, search_some(marks, goals, self.clock, claim.enough, claim.before))


def of_search(setting: Setting, claim: NoRun, found: Outcome) -> Verdict:
    """What a search over all runs says of ``claim``."""
    before = inf if claim.before is None else claim.before
    if found.length is not None and claim.first <= found.length < before:
        inputs = f": {told_inputs(setting.system, found.inputs)}" if found.inputs else ""
        return WRONG, f"a run of {counted(found.length, 'step')} does so{inputs}"
    if found.complete and (found.length is None or found.length >= before):
        return HOLDS, f"no run among all, {found.nodes} combinations of state and goals"
    return OPEN, f"more than {found.nodes} combinations of state and goals, or no time left"


def summed(check: Check, verdicts: Iterable[tuple[str, Verdict]]) -> Line:
    """One line on claims in words, each with its verdict: the worst of these."""
    name, what = check
    found = [(text, *verdict) for text, verdict in verdicts]
    kind = worst((verdict for _, verdict, _ in found), UNCLAIMED)
    if kind == UNCLAIMED:
        return Line(name, kind, f"no {what} are claimed" if not found else "no proof is claimed")
    held = [(said, why) for said, verdict, why in found if verdict == HOLDS]
    text = f"{len(held)} of {sum(verdict != UNCLAIMED for _, verdict, _ in found)} {what} proved again"
    whys = limited(_reasons(held))
    against = limited(f"{said}: {why}" for said, verdict, why in found if verdict == kind != HOLDS)
    unfinished = kind == OPEN and all(why != MAYBE for *_, why in found)
    return Line(name, kind, f"{text}: {'; '.join(whys)}" if whys else text, against, unfinished=unfinished)


def _reasons(held: Iterable[tuple[str, str]]) -> Iterator[str]:
    """For each reason why claims hold, if there is something to say: the claims, and the reason."""
    by_why: dict[str, list[str]] = {}
    for said, why in held:
        by_why.setdefault(why, []).append(said)
    yield from (f"{', '.join(limited(names))}: {why}" for why, names in by_why.items() if why)


def about_runs(claims: Sequence[Claim], proof: Certificate | None, lower: int) -> list[Claim]:
    """Those of ``claims`` that speak of what one run covers, without those that follow from another one, or from the
    bound ``lower``, which are checks of their own."""
    runs = [(claim, claim.says) for claim in claims if not isinstance(claim.says, PathFact)]
    others = [says for claim, says in runs if says is not None and claim.kind not in (EXCLUDES, LENGTH)]
    refuted = None if proof is None else NoRun(proof.goals, before=proof.refuted[1])
    if proof is not None:
        others.append(NoRun(proof.goals, before=lower))

    def own(claim: Claim, says: NoRun | None) -> bool:
        if claim.kind not in (EXCLUDES, LENGTH) or says is None:
            return True
        return not any(other.implies(says) for other in others) and (claim.kind != LENGTH or says != refuted)

    return [claim for claim, says in runs if own(claim, says)]


def never(setting: Setting, name: str, known: Assumed, clock: Clock) -> Verdict:
    """HOLDS if no run covers the goal ``name`` (whatever comes after), WRONG with a run that does, else OPEN; and why.

    ``known`` is true of every state that can be reached.
    """
    goal = setting.by_name[name]
    anywhere = Unrolling(setting.system, setting.formulas, known.start, known.always, clock)
    chains: WholeChains | None = None
    for k in range(INDUCTION + setting.oldest + 1):
        steps, here = goal.over(k), shift(goal.antecedent, k)
        before = [Not(shift(goal.antecedent, step)) for step in range(k)]
        sought = And(*before, here)
        status = _status(anywhere, sought, steps)
        if status is Status.UNSAT:
            how = f"by induction over {counted(k, 'step')}" if k else "no state allows it"
            return HOLDS, f"{how}{' together with the invariants' if not known.always.is_true() else ''}"
        chains = chains or WholeChains(replace(setting, final=None), [name], TRUE(), clock)
        covered, run = chains.any_of(range(steps, steps + 1), 1)
        if run is not None:
            return WRONG, f"a run of {counted(steps, 'step')} does so: {told_inputs(setting.system, run.inputs)}"
        if Status.UNKNOWN in (status, covered):
            return OPEN, "too many states to look at all runs, and the solver did not finish"
    return OPEN, "too many states to look at all runs, and no induction proves it"


def _status(unrolling: Unrolling, formula: FNode, steps: int) -> Status:
    """Whether a run of so many valid steps satisfies ``formula``: asked as clauses and as words, in turns.

    Where sums of the same inputs are to be the same, clauses are hard and words are not.
    """
    valid = And(formula, unrolling.valid(steps))
    status = unrolling.ask(valid, steps, share=SHARES[0]).status
    for share in SHARES[1:]:
        if status is not Status.UNKNOWN:
            break
        excluded = unrolling.excludes(formula, steps, share)
        status = Status.UNSAT if excluded else unrolling.ask(valid, steps, share=share).status
    return status
