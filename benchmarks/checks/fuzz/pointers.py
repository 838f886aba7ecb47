"""Random statements of C over pointers to functions, and over pointers that are kept from step to step."""

from __future__ import annotations

from benchmarks.checks.fuzz.idioms import Idioms

TYPES = """\
typedef int fn(int);
typedef void act(struct state *, int);
struct ops { fn *f; long (*g)(long, u8); };
"""
MEMBERS = (
    " fn *hook; act *act; struct ops ops; const struct ops *now; struct pair *pp; unsigned short *spot;"
    " unsigned short (*line)[3]; struct ops *(*find)(u8);"
)
FUNCTIONS = ("op0", "op1", "op2")
ACTS = ("act0", "act1", "act2")


class Pointers(Idioms):
    """Calls of what pointers point to, and pointers that change."""

    writes: list[tuple[str, str]]

    def pointer_head(self) -> str:
        """Functions, tables of functions and objects that hold pointers; they come behind the type of the state."""
        parts = [f"static int {name}(int a) {{ {self._body(number)} }}" for number, name in enumerate(FUNCTIONS)]
        parts += [f"static long lo{n}(long a, u8 b) {{ {self._body(n, 'a', 'b')} }}" for n in range(2)]
        parts.append("static act act0, act1, act2; static act *g_act = act1; static struct pair *g_pp = &g_pair;")
        parts += [f"static void {name}(t_state *s, int a) {{ {self._act()} }}" for name in ACTS]
        tables = [", ".join(self.pick((name, f"&{name}", f"*{name}")) for name in self._some(4)) for _ in range(2)]
        parts.append(f"static fn *const ptable[4] = {{{tables[0]}}};\nstatic int (*vtable[4])(int) = {{{tables[1]}}};")
        first, second = self._some(2)
        parts.append(f"static const struct ops ops0 = {{{first}, lo0}}, ops1 = {{.g = &lo1, .f = {second}}};")
        parts.append("static struct ops g_ops = {op1, lo1};")
        parts.append("static struct ops *find0(u8 k) { return k & 1 ? &g_ops : 0; }")
        parts.append("static struct ops *find1(u8 k) { static struct ops own; own.f = k > 9 ? op0 : 0; return &own; }")
        parts.append("static u8 ring[6] = {1, 2, 3}; static u8 *g_in = ring, *g_out = ring + 2;")
        parts.append("static int apply(int f(int), int v) { return f ? (*f)(v) : -1; }")
        parts.append("static fn *choose(u8 k, fn *other) { return k & 1 ? op0 : k & 2 ? other : op2; }")
        return "\n".join(parts)

    def _some(self, count: int) -> list[str]:
        return [str(self.pick(FUNCTIONS)) for _ in range(count)]

    def _body(self, number: int, *names: str) -> str:
        """A body that returns a number, now and then after it has changed something."""
        self.reads, self.writes, self.scratch = [*(names or ("a",)), "table[a & 3]"], [], []
        effect = str(self.pick(("", "g_u ^= (u8)a;", "g_i &= 255;", "g_l = a;", f"if (a & {1 << number}) g_b = !g_b;")))
        return f"{effect} return {self.full(2)};".replace("s->pair.b", "g_pair.b")

    def _act(self) -> str:
        """A body that may choose who acts in the next step."""
        self.reads, self.scratch = ["a", "s->x32", "s->u32", "g_u"], []
        change = f"if ({self.full(1)}) {self.pick(('s->act', 'g_act'))} = {self.pick(ACTS)};"
        return f"s->x32 = {self.full(2)}; {change if self.chance(0.8) else ''}"

    def pointer_start(self) -> str:
        """Statements of init."""
        options = ["s->hook = op1;", "s->act = act0;", "s->ops = ops0;", "s->now = &ops1;", "s->pp = &s->pair;"]
        options += ["s->spot = &s->row[1];", "s->line = &s->nest[0].row;", "s->find = find0;", "vtable[3] = 0;"]
        return " ".join(each for each in options if self.chance(0.7))

    def pointer_reads(self) -> list[str]:
        """Conditions on pointers."""
        return [
            *("(g_in - ring)", "(int)(g_out - g_in)", "(g_in > g_out)", "(g_in <= &ring[3])", "(s->f0 & 3)[ring]"),
            *("(g_out[ring - g_out])", "(*(ring + (i->i2 & 3)))", "(g_in == ring + 6)", "(&g_in[0] < ring + 2)"),
            *("(s->hook == op1)", "(s->hook != 0)", "(!s->now)", "(s->now == &ops1)", "(s->act == g_act)"),
            *("(vtable[i->i0 & 3] == s->hook)", "(s->pp == &g_pair)", "(g_pp == s->pp)", "(s->spot == &s->row[2])"),
            *("(g_ops.g == &lo1 ? 3 : 9)", "(s->line == 0 ? -1 : (*s->line)[1])", "(s->pp ? s->pp->a : -9)"),
        ]

    def pointer_statement(self) -> str:
        """One statement over pointers."""
        return str(self.pick((self._change, self._call, self._object, self._walk))())

    def _function(self) -> str:
        """A pointer to a function, not NULL in most cases."""
        options = ["op0", "(&op1)", "(*op2)", f"ptable[{self._index(4)}]", f"vtable[{self._index(4)}]", "g_ops.f"]
        options += [f"(({self.full(1)}) ? op0 : op2)", f"choose({self.atom()}, op1)", "s->hook", "((fn *)s->ops.f)"]
        return str(self.pick(options))

    def _change(self) -> str:
        name = self.fresh("q")
        options = [
            *(f"s->hook = {self._function()};", f"s->hook = {self._function()};", f"g_ops.f = {self._function()};"),
            *("s->ops = g_ops;", f"s->ops = {self.pick(('ops0', 'ops1'))};", "g_ops = s->ops;"),
            *(f"s->now = ({self.full(1)}) ? &ops0 : &ops1;", f"vtable[{self._index(4)}] = {self._function()};"),
            *(
                f"s->act = {self.pick(ACTS)};",
                "if (s->act) g_act = s->act;",
                f"s->now = &{self.pick(('g_ops', 's->ops', 'ops1'))};",
            ),
            f"{{ fn *{name} = s->hook; s->hook = vtable[1]; vtable[1] = {name}; }}",
            *(f"s->find = {self.pick(('find0', 'find1', '0'))};", "s->hook = 0;", "memset(&s->ops, 0, sizeof s->ops);"),
            f"{{ struct ops {name} = {{.f = {self._function()}}}; s->ops = {name}; }}",
        ]
        change = str(self.pick(options))
        return f"if ({self.full(1)}) {change}" if self.chance(0.5) else change

    def _call(self) -> str:
        (target, ctype), name = self.pick(self.writes), self.fresh("q")
        pointer, value = self._function(), self.atom()
        options = [
            f"{{ fn *{name} = {pointer}; if ({name}) {target} = ({ctype}){name}((u8){value}); }}",
            f"{target} = ({ctype})ptable[{self._index(4)}]((u8){value});",
            f"if (s->hook) {target} = ({ctype})(*s->hook)((u8){value});",
            f"if (s->now && s->now->g) {target} = ({ctype})s->now->g((u8){value}, {self.constant()});",
            f"{target} = ({ctype})apply({pointer}, (u8){value});",
            f"if (s->act) s->act(s, (u8){value});",
            "g_act(s, 3);",
            f"{{ struct ops *{name} = s->find ? s->find({value}) : &g_ops; if ({name} && {name}->f) "
            f"{target} = ({ctype}){name}->f((u8){value}); }}",
            f"{target} = ({ctype})(({self.full(1)}) ? op1 : {self.pick(FUNCTIONS)})((u8){value});",
            f"for (int {name} = 0; {name} < 3; {name}++) if (vtable[{name}]) g_i = vtable[{name}]({name}) & 255;",
            f"g_i = {pointer}(1);" if self.chance(0.3) else "g_act(s, 1);",
        ]
        return str(self.pick(options))

    def _object(self) -> str:
        target, ctype = self.pick(self.writes)
        pair = self.pick(("&s->pair", "&g_pair", f"&s->nest[{self._index(2)}].pair", "g_pp", "s->pp", "0"))
        row = self.pick(("s->nest[0].row", "s->nest[1].row", "s->row"))
        options = [
            *(f"s->pp = {pair};", f"if ({self.full(1)}) s->pp = {pair};", "if (s->pp) g_pp = s->pp;"),
            *(f"s->spot = &{row}[{self._index(2)}];", f"s->line = ({self.full(1)}) ? &{row} : 0;"),
            *(f"if (s->spot) *s->spot = {self.full(1)};", f"if (s->pp) s->pp->c = {self.full(1)};"),
            *(f"{target} = ({ctype})g_pp->b;", f"if (s->line) (*s->line)[{self._index(2)}] ^= 5;", "*g_pp = g_pair;"),
        ]
        return str(self.pick(options))

    def _walk(self) -> str:
        """A pointer that moves within an array."""
        (target, ctype), name, value = self.pick(self.writes), self.fresh("q"), self.full(1)
        sign = self.pick(("<", "!="))
        options = [
            f"*g_in++ = {value}; if (g_in == ring + 6) g_in = ring;",
            f"if (g_out != g_in) {{ {target} = ({ctype})*g_out; if (++g_out >= ring + 6) g_out -= 6; }}",
            "g_out = g_in > ring ? g_in - 1 : &ring[5];",
            f"g_in = ring + ({self._index(4)});",
            f"{{ const unsigned short *{name} = table, *e = &table[4]; while ({name} {sign} e) g_u ^= *{name}++; }}",
            f"for (unsigned short *{name} = s->row; {name} {sign} s->row + 3; {name}++) *{name} ^= {value};",
            f"{{ struct nest *{name} = s->nest + ({self._index(2)}); {name}->tag++; {name} -= {name} - s->nest; "
            f"{target} = ({ctype}){name}->pair.c; }}",
            f"{{ u8 *{name} = g_in; {name} += {self.random.randint(-2, 2)}; *{name} = 3; }}",
            f"{{ u8 *{name}; for ({name} = ring; {name} < ring + 5 && *{name} != (u8)({value}); ++{name}) ; "
            f"{target} = ({ctype})({name} - ring) + *{name}; }}",
            f"if (s->spot) {{ unsigned short *{name} = s->spot; {name} += ({self._index(2)}); *{name} = 7; }}",
            f"if ({self.full(1)}) g_in = g_out; else if (g_in < ring + 5) g_in += 1;",
            f"{{ unsigned short (*{name})[3] = &s->row; (*{name})[1] ^= 1; {name} = 0; s->line = {name}; }}",
        ]
        return str(self.pick(options))

    def _index(self, length: int) -> str:
        return f"({self.atom()}) & {length - 1}"
