"""Weighted set cover: test cases that cover, in the fewest steps, all that any of them covers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

EXACT, GREEDY = "exact", "greedy"

SEED = 1


def undominated(lengths: Mapping[int, int]) -> dict[int, int]:
    """The sets (as bits, with their lengths) that no other one contains which is no longer."""
    kept: dict[int, int] = {}
    for mask in sorted(lengths, key=lambda mask: (-mask.bit_count(), lengths[mask], mask)):
        if not any(mask & ~other == 0 and length <= lengths[mask] for other, length in kept.items()):
            kept[mask] = lengths[mask]
    return kept


def weighted_cover(lengths: Mapping[int, int], seconds: float | None = None) -> tuple[tuple[int, ...], bool]:
    """Sets whose union is that of all, with the least sum of lengths and, among these, the fewest; and whether that is
    proved. After ``seconds`` the best so far.
    """
    everything = _union(lengths)
    sets = [mask for mask in undominated(lengths) if mask]
    if not sets:
        return (), True
    import highspy  # here, for only this needs it

    make: Any = highspy.Highs
    solver = make()
    options: dict[str, bool | int | float] = {"output_flag": False, "threads": 1, "random_seed": SEED}
    options |= {"mip_rel_gap": 0.0, "mip_abs_gap": 0.5}
    if seconds is not None:
        options["time_limit"] = float(max(seconds, 0.1))
    for name, value in options.items():
        solver.setOptionValue(name, value)
    chosen = [solver.addBinary() for _ in sets]
    for bit in range(everything.bit_length()):
        holders = [variable for mask, variable in zip(sets, chosen, strict=True) if mask >> bit & 1]
        if holders:
            solver.addConstr(solver.qsum(holders) >= 1)
    # a set more is worth less than a step: there are at most as many sets as bits
    step = everything.bit_count() + 1
    solver.minimize(solver.qsum([(lengths[m] * step + 1) * v for m, v in zip(sets, chosen, strict=True)]))
    solution = solver.getSolution()
    picked = tuple(mask for mask, value in zip(sets, solution.col_value, strict=False) if value > 0.5)
    proved = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    quick = greedy_cover(lengths)
    if _union(dict.fromkeys(picked, 0)) != everything or _cost(quick, lengths) < _cost(picked, lengths):
        return quick, False
    return picked, proved


def greedy_cover(lengths: Mapping[int, int]) -> tuple[int, ...]:
    """Sets whose union is that of all: always the one next that has most new elements for its length."""
    left, picked = _union(lengths), list[int]()
    while left:
        best = min(lengths, key=lambda m: ((lengths[m] + 1) / (m & left).bit_count() if m & left else float("inf"), m))
        picked.append(best)
        left &= ~best
    return tuple(picked)


def _union(sets: Mapping[int, int]) -> int:
    union = 0
    for mask in sets:
        union |= mask
    return union


def _cost(picked: Sequence[int], lengths: Mapping[int, int]) -> tuple[int, int]:
    return sum(lengths[mask] for mask in picked), len(picked)
