"""Tests that have more steps than are stored: a few sequences of inputs, each made a number of times.

By the lemma on counters (``chaincover.verification.counter_lemma``) a sequence that moves one counter, and leaves all
else that matters as it was, does the same again as long as the counter stays in its cell at each place of the sequence.
So it is enough to make a sequence once where it begins and once where it ends. That no shorter test is as short as
those that are stored is told by the jumps.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from bmc.errors import counted
from bmc.records import dataclass
from bmc.system.simulation import Simulator
from bmc.system.transition import InputVariable, Run, Valuation
from chaincover.chain import STORED, UNDECIDED
from chaincover.formats.chain_file import read_long_test
from chaincover.formats.document import Document, GoalClaim
from chaincover.verification.acceleration import Jumps
from chaincover.verification.counter_lemma import Looks
from chaincover.verification.report import HOLDS, OPEN, WRONG, Line, limited
from chaincover.verification.setting import Setting
from properties.monitor import Monitor
from properties.one_step import MONITOR

LONG = "long tests"

SIMULATED = 3
"""A sequence that is made no more often than this is simulated as it is. Twice as many take twice as long."""


def long_goals(document: Document) -> frozenset[str]:
    """The goals with a long test."""
    return frozenset(goal.name for goal in document.goals if goal.long_test is not None)


def line(setting: Setting, document: Document, jumps: Jumps | None) -> Line | None:
    """Whether each long test is a run that covers its goal, and no run as short as those stored does; None without
    one."""
    claims = [goal for goal in document.goals if goal.long_test is not None]
    if not claims:
        return None
    faults, left = list[str](), list[str]()
    for claim in claims:
        wrong, why = _LongTest(setting, document, claim).judged(jumps)
        (faults if wrong else left).extend([f"{claim.name}: {why}"] if why else [])
    verdict = WRONG if faults else OPEN if left else HOLDS
    text = f"{counted(len(claims), 'test')} made in jumps; no run of up to {STORED:,} steps does the same"
    return Line(LONG, verdict, text, limited([*faults, *left]))


@dataclass(frozen=True)
class _LongTest:
    setting: Setting
    document: Document
    claim: GoalClaim

    def judged(self, jumps: Jumps | None) -> tuple[bool, str]:
        """Whether the test is wrong, and why, or why it is left open; '' if it is neither."""
        data, name = self.claim.long_test, self.claim.name
        if data is None or name not in self.setting.by_name:
            return True, "this is no goal"
        picks = self._picks
        given = replace(self.setting.system, inputs=tuple(v for v in self.setting.system.inputs if v not in picks))
        steps, parts = read_long_test(data, name, given, self.document.where)
        made = sum(len(inputs) * times for inputs, times in parts)
        if self.claim.verdict != UNDECIDED:
            return True, f"it is said to be {self.claim.verdict}"
        if self.document.data["settings"].get("max_length") is not None or steps <= STORED:
            return True, f"a test of {steps:,} steps is not too long to be stored"
        if not parts:
            return False, "only the length of the test is told"
        if made != steps:
            return True, f"the test has {made:,} steps, not {steps:,}"
        if jumps is None:
            return False, "nothing is proved of counters"
        if jumps.graph is None:
            return False, jumps.why
        fault = self._fault(parts)
        if fault:
            return True, fault
        shorter = not jumps.no_path([name], STORED + 1, to_end=False)
        return False, "some path of jumps weighs no more than what is stored" if shorter else ""

    def _fault(self, parts: Sequence[tuple[Sequence[Valuation], int]]) -> str:
        """Why ``parts`` are no run from init that ends with the goal; '' if they are."""
        goal, simulator = self.setting.by_name[self.claim.name], Simulator(self.setting.system)
        last = Run((simulator.initial(),), ())
        nothing = {var.name: 0 for var in self._picks}
        for number, (plain, times) in enumerate(parts, 1):
            runs = self._runs(last.states[-1], [{**values, **nothing} for values in plain], times)
            if runs is None:
                return f"part {number} of the test is not the same each time"
            if any(self.setting.sound(run) < run.length for run in runs):
                return f"part {number} of the test is not allowed"
            last = runs[-1]
        monitor = Monitor([goal])
        chosen = [[{**last.inputs[-1], **values}] for values in self._chosen()] if last.inputs else [[]]
        ways = (simulator.run(last.states[0], [*last.inputs[:-1], *final]) for final in chosen)
        covered = any(monitor.ends(run, goal.name, last.length) for run in ways)
        return "" if covered else "the test does not end with the goal"

    def _runs(self, state: Valuation, inputs: Sequence[Valuation], times: int) -> list[Run] | None:
        """The runs from ``state`` under ``inputs``, made so many times: all of them, or the first and the last one if
        these are alike; None if they are not."""
        simulator, proof = Simulator(self.setting.system), self.document.certificate
        runs = [simulator.run(state, inputs)]
        if times <= SIMULATED:
            for _ in range(times - 1):
                runs.append(simulator.run(runs[-1].states[-1], inputs))
            return runs
        matter = Looks.of(self.setting.of([self.claim.name])).variables(self.setting.system)
        begin = _moved(state, runs[0].states[-1], {var.name: var.type.bits for var in matter}, times - 1)
        cells = {} if proof is None or proof.acceleration is None else proof.acceleration.cells
        if begin is None:
            return None
        runs.append(simulator.run(begin, inputs))
        return runs if _alike(runs[0], runs[1], cells, {var.name for var in matter}) else None

    def _chosen(self) -> Iterator[Valuation]:
        """What monitors may choose in the last step, so that the goal counts."""
        ranges = [range(var.values[0][1] + 1) if var.values else range(2) for var in self._picks]
        yield from (dict(zip((var.name for var in self._picks), values, strict=True)) for values in product(*ranges))

    @property
    def _picks(self) -> list[InputVariable]:
        """The inputs of monitors."""
        return [var for var in self.setting.system.inputs if var.name.startswith(MONITOR)]


def _moved(before: Valuation, after: Valuation, bits: Mapping[str, int], times: int) -> Valuation | None:
    """The state ``before`` that many times moved as it is moved to ``after``; None unless one variable is, of those
    with so many ``bits``, and none wraps around."""
    moved = [name for name in bits if before[name] != after[name]]
    values = {name: before[name] + times * (after[name] - before[name]) for name in moved}
    if len(moved) > 1 or any(not 0 <= value < 1 << bits[name] for name, value in values.items()):
        return None
    return {**before, **values}


def _alike(first: Run, last: Run, cells: Mapping[str, Sequence[int]], matter: Collection[str]) -> bool:
    """Whether two runs under the same inputs differ in counters only, each within a cell at each place, where steps
    begin."""
    for one, other in zip(first.states[:-1], last.states[:-1], strict=True):
        for name in matter:
            cell = cells.get(name, ())
            if one[name] != other[name] and (
                not cell or bisect_right(cell, one[name]) != bisect_right(cell, other[name])
            ):
                return False
    return True
