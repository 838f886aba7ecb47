"""Synthetic controllers of any length, in the style of generated C: Boolean signals in structs, modes, nested ifs.

Own code. The same length and seed always give the same program.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

HEAD = """\
typedef unsigned char boolean_T;
typedef unsigned char uint8_T;
typedef unsigned short uint16_T;
#define true 1U
#define false 0U
"""
DEPTH = 30
"""Deepest nesting of ifs."""


class Subject:
    """One controller of about ``lines`` source lines.

    Of every 1,000 lines, 120 are ifs in nests of up to ``DEPTH`` or in the chain, 120 are links of one ``else if``
    chain over a mode (they set signals, some move on to another mode), the others mostly Boolean assignments. There is
    a state field for every 33 lines, an input and an output for every 250.
    """

    def __init__(self, lines: int, seed: int = 0) -> None:
        self.lines = lines
        self.random = random.Random(seed)
        self.signals = max(8, lines // 33)
        self.inputs = max(4, lines // 250)
        self.outputs = max(4, lines // 250)
        self.links = lines * 12 // 100
        self.ifs = lines * 12 // 100
        self.temporaries: list[str] = []

    def text(self) -> str:
        """The source of the controller; its step function is ``ctl_step``, its init function ``ctl_initialize``."""
        body = [*self._sequence(), ""]
        room = self.lines - len(body) - self._head_lines()
        blocks: list[str] = []
        names: list[str] = []
        ifs = self.ifs
        while room > len(blocks) + 30:
            names.append(f"ctl_Block{len(names)}")
            block = list(self._block(names[-1], room - len(blocks), ifs))
            ifs -= sum(1 for line in block if line.lstrip().startswith("if "))
            blocks += [*block, ""]
        step = ["void ctl_step(void)", "{", *(f"  {name}();" for name in ["ctl_Sequence", *names]), "}", ""]
        init = ["void ctl_initialize(void)", "{", "  ctl_DW.is_Sequence = 1U;", "}"]
        return "\n".join([*self._declarations(), *body, *blocks, *step, *init, ""])

    def _head_lines(self) -> int:
        return len(self._declarations()) + 40

    def _declarations(self) -> list[str]:
        fields = {
            "DW": [f"  boolean_T Delay{i}_DSTATE;" for i in range(self.signals)] + ["  uint16_T is_Sequence;"],
            "ExtU": [f"  boolean_T In{i};" for i in range(self.inputs)],
            "ExtY": [f"  boolean_T Out{i};" for i in range(self.outputs)],
        }
        lines = HEAD.splitlines()
        for name, members in fields.items():
            lines += ["typedef struct {", *members, f"}} {name}_ctl_T;", ""]
        return [*lines, "DW_ctl_T ctl_DW;", "ExtU_ctl_T ctl_U;", "ExtY_ctl_T ctl_Y;", ""]

    # expressions

    def _signal(self) -> str:
        return f"ctl_DW.Delay{self.random.randrange(self.signals)}_DSTATE"

    def _atom(self) -> str:
        kind = self.random.random()
        if kind < 0.4:
            text = f"ctl_U.In{self.random.randrange(self.inputs)}"
        elif kind < 0.6 and self.temporaries:
            text = self.random.choice(self.temporaries)
        else:
            text = self._signal()
        return self.random.choice((text, text, f"!{text}", f"({text} != 0)"))

    def _expression(self, depth: int = 2) -> str:
        if depth == 0 or self.random.random() < 0.3:
            return self._atom()
        parts = [self._expression(depth - 1) for _ in range(self.random.choice((2, 2, 3)))]
        text = f"({self.random.choice((' && ', ' || ')).join(parts)})"
        return f"!{text}" if self.random.random() < 0.1 else text

    def _assignment(self) -> str:
        kind = self.random.random()
        if kind < 0.1:
            target = f"ctl_Y.Out{self.random.randrange(self.outputs)}"
        else:
            target = self._signal()
        value = self.random.choice(("true", "false")) if self.random.random() < 0.4 else self._expression()
        return f"{target} = {value};"

    # functions

    def _sequence(self) -> Iterator[str]:
        """The chain over the mode: each link is a state of a chart with its transitions and actions."""
        yield from ("static void ctl_Sequence(void)", "{")
        links, ifs = self.links, self.ifs // 3
        for link in range(links):
            word = "if" if link == 0 else "} else if"
            yield f"  {word} (ctl_DW.is_Sequence == {link + 1}U) {{"
            if self.ifs - ifs * 2 > 0 and self.random.random() < 0.33:
                self.ifs -= 1
                yield f"    if ({self._expression()}) {{"
                yield f"      ctl_DW.is_Sequence = {self.random.randrange(links) + 1}U;"
                yield f"      {self._assignment()}"
                yield "    }"
            else:
                yield f"    {self._assignment()}"
        yield from ("  } else {", "    ctl_DW.is_Sequence = 1U;", "  }", "}")

    def _block(self, name: str, room: int, ifs: int) -> Iterator[str]:
        """One block: intermediate signals, a nest of ifs, assignments."""
        size = min(room, self.random.randint(120, 240))
        yield from (f"static void {name}(void)", "{")
        self.temporaries = []
        for number in range(6):
            value = self._expression()
            self.temporaries.append(f"rtb_{number}")
            yield f"  boolean_T rtb_{number} = {value};"
        used = 10
        share = max(1, ifs * size // max(room, 1))
        while used < size:
            if share > 0:
                deep = min(share, self.random.choice((1, 1, 2, 3, 5, DEPTH)), max(1, (size - used) // 3))
                nest = list(self._nest(deep, 1))
                share -= deep
                used += len(nest)
                yield from nest
            for _ in range(self.random.randint(4, 9)):
                used += 1
                yield f"  {self._assignment()}"
        yield "}"
        self.temporaries = []

    def _nest(self, deep: int, level: int) -> Iterator[str]:
        pad = "  " * level
        yield f"{pad}if ({self._expression(1)}) {{"
        if self.random.random() < 0.5:
            yield f"{pad}  {self._assignment()}"
        if deep > 1:
            yield from self._nest(deep - 1, level + 1)
        else:
            yield f"{pad}  {self._assignment()}"
        if self.random.random() < 0.3:
            yield f"{pad}}} else {{"
            yield f"{pad}  {self._assignment()}"
        yield f"{pad}}}"
