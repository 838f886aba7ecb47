"""The format ``vcd``: a chain as waveforms, with a marker for each goal and requirement; ``judge`` reads it back.

Inputs change at the begin of a step, state and outputs in its middle, so that at the end of a step each signal has the
value of that step. At the time 0 the state is the start state.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import count, product
from string import ascii_letters

from bmc.records import dataclass
from bmc.system.transition import ValueType
from chaincover.exporters.columns import Column, Value, bench_columns, by_requirement, covered_goals, plain_names
from chaincover.exporters.protocol import ExportedChain
from chaincover.formats.exported import SIGNALS

UNITS = (("s", 0), ("ms", 3), ("us", 6), ("ns", 9), ("ps", 12), ("fs", 15))
"""Units of time, each with the number of decimal places of a second."""


class Waveform:
    """A writer of VCD files."""

    def files(self, chain: ExportedChain) -> Mapping[str, bytes]:
        """One file, without a date."""
        covered, subject = covered_goals(chain), chain.subject
        goals = {each.goal.name: [each.step] for each in covered}
        required = {name: [each.step for each in goals] for name, goals in by_requirement(covered).items()}
        marked = {"goals": goals, "requirements": required}
        return {"chain.vcd": waveform(subject.system.name, bench_columns(chain), subject.settings.period, marked)}


@dataclass(frozen=True)
class _Signal:
    """A signal of the file: its plain ``name``, its ``kind`` and ``size``, and how a value is written before its code.

    ``owner`` is the name of the goal, requirement or variable.
    """

    name: str
    kind: str
    size: int
    owner: str
    column: Column | None = None
    written: Callable[[Value], str] = str


def waveform(
    name: str, found: Sequence[Column], period: Fraction | None, marked: Mapping[str, Mapping[str, Sequence[int]]]
) -> bytes:
    """The file of columns of one length, with markers that fire at steps, by what they mark and by their names."""
    timescale, ticks = clock(period)
    scopes: dict[str, list[_Signal]] = {"driven": [], "expected": []}
    table: dict[str, dict[str, str]] = {"signals": {}, "bits": {}, "labels": {}, **{kind: {} for kind in marked}}
    taken: list[str] = []
    for column, plain in zip(found, plain_names(each.title for each in found).values(), strict=True):
        taken.append(plain)
        table["signals"][plain] = column.title
        scopes["driven" if column.driven else "expected"].append(_own(plain, column))
    for scope in [*scopes.values()]:
        for signal in [*scope]:
            for kind, beside in _beside(signal, taken):
                taken.append(beside.name)
                table[kind][beside.name] = beside.owner
                scope.append(beside)
    events: dict[int, list[_Signal]] = {}
    for kind, names in marked.items():
        plains = plain_names(names, taken)
        taken += plains.values()
        scopes[kind] = [_Signal(plains[each], "event", 1, each) for each in names]
        table[kind] = dict(zip(plains.values(), plains, strict=True))
        for signal, step in _fired(scopes[kind], names.values()):
            events.setdefault(step, []).append(signal)
    signals = [signal for scope in scopes.values() for signal in scope]
    codes = dict(zip((signal.name for signal in signals), _codes(), strict=False))
    start = any(column.start is not None for column in found)
    comment = json.dumps({**table, "ticks": ticks, "start": start}, separators=(",", ":")).replace("$", "\\u0024")
    lines = [f"$comment {SIGNALS}{comment} $end", f"$timescale {timescale} $end", *_declared(name, scopes, codes)]
    lines += _changes(signals, codes, events, ticks)
    return ("\n".join(lines) + "\n").encode("ascii")


def _fired(signals: Sequence[_Signal], steps: Iterable[Sequence[int]]) -> Iterator[tuple[_Signal, int]]:
    """Each marker with each step at which it fires."""
    return ((signal, step) for signal, own in zip(signals, steps, strict=True) for step in own)


def _declared(name: str, scopes: Mapping[str, Sequence[_Signal]], codes: Mapping[str, str]) -> Iterator[str]:
    """The lines that say which signals there are, scope by scope, within one that is called ``name``."""
    yield f"$scope module {next(iter(plain_names([name]).values()))} $end"
    for title, scope in scopes.items():
        yield f"$scope module {title} $end"
        yield from (f"$var {each.kind} {each.size} {codes[each.name]} {each.name} $end" for each in scope)
        yield "$upscope $end"
    yield from ("$upscope $end", "$enddefinitions $end")


def _changes(
    signals: Sequence[_Signal], codes: Mapping[str, str], events: Mapping[int, Sequence[_Signal]], ticks: int
) -> Iterator[str]:
    """The lines of all values, at the times of their changes."""
    before: dict[str, str] = {}
    columns = [(each, each.column) for each in signals if each.column is not None]
    driven, others = ([pair for pair in columns if pair[1].driven is own] for own in (True, False))
    length = max((len(column.values) for _, column in columns), default=0)
    for step in range(length + 1):
        begin = [*_changed(driven, step, before, codes)]
        fired = [f"1{codes[signal.name]}" for signal in events.get(step, ())]
        if step == 0:
            begin = ["$dumpvars", *begin, *_changed(others, -1, before, codes), "$end"]
        if begin or fired or step == length:
            yield from [f"#{step * ticks}", *begin, *fired]
        if amid := [*_changed(others, step, before, codes)]:
            yield from [f"#{step * ticks + ticks // 2}", *amid]


def _changed(
    signals: Iterable[tuple[_Signal, Column]], step: int, before: dict[str, str], codes: Mapping[str, str]
) -> Iterator[str]:
    """The values at ``step`` (-1: at the start) that are others than ``before``, which then has these."""
    for signal, column in signals:
        if step < len(column.values):
            text = signal.written(column.start if step < 0 else column.values[step])
            if text and before.get(signal.name) != text:
                before[signal.name] = text
                yield text + codes[signal.name]


def _own(plain: str, column: Column) -> _Signal:
    """The signal of a column: a number."""
    vtype = column.variable.type
    if vtype.floating or any(isinstance(value, Fraction) for value in column.values):
        return _Signal(plain, "real", 64, column.title, column, lambda value: _real(value, vtype))
    return _Signal(plain, "wire", max(vtype.bits, 1), column.title, column, lambda value: _bits(value, vtype))


def _beside(signal: _Signal, taken: Sequence[str]) -> Iterator[tuple[str, _Signal]]:
    """What stands beside the number of a signal: its bits, the names of its values."""
    column = signal.column
    assert column is not None
    vtype, owner = column.variable.type, column.variable.name
    if vtype.floating and signal.kind == "real" and not any(isinstance(value, Fraction) for value in column.values):
        name = plain_names([f"{signal.name}_bits"], taken)[f"{signal.name}_bits"]
        yield "bits", _Signal(name, "wire", vtype.bits, owner, column, lambda value: _bits(value, vtype))
    if vtype.labels and signal.kind == "wire":
        name = plain_names([f"{signal.name}_name"], taken)[f"{signal.name}_name"]
        yield "labels", _Signal(name, "string", 1, owner, column, lambda value: _string(value, vtype))


def _bits(value: Value, vtype: ValueType) -> str:
    size = max(vtype.bits, 1)
    if value is None:
        return "x" if size == 1 else "bx "
    return f"{int(value):b}" if size == 1 else f"b{int(value):b} "


def _real(value: Value, vtype: ValueType) -> str:
    """A number with as many digits as read back exactly; '' where there is none, for which VCD has no real."""
    if value is None:
        return ""
    if isinstance(value, Fraction) or not vtype.floating:
        return f"r{float(value)!r} "
    form, word = ("<d", "<Q") if vtype.bits == 64 else ("<f", "<I")
    return f"r{struct.unpack(form, struct.pack(word, value))[0]!r} "


def _string(value: Value, vtype: ValueType) -> str:
    """The name of a value, in printable characters of ASCII without blanks, ``$`` and backslashes as they are."""
    if value is None:
        return "s? "
    text = vtype.show(vtype.value(int(value)))
    plain = "".join(c if "!" <= c <= "~" and c not in "\\$" else escaped(c) for c in text)
    return f"s{plain} "


def escaped(character: str) -> str:
    """A character as ``\\xNN``, or ``\\uNNNN`` and so on, as Python and JavaScript write it."""
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _codes() -> Iterator[str]:
    """Codes of signals, of letters alone."""
    for length in count(1):
        yield from map("".join, product(ascii_letters, repeat=length))


def clock(period: Fraction | None) -> tuple[str, int]:
    """The unit of time, and an even number of them in a step; of a step of which no period is known, two."""
    if period is None:
        return "1 us", 2
    for unit, places in UNITS:
        ticks = period * 10**places
        if ticks.denominator == 1 and ticks % 2 == 0:
            return f"1 {unit}", int(ticks)
    return "1 fs", max(2, 2 * round(period * 10**15 / 2))
