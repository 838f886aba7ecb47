"""The few input values that ``chaincover init`` proposes really stand for all values of their type."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from command_line import fresh_names, write_files

from bmc.models.c.controller.build import read_c
from bmc.models.c.controller.reading import SourceConfig
from bmc.system.simulation import Simulator
from bmc.system.transition import TransitionSystem
from chaincover.project.scaffold.terms import telling_values

TYPES = ("signed char", "unsigned char", "char", "_Bool")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def program(seed: int) -> str:
    """A step that compares an input of 8 bits with a few constants, also after conversions to wider types."""
    rng = random.Random(seed)
    lines = []
    for number in range(rng.randint(1, 3)):
        cast = rng.choice(["", "(short)", "(unsigned)", "(unsigned short)", "(int)", "(unsigned char)"])
        constant = rng.choice([0, 1, -1, 7, 100, 127, 128, 200, 255, 256, 65535, -128])
        given = f"{cast}a {rng.choice(COMPARISONS)} {constant}{rng.choice(['', 'U'])}"
        lines.append(f"if ({given}) n ^= {1 << number};")
    return f"unsigned char n; void step({rng.choice(TYPES)} a) {{ {' '.join(lines)} }}"


def behaviour(system: TransitionSystem, value: int) -> tuple[int | None, ...]:
    """What n becomes from a few states."""
    simulator = Simulator(system)
    raw = value & 0xFF
    return tuple(simulator.step({"n": start}, {"a": raw})["n"] for start in (0, 3, 255))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_proposed_values_stand_for_all(seed: int, tmp_path: Path) -> None:
    """Each value behaves like a proposed one, and no two proposed ones need be the same."""
    write_files(tmp_path, {"x.c": program(seed)})
    with fresh_names():
        system = read_c(SourceConfig("x", (str(tmp_path / "x.c"),), init=(), step="step")).system
        (given,) = system.inputs
        allowed = [number for low, high in given.values for number in range(low, high + 1)]
        everything = {behaviour(system, number) for number in allowed}
        found = telling_values(system)
        if "a" not in found:
            assert len(everything) == 1 or "(unsigned char)" in program(seed)
            return
        assert {behaviour(system, number) for number in found["a"]} == everything
        assert set(found["a"]) <= set(allowed)


KEPT = {
    "if (a && !last) n++; last = a;": (0, 1),
    "if (a > 9 && last <= 200) n++; if (n & 1) last = a;": (0, 10, 201),
    "if (older == 7) n++; older = last; last = a;": (0, 7),
    "if (last) n++; last = a; older = last + 1;": None,
    "if (a && last != a) n++; last = a;": None,
    "if (last == n) n++; last = a;": None,
    "if (last) wide++; wide = a; last = a;": None,
}


@pytest.mark.parametrize(("use", "values"), KEPT.items())
def test_an_input_that_is_kept_and_compared_later_has_few_values(
    use: str, values: tuple[int, ...] | None, tmp_path: Path
) -> None:
    """The values of each class lead to the same ``n``, whatever was kept before, in all runs of three steps."""
    declared = "unsigned char n, last, older; unsigned short wide;"
    write_files(tmp_path, {"x.c": f"{declared} void step(unsigned char a) {{ {use} }}"})
    with fresh_names():
        system = read_c(SourceConfig("x", (str(tmp_path / "x.c"),), init=(), step="step")).system
        assert telling_values(system).get("a") == values
        if values is None:
            return
        simulator, rng = Simulator(system), random.Random(1)
        for _ in range(100):
            drawn = [rng.choice([0, 1, 6, 7, 8, 9, 10, 200, 201, rng.randint(0, 255)]) for _ in range(4)]
            usual = [0 if 7 in values and value != 7 else max(v for v in values if v <= value) for value in drawn]
            runs = [simulator.run(simulator.initial(), [{"a": value} for value in given]) for given in (drawn, usual)]
            first, second = ([state["n"] for state in run.states] for run in runs)
            assert first == second


@pytest.mark.parametrize("use", ["n = a;", "n += a & 4;", "if (a < n) n = 1;", "n = (a > 3) + a;"])
def test_other_uses_are_left_alone(use: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"x.c": f"unsigned char n; void step(unsigned char a) {{ {use} }}"})
    with fresh_names():
        system = read_c(SourceConfig("x", (str(tmp_path / "x.c"),), init=(), step="step")).system
        assert telling_values(system) == {}
