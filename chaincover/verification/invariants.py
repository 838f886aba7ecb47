"""The invariants that a certificate rests on: proved again by induction, or seen to hold in every reachable state.

So are conditions on a step to be defined that hold wherever a run gets: they restrict none, and nothing has to follow
them. One on variables that no goal and no end depends on is looked at on all steps between the values that these
variables can have, where these are few; else it is proved from bounds that no step leaves.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
from pysmt.exceptions import PysmtTypeError
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, And, Not, Or

from bmc.engines.protocol import Status
from bmc.errors import counted
from bmc.floats import compare
from bmc.floats.format import FORMATS, read
from bmc.floats.operations import has_arithmetic
from bmc.formulas.evaluate import compile_formulas, unseen
from bmc.formulas.terms import implies
from bmc.formulas.unroll import at, plain_symbols
from bmc.limits import TooLarge
from bmc.records import dataclass
from bmc.system.transition import Condition, StateVariable, TransitionSystem, between, conjunction, conjuncts, equal
from chaincover.certificate import Certificate, formula_of
from chaincover.verification.clauses import satisfiable
from chaincover.verification.confirmation import Confirmation, told
from chaincover.verification.limits import Clock
from chaincover.verification.report import HOLDS, OPEN, UNCLAIMED, WRONG, Line, Verdict, limited, worst
from chaincover.verification.setting import Setting
from chaincover.verification.states import OpenValueRead, Table, tabulate
from chaincover.verification.unrolling import Found, Unrolling

LOOKED_AT = 5
"""Steps from init within which an invariant that is not kept by every step is sought to fail."""

LONGEST = 200
"""Characters of a formula that are shown, and of what is told of invariants one by one to who does not ask for all."""

KEPT = HOLDS, "true at the start, and kept by every step"
CHECK, CLAIMED = "invariants", "further invariants"
REACHABLE = re.compile(r"one of (\d+) reachable states")
CONSTANTS = "never change: "
"""How the name of an invariant begins that lists variables which keep their start value."""


@dataclass(frozen=True)
class Assumed:
    """What may be taken for known of a run's first state (``start``) and of every one (``always``); plain symbols.

    ``complete``: whether the certificate knows no more of states. It does where one of its invariants was not proved
    again, or where it names none and speaks of a search through all reachable states. Where the reachable states were
    listed again, no claim is disproved by way of these formulas, and ``complete`` does not matter.
    """

    start: FNode
    always: FNode
    complete: bool


@dataclass(frozen=True)
class Enumerated:
    """How many ``size`` reachable states there are, with ``steps``, and how these were confirmed.

    ``table`` has all of them, None where they were too many to be kept.
    """

    size: int
    steps: int
    confirmation: Confirmation
    table: Table | None = None


def assumed(
    setting: Setting, proof: Certificate | None, states: Enumerated | None, clock: Clock
) -> tuple[Assumed, Line]:
    """Prove the invariants that ``proof`` names again."""
    if proof is None or not proof.invariants:
        complete = proof is None or not proof.exhausted
        return Assumed(TRUE(), TRUE(), complete), Line(CHECK, UNCLAIMED, "the certificate rests on no invariant")
    meant = {
        name: _counted_states(name, proof, states) if REACHABLE.fullmatch(name) else _meant(name, proof, setting, clock)
        for name in proof.invariants
    }
    own = [Condition(name, formula) for name, (formula, *_) in meant.items() if formula is not None]
    found = _proved(setting, own, None if states is None else states.table, clock)
    verdicts = {name: verdict for name, (formula, verdict, _) in meant.items() if formula is None} | found
    proved = conjunction(c.formula for c in own if found[c.name][0] == HOLDS)
    complete = all(verdict == HOLDS for verdict, _ in verdicts.values())
    return Assumed(TRUE(), proved, complete), _line([(meant[name][2], said) for name, said in verdicts.items()])


def _counted_states(name: str, proof: Certificate, states: Enumerated | None) -> tuple[None, Verdict, str]:
    """No formula, the verdict on an invariant that gives the number of reachable states, and how it is shown."""
    if name in proof.formulas:
        return None, (WRONG, "the reachable states are counted; a formula says something else"), name
    shown = "the reachable states" if states is None else f"one of {states.size} reachable states"
    return None, _count_again(claimed_states(name), states), shown


def told_invariants(setting: Setting, proof: Certificate | None, said: Collection[str]) -> list[Condition]:
    """The invariants of the program that are ``said`` to be proved, and that the certificate does not rest on."""
    known = () if proof is None else proof.invariants
    return [c for c in setting.system.invariants if c.name in said and c.name not in known]


def proved_again(setting: Setting, conditions: Sequence[Condition], table: Table | None, clock: Clock) -> Line:
    """Look at ``conditions`` in all states of ``table``, where it has their variables, else prove them."""
    return replace(_line([*_proved(setting, conditions, table, clock).items()]), check=CLAIMED)


def _proved(setting: Setting, conditions: Sequence[Condition], table: Table | None, clock: Clock) -> dict[str, Verdict]:
    """The verdict on each of ``conditions``, from the states of ``table`` where it has its variables, else by proof."""
    known = [] if table is None else [c for c in conditions if table.knows(c.formula)]
    found = {} if table is None else _on_states(known, table)
    return found | _by_induction(setting, [c for c in conditions if c.name not in found], clock)


def claimed_states(name: str) -> int:
    """How many states an invariant lists; 0 for another one."""
    found = REACHABLE.fullmatch(name)
    return int(found[1]) if found else 0


def of_states(proof: Certificate) -> bool:
    """Whether ``proof`` says something that only a list of all reachable states can show."""
    shown = proof.exhausted or proof.prices or proof.most
    counted = any(REACHABLE.fullmatch(name) for name in proof.invariants)
    return bool(shown or counted or proof.conflicts or proof.no_way_to_end)


def _line(verdicts: Sequence[tuple[str, Verdict]]) -> Line:
    told = [(verdict, f"{name}: {text}") for name, (verdict, text) in verdicts]
    verdict, text = worst(kind for kind, _ in told), "; ".join(each for _, each in told)
    left = [each for kind, each in told if kind != HOLDS]
    held = len(told) - len(left)
    parts = [
        *limited(map(_shortened, left)),
        *([f"{counted(held, 'invariant')} proved again, told by -v"] if held else []),
    ]
    return Line(CHECK, verdict, text, brief="; ".join(parts) if len(text) > LONGEST else "")


# what is claimed, as formulas


def _meant(name: str, proof: Certificate, setting: Setting, clock: Clock) -> tuple[FNode | None, Verdict, str]:
    """The formula that the certificate uses by ``name``, None with a verdict where there is none; and what to call it.

    A name that says something, in the words of C or as an invariant of the program, says no more than its formula.
    Any other name is told together with its formula.
    """
    known = {var.name: var for var in setting.system.state}
    stated = {condition.name: condition.formula for condition in setting.system.invariants}
    says = stated[name] if name in stated else stated_by(name, known)
    constants = name.startswith(CONSTANTS)
    if name not in proof.formulas or (constants and says is None):
        return says, (WRONG, "the program states no such invariant"), name
    text = proof.formulas[name]
    formula = formula_of(text, known)
    if formula is None:
        return None, (WRONG, "its formula cannot be read"), name
    if says is None:
        return formula, (HOLDS, ""), f"'{name}', by which {_shortened(text)} is meant"
    if constants:  # what these are used for may be less than the name says, which is proved
        formula, says = says, formula
    against = satisfiable(And(formula, Not(says)), clock)
    if against is False:
        return formula, (HOLDS, ""), name
    if against:
        return None, (WRONG, f"its formula says something else: {_shortened(text)}"), name
    return None, (OPEN, "the solver did not finish on whether its formula says so"), name


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def stated_by(name: str, variables: Mapping[str, StateVariable]) -> FNode | None:
    """What the name of an invariant says in the words of C, of the state variables called so; None if nothing.

    Implications of alternatives of comparisons joined by ``&&``, or a list of variables that never change. Floating
    variables are compared as numbers.
    """
    try:
        if name.startswith(CONSTANTS):
            return conjunction(_constant(variables[constant]) for constant in name.removeprefix(CONSTANTS).split(", "))
        parts = [
            Or(
                [
                    conjunction(_comparison(text, variables) for text in piece.split(" && "))
                    for piece in part.split(" || ")
                ]
            )
            for part in name.split(" => ")
        ]
    except (KeyError, ValueError, OverflowError, TooLarge, PysmtTypeError):
        return None
    return parts[0] if len(parts) == 1 else implies(parts[0], parts[1]) if len(parts) == 2 else None


def _constant(var: StateVariable) -> FNode:
    if var.init is None:
        raise ValueError(var.name)
    return equal(var.symbol, var.init)


def _comparison(text: str, variables: Mapping[str, StateVariable]) -> FNode:
    """One comparison, or a test for NaN. KeyError or ValueError for anything else."""
    nan = re.fullmatch(r"(!?)isnan\((.+)\)", text)
    if nan:
        var = variables[nan[2]]
        found = compare.is_nan(var.symbol, FORMATS[var.type.bits])
        return Not(found) if nan[1] else found
    left, sign, right = text.rsplit(" ", 2)
    if sign not in ("==", "<=", ">="):
        raise ValueError(text)
    if sign == ">=":
        left, right = right, left
    var = variables[left] if left in variables else variables[right]
    a, b = (_operand(side, var, variables) for side in (left, right))
    both = left in variables and right in variables
    if both and (variables[left].type.bits, variables[left].type.signed) != (
        var.type.bits,
        variables[right].type.signed,
    ):
        raise ValueError(text)
    if sign == "==":
        return compare.equal(a, b, FORMATS[var.type.bits]) if var.type.floating and not both else equal(a, b)
    if var.type.floating:
        return compare.less_equal(a, b, FORMATS[var.type.bits])
    return a.BVSLE(b) if var.type.signed else a.BVULE(b)


def _operand(text: str, var: StateVariable, variables: Mapping[str, StateVariable]) -> FNode:
    """A variable, or a value of the type of ``var``."""
    if text in variables:
        return variables[text].symbol
    labels = dict(var.type.labels)
    if var.type.floating:
        return var.type.constant(read(text, FORMATS[var.type.bits]))
    value = labels[text] if text in labels else int(text)
    if not var.type.least <= value <= var.type.greatest:
        raise ValueError(text)
    return var.type.constant(value)


# what is proved


def _count_again(claimed: int, states: Enumerated | None) -> Verdict:
    """The claim that states are reachable ones. How many were counted, and of which variables, is informative."""
    if states is None:
        return OPEN, "too many states to list them again"
    table, confirmation = states.table, states.confirmation
    if table is None:
        sought = HOLDS, f"met again in layers ({states.size}), {confirmation.told(states.steps)}"
        return sought if not confirmation.differences else (WRONG, "the compiled original takes other steps")
    if confirmation.differences:
        return WRONG, "the compiled original takes other steps than the model"
    here = "" if claimed == table.size else f", counted on {', '.join(table.columns)}"
    return HOLDS, f"enumerated again{here}, {confirmation.told(table.steps)}"


def _on_states(conditions: Sequence[Condition], table: Table) -> dict[str, Verdict]:
    """Look at each condition in every reachable state, but for those that depend on a start value left open."""
    verdicts = {}
    for condition in conditions:
        try:
            failing = np.flatnonzero(~table.holds(condition.formula))
        except OpenValueRead:
            continue
        verdicts[condition.name] = HOLDS, f"true in all {table.size} reachable states"
        if len(failing):
            state = told(table.variables, table.state(int(failing[0])))
            verdicts[condition.name] = WRONG, f"false in the reachable state {state}"
    return verdicts


def _by_induction(setting: Setting, conditions: Sequence[Condition], clock: Clock) -> dict[str, Verdict]:
    """True in every start state; all true before a step, true after it."""
    if not conditions:
        return {}
    together = conjunction(c.formula for c in conditions)
    formulas = [at(together, 0)]
    first = Unrolling(setting.system, formulas, setting.system.init_formula, TRUE(), clock)
    induction = _Induction(first, Unrolling(setting.system, formulas, together, TRUE(), clock))
    if all(found.status is Status.UNSAT for found in induction.failures(Not(together))):
        return {condition.name: KEPT for condition in conditions}
    verdicts = {condition.name: induction.verdict(condition) for condition in conditions}
    if any(verdict != HOLDS for verdict, _ in verdicts.values()):  # each proof used all of them
        rest = OPEN, "proved only together with the others"
        verdicts = {name: rest if found[0] == HOLDS else found for name, found in verdicts.items()}
    return verdicts


@dataclass(frozen=True)
class _Induction:
    """Runs that begin in start states (``first``), and in states in which all conditions hold (``before``)."""

    first: Unrolling
    before: Unrolling

    def failures(self, failing: FNode) -> tuple[Found, Found]:
        """A start state that satisfies ``failing``, and a step to such a state from one where all conditions hold."""
        after = And(self.before.valid(1), at(failing, 1))
        return self.first.ask(at(failing, 0), 0), self.before.ask(after, 1)

    def verdict(self, condition: Condition) -> Verdict:
        """The verdict on one condition, and why."""
        failing = Not(condition.formula)
        base, step = self.failures(failing)
        if base.status is Status.SAT and base.run is not None and compile_formulas([failing])(base.run.states[0])[0]:
            return WRONG, "false in a start state"
        broken = None if step.status is not Status.SAT else self._broken_after(failing)
        if broken is not None:
            return WRONG, f"false after {counted(broken, 'step')} from a start state"
        if {base.status, step.status} == {Status.UNSAT}:
            return KEPT
        given_up = Status.UNKNOWN in (base.status, step.status)
        return OPEN, "the solver did not finish" if given_up else "not kept by every step"

    def _broken_after(self, failing: FNode) -> int | None:
        """The least number of steps after which a run satisfies ``failing``; None if none up to ``LOOKED_AT`` does."""
        holds = compile_formulas([failing])
        for steps in range(1, LOOKED_AT + 1):
            found = self.first.ask(And(self.first.valid(steps), at(failing, steps)), steps)
            if found.status is Status.SAT and found.run is not None and holds(found.run.states[steps])[0]:
                return steps
        return None


CHECKED = 100_000
"""Steps that are tried to find out whether a condition holds on all of them, before bounds are sought."""


def without_sure(system: TransitionSystem, formulas: Sequence[FNode], clock: Clock) -> TransitionSystem:
    """``system`` without the conditions on a step to be defined that every step satisfies which a run can take.

    Looked at are only those that depend on more variables than ``formulas`` (framed) and all other steps do. Runs from
    start states stay the same.
    """
    free = replace(system, defined=TRUE(), asserts=(), undefined_behaviour=(), invariants=())
    wanted = {var.name for var in free.cone(plain_symbols(formulas))}
    groups: dict[frozenset[str], list[FNode]] = {}
    for condition in conjuncts(system.defined):
        groups.setdefault(frozenset(var.name for var in free.cone([condition])), []).append(condition)
    if all(names <= wanted for names in groups):
        return system
    left = [c for names, some in groups.items() for c in (some if names <= wanted else _unsure(free, some, clock))]
    return system if len(left) == sum(map(len, groups.values())) else replace(system, defined=conjunction(left))


def _unsure(free: TransitionSystem, conditions: Sequence[FNode], clock: Clock) -> Sequence[FNode]:
    """Those of ``conditions`` that are not shown to hold on every step of ``free`` from a state that can be reached."""
    limits = replace(clock.limits, explored=min(clock.limits.explored, CHECKED))
    table = tabulate(free, [at(condition, 0) for condition in conditions], replace(clock, limits=limits))
    left = conditions if table is None else [c for c in conditions if not _always(c, table)]
    return _not_by_bounds(free, left, clock) if left and table is None else left


def _always(formula: FNode, table: Table) -> bool:
    """Whether ``formula`` holds on every step of ``table``."""
    try:
        return bool(table.on_moves(formula).all())
    except OpenValueRead:
        return False


def _not_by_bounds(free: TransitionSystem, conditions: Sequence[FNode], clock: Clock) -> Sequence[FNode]:
    """Those of ``conditions`` that do not follow from bounds of the state which no step leaves."""
    cone = free.cone(conditions)
    if has_arithmetic([*conditions, free.input_constraint, *(var.next for var in cone)]):
        return conditions
    bounds = [bound for var in cone for bound in _bounds(var)]
    start = compile_formulas(bounds)({v.name: v.init.constant_value() for v in cone if v.init is not None})
    bounds = [*compress(bounds, start)]
    runs = Unrolling(free, [at(conjunction([*conditions, *bounds]), 0)], TRUE(), TRUE(), clock)
    while bounds:
        together = conjunction(bounds)
        found = runs.ask(And(at(together, 0), runs.valid(1), at(Not(together), 1)), 1)
        if found.status is Status.UNSAT:
            break
        if found.run is None:
            return conditions
        bounds = [*compress(bounds, compile_formulas(bounds)(found.run.states[1]))]
    given = at(conjunction([*bounds, free.input_constraint]), 0)
    return [c for c in conditions if runs.ask(And(given, at(Not(c), 0)), 0).status is not Status.UNSAT]


def _bounds(var: StateVariable) -> Iterator[FNode]:
    """That a variable is not above, or not below, some number: a power of two, or one beside a constant of its step."""
    kind = var.type
    if kind.bits < 2 or kind.floating or var.init is None:
        return
    near, powers = _near(var.next), [1 << power for power in range(kind.bits)]
    ranges = [(kind.least, most) for most in sorted(near.union(power - 1 for power in powers))]
    ranges += [(least, kind.greatest) for least in sorted(near.union({0, 1}, (-power for power in powers)))]
    fitting = (each for each in ranges if kind.least <= each[0] < each[1] <= kind.greatest)
    yield from (between(var.symbol, kind, *each) for each in fitting if each != (kind.least, kind.greatest))


def _near(formula: FNode) -> set[int]:
    """The constants in ``formula``, with and without a sign, and the numbers beside them."""
    words = [node for node in unseen([formula], set()) if node.is_bv_constant()]
    numbers = {value for word in words for value in (word.constant_value(), word.bv_signed_value())}
    return {number + by for number in numbers for by in (-1, 0, 1)}
