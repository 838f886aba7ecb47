"""An independent check of a chain and of the proof of its bound, from the text of ``chain.json``.

Nothing is believed but the C source as it is now, the goals and the settings that the file names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from bmc.formulas.unroll import at
from chaincover.certificate import Certificate, PathFact
from chaincover.chain import NO_WAY_TO_FINAL
from chaincover.project.load import Controller
from chaincover.verify import chain_claims
from chaincover.verify.document import Document, GoalClaim
from chaincover.verify.facts import Prover
from chaincover.verify.invariants import Assumed, assumed
from chaincover.verify.lengths import lengths
from chaincover.verify.limits import Clock, Limits
from chaincover.verify.never import never
from chaincover.verify.open_starts import open_starts
from chaincover.verify.orders import order_bound
from chaincover.verify.report import HOLDS, NOTE, OPEN, UNCLAIMED, WRONG, Line, Verification, told_inputs
from chaincover.verify.search import search
from chaincover.verify.setting import Setting
from chaincover.verify.states import MODEL, Confirmation, Table, confirm, tabulate

Progress = Callable[[str], None]

EDGES, PATHS, ALL_RUNS, UNCOVERED = "edges", "sub-paths", "all runs", "goals not covered"


def verify(
    controller: Controller, document: Document, limits: Limits | None = None, progress: Progress | None = None
) -> Verification:
    """Check every claim of ``document`` on ``controller``, whose goals and final condition are those it names.

    InputRefused if its chain does not fit the program; CheckDisagreed if solver and simulation disagree.
    """
    clock, progress = Clock(limits or Limits()), progress or (lambda text: None)
    stimulus = chain_claims.stimulus_of(controller, document)
    progress("states: all that can be reached")
    work = _Work.of(controller, document, clock, progress)
    credited = replace(work.setting, overlap=document.overlap)
    lines = [
        chain_claims.sources(controller, document),
        chain_claims.properties(controller, document),
        chain_claims.chain(controller, document, stimulus, credited),
    ]
    starts = open_starts(credited, stimulus, document.relies_on_starts, clock)
    if starts is not None:
        lines.append(starts)
    proof = document.certificate
    if proof is not None and set(proof.goals) <= set(work.setting.goals):
        lines += work.proof_lines(proof)
    searched = work.all_runs(proof)
    lines.append(chain_claims.bound(document, proof, work.setting, searched.verdict == HOLDS))
    lines.append(searched)
    if chain_claims.uncovered(document):
        lines.append(work.uncovered())
    return Verification(str(document.place), tuple(lines))


def uncovered(controller: Controller, document: Document, clock: Clock) -> Line:
    """The verdicts on the goals of ``document`` that it does not cover."""
    return _Work.of(controller, document, clock, lambda text: None).uncovered()


@dataclass(frozen=True)
class _Work:
    """What the checks share; ``table`` is None where there are too many states."""

    controller: Controller
    document: Document
    setting: Setting
    table: Table | None
    confirmation: Confirmation | None
    clock: Clock
    progress: Progress

    @staticmethod
    def of(controller: Controller, document: Document, clock: Clock, progress: Progress) -> _Work:
        goals = {goal.name: goal for goal in controller.goals}
        proof = document.certificate
        overlap = document.overlap if proof is None else proof.overlap
        setting = Setting(controller.system, goals, controller.final, overlap)
        claimed = () if proof is None else proof.invariants
        used = [at(c.formula, 0) for c in controller.system.invariants if c.name in claimed]
        table = tabulate(controller.system, [*setting.formulas, *used], clock)
        confirmation = None if table is None else confirm(table, controller.native, clock)
        return _Work(controller, document, setting, table, confirmation, clock, progress)

    @cached_property
    def known(self) -> tuple[Assumed, Line]:
        """The invariants of the certificate, as far as they are proved again; none without one."""
        proof = self.document.certificate
        names = () if proof is None else proof.invariants
        return assumed(self.setting, names, self.table, self.confirmation, self.clock)

    def proof_lines(self, proof: Certificate) -> list[Line]:
        """Every fact of the certificate."""
        known, line = self.known
        prover = Prover.of(self.setting, known, self.clock)
        edges = [PathFact((fact.source, fact.target), fact.at_least) for fact in proof.edges]
        lines = [line, prover.line(EDGES, "bounds between two nodes", edges, self.progress)]
        if proof.paths:
            lines.append(prover.line(PATHS, "bounds on sub-paths", proof.paths, self.progress))
        else:
            lines.append(Line(PATHS, UNCLAIMED, "the certificate uses no bound on a sub-path"))
        self.progress("orders and lengths")
        lines.append(order_bound(proof, self.clock))
        lines.append(lengths(self.setting, proof.goals, proof.refuted, self.clock))
        return lines

    def all_runs(self, proof: Certificate | None) -> Line:
        """The search over all runs shorter than the bound, where the states are few."""
        self.progress("search over all runs")
        needed = proof is not None and proof.exhausted > 0
        left_out = OPEN if needed else NOTE
        if self.table is None or self.confirmation is None or not self.table.every_input:
            return Line(ALL_RUNS, left_out, "not done: too many states or inputs")
        count = len(self.table.states)
        if self.confirmation.differences:
            return Line(ALL_RUNS, WRONG, "original and model take different steps", self.confirmation.differences[:3])
        if proof is not None and proof.exhausted and not self.table.counts(proof.exhausted, self.setting.least_cone):
            return Line(ALL_RUNS, WRONG, f"{proof.exhausted} reachable states are claimed, there are {count}")
        goals = [hit.goal for hit in self.document.hits] if proof is None else list(proof.goals)
        if not set(goals) <= set(self.setting.goals):
            return Line(ALL_RUNS, left_out, "not done: the goals are not known")
        found = search(self.table, self.setting, goals, True, self.document.lower, self.clock)
        if found.length is not None:
            text = f"a chain of {found.length} steps covers the goals, below the bound {self.document.lower}"
            return Line(ALL_RUNS, WRONG, text, (told_inputs(self.setting.system, found.inputs),))
        if not found.complete:
            return Line(
                ALL_RUNS, left_out, f"not done: more than {self.clock.limits.nodes} combinations, or no time left"
            )
        text = f"no chain shorter than {self.document.lower}: {count} states, {found.nodes} combinations with goals"
        return Line(ALL_RUNS, HOLDS, f"{text}, {self._steps_of()}")

    def _steps_of(self) -> str:
        """Where the steps of the table come from."""
        assert self.table is not None
        assert self.confirmation is not None
        on, why = self.confirmation.on, self.confirmation.why
        return f"the steps of {on} ({why})" if on == MODEL else f"all {self.table.steps} steps run on {on}"

    def uncovered(self) -> Line:
        """The verdicts on goals that the chain does not cover, as far as they claim a proof."""
        texts, verdicts = [], set()
        for goal in chain_claims.uncovered(self.document):
            verdict, why = self._never(goal)
            verdicts.add(verdict)
            texts.append(f"{goal.name} ({goal.verdict}): {why}")
        verdict = next((v for v in (WRONG, OPEN, HOLDS) if v in verdicts), UNCLAIMED)
        return Line(UNCOVERED, verdict, "; ".join(texts))

    def _never(self, claim: GoalClaim) -> tuple[str, str]:
        """Whether no run covers a goal (and goes on to the end)."""
        name, to_end = claim.name, claim.verdict == NO_WAY_TO_FINAL
        if not chain_claims.proof_claimed(claim):
            return UNCLAIMED, "no proof is claimed"
        if name not in self.setting.goals:
            return WRONG, "this is no goal"
        if self.table is not None and self.table.every_input:
            found = search(self.table, self.setting, [name], to_end, None, self.clock)
            if found.length is not None:
                return WRONG, f"a run does so: {told_inputs(self.setting.system, found.inputs)}"
            if found.complete:
                return HOLDS, f"no run among all, {self._steps_of()}"
        verdict, why = never(self.setting, name, self.known[0], self.clock)
        if verdict == WRONG and to_end:  # a run covers it; whether one goes on to the end is left open
            return OPEN, "too many states to look at all runs"
        return verdict, why
