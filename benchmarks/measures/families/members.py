"""Synthetic controllers of growing size, each a folder with m.c and chaincover.toml.

``grid N T``: two counters 0..T, N goals of one state each at random points, back to the origin. ``modes N T``: N
transitions as goals, between N/2 modes, each enabled after up to T steps in its mode. ``acc N BITS``: a sum of 16 or 32
bits, N goals at chosen values of it, back to 0. The random choices are fixed by the parameters, so that lengths can be
compared.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bmc.errors import UsageError


@dataclass(frozen=True)
class Member:
    """A controller: its C text, its variables with their values, its final condition and its goals."""

    name: str
    code: str
    inputs: Sequence[str]
    state: Sequence[str]
    ranges: Mapping[str, str]
    final: str
    goals: Sequence[str]

    def write(self, folder: Path) -> Path:
        """Write it to a folder of its name in ``folder``; that folder."""
        place = folder / self.name
        place.mkdir(parents=True, exist_ok=True)
        (place / "m.c").write_text(self.code, encoding="utf-8")
        (place / "chaincover.toml").write_text(self._project, encoding="utf-8")
        return place

    @property
    def _project(self) -> str:
        inputs, state = (str([*names]).replace("'", '"') for names in (self.inputs, self.state))
        lines = [f'name = "{self.name}"', "[sources]", 'files = ["m.c"]', "[functions]", 'init = ["init"]']
        lines += ['step = "step"', "properties = []", "[interface]", f"input = {inputs}", f"state = {state}"]
        lines += ["[ranges]", *(f"{name} = {values}" for name, values in self.ranges.items())]
        lines += ["[final]", f'condition = "{self.final}"']
        for number, goal in enumerate(self.goals):
            lines += ["[[property]]", f'id = "g{number:03d}"', f'text = "{goal}"']
        return "\n".join(lines) + "\n"


def member(text: str) -> Member:
    """The member called ``family_N_T``, such as ``grid_20_30``. UsageError if there is none of that name."""
    family, *numbers = text.split("_")
    if family not in FAMILIES or len(numbers) != 2 or not all(number.isdigit() for number in numbers):
        raise UsageError(f"no member of a family is called {text!r}", hint="such as grid_20_30, modes_40_10, acc_3_32")
    return FAMILIES[family](*map(int, numbers))


def grid_points(count: int, top: int) -> list[tuple[int, int]]:
    """``count`` points with coordinates 0..``top``."""
    if count > (top + 1) ** 2:
        raise UsageError(
            f"a grid of {(top + 1) ** 2} points has no {count} goals", hint="fewer goals, or a larger grid"
        )
    rng, points = random.Random(count * 1000 + top), set[tuple[int, int]]()
    while len(points) < count:
        points.add((rng.randint(0, top), rng.randint(0, top)))
    return sorted(points)


def grid(count: int, top: int) -> Member:
    """Two counters; a goal is a point."""
    code = (
        "int u, v; signed char du, dv;\nvoid init(void){u=0;v=0;}\nvoid step(void){\n"
        f" if(du>0 && u<{top}) u++; if(du<0 && u>0) u--; if(dv>0 && v<{top}) v++; if(dv<0 && v>0) v--; }}\n"
    )
    ranges = {"du": "[-1, 0, 1]", "dv": "[-1, 0, 1]", "u": f'"0..{top}"', "v": f'"0..{top}"'}
    goals = [f"cover(u == {u} && v == {v})" for u, v in grid_points(count, top)]
    return Member(f"grid_{count}_{top}", code, ("du", "dv"), ("u", "v"), ranges, "u == 0 && v == 0", goals)


def modes(count: int, top: int) -> Member:
    """Modes with a timer; a goal is a transition between two of them."""
    rng, size = random.Random(count * 7 + top), max(3, (count + 1) // 2)
    edges = [(mode, (mode + 1) % size) for mode in range(size)]
    while len(edges) < count:
        edge = rng.randrange(size), rng.randrange(size)
        if edge[0] != edge[1] and edge not in edges:
            edges.append(edge)
    waits = {edge: rng.randint(0, top) for edge in edges}
    leaving = [[edge for edge in edges if edge[0] == mode] for mode in range(size)]
    body = "".join(
        f"  case {mode}:\n"
        + "".join(
            f"    if(sel=={choice} && timer>={waits[edge]}){{ mode={edge[1]}; timer=0; return; }}\n"
            for choice, edge in enumerate(leaving[mode])
        )
        + "    break;\n"
        for mode in range(size)
    )
    code = (
        "unsigned short mode, timer; unsigned char sel;\nvoid init(void){mode=0;timer=0;}\nvoid step(void){\n"
        f" switch(mode){{\n{body} }}\n if(timer<{top}) timer++; }}\n"
    )
    ranges = {"sel": f'"0..{max(map(len, leaving))}"', "mode": f'"0..{size - 1}"', "timer": f'"0..{top}"'}
    goals = [f"cover(mode == {a} && X(mode == {b}))" for a, b in edges]
    return Member(f"modes_{count}_{top}", code, ("sel",), ("mode", "timer"), ranges, "mode == 0", goals)


def acc(count: int, bits: int) -> Member:
    """A sum that a valve fills; a goal is a value of it, with the valve open or closed."""
    if bits not in (16, 32):
        raise UsageError(f"a sum has 16 or 32 bits, not {bits}", hint="such as acc_3_32")
    rng, kind = random.Random(count), {32: "unsigned int", 16: "unsigned short"}[bits]
    values = sorted(rng.randint(1000, 60000 if bits == 16 else 5000000) for _ in range(count))
    code = (
        f"#include <stdint.h>\n{kind} total; unsigned char valve; uint16_t flow; uint8_t open;\n"
        "void init(void){total=0;valve=0;}\nvoid step(void){ if(valve) total += flow; else if(total > flow/2) "
        "total -= flow/2; else total = 0; if(open==1) valve=1; if(open==2) valve=0; }\n"
    )
    ranges = {"open": "[0, 1, 2]", "flow": '"0..60000"'}
    goals = [f"cover(total == {value} && {'valve' if n % 2 else '!valve'})" for n, value in enumerate(values)]
    final = "total == 0 && !valve"
    return Member(f"acc_{count}_{bits}", code, ("flow", "open"), ("total", "valve"), ranges, final, goals)


FAMILIES = {"grid": grid, "modes": modes, "acc": acc}
