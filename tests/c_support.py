"""Reading small C programs in tests and comparing the model with the compiled original, undefined steps included."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pysmt.environment import get_env, pop_env, push_env

from bmc.c import intervals
from bmc.c.build import read_c
from bmc.c.config import SourceConfig
from bmc.c.model import CModel
from bmc.differential import Difference, Sampler
from bmc.errors import ChainCoverError
from bmc.evaluate import compile_formulas
from bmc.native import CompiledOriginal, OriginalCrashed, compiled, find_compiler
from bmc.system import Valuation

TRAPS = "-fsanitize=undefined -fsanitize-undefined-trap-on-error -ftrivial-auto-var-init=pattern"
"""Undefined behaviour ends the program, and automatic objects start with garbage."""
TRAPPED = ("overflow", "division", "shift", "index")
"""Kinds of undefined behaviour that the compiler's checks see (unless they fold the operation away)."""


def fresh_environment() -> None:
    """Forget the symbols of earlier programs: the same name may have another type now. Within ``own_environment``."""
    pop_env()
    push_env()
    get_env().enable_infix_notation = True
    intervals.forget_intervals()


@pytest.fixture(autouse=True, scope="module")
def own_environment() -> Iterator[None]:
    """A pysmt environment of the module's own, so that formulas of other modules stay valid."""
    push_env()
    yield
    pop_env()
    intervals.forget_intervals()


def sanitizing_compiler(folder: Path) -> str | None:
    """The command of a C compiler that traps undefined behaviour; None if it cannot."""
    command = find_compiler()
    if command is None:
        return None
    probe = folder / "probe.c"
    probe.write_text("int f(int a) { return a + 1; }\n")
    words = [*shlex.split(command), *shlex.split(TRAPS), "-c", str(probe), "-o", str(folder / "probe.o")]
    done = subprocess.run(words, capture_output=True, check=False)
    return f"{command} {TRAPS}" if done.returncode == 0 else None


def read(folder: Path, text: str, step: str = "step", **config: object) -> CModel:
    """The model of one file."""
    fresh_environment()
    file = folder / "program.c"
    file.write_text(text, encoding="utf-8")
    return read_c(SourceConfig("program", (str(file),), step=step, **config))  # type: ignore[arg-type]


def refusal(folder: Path, text: str, **config: object) -> ChainCoverError:
    """The error that reading one file ends with."""
    with pytest.raises(ChainCoverError) as caught:
        read(folder, text, **config)  # type: ignore[arg-type]
    return caught.value


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
                known = var.name in found and expected.get(var.name + "#defined", 1)
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
    suspects = model.system.suspects
    check = compile_formulas([s.formula for s in suspects])
    for state, inputs in pairs:
        happens = check({**state, **inputs})
        kinds = [s.name for s, holds in zip(suspects, happens, strict=True) if holds]
        if all(any(word in kind for word in TRAPPED) for kind in kinds):
            result.tried += 1
            try:
                original.steps([(state, inputs)])
            except OriginalCrashed:
                result.trapped += 1
