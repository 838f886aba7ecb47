"""Invariants that nobody stated: facts about states that random runs suggest, and those of them that are proved.

Constants, few values, what one variable says of another one, equalities, orders, intervals: what no run has
contradicted may be an invariant. ``bmc.invariants.induction`` keeps those that are inductive together.

A fact is a formula and a name in the words of C, which tells it and can be read back: ``0 <= s.mode && s.mode <= 3``,
``s.heater == 0.0 || s.heater == 1.0``, ``s.count == s.shadow``, ``s.low <= s.high``, ``s.mode == 2 => s.count == 0``.
Floating variables are compared as numbers: both zeros are equal, and NaN is ``isnan(x)``.

From bounds that no step leaves it follows that some conditions on a step to be defined restrict no run. A sum that is
limited by its own conditions never overflows, though the words of the condition alone do not tell it: ``if (sum <
100000) sum += by; else sum -= by;``. Such bounds are guessed where they mostly are: at powers of two, and at the
constants that a variable's next value names.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, Not, Or

from bmc.analysis.slice import loose_conditions, slice_system
from bmc.analysis.spans import Span, spans_of
from bmc.analysis.state_values import Sets, every_step, state_values
from bmc.engines.protocol import Status
from bmc.errors import LimitReached
from bmc.evaluation.vectors import Column
from bmc.explicit.batch import RUNS, STEPS, Batch
from bmc.explicit.rows import distinct
from bmc.floats import compare
from bmc.floats import format as numbers
from bmc.floats import ranges as floating
from bmc.floats.format import FORMATS, Format, is_nan, number, show
from bmc.floats.operations import has_arithmetic
from bmc.formulas.evaluate import unseen
from bmc.formulas.terms import implies
from bmc.invariants.induction import Anywhere, Prover, inductive
from bmc.system.transition import Condition, StateVariable, TransitionSystem, conjunction, conjuncts, equal

IMPLIES = " => "
"""Between the two parts of an implication's name."""
_OR, _AND, _NAN = " || ", " && ", "isnan("


def among(var: StateVariable, spans: Sequence[Span]) -> Condition:
    """``var`` has a value in one of ``spans``, which are as ``spans_of`` gives them; true if that is every value."""
    if var.type.floating and tuple(spans) == spans_of(var, floating.every(FORMATS[var.type.bits])):
        return Condition("", TRUE())
    told = [_within(var, low, high) for low, high in spans]
    if any(formula.is_true() for _, formula in told):
        return Condition("", TRUE())
    return Condition(_OR.join(name for name, _ in told), Or([formula for _, formula in told]))


def within(system: TransitionSystem, sets: Sets) -> list[Condition]:
    """For each state variable that has not all values in ``sets`` (raw patterns by name), that it has one of these."""
    facts = [among(var, spans_of(var, sets[var.name])) for var in system.state]
    return [fact for fact in facts if not fact.formula.is_true()]


def is_value(var: StateVariable, raw: int) -> Condition:
    """``var`` has the value of the pattern ``raw``."""
    return among(var, spans_of(var, [(raw, raw)]))


def same(one: StateVariable, other: StateVariable) -> Condition | None:
    """Both have one value; None where their types do not allow to say so. Floating ones have the same pattern."""
    fits = one.type.bits == other.type.bits and one.type.signed == other.type.signed
    fits = fits and one.type.floating == other.type.floating
    return Condition(f"{one.name} == {other.name}", equal(one.symbol, other.symbol)) if fits else None


def no_more(one: StateVariable, other: StateVariable) -> Condition | None:
    """``one`` is no more than ``other``; None where their types do not allow to say so."""
    if one.type.bits != other.type.bits or one.type.signed != other.type.signed or not one.type.bits:
        return None
    if one.type.floating or other.type.floating:
        return None
    order = one.symbol.BVSLE if one.type.signed else one.symbol.BVULE
    return Condition(f"{one.name} <= {other.name}", order(other.symbol))


def implied(fact: Condition, other: Condition) -> Condition:
    """Where ``fact`` holds, ``other`` does."""
    return Condition(f"{fact.name}{IMPLIES}{other.name}", implies(fact.formula, other.formula))


def values_told(name: str, variables: Mapping[str, StateVariable]) -> tuple[StateVariable, tuple[Span, ...]] | None:
    """The variable and the spans of its values that the fact of that name tells; None if it is of another kind."""
    try:
        found = [_read_span(piece, variables) for piece in name.split(_OR)]
    except (ValueError, OverflowError, KeyError):
        return None
    return (found[0][0], tuple(span for _, span in found)) if len({var.name for var, _ in found}) == 1 else None


def _within(var: StateVariable, low: int, high: int) -> tuple[str, FNode]:
    """The text and the formula of a span."""
    if var.type.floating:
        return _number_within(var, low, high, FORMATS[var.type.bits])
    least, greatest, kind = var.type.least, var.type.greatest, var.type
    if low == high:
        return f"{var.name} == {kind.show(low)}", equal(var.symbol, kind.constant(low))
    if not kind.bits:
        return "", TRUE()
    above = kind.constant(low).BVSLE if kind.signed else kind.constant(low).BVULE
    below = var.symbol.BVSLE if kind.signed else var.symbol.BVULE
    formulas = [above(var.symbol)] if low > least else []
    formulas += [below(kind.constant(high))] if high < greatest else []
    return _written_ends(var.name, str(low) * (low > least), str(high) * (high < greatest)), conjunction(formulas)


def _number_within(var: StateVariable, low: int, high: int, form: Format) -> tuple[str, FNode]:
    if is_nan(low, form):
        return f"{_NAN}{var.name})", compare.is_nan(var.symbol, form)
    pieces = [
        equal(var.symbol, var.type.constant(first))
        if first == last
        else conjunction([var.type.constant(first).BVULE(var.symbol), var.symbol.BVULE(var.type.constant(last))])
        for first, last in floating.between(low, high, form)
    ]
    if number(low, form) == number(high, form):
        return f"{var.name} == {show(low, form)}", Or(pieces)
    if (low, high) == _all_numbers(form):
        return f"!{_NAN}{var.name})", Or(pieces)
    ends = (
        ("" if low == form.sign | form.infinity else show(low, form)),
        "" if high == form.infinity else show(high, form),
    )
    return _written_ends(var.name, *ends), Or(pieces)


def _all_numbers(form: Format) -> Span:
    return form.sign | form.infinity, form.infinity


def _written_ends(name: str, low: str, high: str) -> str:
    if low and high:
        return f"{low} <= {name}{_AND}{name} <= {high}"
    return f"{name} >= {low}" if low else f"{name} <= {high}"


def _read_span(text: str, variables: Mapping[str, StateVariable]) -> tuple[StateVariable, Span]:
    """The variable and the span that ``text`` tells; ValueError if it tells none."""
    if text.startswith((_NAN, f"!{_NAN}")):
        var = _known(text.removeprefix("!").removeprefix(_NAN).removesuffix(")"), variables)
        form = FORMATS[var.type.bits]
        return var, _all_numbers(form) if text.startswith("!") else (form.nan, form.nan)
    if _AND in text:
        first, _, second = text.partition(_AND)
        low, _, name = first.partition(" <= ")
        var = _known(name, variables)
        return var, (_value(low, var), _value(second.partition(" <= ")[2], var))
    for sign in (" == ", " <= ", " >= "):
        name, found, end = text.partition(sign)
        if found:
            var = _known(name, variables)
            value, kind = _value(end, var), var.type
            least, greatest = _all_numbers(FORMATS[kind.bits]) if kind.floating else (kind.least, kind.greatest)
            return var, (value if sign != " <= " else least, value if sign != " >= " else greatest)
    raise ValueError(text)


def _known(name: str, variables: Mapping[str, StateVariable]) -> StateVariable:
    if name not in variables:
        raise ValueError(name)
    return variables[name]


def _value(text: str, var: StateVariable) -> int:
    if var.type.floating:
        return numbers.read(text, FORMATS[var.type.bits])
    return dict(var.type.labels)[text] if text in dict(var.type.labels) else int(text)


ROUNDS = 4
"""How often runs go on from states reached."""

FEW = 6
"""A variable of up to so many values seen says something about others by each of them."""

TRIED = 3
"""Ends of a range tried on each side."""

MOST = 300
"""Candidates made at most, the plainest first."""


def candidates(
    system: TransitionSystem,
    formulas: Sequence[FNode] = (),
    work: int = 50_000_000,
    check: Callable[[], None] = lambda: None,
) -> list[Condition]:
    """Conditions on ``system``'s states that hold in every state seen; ``formulas`` tell which values matter.

    ``work`` limits the runs, in operations on single values; ``check`` is called now and then, what it raises ends
    them. Repeatable.
    """
    seen = _seen(system, formulas, work, check)
    return [] if seen is None else facts_of(system.visible_state, seen, _ends(system))


def value_facts(system: TransitionSystem, stop: Callable[[], bool] = lambda: False) -> tuple[Condition, ...]:
    """For each state variable that never leaves some set of values, that it does not, as proved.

    Inductive together. Empty if ``stop``, asked now and then, says that it is time to end.
    """
    sets = state_values(system, stop)
    return () if sets is None else tuple(replace(fact, proved=True) for fact in within(system, sets))


def suggested(system: TransitionSystem, formulas: Sequence[FNode], prover: Prover) -> tuple[Condition, ...]:
    """The candidates that are inductive together, as proved.

    The proved invariants of ``system`` are taken as given.
    """

    def check() -> None:
        prover.seconds()

    kept = inductive(system, candidates(system, formulas, check=check), prover)
    return tightest(kept, {var.name for var in system.state})


def tightest(facts: Sequence[Condition], names: Collection[str]) -> tuple[Condition, ...]:
    """``facts`` without those that bound a variable (of ``names``) on a side where one before does so."""
    found: dict[str, Condition] = {}
    for fact in facts:
        bounded, sign, end = fact.name.rpartition("= ")
        one_sided = bounded.endswith((" <", " >")) and bounded[:-2] in names and end not in names
        found.setdefault(f"{bounded}{sign}" if one_sided else fact.name, fact)
    return tuple(found.values())


def facts_of(
    variables: Sequence[StateVariable], seen: Mapping[str, Column], ends: Sequence[int] | None = None
) -> list[Condition]:
    """What holds in all states of ``seen``, a column for each of ``variables``: ``MOST`` facts, the plainest first.

    With ``ends``, values at which a range may end, ranges reach from the values seen to one of the next of them.
    """
    found: dict[FNode, Condition] = {}
    for fact in _facts(variables, seen, ends):
        if not fact.formula.is_true() and fact.formula not in found:
            found[fact.formula] = fact
        if len(found) >= MOST:
            break
    return list(found.values())


def _ends(system: TransitionSystem) -> list[int]:
    """Whole numbers at which ranges of ``system``'s state are likely to end: the program's, and those beside them."""
    constants = (node for node in unseen([var.next for var in system.state], set()) if node.is_bv_constant())
    raw = [(int(node.constant_value()), int(node.bv_width())) for node in constants]
    numbers = {n for value, bits in raw for n in (value, value - (1 << bits) if value >> (bits - 1) else value)}
    return sorted({n + by for n in numbers for by in (-1, 0, 1)})


def _seen(
    system: TransitionSystem, formulas: Sequence[FNode], work: int, check: Callable[[], None]
) -> dict[str, Column] | None:
    """The states met, a column per variable; None if not even one round of runs is affordable."""
    batch = Batch(system, formulas)
    rounds = min(ROUNDS, work // (RUNS * STEPS * max(batch.nodes, 1)))
    if rounds < 1 or not system.state:
        return None
    state, parts = batch.initial(), []
    for _ in range(rounds):
        runs = batch.draw(state, RUNS, STEPS, check)
        valid = np.arange(STEPS + 1)[:, None] <= runs.valid[None, :]
        parts.append({name: rows[valid] for name, rows in runs.states.items()})
        number = int(np.argmax(runs.valid))
        state = {name: int(rows[runs.valid[number], number]) for name, rows in runs.states.items()}
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    _, places = np.unique(
        np.stack([column.astype(np.uint64) for column in columns.values()]), axis=1, return_index=True
    )
    return {name: column[np.sort(places)] for name, column in columns.items()}


def _facts(
    variables: Sequence[StateVariable], seen: Mapping[str, Column], ends: Sequence[int] | None
) -> Iterator[Condition]:
    values = {var.name: [int(value) for value in distinct(seen[var.name])] for var in variables}
    for var in variables:
        if len(values[var.name]) == 1:
            yield is_value(var, values[var.name][0])
    varying = [var for var in variables if len(values[var.name]) > 1]
    for var in varying:
        if var.type.bits and len(values[var.name]) <= FEW:
            yield _each(var, values[var.name])
        elif var.type.bits and not var.type.floating:
            yield from _ranges(var, values[var.name], ends)
    apart = []
    for one, other in combinations(varying, 2):
        fact = same(one, other)
        if fact is not None and (seen[one.name] == seen[other.name]).all():
            yield fact
        elif fact is not None:
            apart.append((one, other))
    for var in varying:
        if len(values[var.name]) <= FEW:
            for value in values[var.name]:
                yield from _said_by(var, value, [v for v in varying if v is not var], seen)
    for one, other in apart:
        yield from _ordered(one, other, seen)


def _each(var: StateVariable, raws: Sequence[int]) -> Condition:
    return among(var, spans_of(var, [(raw, raw) for raw in raws]))


def _ranges(var: StateVariable, raws: Sequence[int], ends: Sequence[int] | None) -> Iterator[Condition]:
    """From the least to the greatest of ``raws``; with ``ends`` one side at a time, to one of the next of these."""
    numbers = [var.type.value(raw) for raw in raws]
    low, high = min(numbers), max(numbers)
    if ends is None:
        yield among(var, [(low, high)])
        return
    before, after = bisect_right(ends, low), bisect_left(ends, high)
    for end in ends[after : after + TRIED]:
        if end < var.type.greatest:
            yield among(var, [(var.type.least, end)])
    for end in reversed(ends[max(before - TRIED, 0) : before]):
        if end > var.type.least:
            yield among(var, [(end, var.type.greatest)])


def _said_by(
    var: StateVariable, value: int, others: Sequence[StateVariable], seen: Mapping[str, Column]
) -> Iterator[Condition]:
    """What ``var`` having ``value`` says about the others."""
    rows = seen[var.name] == value
    for other in others:
        left = distinct(seen[other.name][rows])
        if len(left) == 1 and len(distinct(seen[other.name])) > 1:
            yield implied(is_value(var, value), is_value(other, int(left[0])))


def _ordered(one: StateVariable, other: StateVariable, seen: Mapping[str, Column]) -> Iterator[Condition]:
    """Which of the two is never more than the other."""
    for low, high in ((one, other), (other, one)):
        fact = no_more(low, high)
        if fact is None:
            continue
        a, b = (_numbers(var, seen[var.name]) for var in (low, high))
        if (a <= b).all():
            yield fact


def _numbers(var: StateVariable, raws: Column) -> Column:
    """The numbers that compare as the patterns ``raws`` of an integer type do."""
    wide = raws.astype(np.uint64)
    half = np.uint64(1 << (var.type.bits - 1)) if var.type.signed else np.uint64(0)
    moved: Column = wide ^ half
    return moved


def self_found(system: TransitionSystem, formulas: Sequence[FNode], prover: Prover) -> tuple[Condition, ...]:
    """Values that the state variables of ``system`` never leave, then what random runs suggest and induction proves.

    All are proved, taking the proved invariants of ``system`` as given. ``formulas`` (framed) tell which values matter.
    Once the prover's limit is met (LimitReached), what was proved is the result.
    """
    known: tuple[Condition, ...] = ()
    found: tuple[Condition, ...] = ()

    def over() -> bool:
        prover.seconds()
        return False

    with suppress(LimitReached):
        known = value_facts(system, over)
        given = replace(system, invariants=(*system.invariants, *known))
        found = suggested(given, formulas, prover)
    told = {fact.name for fact in known}
    return (*known, *(fact for fact in found if fact.name not in told))


def without_proved(system: TransitionSystem, observed: Sequence[FNode], prover: Prover) -> TransitionSystem:
    """``system`` without those conditions on a step to be defined which are proved to hold in all reachable states.

    Looked at are only conditions on variables that ``observed`` (plain formulas) does not depend on. Runs from init are
    the same; in other states more steps may be allowed. The same system where nothing is proved. LimitReached once the
    limit of ``prover`` is met.
    """
    free = replace(system, defined=TRUE(), asserts=(), undefined_behaviour=(), invariants=())
    asked = _of_words(free, loose_conditions(system, observed))
    if not asked:
        return system
    part = slice_system(free, asked)
    known = value_facts(every_step(part))
    guesses = [guess for var in part.state for guess in _bounds(var)]
    bounds = inductive(replace(part, invariants=known), guesses, prover)
    anywhere = Anywhere(part, prover.engine, [fact.formula for fact in (*known, *bounds)])
    sure = set(asked) if _never(anywhere, [Or(map(Not, asked))], prover) else set()
    if not sure and len(asked) > 1:
        sure = {condition for condition in asked if _never(anywhere, [Not(condition)], prover)}
    left = [condition for condition in conjuncts(system.defined) if condition not in sure]
    return replace(system, defined=conjunction(left)) if sure else system


def _of_words(system: TransitionSystem, conditions: Sequence[FNode]) -> Sequence[FNode]:
    """Those of ``conditions`` that depend on no floating-point arithmetic, over any number of steps: the solver takes
    long with that, and sets of values have been asked before."""
    nexts = {condition: [var.next for var in system.cone([condition])] for condition in conditions}
    return [condition for condition in conditions if not has_arithmetic([condition, *nexts[condition]])]


def _never(anywhere: Anywhere, formulas: Sequence[FNode], prover: Prover) -> bool:
    """Whether it is proved that ``formulas`` do not hold together in what ``anywhere`` asks about."""
    return anywhere.status(formulas, prover.seconds(), prover.effort) is Status.UNSAT


def _bounds(var: StateVariable) -> Iterator[Condition]:
    """Guesses of a least and of a greatest value of a variable; none of a floating or a Boolean one."""
    kind = var.type
    if kind.floating or kind.bits < 2 or var.init is None:
        return
    named = {kind.value(raw % (1 << kind.bits)) for raw in _constants(var.next)}
    near = {number + by for number in named for by in (-1, 0, 1)}
    powers = [1 << power for power in range(kind.bits)]
    for greatest in sorted({power - 1 for power in powers} | near):
        if kind.least < greatest < kind.greatest:
            yield among(var, [(kind.least, greatest)])
    for least in sorted({0, 1, *(-power for power in powers)} | near):
        if kind.least < least < kind.greatest:
            yield among(var, [(least, kind.greatest)])


def _constants(formula: FNode) -> set[int]:
    """The constants in ``formula``, each as an unsigned and as a signed number."""
    found = set()
    for node in unseen([formula], set()):
        if node.is_bv_constant():
            raw, bits = int(node.constant_value()), int(node.bv_width())
            found |= {raw, raw - (1 << bits) if raw >> (bits - 1) else raw}
    return found
