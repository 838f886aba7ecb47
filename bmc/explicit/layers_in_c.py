"""Searches in layers as a program of their own: C code generated from the transition system, around ``layers.c``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources

import numpy as np
from pysmt.fnode import FNode

from bmc.errors import CheckDisagreed
from bmc.evaluation.vectors import Column, Columns
from bmc.explicit.kinds import Data, KindsText, kinds
from bmc.explicit.layers import Key, LayeredSystem, Layers, NotInLayers, OutOfMemory, Way
from bmc.explicit.layers_in_arrays import VectorLayers
from bmc.native.build import find_compiler
from bmc.native.kernel import (
    Kernel,
    KernelFailed,
    NoTranslation,
    arguments_of,
    declarations,
    ordered,
    word_of,
)
from bmc.system.transition import Valuation

ARROW = 12.0
"""Nominal nanoseconds for an arrow that is followed. With twice as many, turns of searches along them are half as long.
"""

SOURCES = ("layers.c", "arrows.c", "merged.c", "covering.c", "guide.c")


def layers(made: LayeredSystem, memory: int, say: Callable[[str], None], soon: bool = False) -> Layers:
    """A search that takes at most ``memory`` bytes: compiled where there is a compiler that can do so, ``soon`` where
    little work is to be done; else ``say`` is told why not."""
    if find_compiler() is not None:
        try:
            return CompiledLayers(made, memory, soon)
        except (NoTranslation, KernelFailed) as error:
            say(f"layers are searched without a compiled program: {error}")
    return VectorLayers(made, memory)


class CompiledLayers:
    """``Layers`` in generated C code, which runs in a process of its own."""

    def __init__(self, made: LayeredSystem, memory: int, soon: bool) -> None:
        self._made, self.work_each, self._input_work = made, made.work_each, made.input_work
        self.work, self.states, self.bytes = 0.0, 0, 0
        self.arrows: int | None = None
        self.arrows_each = 0.0
        self._tried = 0
        text, data = c_text(made)
        self._kernel = Kernel(text, soon, data)
        self._ask("limit", memory)
        for key in made.starts:
            self._ask("start", *self._words(key))

    def from_starts(self) -> None:
        self._ask("starts")

    def from_ends(self, condition: int, sought: Sequence[int]) -> None:
        self._ask("ends", condition, *_sets(sought, len(self._made.watched)))

    def from_state(self, key: Key | None, sought: int) -> None:
        self._ask("state", sought, *((1,) if key is None else (0, *self._words(key))))

    def go(self, work: float) -> bool:
        each = self._input_work if self.arrows is None else ARROW
        status, tried, states, size = self._ask("go", max(1, int(work / each)))
        self._count(int(tried), each)
        self.states, self.bytes = int(states), int(size)
        if self.arrows is None:
            self.work_each = self.work / self.states
        if status == "memory":
            raise OutOfMemory
        if status == "many":
            raise NotInLayers("the inputs have too many combinations that do something else in some state")
        if status == "wrong":
            raise CheckDisagreed(f"a variable of {self._made.system.name} leaves the range that was proved for it")
        return status == "over"

    def first(self) -> list[int]:
        return [int(each) for each in self._ask("first")]

    def together(self) -> list[set[int]]:
        answer = [int(each, 16) for each in self._ask("together")]
        several = len(self._made.watched) // 64 + 1
        found = []
        for goal in range(len(self._made.watched)):
            every = sum(part << (64 * at) for at, part in enumerate(answer[goal * several : (goal + 1) * several]))
            found.append({other for other in range(len(self._made.watched)) if every >> other & 1})
        return found

    def way(self, condition: int, portion: float) -> Iterator[Way | None]:
        if self._ask("way", condition) == ["memory"]:
            raise OutOfMemory
        answer: list[str] = []
        while not answer:
            tried, *answer = self._ask("follow", max(1, int(portion / self._input_work)))
            self._count(int(tried), self._input_work)
            if not answer:
                yield None
        width = self._made.layout.width
        end, begin, inputs = answer[:width], answer[width : 2 * width], answer[2 * width :]
        yield Way(_key(begin), [int(each) for each in reversed(inputs)], _key(end))

    def list_arrows(self, work: float) -> bool:
        status, arrows, _, _, size, _, _, tried, _, _ = self._ask("list", max(1, int(work / self._input_work)))
        self._count(int(tried), self._input_work)
        self.bytes = int(size)
        if status == "over":
            self.arrows = int(arrows)
            self.arrows_each = self.arrows / max(1, self.states)
            self.work_each = ARROW * (1 + self.arrows_each)
        return status != "more"

    def covering(self, what: str, *numbers: int) -> list[str]:
        """The answer to a question of ``covering.c``."""
        return self._ask(what, *numbers)

    def along(self, *order: int) -> None:
        """Begin with the steps to come along an order of conditions (``guide.c``). OutOfMemory may be raised."""
        self._guided("along", len(order), *order)

    def add_row(self) -> None:
        """Find the steps to come once one condition less is met. OutOfMemory may be raised."""
        self._guided("add")

    def _guided(self, what: str, *numbers: int) -> None:
        if self._ask(what, *numbers)[0] == "memory":
            raise OutOfMemory

    def row(self, met: int) -> Column:
        """The steps to come for each class of states once so many conditions of the order are met, -1: no run."""
        return np.array(self._ask("row", met), np.int32)

    def classes(self) -> Column:
        """The class of each state, by its number."""
        return np.array(self._ask("classes"), np.int64)

    def all_keys(self) -> Column:
        """The words of each packed state, the lowest first, by its number."""
        words = np.array([int(each, 16) for each in self._ask("keys")], np.uint64).reshape(-1, self._made.layout.width)
        return words[:, ::-1]

    def run(self) -> tuple[Key, list[int]]:
        """Where the run starts that a search of ``covering.c`` has found, and the numbers of its inputs."""
        answer, width = self._ask("run"), self._made.layout.width
        return _key(answer[:width]), [int(each) for each in answer[width:]]

    def input(self, number: int) -> Valuation:
        """The input of this number, every input named."""
        return self._made.input_of([int(each) for each in self._ask("input", number)])

    def inputs(self) -> Columns:
        """The inputs that are tried in some state, by name."""
        cases = np.array([int(each) for each in self._ask("inputs")], np.int64).reshape(-1, len(self._made.tables))
        rows = zip(self._made.tables, cases.T, strict=True)
        return {name: values[cases] for table, cases in rows for name, values in table.columns.items()}

    def _count(self, tried: int, each: float) -> None:
        """Count the work of what was tried since the last answer, ``each`` of which takes so much."""
        self.work += (tried - self._tried) * each
        self._tried = tried

    def close(self) -> None:
        self._kernel.close()

    def _ask(self, what: str, *numbers: int) -> list[str]:
        return self._kernel.ask(what, *(f"{number:x}" for number in numbers))

    def _words(self, key: Key) -> list[int]:
        """The words of a packed state, the highest first."""
        return [key >> (64 * at) & ((1 << 64) - 1) for at in reversed(range(self._made.layout.width))]


def _key(words: Sequence[str]) -> Key:
    """The packed state of these words, the highest first."""
    return int("".join(word.rjust(16, "0") for word in words), 16)


def _sets(numbers: Sequence[int], count: int) -> list[int]:
    """A set as words of 64 bits."""
    every = sum(1 << number for number in numbers)
    return [every >> (64 * at) & ((1 << 64) - 1) for at in range(count // 64 + 1)]


def c_text(made: LayeredSystem) -> tuple[str, bytes]:
    """The program that searches ``made``, and its data. NoTranslation if a formula is too wide for C."""
    count, on_step = len(made.watched), _sets(made.numbers_on_step, len(made.watched))
    code = _Code(made)
    text = "\n".join(
        [
            f"#define WIDTH {made.layout.width}",
            "typedef struct { u64 word[WIDTH]; } KEY;",
            f"#define DENSE {max(made.bits, 1) if made.dense else 0}",
            f"#define GOALS {count}",
            f"#define WORDS {count // 64 + 1}",
            f"static const u64 ON_STEP[] = {{{', '.join(f'{part}ull' for part in on_step)}}};",
            "static int failed;",
            *code.lines(),
            *_source(*SOURCES),
        ]
    )
    return text, code.data.words()


def _source(*names: str) -> Iterator[str]:
    """The texts of files beside this one."""
    folder = resources.files("bmc.explicit")
    yield from (folder.joinpath(name).read_text(encoding="utf-8") for name in names)


_STATE, _INPUT = 1, 2


class _Code:
    """The generated part of the program: what depends on the state alone is computed once for all inputs, what depends
    on the input alone once for all."""

    def __init__(self, made: LayeredSystem) -> None:
        self._made = made
        self._roots = [made.allowed, *made.nexts, *made.conditions]
        self._allowed, self._picked = kinds(
            made.allowed,
            [*made.nexts, *(made.conditions[number] for number in made.numbers_on_step)],
            {var.symbol for var in made.system.state},
        )
        self._tables, self.data = made.tables, Data()
        self._order = ordered([*self._roots, self._allowed, *self._picked])
        states = {var.symbol for var in made.system.state}
        self._reads: dict[FNode, int] = {}
        for node in self._order:
            own = 0 if not node.is_symbol() else _STATE if node in states else _INPUT
            self._reads[node] = own
            for argument in arguments_of(node):
                self._reads[node] |= self._reads[argument]
        self._names: dict[FNode, str] = {}

    def lines(self) -> Iterator[str]:
        """The text, line by line."""
        made = self._made
        steps = {made.conditions[number] for number in made.numbers_on_step} | {made.allowed, *made.nexts}
        roots = [root for root in self._roots if root in steps]
        steps |= {self._allowed, *self._picked}
        used = ordered([*roots, self._allowed, *self._picked])
        table, here = self._kept(ordered(roots), steps, _INPUT), self._kept(used, steps, _STATE)
        inputs = {
            self._made.system.variable(name).symbol: f"data[{self.data.place(values)} + at]"
            for rows in self._tables
            for name, values in rows.columns.items()
        }
        yield "static u64 *data;"
        yield from self._given(table, inputs)
        yield from self._here(here)
        yield from self._state_goals()
        self._names.update((node, f"here->h{place}") for place, node in enumerate(here))
        terms = [self._allowed, *self._picked]
        kinds_text = KindsText(self._allowed, self._picked, self._tables, self._names | inputs, self.data)
        yield from kinds_text.lines(self._largest(ordered(terms), {*terms}, _STATE))
        yield from _source("memory.c", "kinds.c")
        yield from kinds_text.pick()
        self._names.update((node, f"given[input].t{place}") for place, node in enumerate(table))
        yield from self._step(roots)

    def _here(self, here: Sequence[FNode]) -> Iterator[str]:
        """The state, and the terms ``here`` that depend on it alone: unpacked and computed once for all inputs."""
        fields = {each.var.symbol: place for place, each in enumerate(self._made.fields)}
        yield "typedef struct {"
        yield from (f"  u64 s{place};" for place in fields.values())
        yield from (f"  {word_of(node)} h{place};" for place, node in enumerate(here))
        yield "} Here;"
        yield "__attribute__((noinline)) static void unpack(KEY key, Here *here) {"
        yield from self._unpacked()
        symbols = [node for node in self._order if node.is_symbol() and self._reads[node] == _STATE]
        self._names.update((node, f"here->s{fields[node]}") for node in symbols)
        yield from self._declared(ordered(here))
        yield from (f"  here->h{place} = {self._names[node]};" for place, node in enumerate(here))
        yield "}"
        self._forget_terms()

    def _state_goals(self) -> Iterator[str]:
        """The goals that a state covers."""
        made = self._made
        yield "__attribute__((noinline)) static void state_goals(const Here *here, u64 *set) {"
        on_state = [c for c, each in zip(made.conditions, made.watched, strict=True) if not each.on_step]
        yield from self._declared(ordered(on_state))
        yield from self._sets(False)
        yield "}"
        self._forget_terms()

    def _step(self, roots: Sequence[FNode]) -> Iterator[str]:
        """One step: whether it is allowed, the state after it, and the goals that it covers."""
        allowed = self._made.allowed
        yield "__attribute__((noinline)) static int step(const Here *here, int input, KEY *after, u64 *set) {"
        yield from self._declared(ordered([allowed], self._names))
        yield f"  if (!{self._names[allowed]}) return 0;"
        yield from self._declared(ordered(roots, self._names))
        yield "  *after = (KEY){{0}};"
        yield from self._packed()
        yield from self._sets(True)
        yield "  return 1;"
        yield "}"

    def _forget_terms(self) -> None:
        """The names of terms within one function are unknown in the next one; those of symbols stay."""
        self._names = {node: name for node, name in self._names.items() if node.is_symbol()}

    def _kept(self, used: Sequence[FNode], roots: set[FNode], kind: int) -> list[FNode]:
        """The terms over one kind of variables that others read, or that are roots; but for symbols of state."""
        return [node for node in self._largest(used, roots, kind) if not (node.is_symbol() and kind == _STATE)]

    def _largest(self, used: Sequence[FNode], roots: set[FNode], kind: int) -> list[FNode]:
        """The terms over one kind of variables that others read, or that are roots."""
        found: dict[FNode, None] = {}
        for node in used:
            found.update((a, None) for a in arguments_of(node) if self._reads[node] != kind and self._reads[a] == kind)
            if node in roots and self._reads[node] == kind:
                found[node] = None
        return list(found)

    def _declared(self, order: Sequence[FNode]) -> list[str]:
        return [f"  {line}" for line in declarations(order, self._names, "t")]

    def _given(self, table: Sequence[FNode], inputs: Mapping[FNode, str]) -> Iterator[str]:
        """What depends on inputs alone: computed once for each input. ``inputs`` has their values by case."""
        groups = {name: place for place, rows in enumerate(self._tables) for name in rows.columns}
        yield "typedef struct {"
        yield from (f"  {word_of(node)} t{place};" for place, node in enumerate(table))
        yield "  char there;"
        yield "} Given;"
        yield "static void give(Given *given, const int *cases) {"
        self._names = {
            node: text.replace("at]", f"cases[{groups[node.symbol_name()]}]]") for node, text in inputs.items()
        }
        yield from self._declared(ordered(table))
        yield from (f"  given->t{place} = {self._names[node]};" for place, node in enumerate(table))
        yield "}"
        self._names = {}

    def _unpacked(self) -> Iterator[str]:
        places = {place.name: place for place in self._made.layout.fields}
        for number, each in enumerate(self._made.fields):
            if not each.bits:
                yield f"  here->s{number} = {each.least}ull;"
                continue
            place = places[each.var.name]
            raw = f"((key.word[{place.word}] >> {place.shift}) & {(1 << each.bits) - 1}ull)"
            yield f"  here->s{number} = ({raw} + {each.least}ull) & {each.mask}ull;"

    def _packed(self) -> Iterator[str]:
        places = {place.name: place for place in self._made.layout.fields}
        for number, (each, after) in enumerate(zip(self._made.fields, self._made.nexts, strict=True)):
            yield f"  u64 n{number} = ({self._names[after]} - {each.least}ull) & {each.mask}ull;"
            yield f"  if (n{number} > {each.span}ull) failed = 2;"
            if each.bits:
                place = places[each.var.name]
                yield f"  after->word[{place.word}] |= n{number} << {place.shift};"

    def _sets(self, on_step: bool) -> Iterator[str]:
        made = self._made
        parts: list[list[str]] = [["0"] for _ in range(len(made.watched) // 64 + 1)]
        for number, (condition, each) in enumerate(zip(made.conditions, made.watched, strict=True)):
            if each.on_step == on_step:
                parts[number // 64].append(f"(u64)({self._names[condition]}) << {number % 64}")
        yield from (f"  set[{at}] = {' | '.join(part)};" for at, part in enumerate(parts))
