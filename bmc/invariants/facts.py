"""Facts about one state in the words of C: a formula, and a name that tells it and can be read back.

``0 <= s.mode && s.mode <= 3``, ``s.heater == 0.0 || s.heater == 1.0``, ``s.count == s.shadow``, ``s.low <= s.high``,
``s.mode == 2 => s.count == 0``. Floating variables are compared as numbers: both zeros are equal, NaN is ``isnan(x)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE, Or

from bmc.analysis.state_values import Sets, Span, spans_of
from bmc.floats import compare
from bmc.floats import format as numbers
from bmc.floats import ranges as floating
from bmc.floats.format import FORMATS, Format, is_nan, number, show
from bmc.formulas.terms import implies
from bmc.system.transition import Condition, StateVariable, TransitionSystem, conjunction, equal

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
    return _ends(var.name, str(low) * (low > least), str(high) * (high < greatest)), conjunction(formulas)


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
    return _ends(var.name, *ends), Or(pieces)


def _all_numbers(form: Format) -> Span:
    return form.sign | form.infinity, form.infinity


def _ends(name: str, low: str, high: str) -> str:
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
