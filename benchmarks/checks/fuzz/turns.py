"""Random loops over what state and inputs hold, rings that are drained until they are empty, and recursion."""

from __future__ import annotations

import random

from benchmarks.checks.fuzz.statements import Statements

TURN_MEMBERS = " u8 left; int due; u8 ring[4]; u8 head; u8 tail; int level;"
TURN_START = "s->left = 2; s->due = 0; s->head = s->tail = 1; s->level = 3; memset(s->ring, 0, 4);"
TURN_HEAD = "static u8 g_mode, g_seen;"


class Turns(Statements):
    """Statements that go round, or call themselves, as often as state or input say."""

    def __init__(self, source: random.Random) -> None:
        super().__init__(source)
        self.turning = False
        """Whether there are such loops and functions."""

    def turn_functions(self) -> str:
        """Functions that call themselves: down to 0, in two branches, each other, and a chart with an event."""
        base, step = self.random.randint(0, 2), self.random.randint(1, 2)
        factor, mask = self.pick([1, 3, 5]), self.pick([255, 1023])
        sent = self.random.sample(range(1, 6), 3)
        return (
            f"static int down(int n, int v) {{ static u8 met; int own = v & {mask}; if (n <= {base}) return own;\n"
            f"  met++; int got = down(n - {step}, own * {factor} + met); return (got ^ own) & {mask}; }}\n"
            f"static unsigned both(unsigned n) {{ return n < 2 ? n : (both(n - 1) + both(n - 2)) & {mask}u; }}\n"
            "static _Bool odd(u8 n);\n"
            "static _Bool even(u8 n) { return n ? odd(n - 1) : 1; }\n"
            "static _Bool odd(u8 n) { return n ? even(n - 1) : 0; }\n"
            "static void event(int e) { switch (g_mode) {\n"
            f"  case 0: if (e == {sent[0]}) {{ g_mode = 1; event({sent[1]}); }} break;\n"
            f"  case 1: g_mode = e == {sent[1]} ? 2 : 0; if (e != 0) event({sent[2]}); break;\n"
            "  case 2: if (e > 3) g_mode = 0; else { g_mode = 3; event(e - 1); } break;\n"
            f"  default: g_mode = (e + {self.random.randint(0, 3)}) & 3; }} g_seen += (u8)e; }}"
        )

    def turn_statement(self) -> str:
        """One of them."""
        kinds = [self.counted_down, self.drained, self.searched, self.jumped, self.recursive, self.recursive]
        return str(self.pick(kinds)())

    def _inner(self) -> str:
        """What is done in each turn."""
        labels, self.labels = self.labels, []
        text = self.assignment() if self.chance(0.6) else f"if ({self.full(1)}) {self.assignment()}"
        self.labels = labels
        return text

    def _leave(self) -> str:
        return f"if ({self.full(1)}) {self.pick(['break', 'continue'])};" if self.chance(0.4) else ""

    def counted_down(self) -> str:
        name = self.pick(["s->left", "s->due"])
        limit = self.pick([3, 7, 15])
        text = f"{name} = ({name} + (i->i0 & {self.pick([1, 3])})) & {limit};" if self.chance(0.7) else ""
        less = self.pick([f"{name}--;", f"{name} -= 1;", f"{name} = {name} - 1;"])
        loop = f"while ({name} > 0) {{ {less} {self._leave()} {self._inner()} }}"
        if self.chance(0.3):
            loop = f"if ({name} > 0) do {{ {less} {self._inner()} }} while ({name} > {self.random.randint(0, 2)});"
        return f"{text} {loop}"

    def drained(self) -> str:
        put = f"s->ring[s->tail & 3] = {self.full(1)}; s->tail = (s->tail + 1) {self.pick(['& 3', '% 4'])};"
        taken = f"s->ring[s->head & 3] {self.pick(['+=', '^='])} 1; s->level ^= s->ring[s->head & 3];"
        call = "event(s->ring[s->head & 3] & 7);" if self.chance(0.4) else ""
        again = "" if self.chance(0.7) else f"if (s->due > 0) {{ s->due--; {put} }}"
        step = f"s->head = (s->head + 1) {self.pick(['& 3', '% 4'])};"
        more = self.pick(["s->head != s->tail", "(s->head & 3) != (s->tail & 3)"])
        return f"{put} while ({more}) {{ {taken} {step} {call} {again} {self._inner()} }} s->level &= 255;"

    def searched(self) -> str:
        name = self.fresh("k")
        bound = self.pick(["s->left", "s->due", "(i->i1 & 31)", "(u8)i->i2", "s->level"])
        found = f"if (table[{name} & 3] == (u16)({self.full(1)})) break;" if self.chance(0.5) else self._leave()
        return f"for (int {name} = 0; {name} < {bound}; {name}++) {{ {found} {self._inner()} }}".replace(
            "(u16)", "(unsigned short)"
        )

    def jumped(self) -> str:
        label = self.fresh("l")
        return f"{label}: if (s->due > 0) {{ s->due--; {self._inner()} goto {label}; }} s->due = i->i3 & 7;"

    def recursive(self) -> str:
        target, ctype = self.pick(self.writes)
        small = f"({self.full(1)}) & {self.pick([3, 7])}"
        number = self.pick([small, small, "s->left", "s->due", "s->level & 31"])
        call = self.pick(
            [f"down({number}, (u8)({self.full(1)}))", f"both({small})", f"even({number})", f"odd({number})"]
        )
        if self.chance(0.3):
            return self.pick([f"event({small});", f"if ({self.full(1)}) event({self.pick(['s->left', 'i->i0 & 7'])});"])
        return f"{target} = ({ctype}){call};"
