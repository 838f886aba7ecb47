"""Recordings as VCD files, as logic analysers, simulators and the exporter ``vcd`` write them."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from bmc.errors import InputRefused, Location, UsageError
from bmc.floats.format import FORMATS, show
from bmc.limits import read_text
from bmc.records import dataclass
from chaincover.chain import STORED
from chaincover.formats.exported import SIGNALS
from chaincover.target.recording import Recording, Variable
from chaincover.target.table import Layout, Sample, in_steps, largest, not_looked_at


@dataclass(frozen=True)
class _Header:
    """The names of the signals with their codes, the sizes of signals by their codes, the codes of ``events``, and what
    the table of an exported file says."""

    codes: Mapping[str, str]
    sizes: Mapping[str, int]
    events: frozenset[str]
    table: Mapping[str, Any]
    unit: Fraction

    def title(self, name: str) -> str:
        """What the signal ``name`` is called on the bench; '' for one that an exported file has besides."""
        signals = self.table.get("signals")
        return name if signals is None else signals.get(name, "")


def read_vcd(path: str, layout: Layout) -> Recording:
    """A recording as a VCD file: a value holds from its time on; that at the end of a step is the one of the step."""
    try:
        from vcd.reader import TokenKind, VCDParseError, tokenize
    except ImportError:
        hint = "pip install 'chaincover[vcd]'"
        raise UsageError("VCD files are read with the package pyvcd, which is not installed", hint=hint) from None
    place = Path(path)
    text = read_text(place, "the recording", "name a recording as .csv or .vcd", most=largest())
    tokens = tokenize(io.BytesIO(text.encode()))
    try:
        header = _header(tokens, TokenKind)
        titles = [header.title(name) for name in header.codes]
        columns, passed = layout.found(titles, Location(path))
        names = [*header.codes]
        of_code = {header.codes[names[index]]: name for name, index in columns.items()}
        bits = {
            header.codes[s]: v for s, v in header.table.get("bits", {}).items() if s in header.codes and v in columns
        }
        ticks = _ticks(header, layout, path)
        samples = _Samples(layout, header, {**of_code}, bits, ticks, Location(path))
        told = [text for index, text in passed.items() if header.codes[names[index]] not in bits]
        notes = [not_looked_at(told, "signal")] if told else []
        return in_steps(path, samples.all(tokens, TokenKind), frozenset(columns), layout, notes)
    except (VCDParseError, ValueError, KeyError) as error:
        raise InputRefused(f"this is no VCD file: {error}", Location(path), "record it again") from None


def _header(tokens: Iterator[Any], kinds: Any) -> _Header:
    """What stands before the first value."""
    scopes, found, sizes = list[str](), list[tuple[str, str, str]](), dict[str, int]()
    events = set[str]()
    table: dict[str, Any] = {}
    unit = Fraction(1)
    for token in tokens:
        if token.kind is kinds.SCOPE:
            scopes.append(token.scope.ident)
        elif token.kind is kinds.UPSCOPE:
            scopes.pop()
        elif token.kind is kinds.VAR:
            var = token.var
            bits = "" if not isinstance(var.bit_index, int) else f"[{var.bit_index}]"
            found.append((var.reference + bits, ".".join([*scopes, var.reference + bits]), var.id_code))
            sizes[var.id_code] = var.size
            if var.type_.value == "event":
                events.add(var.id_code)
        elif token.kind is kinds.COMMENT and token.comment.strip().startswith(SIGNALS.strip()):
            table = json.loads(token.comment.strip().removeprefix(SIGNALS.strip()))
        elif token.kind is kinds.TIMESCALE:
            scale = token.timescale
            power = {"s": 0, "ms": 3, "us": 6, "ns": 9, "ps": 12, "fs": 15}[scale.unit.value]
            unit = Fraction(int(scale.magnitude), 10**power)
        elif token.kind is kinds.ENDDEFINITIONS:
            break
    short = [name for name, _, _ in found]
    codes = {(n if short.count(n) == 1 else path): code for n, path, code in found}
    return _Header(codes, sizes, frozenset(events), table, unit)


def _ticks(header: _Header, layout: Layout, path: str) -> Fraction:
    """The units of time in a step."""
    if "ticks" in header.table:
        return Fraction(int(header.table["ticks"]))
    if layout.period is None:
        hint = "set period = SECONDS in the project file"
        raise InputRefused("the recording has times, and the period of a step is not known", Location(path), hint)
    return layout.period / header.unit


@dataclass(frozen=True)
class _Samples:
    """The values at the end of each step."""

    layout: Layout
    header: _Header
    of_code: Mapping[str, str]
    bits: Mapping[str, str]
    ticks: Fraction
    where: Location

    def all(self, tokens: Iterator[Any], kinds: Any) -> Iterator[Sample]:
        """One for each step, from the first to that of the last change."""
        values = _Values(self)
        first, step, changed = (self.layout.start or 1) - 1, 0, False
        start = bool(self.header.table.get("start")) and not first
        for token in tokens:
            if token.kind is not kinds.CHANGE_TIME:
                changed = values.take(token.data) or changed
                continue
            now = int(Fraction(token.time_change) // self.ticks)
            if start and token.time_change > 0:
                yield Sample(None, dict(values.now), self.where)
                start = False
            if now > STORED:
                text = f"the recording has more than {STORED:,} steps"
                raise InputRefused(text, self.where, "look at the period of the project")
            for each in range(max(step, first), now):
                yield Sample(each, dict(values.now), self.where)
            step, changed = max(step, now), False
        if changed and step >= first:
            yield Sample(step, dict(values.now), self.where)


class _Values:
    """The values of variables ``now``, as texts; what is not known is not there."""

    def __init__(self, samples: _Samples) -> None:
        self._samples = samples
        self._exact: set[str] = set()
        self.now: dict[str, str] = {}

    def take(self, change: Any) -> bool:
        """Take a change of a signal; whether it is one."""
        if not hasattr(change, "id_code") or not hasattr(change, "value"):
            return False
        code, samples = change.id_code, self._samples
        if code in samples.header.events:
            return False
        if code in samples.bits:
            name = samples.bits[code]
            self._exact.add(name)
            form = FORMATS[samples.layout.variables[name].type.bits]
            self._set(name, show(change.value, form) if isinstance(change.value, int) else "")
        elif code in samples.of_code and samples.of_code[code] not in self._exact:
            name = samples.of_code[code]
            self._set(name, _text(change.value, samples.header.sizes[code], samples.layout.variables[name]))
        return True

    def _set(self, name: str, text: str) -> None:
        if text:
            self.now[name] = text
        else:
            self.now.pop(name, None)


def _text(value: Any, size: int, variable: Variable) -> str:
    """A value as text; '' where some bit is not 0 or 1. A signal wider than its variable has the sign on top."""
    vtype = variable.type
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        if any(value == label for label, _ in vtype.labels):
            return value
        if value not in ("0", "1"):
            return ""
        value = int(value)
    if vtype.signed and not vtype.floating and size > vtype.bits and value >> (size - 1):
        return str(value - (1 << size))
    return str(vtype.value(value) if size == max(vtype.bits, 1) else value)
