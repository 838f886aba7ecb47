"""How far a model and the compiled original agree: random defined steps compared, undefined ones tried."""

from __future__ import annotations

from dataclasses import dataclass, field

from pysmt.environment import get_env, pop_env, push_env

from bmc.formulas.evaluate import compile_formulas
from bmc.models.c.controller.model import CModel
from bmc.models.c.execute import arithmetic
from bmc.native.differential import SHADOW, Difference, Sampler
from bmc.native.original import CompiledOriginal, OriginalCrashed, compiled
from bmc.system.transition import Valuation

TRAPPED = ("overflow", "division", "shift", "index")
"""Kinds of undefined behaviour that the compiler's checks see (unless they fold the operation away)."""


def fresh_environment() -> None:
    """Forget the symbols of earlier programs: the same name may have another type now. The current one is dropped."""
    pop_env()
    push_env()
    get_env().enable_infix_notation = True
    arithmetic.forget_intervals()


@dataclass
class Agreement:
    """``differences`` between model and original, ``traps`` on steps that the model calls defined."""

    steps: int = 0
    undefined: int = 0
    tried: int = 0
    """Undefined steps that were run on the original."""
    trapped: int = 0
    differences: list[Difference] = field(default_factory=list)
    traps: list[tuple[Valuation, Valuation]] = field(default_factory=list)

    def add(self, other: Agreement) -> None:
        for name in ("steps", "undefined", "tried", "trapped"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def agreement(model: CModel, pairs: int = 200, undefined: int = 0, seed: int = 0) -> Agreement:
    """Compare ``pairs`` steps, half along runs, half from any state; try some undefined ones on the original."""
    sampler = Sampler(model.system, seed)
    defined, wrong = _sample(sampler, pairs)
    result = Agreement(len(defined), len(wrong))
    with compiled(model.native) as original:
        try:
            after = original.steps(defined) if defined else []
        except OriginalCrashed as error:
            after = list(error.states)
            result.traps.append(defined[len(after)])
        for (state, inputs), found in zip(defined, after, strict=False):
            expected = sampler.simulator.step(state, inputs)
            for var in model.system.state:
                known = var.name in found and expected.get(var.name + SHADOW, 1)
                if known and expected[var.name] != found[var.name]:
                    values = expected[var.name], found[var.name]
                    result.differences.append(Difference(var.name, state, inputs, *values))
        _try_undefined(model, original, wrong[:undefined], result)
    return result


def _sample(
    sampler: Sampler, pairs: int
) -> tuple[list[tuple[Valuation, Valuation]], list[tuple[Valuation, Valuation]]]:
    simulator = sampler.simulator
    defined, wrong = [], []
    state = simulator.initial()
    for number in range(pairs):
        other, inputs = sampler.any_pair()
        if number >= pairs // 2:
            state = other
        elif number % 20 == 0:
            state = simulator.initial()
        if simulator.allowed(state, inputs):
            defined.append((state, inputs))
            state = simulator.step(state, inputs)
        else:
            wrong.append((state, inputs))
    return defined, wrong


def _try_undefined(
    model: CModel, original: CompiledOriginal, pairs: list[tuple[Valuation, Valuation]], result: Agreement
) -> None:
    undefined_behaviour = model.system.undefined_behaviour
    check = compile_formulas([s.formula for s in undefined_behaviour])
    for state, inputs in pairs:
        happens = check({**state, **inputs})
        kinds = [s.name for s, holds in zip(undefined_behaviour, happens, strict=True) if holds]
        if all(any(word in kind for word in TRAPPED) for kind in kinds):
            result.tried += 1
            try:
                original.steps([(state, inputs)])
            except OriginalCrashed:
                result.trapped += 1
