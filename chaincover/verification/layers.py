"""Bounds on edges where the reachable states are too many for a table: searches in layers, compiled.

A program made from the transition system packs a state into one word, and marks it in a table of bits. It meets all
reachable states, layer by layer, then from the ends of each goal those that the bounds on its edges speak of. No step
is kept; some, evenly spread, are told, so that they can be run on the compiled original.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import resources

import numpy as np
from pysmt.fnode import FNode
from pysmt.shortcuts import TRUE

from bmc.errors import counted
from bmc.evaluation.vectors import WORD, column
from bmc.formulas.unroll import NEXT, read_at, with_terms
from bmc.native.build import find_compiler
from bmc.native.kernel import Kernel, KernelFailed, NoTranslation, declarations, ordered
from bmc.records import dataclass
from bmc.system.transition import StateVariable, Valuation, conjunction
from chaincover.certificate import Certificate, PathFact
from chaincover.verification.inputs import InputClasses
from chaincover.verification.limits import Clock
from chaincover.verification.report import HOLDS, OPEN, WRONG
from chaincover.verification.setting import Setting
from chaincover.verification.states import Prepared, Table, prepared
from chaincover.weights import INIT

COMPILED = 500
"""Steps that are tried for one that counts for the table of reachable states."""
MEMORY = 2 << 30
"""Bytes that a search may take."""
MOST_INPUTS = 1 << 12
"""Classes of inputs that are written into the program."""
PORTION = 1 << 22
"""Steps that are tried between two looks at the clock."""
BITS = 2
"""Bits that each variable gets at first; more where a value needs them."""


@dataclass(frozen=True)
class Searched:
    """All reachable states: how many, with how many steps; ``table`` has some of them, evenly spread."""

    size: int
    steps: int
    table: Table


class Layers:
    """Searches for the edges of a certificate. ``searched`` is None where they took more than the limits."""

    def __init__(self, kernel: Kernel, setting: Setting, clock: Clock) -> None:
        self._kernel, self._setting, self._clock = kernel, setting, clock
        self._numbers = {name: number for number, name in enumerate([*setting.names, setting.end])}
        self._deepest: dict[str, int] = {}
        self._met: dict[str, list[int] | None] = {}
        self._together: list[int] = []
        self._portion = 1
        self.searched: Searched | None = None

    @staticmethod
    def of(setting: Setting, proof: Certificate, clock: Clock) -> Layers | None:
        """Searches that have met all reachable states; None where that is beyond them, or beyond the limits."""
        if find_compiler() is None:
            return None
        made = prepared(setting.system, setting.formulas, clock)
        few = made.classes is not None and made.classes.size <= MOST_INPUTS
        fits = few and made.starts is not None
        widths = [var.type.bits for var in made.system.state] + [var.type.bits for var in made.system.inputs]
        if not fits or max(widths, default=0) > WORD:
            return None
        try:
            found = Layers(Kernel(_text(made, setting)), setting, clock)
            found._reach(made)
        except (NoTranslation, KernelFailed):
            return None
        for fact in proof.edges:
            source = fact.path[0]
            found._deepest[source] = max(found._deepest.get(source, -1), fact.at_least - setting.over(source, 0) - 1)
        return found if found.searched is not None else None

    def verdict(self, fact: PathFact) -> tuple[str, str]:
        """The verdict on a bound between two nodes, and why."""
        source, target = fact.path
        over, number = self._setting.over(source, 0), self._numbers[target]
        if self._setting.takes_step(source) and target != self._setting.end:
            words = len(self._numbers) // WORD + 1
            at, bit = divmod(number, WORD)
            if fact.at_least > 0 and self._together[self._numbers[source] * words + at] >> bit & 1:
                return WRONG, "one step is the start of both"
        met = self._from(source) if fact.at_least - over - 1 <= self._deepest.get(source, -1) else None
        if met is None:
            return OPEN, "more than the effort for searches in layers, or no time left"
        if met[number] >= 0 and met[number] + over < fact.at_least:
            return WRONG, f"a search over all reachable states meets it after {counted(met[number] + over, 'step')}"
        return HOLDS, ""

    def _from(self, source: str) -> list[int] | None:
        """For each node the steps from the end of ``source`` to where it can start, as far as bounds speak of them."""
        if source not in self._met:
            deepest = self._deepest.get(source, -1)
            number = -1 if source == INIT else self._numbers[source]
            fine = self._ask("from", number)[0] == "ok" and (deepest < 0 or self._go("go", deepest) == "over")
            self._met[source] = [int(each) for each in self._ask("first")[6:]] if fine else None
        return self._met[source]

    def _reach(self, made: Prepared) -> None:
        """Meet all reachable states."""
        assert made.classes is not None
        assert made.starts is not None
        variables = made.system.state
        self._portion = max(1, PORTION // made.classes.size)
        self._ask("limit", MEMORY)
        bits = [min(BITS, max(var.type.bits, 1)) for var in variables]
        said = "wide"
        while said == "wide":
            answer = self._ask("layout", *bits)
            said = answer[0]
            for state in made.starts:
                if said == "ok":
                    said, *answer = self._ask("start", *(f"{state[var.name]:x}" for var in variables))
            if said == "ok":
                said = self._go("reach")
            if said == "wide":
                answer = self._ask("wide")
                bits[int(answer[1])] = int(answer[2])
        if said != "over":
            return
        answer = self._ask("together")
        self._together = [int(each) for each in answer[6:]]
        self.searched = Searched(int(answer[4]), int(answer[5]), self._samples(made.classes, made.starts, variables))

    def _samples(
        self, classes: InputClasses, starts: Sequence[Valuation], variables: tuple[StateVariable, ...]
    ) -> Table:
        """Some steps as a table, which begins with the start state."""
        found = np.array([int(each) for each in self._ask("samples")[6:]], np.uint64).reshape(
            -1, 1 + 2 * len(variables)
        )
        count, begin = len(found), [starts[0][var.name] for var in variables]
        rows = np.concatenate(
            [np.array([begin], np.uint64), found[:, 1 : 1 + len(variables)], found[:, 1 + len(variables) :]]
        )
        return Table(
            variables=variables,
            columns={var.name: column(rows[:, n].tolist(), var.type.bits) for n, var in enumerate(variables)},
            size=len(rows),
            starts=(0,),
            inputs=classes,
            source=np.arange(1, 1 + count),
            choice=found[:, 0].astype(np.int64),
            target=np.arange(1 + count, 1 + 2 * count),
        )

    def _go(self, *question: object) -> str:
        """Go on with a search until it is over, or something stops it."""
        what, *others = question
        while not self._clock.over:
            said, _, _, tried, *_ = self._ask(what, self._portion, *others)
            if said != "more":
                return said
            if int(tried) > COMPILED * self._clock.limits.explored:
                break
        return "limit"

    def _ask(self, *question: object) -> list[str]:
        return self._kernel.ask(*question)


# the program


def _text(made: Prepared, setting: Setting) -> str:
    """The text of the program. NoTranslation where C has no such words."""
    assert made.classes is not None
    system, classes = made.system, made.classes
    after = {var.type.symbol(NEXT + var.name): var.next for var in system.state}
    on_step, on_state = dict[int, FNode](), dict[int, FNode]()
    for number, goal in enumerate(setting.goals):
        (on_step if goal.takes_step else on_state)[number] = with_terms([read_at(goal.antecedent, 0)], after)[0]
    on_state[len(setting.goals)] = TRUE() if setting.final is None else setting.final
    names = {var.symbol: f"s[{number}]" for number, var in enumerate(system.state)}
    given = {var.symbol: f"given{number}[input]" for number, var in enumerate(system.inputs)}
    allowed = conjunction([system.input_constraint, system.defined])
    signed = [var.type.bits if var.type.signed else 0 for var in system.state]
    lines = [
        "#define INLINE static inline __attribute__((always_inline))",
        f"#define VARS {len(system.state)}",
        f"#define INPUTS {classes.size}",
        f"#define GOALS {len(setting.goals) + 1}",
        f"static const int SIGNED[] = {{{', '.join(map(str, [*signed, 0]))}}};",
    ]
    for number, var in enumerate(system.inputs):
        values = ", ".join(f"{int(value)}ull" for value in classes.columns[var.name].tolist())
        lines.append(f"static const u64 given{number}[] = {{{values}}};")
    lines += [
        "INLINE void here_goals(const u64 *restrict s, u64 *restrict set) {",
        *_sets(on_state, dict(names), len(setting.goals) + 1),
    ]
    lines += [
        "}",
        "INLINE int step(const u64 *restrict s, int input, u64 *restrict n, u64 *restrict set) {",
    ]
    names |= given
    lines += declarations(ordered([allowed], names), names, "t")
    lines.append(f"if (!{names[allowed]}) return 0;")
    nexts = list(after.values())
    lines += declarations(ordered(nexts, names), names, "t")
    lines += [f"n[{number}] = {names[term]};" for number, term in enumerate(nexts)]
    lines += [*_sets(on_step, names, len(setting.goals) + 1), "return 1;", "}"]
    return "\n".join(
        [*lines, resources.files("chaincover.verification").joinpath("layers.c").read_text(encoding="utf-8")]
    )


def _sets(conditions: Mapping[int, FNode], names: dict[FNode, str], count: int) -> Iterator[str]:
    """C code that writes which of the numbered ``conditions`` hold."""
    yield from declarations(ordered(list(conditions.values()), names), names, "t")
    for word in range(count // WORD + 1):
        parts = [f"(u64)({names[c]}) << {n % WORD}" for n, c in conditions.items() if n // WORD == word]
        yield f"set[{word}] = {' | '.join(['0', *parts])};"
