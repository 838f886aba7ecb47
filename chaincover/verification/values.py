"""The values of a document that people read, worked out anew from checked claims: nothing here is the writer's.

What is covered, violated and failing follows from the chain's inputs by simulation, length and bound from what other
checks have found out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, pairwise

from bmc.errors import counted
from bmc.system.simulation import Simulator
from bmc.system.transition import Run
from chaincover.certificate import Certificate
from chaincover.chain import COVERED, STATUSES
from chaincover.formats.chain_file import Stimulus
from chaincover.formats.document import ChainClaim, Document, RulingsClaim
from chaincover.result import Requirements
from chaincover.verification.acceleration import JUMPS
from chaincover.verification.constraints import CONSTRAINTS
from chaincover.verification.orders import CHECK as ORDERS
from chaincover.verification.prices import PRICES
from chaincover.verification.report import HOLDS, NOTE, OPEN, WRONG, Line, worst
from chaincover.verification.setting import Setting
from chaincover.verification.verdicts import EDGES, LENGTHS, PATHS
from properties.goal import Goal, violation, violation_name
from properties.monitor import Monitor

BOUND, ALL_RUNS, LOCALISED = "lower bound", "all runs", "smaller system"


class Values:
    """What the chain of ``document`` covers and violates, by a simulation of its inputs; nothing without a chain.

    ``rulings`` are those on the requirements as they should be.
    """

    def __init__(
        self, setting: Setting, document: Document, stimulus: Stimulus | None, rulings: Requirements | None = None
    ) -> None:
        self.setting, self._document, self.rulings = setting, document, rulings or Requirements()
        self.steps = {} if document.chain is None else {hit.goal: hit.step for hit in document.chain.hits}
        self._simulator, self._monitor = Simulator(setting.system), Monitor(list(setting.goals))
        self.run: Run | None = None
        self.covered: Mapping[str, Sequence[int]] = {}
        if stimulus is not None:
            self.run = self._simulator.run(self._simulator.initial(stimulus.initial), stimulus.inputs)
            self.covered = self._monitor.covered(self.run)

    def held(self, goal: str, step: int | None) -> bool | None:
        """Whether the consequent of ``goal`` held where the chain covers it; None where there is nothing to judge."""
        if step is None or self.run is None or step not in self.covered.get(goal, ()):
            return None
        return self._monitor.judge(self.run, goal, step)

    def verdict(self, goal: str) -> tuple[str, int | None]:
        """What ``goal`` may be said to be, and from which step: covered if the chain is credited with it, or covers it
        all the same. Whether another goal is what it is said to be is looked at by a check of its own."""
        if goal in self.steps or (not self.setting.forbid and self.covered.get(goal)):
            return COVERED, self.steps.get(goal)
        said = next((claim.verdict for claim in self._document.goals if claim.name == goal), "")
        return said if said in STATUSES[1:] else f"one of {', '.join(STATUSES[1:])}", None

    @cached_property
    def failures(self) -> list[tuple[str, int]]:
        """All steps at which a consequent does not hold, be it for a goal's own occurrence or for another one."""
        if self.run is None:
            return []
        asked = [goal for goal in self.setting.goals if goal.consequent is not None and goal.name in self.steps]
        inputs = {var.name for var in self.setting.system.inputs}
        covered = Monitor([violation(goal, inputs) for goal in asked]).covered(self.run)
        return [(goal.name, step) for goal in asked for step in self._failing(goal, covered[violation_name(goal.name)])]

    def _failing(self, goal: Goal, violated: Sequence[int]) -> Sequence[int]:
        """The steps at which an occurrence of the antecedent of ``goal`` fails: those at which it is ``violated``, and
        of a deadline, which counts for one occurrence at a time, those of every other one."""
        assert self.run is not None
        if goal.deadline is None:
            return violated
        inputs = {var.name for var in self.setting.system.inputs}
        late = {one.after for one in goal.deadline.decisions(self.run, inputs) if not one.held}
        return sorted({*violated, *late})

    @cached_property
    def violations(self) -> list[tuple[str, int]]:
        """All assertions of the program that fail, each with its step."""
        every = () if self.run is None else self._simulator.all_violated(self.run)
        return [(f"{one.where}: {one.name}" if one.where else one.name, step) for step, one in every]

    @property
    def k_met(self) -> int | None:
        """The most steps from one place where goals are covered to the next, from init and to the end."""
        if self.run is None:
            return None
        met = {step for steps in self.covered.values() for step in steps}
        places = sorted({0, self.run.length, *self.steps.values(), *met})
        return max((b - a for a, b in pairwise(places)), default=0)

    def faults(self) -> Iterator[str]:
        """Where the values in the document are others."""
        document, data = self._document, self._document.data
        for goal in document.goals:
            if goal.name in self.setting.by_name and (goal.verdict, goal.step) != self.verdict(goal.name):
                yield f"{goal.name} is said to be {goal.verdict} at {goal.step}"
        if data["bounds"].get("k_met") != self.k_met:
            yield f"bounds.k_met: the file says {data['bounds'].get('k_met')!r}, it is {self.k_met!r}"
        everything = self.run is not None and all(goal in self.steps for goal in self.setting.names)
        if everything and data.get("no_chain") is not None:
            yield "no_chain: the chain covers all goals"
        yield from wrong_rulings(self.rulings, document.requirements)


def wrong_rulings(again: Requirements, claim: RulingsClaim | None) -> Iterator[str]:
    """Where the rulings that are claimed are not those made ``again``."""
    said = {each.goal: (each.ruling, each.step, each.shortest) for each in (claim.rulings if claim else ())}
    for ruling in again.rulings:
        failure = ruling.failure
        own = (ruling.status, failure and failure.step, failure and failure.shortest)
        if said.get(ruling.goal) != own:
            yield f"the ruling on {ruling.goal} is {own}, not {said.get(ruling.goal)}"


def inconsistent(document: Document, claim: ChainClaim, setting: Setting) -> Iterator[str]:
    """Where what the document says of its chain does not agree with itself."""
    names = [hit.goal for hit in claim.hits]
    if claim.length != claim.steps:
        yield f"the chain has {counted(claim.steps, 'step')}, not {claim.length}"
    if list(claim.order) != names or len(set(names)) != len(names):
        yield "the order is not that of the goals credited, each once"
    if sorted(hit.step for hit in claim.hits) != [hit.step for hit in claim.hits]:
        yield "the goals credited are not in the order of their steps"
    claimed = {(goal.name, goal.step) for goal in document.goals if goal.verdict == COVERED}
    if claimed != {(hit.goal, hit.step) for hit in claim.hits}:
        yield "the goals said to be covered are not those credited"
    yield from _misplaced(claim, setting)


def _misplaced(claim: ChainClaim, setting: Setting) -> Iterator[str]:
    """Where goals do not lie within the chain, or share steps that they may not share."""
    placed = [(hit.goal, hit.step) for hit in claim.hits if hit.goal in setting.by_name]
    for goal, step in placed:
        if step < 0 or setting.over(goal, step) > claim.steps:
            yield f"{goal} at step {step} does not lie within the chain"
    for (one, first), (other, later) in combinations(placed, 2) if setting.forbid else ():
        if setting.by_name[one].meets(first, setting.by_name[other], later):
            yield f"{one} and {other} share steps"


def bound(document: Document, proof: Certificate | None, setting: Setting, said: Mapping[str, str]) -> Line:
    """Whether the bound follows from the facts of the certificate, and these hold: ``said`` has the verdicts on them.

    A search over all shorter runs shows it whatever the facts are.
    """
    faults = list(_wrong_numbers(document))
    lower = document.bounds.lower
    text = f"no chain shorter than {counted(lower, 'step')}"
    if proof is None:
        if not lower or faults:
            return Line(BOUND, WRONG if faults else HOLDS, text, tuple(faults))
        return Line(BOUND, OPEN, f"{text} is claimed; the file has no certificate of it")
    return bound_of(proof, setting, said, [*faults, *_of_others(document, proof)])


def bound_of(proof: Certificate, setting: Setting, said: Mapping[str, str], faults: Sequence[str] = ()) -> Line:
    """Whether the bound of ``proof`` follows from its facts, and these hold; ``faults`` are known already."""
    text, faults = f"no chain shorter than {counted(proof.lower, 'step')}", [*faults, *_unfit(proof, setting)]
    if faults:
        return Line(BOUND, WRONG, f"{text}: what is said for it does not hold together", tuple(faults))
    return _best(text, proof, proof.lower, said)


def _best(text: str, proof: Certificate, lower: int, said: Mapping[str, str]) -> Line:
    """The line on the bound ``lower`` by those facts of ``proof``, or a search, that are proved best."""
    bases = _bases(proof)
    ways = [(f"the facts give {reached}", checks) for reached, checks in bases if reached >= lower]
    if not ways and not proof.exhausted:
        return Line(BOUND, WRONG, f"{text}: the facts give only {max(reached for reached, _ in bases)}")
    if not ways or said.get(ALL_RUNS) == HOLDS:
        ways.append(("all shorter runs were searched", (ALL_RUNS,)))
    if not lower:
        ways.append(("no chain has fewer", ()))
    always = [CONSTRAINTS, *([ALL_RUNS] if said.get(ALL_RUNS) == WRONG else [])]
    lines = [_rested(f"{text}: {how}", [*checks, *always], said) for how, checks in ways]
    return next(line for verdict in (HOLDS, OPEN, WRONG) for line in lines if line.verdict == verdict)


def _bases(proof: Certificate) -> list[tuple[int, tuple[str, ...]]]:
    """The bounds that the facts of ``proof`` give, each with the checks that it rests on."""
    orders = (EDGES[0], PATHS[0], ORDERS)
    found: list[tuple[int, tuple[str, ...]]] = [(proof.order_bound, orders)]
    if proof.prices is not None:
        found.append((proof.prices.bound, (PRICES,)))
    if proof.acceleration is not None:
        found.append((proof.acceleration.bound, (JUMPS,)))
    if proof.part is not None:
        found.append((proof.part.proof.lower, (LOCALISED,)))
    if proof.refuted[0] < proof.refuted[1]:
        found.append((proof.refuted[1], (*(orders if proof.refuted[0] > 0 else ()), LENGTHS[0])))
    return found


def _rested(text: str, checks: Sequence[str], said: Mapping[str, str]) -> Line:
    """The line on a bound that rests on ``checks``: the worst that is ``said`` of them.

    Neither a note nor silence is a proof, but where the project has no constraints.
    """
    told = {name: said.get(name, HOLDS if name == CONSTRAINTS else OPEN) for name in checks}
    told = {name: OPEN if verdict == NOTE else verdict for name, verdict in told.items()}
    kind = worst(told.values())
    blamed = [f"{name}: {kind}" for name, verdict in told.items() if verdict == kind != HOLDS]
    return Line(BOUND, kind, text, tuple(blamed))


def _wrong_numbers(document: Document) -> Iterator[str]:
    """Where length, bound and gap do not agree with each other."""
    bounds, length = document.bounds, None if document.chain is None else document.chain.steps
    lower = bounds.lower
    if bounds.length != length:
        yield f"the bounds speak of {bounds.length} steps, the chain has {length}"
    if length is None:
        if bounds.minimal:
            yield "there is no chain that could be minimal"
        return
    if lower > length:
        yield f"the bound {lower} is above the length {length} of the chain"
    if bounds.minimal != (lower == length):
        said = f"{'' if bounds.minimal else 'not '}minimal"
        yield f"the chain is said to be {said}: {counted(length, 'step')}, bound {lower}"
    gap = 0.0 if lower == length else (length - lower) / lower if lower else None
    if (gap is None) != (bounds.gap is None) or abs((gap or 0.0) - (bounds.gap or 0.0)) > 1e-5:
        yield f"the gap is {gap}, not {bounds.gap}"


def _of_others(document: Document, proof: Certificate) -> Iterator[str]:
    """Where the certificate speaks of other chains than the one it comes with."""
    known = document.credited if document.chain is not None else [goal.name for goal in document.goals]
    strange = [goal for goal in proof.goals if goal not in known]
    if strange:
        yield f"the certificate is about other goals than the chain: {', '.join(strange)}"
    if proof.overlap not in ("allow", document.settings.overlap):
        yield f"the certificate is about chains with overlap '{proof.overlap}', not '{document.settings.overlap}'"
    if document.bounds.lower != proof.lower:
        yield f"the certificate is about the bound {proof.lower}, not {document.bounds.lower}"


def _unfit(proof: Certificate, setting: Setting) -> Iterator[str]:
    """Where the certificate speaks of other chains than those of ``setting``, or of none."""
    if len(set(proof.goals)) != len(proof.goals):
        yield "the certificate is about a goal twice"
    if proof.end != setting.end:
        yield f"the certificate is about chains to '{proof.end}', not to '{setting.end}'"
    if proof.validity is not None and proof.validity.steps is not None and proof.lower > proof.validity.steps + 1:
        yield f"its facts are about runs of up to {counted(proof.validity.steps, 'step')}"
    if proof.order_bound < proof.refuted[0] < proof.refuted[1]:
        yield f"nothing rules the lengths from {proof.order_bound} to {proof.refuted[0] - 1} out"
