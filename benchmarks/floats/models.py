"""Small float models, told once for circuits (pysmt bit-vectors) and once for z3's floating-point theory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import z3
from pysmt.shortcuts import And, Equals, Iff, Symbol
from pysmt.typing import BOOL, BVType

from bmc.floats import arithmetic, compare
from bmc.floats.format import FLOAT32, FLOAT64, Format, pattern
from bmc.formulas.terms import choose, constant


class Language(Protocol):
    """Numbers are terms of one format; variables and integers are bit-vectors of the given names."""

    def variable(self, name: str, form: Format) -> Any: ...
    def integer(self, name: str, bits: int, form: Format) -> Any: ...
    def known(self, value: float, form: Format) -> Any: ...
    def add(self, a: Any, b: Any, form: Format) -> Any: ...
    def multiply(self, a: Any, b: Any, form: Format) -> Any: ...
    def less(self, a: Any, b: Any, form: Format) -> Any: ...
    def equal(self, a: Any, b: Any, form: Format) -> Any: ...
    def choose(self, condition: Any, then: Any, other: Any) -> Any: ...
    def all(self, *conditions: Any) -> Any: ...
    def same(self, a: Any, b: Any) -> Any: ...
    def literal(self, name: str, condition: Any) -> Any: ...


class Circuits:
    """Lowered: what the front end makes."""

    def variable(self, name: str, form: Format) -> Any:
        return Symbol(name, BVType(form.bits))

    def integer(self, name: str, bits: int, form: Format) -> Any:
        return arithmetic.from_int(Symbol(name, BVType(bits)), True, form)

    def known(self, value: float, form: Format) -> Any:
        return constant(pattern(value, form), form.bits)

    def add(self, a: Any, b: Any, form: Format) -> Any:
        return arithmetic.add(a, b, form)

    def multiply(self, a: Any, b: Any, form: Format) -> Any:
        return arithmetic.multiply(a, b, form)

    def less(self, a: Any, b: Any, form: Format) -> Any:
        return compare.less(a, b, form)

    def equal(self, a: Any, b: Any, form: Format) -> Any:
        return compare.equal(a, b, form)

    def choose(self, condition: Any, then: Any, other: Any) -> Any:
        return choose(condition, then, other)

    def all(self, *conditions: Any) -> Any:
        return And(conditions)

    def same(self, a: Any, b: Any) -> Any:
        return Equals(a, b)

    def literal(self, name: str, condition: Any) -> Any:
        return Iff(Symbol(name, BOOL), condition)


class Theory:
    """z3's own floating-point terms."""

    def _sort(self, form: Format) -> Any:
        return z3.FPSort(form.exponent, form.fraction + 1)

    def variable(self, name: str, form: Format) -> Any:
        return z3.FP(name, self._sort(form))

    def integer(self, name: str, bits: int, form: Format) -> Any:
        return z3.fpSignedToFP(z3.RNE(), z3.BitVec(name, bits), self._sort(form))

    def known(self, value: float, form: Format) -> Any:
        return z3.FPVal(value, self._sort(form))

    def add(self, a: Any, b: Any, form: Format) -> Any:
        return z3.fpAdd(z3.RNE(), a, b)

    def multiply(self, a: Any, b: Any, form: Format) -> Any:
        return z3.fpMul(z3.RNE(), a, b)

    def less(self, a: Any, b: Any, form: Format) -> Any:
        return z3.fpLT(a, b)

    def equal(self, a: Any, b: Any, form: Format) -> Any:
        return z3.fpEQ(a, b)

    def choose(self, condition: Any, then: Any, other: Any) -> Any:
        return z3.If(condition, then, other)

    def all(self, *conditions: Any) -> Any:
        return z3.And(*conditions)

    def same(self, a: Any, b: Any) -> Any:
        return a == b

    def literal(self, name: str, condition: Any) -> Any:
        return z3.Bool(name) == condition


State = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Model:
    """``step``: from language, state and step number to the next state and constraints; ``depth``: steps to unroll."""

    name: str
    form: Format
    initial: dict[str, float]
    step: Callable[[Language, State, int], tuple[State, list[Any]]]
    goals: Callable[[Language, State], list[Any]]
    depth: int


def _filter_step(lang: Language, s: State, k: int) -> tuple[State, list[Any]]:
    """Five multiplications and two additions; the input is a number from -2 to 2."""
    form = FLOAT32
    u = lang.variable(f"u_{k}", form)
    allowed = [lang.less(lang.known(-2.0, form), u, form), lang.less(u, lang.known(2.0, form), form)]
    times, plus = lang.multiply, lang.add
    x = plus(times(lang.known(0.9, form), s["x"], form), times(lang.known(0.1, form), s["y"], form), form)
    gain = times(lang.known(0.7, form), times(u, s["x"], form), form)
    y = plus(times(lang.known(0.8, form), s["y"], form), gain, form)
    return {"x": x, "y": y}, allowed


def _filter_goals(lang: Language, s: State) -> list[Any]:
    form = FLOAT32
    return [
        lang.less(lang.known(2.0, form), s["y"], form),
        lang.less(s["x"], lang.known(0.6, form), form),
        lang.less(lang.known(1.2, form), s["x"], form),
        lang.all(lang.less(s["x"], lang.known(0.0, form), form), lang.less(lang.known(0.0, form), s["y"], form)),
    ]


def _mode_step(lang: Language, s: State, k: int) -> tuple[State, list[Any]]:
    """A mode kept in a double switches an integrator of an 8-bit input; the mode follows the integral."""
    form = FLOAT64
    u = lang.integer(f"i_{k}", 8, form)
    off, run, hold = (lang.known(value, form) for value in (0.0, 1.0, 2.0))
    total = lang.add(s["total"], lang.multiply(lang.known(0.1, form), u, form), form)
    running = lang.equal(s["mode"], run, form)
    kept = lang.choose(running, total, s["total"])
    started = lang.choose(lang.less(lang.known(100.0, form), u, form), run, off)
    stopped = lang.choose(lang.less(lang.known(30.0, form), kept, form), hold, run)
    held = lang.choose(lang.less(u, lang.known(-100.0, form), form), off, hold)
    mode = lang.choose(running, stopped, lang.choose(lang.equal(s["mode"], off, form), started, held))
    return {"mode": mode, "total": kept}, []


def _mode_goals(lang: Language, s: State) -> list[Any]:
    form = FLOAT64
    back = lang.all(
        lang.equal(s["mode"], lang.known(0.0, form), form), lang.less(lang.known(0.0, form), s["total"], form)
    )
    high = lang.all(
        lang.equal(s["mode"], lang.known(1.0, form), form), lang.less(lang.known(42.0, form), s["total"], form)
    )
    return [
        lang.equal(s["mode"], lang.known(2.0, form), form),
        back,
        lang.less(lang.known(54.5, form), s["total"], form),
        high,
        lang.less(s["total"], lang.known(-51.0, form), form),
    ]


def _product_step(lang: Language, s: State, k: int) -> tuple[State, list[Any]]:
    """The product of two inputs, compared with the last one."""
    form = FLOAT32
    a, b = lang.variable(f"a_{k}", form), lang.variable(f"b_{k}", form)
    small = [lang.less(lang.known(0.0, form), x, form) for x in (a, b)]
    small += [lang.less(x, lang.known(4.0, form), form) for x in (a, b)]
    p = lang.multiply(a, b, form)
    n = lang.choose(lang.less(s["p"], p, form), lang.add(s["n"], lang.known(1.0, form), form), lang.known(0.0, form))
    return {"p": p, "n": n}, small


def _product_goals(lang: Language, s: State) -> list[Any]:
    form = FLOAT32
    return [
        lang.equal(s["p"], lang.known(11.0, form), form),
        lang.less(lang.known(16.0, form), s["p"], form),
        lang.equal(s["n"], lang.known(3.0, form), form),
        lang.all(lang.equal(s["n"], lang.known(2.0, form), form), lang.less(s["p"], lang.known(0.25, form), form)),
    ]


MODELS = (
    Model("filter", FLOAT32, {"x": 1.0, "y": 0.0}, _filter_step, _filter_goals, 3),
    Model("mode", FLOAT64, {"mode": 0.0, "total": 0.0}, _mode_step, _mode_goals, 6),
    Model("product", FLOAT32, {"p": 0.0, "n": 0.0}, _product_step, _product_goals, 3),
)


def unrolled(model: Model, lang: Language) -> list[Any]:
    """Formulas for all steps; ``goal_J_K`` is a Boolean constant that says whether goal J holds after K steps."""
    state = {name: lang.known(value, model.form) for name, value in model.initial.items()}
    formulas = []
    for k in range(model.depth):
        after, allowed = model.step(lang, state, k)
        state = {name: lang.variable(f"{name}_{k + 1}", model.form) for name in after}
        formulas += [lang.same(state[name], after[name]) for name in after]
        formulas += allowed
        for index, goal in enumerate(model.goals(lang, state)):
            formulas.append(lang.literal(f"goal_{index}_{k + 1}", goal))
    return formulas
