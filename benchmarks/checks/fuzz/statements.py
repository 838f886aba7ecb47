"""Random statements of C over what may be read and written at a place."""

from __future__ import annotations

import random

from benchmarks.checks.fuzz.pointers import Pointers


class Statements(Pointers):
    """Statements that write to ``writes``: lvalues with their types."""

    def __init__(self, source: random.Random) -> None:
        super().__init__(source)
        self.writes: list[tuple[str, str]] = []
        self.loops = 0
        self.switches = 0
        self.value_result = False
        self.jumps = False
        """Whether there are labels, and statements that jump to them."""
        self.pointers = False
        """Whether there are pointers to functions, and pointers that change."""
        self.idioms = False
        """Whether there are structs that begin with others, and the like."""
        self.labels: list[str] = []
        """Those to which one may jump forward from here."""

    def block(self, depth: int, count: int) -> str:
        scopes = (self.reads, self.writes, self.real_reads, self.real_writes)
        lengths = [len(names) for names in scopes]
        label, place = (self.fresh("l"), self.random.randint(0, count)) if self.jumps else ("", -1)
        self.labels += [label] if label else []
        lines = []
        for number in range(count + 1):
            if number == place:
                self.labels.remove(label)
                lines.append(f"{label}: ;")
            if number < count:
                lines.append(self.statement(depth))
        for names, length in zip(scopes, lengths, strict=True):
            del names[length:]  # type: ignore[attr-defined]
        return "{ " + "\n".join(lines) + " }"

    def assignment(self) -> str:
        target, _ = self.pick(self.writes)
        kind = self.random.randrange(8)
        if kind == 0:
            return f"{target}{self.pick(['++', '--'])};"
        if kind == 1:
            return f"{self.pick(['++', '--'])}{target};"
        if kind <= 3:
            operator = str(self.pick(["+=", "-=", "*=", "&=", "|=", "^=", "/=", "%=", "<<=", ">>="]))
            value = self.full(2)
            if operator in ("/=", "%="):
                value = f"({value}) | 1"
            elif operator in ("<<=", ">>="):
                value = f"({value}) & 7"
            elif operator in ("+=", "-=", "*="):
                value = self.small(2) if not self.scratch else f"(u8)({value})"
            return f"{target} {operator} {value};"
        return f"{target} = {self.full()};"

    def statement(self, depth: int) -> str:
        if self.real_writes and self.chance(0.35):
            return self.real_statement()
        if self.idioms and self.chance(0.4):
            return self.idiom_statement()
        if self.pointers and self.chance(0.5):
            return self.pointer_statement()
        kinds = [self.assignment] * 5 + [self.declaration] * 2 + [self.copy, self.pointer, self.call, self.leave]
        if depth > 0:
            kinds += [lambda: self.branch(depth)] * 4 + [lambda: self.switch(depth)] * 2
            kinds += [lambda: self.loop(depth)] * 2 + [lambda: self.block(depth - 1, 2)]
            kinds += [lambda: self.again(depth)] * (2 if self.jumps else 0)
        return self.pick(kinds)()

    def leave(self) -> str:
        options = ["return" + (f" {self.full(1)}" if self.value_result else "") + ";"]
        if self.loops:
            options += ["break;", "continue;"] * 3
        elif self.switches:
            options = ["break;"]
        options += [f"goto {self.pick(self.labels)};"] * 6 if self.labels else []
        return f"if ({self.full(2)}) {self.pick(options)}" if self.chance(0.7) else self.assignment()

    def again(self, depth: int) -> str:
        """A loop made of a jump backwards, from the end of a block or from within an if."""
        label, count = self.fresh("l"), self.fresh("n")
        body = self.block(depth - 1, 2)
        jump = f"if ({count}++ < {self.random.randint(0, 3)} && ({self.full(2)})) goto {label};"
        inner = f"if ({self.full(1)}) {{ {self.assignment()} {jump} }}" if self.chance(0.5) else jump
        return f"{{ int {count} = 0;\n{label}: ; {body}\n{inner} {self.assignment()} }}"

    def declaration(self) -> str:
        ctype, name = self.type(), self.fresh("v")
        kind = self.random.randrange(6)
        if kind == 0:
            text = f"static {ctype} {name} = {self.pick(['1', '0', '-1', '200', 'ON'])};"
        elif kind == 1:
            text = f"{ctype} {name}; if ({self.full(2)}) {name} = {self.full(2)}; else {name} = 1;"
            if self.chance(0.2):
                text = text[: text.rindex("else")]
        elif kind == 2:
            values = ", ".join(self.full(1) for _ in range(self.random.randint(1, 3)))
            text = f"{ctype} {name}[4] = {{{values}}};"
            index = f"{name}[({self.atom()}) & 3]" if self.chance(0.8) else f"{name}[{self.atom()}]"
            self.reads += [index, f"{name}[2]"]
            self.writes.append((index, ctype))
            return text
        elif kind == 3:
            text = f"struct pair {name} = {{.b = {self.full(1)}, .c = {self.full(1)}}};"
            self.reads += [f"{name}.a", f"{name}.b"]
            self.writes += [(f"{name}.a", "signed char"), (f"{name}.c", "i16")]
            return text
        else:
            text = f"{ctype} {name} = {self.full(2)};"
        self.reads.append(name)
        self.writes.append((name, ctype))
        return text

    def copy(self) -> str:
        name = self.fresh("c")
        return str(
            self.pick(
                [
                    "s->pair = g_pair;",
                    "g_pair = s->nest[1].pair;",
                    f"s->nest[{self.index(2)}] = s->nest[{self.random.randrange(2)}];",
                    "memset(&s->pair, 0, sizeof s->pair);",
                    "memset(s->row, 0xFF, sizeof(s->row));",
                    "memcpy(&g_pair, &s->nest[0].pair, sizeof(struct pair));",
                    f"{{ struct nest {name} = s->nest[0]; {name}.pair.a = 3; s->nest[1] = {name}; }}",
                    f"s->pair = make({self.full(1)}, g_pair);",
                    f"SET(s->pair.c, {self.full(1)});",
                    f"s->pair = ({self.full(1)}) ? g_pair : s->nest[0].pair;",
                ]
            )
        )

    def index(self, length: int) -> str:
        if self.chance(0.85):
            return f"({self.atom()}) & {length - 1}"
        return self.atom()

    def pointer(self) -> str:
        name = self.fresh("p")
        targets = ["&s->pair", "&g_pair", f"&s->nest[{self.index(2)}].pair", "&s->nest[1].pair"]
        first, second = self.pick(targets), self.pick(targets)
        text = f"struct pair *{name} = ({self.full(1)}) ? {first} : {second};"
        self.reads += [f"{name}->b", f"(*{name}).a"]
        self.writes += [(f"{name}->c", "i16"), (f"{name}->b", "unsigned long")]
        return text

    def call(self) -> str:
        target, ctype = self.pick(self.writes)
        simple = [name for name in ("g_i", "s->x32", "s->u32") if self.chance(0.9)] or ["g_i"]
        choice = self.pick(simple)
        return str(
            self.pick(
                [
                    f"{target} = (({ctype})bump(&{'s->x32' if choice == 's->u32' else choice}, {self.full(1)}));",
                    f"fill(s->row, {self.full(1)});",
                    f"{target} = sum(table, 4) + sum(s->row, 3);",
                    "tick();",
                ]
            )
        )

    def branch(self, depth: int) -> str:
        text = f"if ({self.full(3)}) {self.block(depth - 1, self.random.randint(1, 2))}"
        while self.chance(0.35):
            text += f" else if ({self.full(2)}) {self.block(depth - 1, 1)}"
        return text + (f" else {self.block(depth - 1, 1)}" if self.chance(0.5) else "")

    def switch(self, depth: int) -> str:
        labels = ["0", "1", "ON", "-2", "'a'", "5u", "255", "HIGH", "-1L"]
        self.random.shuffle(labels)
        body: list[str] = []
        default_at = self.random.randrange(6)
        self.switches += 1
        loops, self.loops = self.loops, 0
        for number, label in enumerate(labels[: self.random.randint(1, 5)]):
            if number == default_at:
                body.append(f"default: {self.block(depth - 1, 1)}" + (" break;" if self.chance(0.5) else ""))
            body.append(f"case {label}:")
            if self.chance(0.8):
                body.append(self.block(depth - 1, 1))
            if self.chance(0.6):
                body.append("break;")
            elif loops and self.chance(0.3):
                body.append("continue;")
        self.switches -= 1
        self.loops = loops
        return f"switch ({self.full(2)}) {{ " + "\n".join(body) + " ; }"

    def loop(self, depth: int) -> str:
        name, bound = self.fresh("k"), self.random.randint(1, 4)
        self.loops += 1
        switches, self.switches = self.switches, 0
        self.reads.append(name)
        kind = self.random.randrange(4)
        if kind == 0:
            ctype = self.pick(["int", "u8", "unsigned long", "signed char"])
            text = f"for ({ctype} {name} = 0; {name} < {bound}; {name}++) {self.block(depth - 1, 2)}"
        elif kind == 1:
            text = f"{{ int {name} = {bound}; while ({name}-- > 0) {self.block(depth - 1, 2)} }}"
        elif kind == 2:
            text = f"{{ int {name} = 0; do {self.block(depth - 1, 2)} while (++{name} < {bound}); }}"
        else:
            guard = f"{name} < {bound} && ({self.full(1)})"
            text = f"{{ unsigned {name}; for ({name} = 0; {guard}; {name} += 1) {self.block(depth - 1, 1)} }}"
        self.reads.remove(name)
        self.loops -= 1
        self.switches = switches
        return text
