"""Constraints of the project over several steps: whether the steps that the system allows are those that keep them.

Bounds and proofs speak of a system that remembers something of the steps before (``bmc.system.constraints``). Here
that is taken for what it is, a formula on each step and next values of some variables, and held against what the
constraints say of the steps of a run: step by step from init, as far as the number of steps is told apart, and from
then on from any values remembered over as many steps as a constraint spans. Whatever was before that is then
forgotten, so that both together speak of every step of every run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import FALSE, TRUE, And, Iff, Ite, Not, Or

from bmc.errors import counted
from bmc.formulas.evaluate import names_in
from bmc.formulas.unroll import at_each, framed, shift, with_terms
from bmc.system.constraints import REMEMBERED, TICKS, Constraint, Dwell, Rule
from bmc.system.transition import TransitionSystem, conjuncts, equal
from chaincover.verification.clauses import Clauses
from chaincover.verification.limits import Clock
from chaincover.verification.report import HOLDS, OPEN, WRONG, Line

CONSTRAINTS = "constraints"


def constraints(system: TransitionSystem, rules: Sequence[Rule], clock: Clock) -> Line | None:
    """Whether ``system`` allows just those steps with which a run keeps ``rules``; None where these say nothing."""
    if not rules:
        return None
    encoding = Encoding(system)
    verdicts = {rule.told: encoding.agrees(rule, number, clock) for number, rule in enumerate(rules)}
    wrong = [f"'{text}' is not what the steps allowed keep" for text, found in verdicts.items() if found is False]
    wrong += [f"more than the constraints restricts steps by '{name}'" for name in encoding.beside()]
    said = f"{counted(len(rules), 'constraint')} of the project"
    if wrong:
        return Line(CONSTRAINTS, WRONG, f"{said}: other steps are allowed than those that keep them", tuple(wrong))
    if None in verdicts.values():
        return Line(CONSTRAINTS, OPEN, f"{said}: the solver did not finish")
    return Line(CONSTRAINTS, HOLDS, f"{said}: the steps allowed are those that keep them, in every run")


class Encoding:
    """What a system remembers for some constraints, and how it restricts steps by that."""

    def __init__(self, system: TransitionSystem) -> None:
        self._system = system
        self._memory = {var.name: var for var in system.state if var.name.startswith(REMEMBERED)}
        self._counts = {v.name: v.high for v in self._memory.values() if v.high and self._read([v.next]) <= {v.name}}
        self._encoded = [condition.formula for condition in system.constraints]

    def beside(self) -> list[str]:
        """What is remembered and read by conditions on a step other than those that are compared."""
        known = {part for formula in self._encoded for part in conjuncts(formula)}
        other = [part for part in conjuncts(self._system.input_constraint) if part not in known]
        nexts = [var.next for var in self._system.state if var.name not in self._memory]
        return sorted(self._read([*other, self._system.defined, *nexts]))

    def _read(self, formulas: Sequence[FNode]) -> set[str]:
        """What ``formulas`` read of what is remembered."""
        return names_in(formulas) & self._memory.keys()

    def agrees(self, rule: Rule, number: int, clock: Clock) -> bool | None:
        """Whether the condition for ``rule``, the one with this number, says what it says; None: not found out."""
        if number >= len(self._encoded):
            return False
        clauses = Clauses(clock)
        questions = self._dwelling(rule, number) if isinstance(rule, Dwell) else self._of_steps(rule, number)
        for question in questions:
            found = clauses.possible(Not(question))
            if found is not False:
                return None if found is None else False
        return True

    def _of_steps(self, rule: Constraint, number: int) -> Iterator[FNode]:
        """What has to be true of all steps: from init as far as these are told apart, and of any later one."""
        here, settled = self._start(), max(self._counts.values(), default=0)
        most = {name: self._memory[name].type.constant(number) for name, number in self._counts.items()}
        for step in range(settled + rule.last + 1):
            if step == settled:
                yield And(here[name].Equals(value) for name, value in most.items())
            fits = step == rule.last if rule.first else step >= rule.last
            said = shift(rule.formula, step - rule.last) if fits else TRUE()
            yield Iff(self._placed([self._encoded[number]], here, step)[0], said)
            here = self._after(here, step)
        late = {**self._any_state(), **most}
        yield And(self._after(late, 0)[name].Equals(value) for name, value in most.items())
        for step in range(rule.last):
            late = self._after(late, step)
        said = TRUE() if rule.first else rule.formula
        yield Iff(self._placed([self._encoded[number]], late, rule.last)[0], said)

    def _dwelling(self, rule: Dwell, number: int) -> Iterator[FNode]:
        """What has to be true of the number of steps for which the input may not change.

        It is 0 before the first step, which sets it to one less than the dwell time, as every change does; the input
        may change where it is 0, and else each step takes one off: it is 0 once the value was there for that time.
        """
        value = self._system.variable(rule.name).symbol
        read = self._read([self._encoded[number]])
        left = _only(name for name in read if name in self._read([self._memory[name].next]))
        before, count = _only(read - {left}), _only(self._read([self._memory[left].next]) - read if left else ())
        if not left or not before or count not in self._counts:
            yield FALSE()
            return
        any_state = self._any_state()
        one, none, all_steps = (TICKS.constant(n) for n in (1, 0, rule.steps - 1))
        now, start, after = framed(value, 0), self._start(), self._after(any_state, 0)
        begun, counted_down = Not(any_state[count].Equals(start[count])), any_state[left] - one
        same = equal(now, any_state[before])
        yield start[left].Equals(none)
        yield Not(after[count].Equals(start[count]))
        yield Iff(self._placed([self._encoded[number]], any_state, 0)[0], Or(any_state[left].Equals(none), same))
        yield equal(after[before], now)
        stays = Ite(any_state[left].Equals(none), none, counted_down)
        yield after[left].Equals(Ite(And(begun, same), stays, all_steps))

    def _any_state(self) -> dict[str, FNode]:
        """Any values remembered before step 0."""
        return {name: framed(var.symbol, 0) for name, var in self._memory.items()}

    def _start(self) -> dict[str, FNode]:
        """What is remembered before the first step."""
        return {name: var.symbol if var.init is None else var.init for name, var in self._memory.items()}

    def _after(self, here: Mapping[str, FNode], step: int) -> dict[str, FNode]:
        """What is remembered after a step, by what is before it and by the variables at that step."""
        nexts = self._placed([var.next for var in self._memory.values()], here, step)
        return dict(zip(self._memory, nexts, strict=True))

    def _placed(self, formulas: Sequence[FNode], here: Mapping[str, FNode], step: int) -> list[FNode]:
        """``formulas`` at ``step``, with what is remembered ``here`` put in."""
        return with_terms(at_each(formulas, step), {framed(self._symbol(name), step): t for name, t in here.items()})

    def _symbol(self, name: str) -> FNode:
        return self._memory[name].symbol


def _only(names: Iterable[str]) -> str:
    """The one of ``names``; '' if there is none, or more than one."""
    found = list(names)
    return found[0] if len(found) == 1 else ""
