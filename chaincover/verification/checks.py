"""What the checks of one statement share, and the checks of its certificate: each fact, and what follows of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.errors import counted
from bmc.formulas.unroll import at
from bmc.records import dataclass
from bmc.system.transition import Condition
from chaincover.certificate import Certificate, NoRun, Part, Prices
from chaincover.claims import EDGE, SHORTEST, SUB_PATH, Claim, of_certificate
from chaincover.verification import prices
from chaincover.verification.acceleration import Jumps, jumps_of
from chaincover.verification.compiled_search import compiled_search
from chaincover.verification.confirmation import MODEL, Confirmation, confirm
from chaincover.verification.invariants import (
    Assumed,
    Enumerated,
    assumed,
    claimed_states,
    proved_again,
    told_invariants,
    without_sure,
)
from chaincover.verification.layers import Layers
from chaincover.verification.limits import Clock
from chaincover.verification.localised import localised_original, localised_setting
from chaincover.verification.marks import Marks
from chaincover.verification.normal_form import Terms, constants_of, normal_setting
from chaincover.verification.orders import order_bound
from chaincover.verification.prices import Priced
from chaincover.verification.report import HOLDS, NOTE, OPEN, UNCLAIMED, WRONG, Line, Verdict, limited, worst
from chaincover.verification.search import Outcome, search
from chaincover.verification.setting import Setting, Statement, monitored_setting
from chaincover.verification.states import OpenValueRead, tabulate
from chaincover.verification.values import ALL_RUNS, LOCALISED, bound_of
from chaincover.verification.verdicts import (
    EDGES,
    LENGTHS,
    PATHS,
    UNCOVERED,
    Check,
    Prover,
    about_runs,
    of_search,
    summed,
)

PART, SMALL_PART = 50, 1000
"""A search over all runs that nothing rests on gets this part of the effort only, and so do the states of requirements
that the file leaves undecided. Where prices of goals are checked exactly, the search gets the small part.
"""

MANY = 250_000
"""From so many reachable states on, by what the certificate says, they are sought in layers where distances do."""

TABLE = 0.4
"""Part of the time for the table of reachable states: what it does not settle must have its time too."""


@dataclass(frozen=True)
class Listener:
    """Who is told what is being done (``progress``), and every check that is done (``line``)."""

    progress: Callable[[str], None] = lambda text: None
    line: Callable[[Line], None] = lambda line: None


@dataclass(frozen=True)
class Checks:
    """What the checks of one statement share. ``states``: whether all that can be reached are enumerated.

    A certificate that speaks of reachable states needs them, and so does a bound without one; a certificate that does
    not was mostly found where these are too many.
    """

    statement: Statement
    clock: Clock
    listener: Listener
    states: bool = True

    @property
    def setting(self) -> Setting:
        """What the certificate speaks about: runs of states in its normal form."""
        return self.normal[0]

    @cached_property
    def normal(self) -> tuple[Setting, Terms, Line]:
        """The setting on states in the certificate's normal form, how they get there, and what was proved of it."""
        return normal_setting(self.needed, self.statement.proof, self.clock)

    @cached_property
    def needed(self) -> Setting:
        """The setting on states as they are, without conditions on a step to be defined that restrict no run."""
        whole = self.whole
        return replace(whole, system=without_sure(whole.system, self._read(whole), self.clock))

    def _read(self, setting: Setting) -> list[FNode]:
        """The formulas of ``setting``, and the invariants of the program that the certificate rests on."""
        names = () if self.statement.proof is None else self.statement.proof.invariants
        return [*setting.formulas, *(at(c.formula, 0) for c in setting.system.invariants if c.name in names)]

    @property
    def whole(self) -> Setting:
        """The setting on states as they are, with monitors: goals take one step at most, and may share steps."""
        return self.monitored[0]

    @cached_property
    def monitored(self) -> tuple[Setting, Line | None]:
        """The same, and whether the certificate has these monitors; None where it speaks of none."""
        return monitored_setting(self.statement.setting, self.statement.proof)

    @property
    def told_invariants(self) -> list[Condition]:
        """The invariants that are said to be proved, and that nothing rests on."""
        return told_invariants(self.setting, self.statement.proof, self.statement.invariants)

    @cached_property
    def about_runs(self) -> list[Claim]:
        """The claims about what one run covers, each of them a check of its own."""
        return about_runs(self.statement.claims, self.statement.proof, self.statement.lower)

    @cached_property
    def layers(self) -> Layers | None:
        """Searches in layers, where all that the certificate asks of states are distances, and it says that there are
        very many."""
        proof = self.statement.proof
        if proof is None or proof.acceleration is not None or self.told_invariants:
            return None
        asks = proof.exhausted or proof.paths or proof.refuted[0] < proof.refuted[1] or self.about_runs
        if asks or proof.prices is not None or proof.together:
            return None
        if min(map(claimed_states, proof.invariants), default=0) < MANY:
            return None
        self.listener.progress("states: all that can be reached, in layers")
        return Layers.of(self.setting, proof, self.clock)

    @cached_property
    def marks(self) -> Marks | None:
        """All goals along all steps between reachable states; None where there are too many, or where layers do."""
        if not self.states or self.layers is not None:
            return None
        self.listener.progress("states: all that can be reached")
        table = tabulate(self.setting.system, self._read(self.setting), self.clock.part(TABLE))
        try:
            return None if table is None else Marks(table, self.setting, self.setting.names)
        except OpenValueRead:
            return None

    @cached_property
    def confirmation(self) -> Confirmation:
        """Whether the compiled original takes the same steps."""
        return Confirmation(MODEL) if self.reachable is None else self.reachable.confirmation

    @cached_property
    def reachable(self) -> Enumerated | None:
        """All reachable states, and whether the compiled original takes the steps between them; None without them."""
        original, clock, forms = self.statement.original, self.clock, self.normal[1]
        if self.marks is not None:
            table = self.marks.table
            self.listener.progress(f"states: {table.steps} steps on the compiled original")
            return Enumerated(table.size, table.steps, confirm(table, original, clock, forms), table)
        found = None if self.layers is None else self.layers.searched
        if found is None:
            return None
        return Enumerated(found.size, found.steps, confirm(found.table, original, clock, forms, found.steps))

    @cached_property
    def known(self) -> tuple[Assumed, Line]:
        """The invariants of the certificate, as far as they are proved again; none without one."""
        told, line = assumed(self.setting, self.statement.proof, self.reachable, self.clock)
        if self.reachable is None and self.needed.system is not self.whole.system:
            told = replace(told, complete=False)  # states that no run reaches have more steps
        return told, line

    @cached_property
    def searched(self) -> Outcome | None:
        """The search over all runs that are shorter than the bound, or than the lengths said to be refuted."""
        proof = self.statement.proof
        goals = self.statement.covered or () if proof is None else proof.goals
        if self.marks is None or not set(goals) <= set(self.setting.names) or (proof is None and not goals):
            return None
        lower = self.statement.lower
        below = max(lower, 0 if proof is None else proof.refuted[1])
        self.listener.progress(f"search over all runs of fewer than {counted(below, 'step')}")
        if proof is not None and self._facts(proof) >= lower:
            return search(self.marks, goals, self._part(SMALL_PART if proof.prices else PART), below)
        return self._searched(self.marks, goals, below)

    def _searched(self, marks: Marks, goals: Sequence[str], below: int) -> Outcome:
        """The search, compiled first where there may be many pairs of a state and the goals covered."""
        ahead = self.priced[1] if self.statement.proof and self.statement.proof.prices else None
        many = ahead is None and marks.table.size << len(goals) > self.clock.limits.nodes
        found = compiled_search(marks, goals, self.clock, below) if many else None
        slow = found or search(marks, goals, self.clock, below, ahead=ahead)
        return slow if found or slow.complete else compiled_search(marks, goals, self.clock, below) or slow

    @staticmethod
    def _facts(proof: Certificate) -> int:
        """The bound without the search over all runs."""
        more = [each.bound for each in (proof.prices, proof.acceleration) if each is not None]
        return max([proof.order_bound, *more])

    @cached_property
    def priced(self) -> tuple[Line, Priced | None]:
        """Whether the prices of the certificate hold, and what they say then."""
        proof = self.statement.proof
        assert proof is not None
        return self._priced(proof, proof.prices)

    def _priced(self, proof: Certificate, claimed: Prices | None) -> tuple[Line, Priced | None]:
        line, found = prices.line(self.marks, proof, claimed)
        if line.verdict == HOLDS and self.marks is not None:
            line = replace(line, text=f"{line.text}, {self.confirmation.told(self.marks.table.steps)}")
        return line, found

    def together(self, claimed: Prices) -> Line:
        """Whether prices of the certificate hold that speak of several chains."""
        proof = self.statement.proof
        assert proof is not None
        line = self._priced(proof, claimed)[0]
        if line.verdict == HOLDS and self.confirmation.differences:
            return replace(line, verdict=WRONG, details=self.confirmation.differences[:3])
        return line

    @cached_property
    def jumps(self) -> Jumps | None:
        """Jumps over the values of counters, where the certificate speaks of these."""
        proof = self.statement.proof
        if proof is None or proof.acceleration is None:
            return None
        self.listener.progress("jumps of counters")
        return jumps_of(self.setting, proof, self.clock, self.known[0].always, self.statement.beyond)

    def localised(self, part: Part) -> Line:
        """Whether the bound of ``part`` holds of the smaller system that it names."""
        left = counted(len(part.visible), "variable")
        proof = self.statement.proof
        assert proof is not None
        made = localised_setting(self.needed, part, constants_of(self.needed, proof, self.clock), self.clock)
        if isinstance(made, str):
            return Line(LOCALISED, WRONG, f"with {left} and all others free", (made,))
        self.listener.progress(f"{LOCALISED}: {left}")
        statement = Statement(
            made,
            localised_original(self.statement.original, self.needed.system, made.system),
            part.proof,
            (*of_certificate(part.proof, part.proof.lower),),
            part.proof.goals,
            part.proof.lower,
        )
        own = Checks(statement, self.clock, self.listener)
        lines = [*own.of_setting(), *own.proof_lines(part.proof), own.all_runs()]
        found = bound_of(part.proof, made, {line.check: line.verdict for line in lines})
        verdict = worst([*(line.verdict for line in lines if line.verdict == WRONG), found.verdict])
        blamed = [line for line in (*lines, found) if line.verdict == verdict != HOLDS]
        details = [f"{line.check}: {text}" for line in blamed for text in (line.text, *line.details)]
        text = f"{found.text} with {left} and all others free"
        if own.marks is not None:
            text += f"; {own.confirmation.told(own.marks.table.steps)}"
        return Line(LOCALISED, verdict, text, limited(details), unfinished=verdict == OPEN)

    def _part(self, part: int) -> Clock:
        """This part of the effort of a search over all runs."""
        limits = self.clock.limits
        return replace(self.clock, limits=replace(limits, nodes=limits.nodes // part))

    def proof_lines(self, proof: Certificate) -> Iterator[Line]:
        """Every fact of the certificate."""
        progress = self.listener.progress
        yield self.known[1]
        yield self.paths(EDGES, (EDGE,))
        yield self.paths(PATHS, (SUB_PATH,))
        progress("order bound")
        yield order_bound(proof, self.clock)
        if proof.prices is not None:
            yield self.priced[0]
        if self.jumps is not None:
            yield self.jumps.line(proof)
        if proof.part is not None:
            yield self.localised(proof.part)
        yield self.lengths(proof)

    def of_setting(self) -> Iterator[Line]:
        """Whether monitors and the normal form are as the certificate says, where it speaks of any."""
        if self.monitored[1] is not None:
            yield self.monitored[1]
        if self.normal[2].verdict != UNCLAIMED:
            yield self.normal[2]

    def paths_and_runs(self) -> Iterator[Line]:
        """Bounds on paths, and what no run covers, with all that they rest on."""
        yield from self.of_setting()
        if self.normal[2].verdict in (HOLDS, UNCLAIMED):
            yield self.known[1]
            yield self.paths(EDGES, (SHORTEST,))
            yield self.uncovered()

    @cached_property
    def prover(self) -> Prover:
        """Proves claims about runs of the setting."""
        return Prover(self.setting, self.known[0], self.clock, self.marks, self.layers, lambda: self.jumps)

    def paths(self, check: Check, kinds: Collection[str]) -> Line:
        """The verdict on the claims about paths of certain ``kinds``."""
        asked = [claim for claim in self.statement.claims if claim.kind in kinds]
        return self.prover.paths(check, asked, self.listener.progress)

    def lengths(self, proof: Certificate) -> Line:
        """The verdict on the lengths that ``proof`` says to be refuted one by one."""
        claim = proof.refuted_lengths
        if claim is None:
            return summed(LENGTHS, ())
        verdict, why = self.prover.no_run(claim, self.searched)
        said = f"lengths {claim.first} to {proof.refuted[1] - 1}"
        return Line(LENGTHS[0], verdict, f"{said}: {why}", unfinished=verdict == OPEN)

    def all_runs(self) -> Line:
        """The search over all runs shorter than the bound, where the states are few."""
        proof, lower = self.statement.proof, self.statement.lower
        left_out = OPEN if proof is not None and proof.exhausted > 0 and self._facts(proof) < lower else NOTE
        if self.marks is None:
            why = "too many states or inputs" if self.states else "the proof does without"
            return Line(ALL_RUNS, left_out, f"not done: {why}")
        if self.confirmation.differences:
            return Line(ALL_RUNS, WRONG, "original and model take different steps", self.confirmation.differences[:3])
        if self.searched is None:
            return Line(ALL_RUNS, left_out, "not done: the goals are not known")
        verdict, why = of_search(self.setting, NoRun((), before=lower), self.searched)
        if verdict == OPEN:
            return Line(ALL_RUNS, left_out, f"not done: {why}")
        table = self.marks.table
        text = f"no chain is shorter than {counted(lower, 'step')}: {why}"
        if verdict == HOLDS:
            text += f" on {counted(table.size, 'state')}, {self.confirmation.told(table.steps)}"
        return Line(ALL_RUNS, verdict, text)

    def told(self) -> Line:
        """Invariants that the file says are proved, and that nothing rests on."""
        table = None if self.marks is None else self.marks.table
        setting = self.setting if self.normal[1] else self.whole
        return proved_again(setting, self.told_invariants, table, self.clock)

    def each(self) -> dict[str, Verdict]:
        """The verdict on each claim about what one run covers, by its title."""
        return {claim.title: verdict for claim, verdict in self._verdicts(self.about_runs, OPEN)}

    def uncovered(self) -> Line:
        """The verdicts on claims about what one run covers."""
        return self.runs(UNCOVERED, self.about_runs)

    def runs(self, check: Check, claims: Sequence[Claim]) -> Line:
        """The verdicts on ``claims`` about what one run covers."""
        line = summed(check, ((claim.text, verdict) for claim, verdict in self._verdicts(claims, WRONG)))
        told = "" if line.verdict == UNCLAIMED or self.marks is None else self.confirmation.told(self.marks.table.steps)
        return replace(line, text=f"{line.text}; {told}") if told else line

    def _verdicts(self, claims: Sequence[Claim], otherwise: str) -> Iterator[tuple[Claim, Verdict]]:
        """The verdict on each of ``claims``; ``otherwise``: where the original takes other steps than the model."""
        if all(claim.says is None for claim in claims):  # nothing is enumerated for what is not claimed
            yield from ((claim, (UNCLAIMED, "no proof is claimed")) for claim in claims)
            return
        self.listener.progress(UNCOVERED[0])
        proof, prover = self.statement.proof, self.prover
        if proof is not None and proof.validity is not None and proof.validity.steps is not None:
            prover = Prover(self.whole, Assumed(TRUE(), TRUE(), True), self.clock)
        differences = () if self.marks is None else self.confirmation.differences
        for claim in claims:
            verdict = prover.of_run(claim, self.statement.covered)
            if differences and verdict[0] == HOLDS:
                verdict = otherwise, f"original and model take different steps: {differences[0]}"
            yield claim, verdict
