"""Random statements in the idioms of programs by hand and by generators.

Structs that begin with others, functions with any number of arguments, shifts of negatives, blocks of any size.
"""

from __future__ import annotations

from benchmarks.checks.fuzz.expressions import Expressions

TYPES = """\
struct base { u8 kind; int ev; };
struct mid { struct base base; i16 m; };
struct leaf { struct mid mid; unsigned l; };
struct twig { struct base base; long t; };
typedef int visit(struct base *, int);
"""
MEMBERS = " struct leaf leaf; struct twig twig; struct base *who; struct mid *mid; visit *visit;"
HEAD = """\
static struct leaf g_leaf = {{{1}}}, leaves[3] = {[1] = {{{1, 5}}}, [2].mid.base.kind = 1};
static struct twig g_twig = {{2, -7}};
static struct base *const family[4] = {&g_leaf.mid.base, (struct base *)&g_twig, &leaves[1].mid.base,
  (struct base *)leaves};
static int as_leaf(struct base *b, int v) { struct leaf *l = (struct leaf *)b; l->l += v; return l->mid.m; }
static int as_mid(struct base *b, int v) { ((struct mid *)b)->m ^= v; return b->ev & 255; }
static int by_kind(struct base *b, int v) {
  if (b->kind == 1) return as_leaf(b, v);
  struct twig *t = (struct twig *)b; t->t ^= v; return ((struct base *)t)->ev & 7; }
static visit *const visits[3] = {as_leaf, as_mid, by_kind};
"""
VARIADIC_HEAD = """\
#include <stdarg.h>
#include <stdio.h>
static void note(const char *text, ...) { va_list l; va_start(l, text); if (0) vprintf(text, l); va_end(l); }
static int total(int n, ...) { va_list l; va_start(l, n); unsigned r = 0;
  for (int k = 0; k < n; k++) r += va_arg(l, int); va_end(l); return r; }
static unsigned long mixed(const char *f, ...) { va_list l, m; unsigned long r = 1; va_start(l, f);
  for (; *f; f++) switch (*f) {
    case 'i': r = r * 3 + va_arg(l, int); break;
    case 'u': r ^= va_arg(l, unsigned); break;
    case 'l': r += va_arg(l, long); break;
    case 'p': { struct pair p = va_arg(l, struct pair); r += p.b ^ p.a; break; }
    case 's': { int *p = va_arg(l, int *); if (p) *p ^= 1; break; }
    case 'c': va_copy(m, l); r -= va_arg(m, int); va_end(m); break;
    case 'd': r += va_arg(l, double) > 2.5; break; }
  va_end(l); return r; }
static int inner(int n, va_list l) { int r = 0; while (n-- > 0) r = (r ^ va_arg(l, int)) & 0xffff; return r; }
static int outer(int n, ...) { va_list l; va_start(l, n); int r = inner(n, l); va_end(l); return r; }
static u8 bits_and(u8 en, int *ok, unsigned n, u8 first, ...) { va_list l; u8 r = first; va_start(l, first);
  if (ok) *ok = en; for (unsigned k = 1; k < n; k++) { u8 next = va_arg(l, int); r = r && next; } va_end(l); return r; }
static u8 box[8], crate[24] = {9, 8, 7};
unsigned short words[4] = {5};
static const struct { u8 a; long b; u8 c; u8 d[7]; } padded[2] = {{1, 2, 3}, {.d = {4}}};
static int (*const many[2])(int, ...) = {total, outer};
"""


class Idioms(Expressions):
    """Statements that are drawn where ``idioms`` says so."""

    writes: list[tuple[str, str]]

    def idiom_start(self) -> str:
        """Statements of init."""
        options = ["s->who = family[1];", "s->mid = &g_leaf.mid;", "s->visit = as_mid;", "s->leaf.mid.base.kind = 1;"]
        return " ".join(each for each in [*options, "s->twig.base.kind = 2;"] if self.chance(0.7))

    def idiom_reads(self) -> list[str]:
        """Expressions over the objects of these statements."""
        return [
            *("(s->who == (struct base *)&s->leaf)", "((struct base *)&g_leaf)->ev", "(s->mid == 0)"),
            *("((struct leaf *)&g_leaf.mid)->l", "((struct twig *)family[1])->t", "family[i->i2 & 3]->ev"),
            *("((void *)s->who == (void *)s->mid)", "(s->who ? s->who->ev & 15 : -1)"),
        ]

    def idiom_statement(self) -> str:
        """One statement."""
        return str(self.pick((self.inherited, self.variadic, self.scaled, self.sized))())

    def sized(self) -> str:
        """A block of memory whose size is not constant, or an object that only the block declares."""
        (target, ctype), name, value = self.pick(self.writes), self.fresh("n"), self.atom()
        size = f"({value}) & {self.pick((3, 7))}"
        options = [
            f"memcpy(box, crate + 8, {size});",
            f"memmove(crate + {self.random.randint(0, 4)}, crate + {self.random.randint(0, 4)}, {size});",
            f"memset(box + {self.random.randint(0, 3)}, {self.full(1)}, {size});",
            f"{{ unsigned {name} = {value}; if ({name} > 8) {name} = 8; "
            f"memcpy(s->leaf.mid.base.kind & 1 ? box : crate + 4, crate + 16, {name}); }}",
            f"{{ unsigned {name} = ({value}) & 3; memcpy(words, s->nest[0].row, {name} * sizeof *words); }}",
            f"memcpy(&words[1], crate, ({value}) & 3);",
            f"{target} = ({ctype})(memcmp(box, crate, {size}) != 0);",
            f"memcpy(box, crate, {value});",
            f"crate[({value}) & 15] = {self.full(1)};",
            f"{{ extern unsigned short words[4]; extern int g_i; {target} = ({ctype})(words[({value}) & 3] ^ g_i); }}",
            f"{target} = ({ctype})((const u8 *)padded)[({value}) & 31];",
        ]
        return str(self.pick(options))

    def scaled(self) -> str:
        """A shift to the left of what may be negative, as generators for fixed point write it."""
        target, ctype = self.pick(self.writes)
        wide, bits = self.pick((("int", 31), ("long", 63)))
        options = [
            f"{target} = ({ctype})((({wide})({self.full(1)})) << {self.random.randint(0, bits)});",
            f"{target} = ({ctype})((({wide})({self.full(1)})) << (({self.atom()}) & {bits}));",
            f"s->x32 <<= ({self.atom()}) & {self.pick((7, 31))};",
            f"{target} = ({ctype})(({self.full(1)}) << ({self.atom()}));",
        ]
        return str(self.pick(options))

    def variadic(self) -> str:
        """A call of a function with any number of arguments."""
        (target, ctype), name = self.pick(self.writes), self.fresh("t")
        counts = [self.random.randint(0, 4) for _ in range(2)]
        values = [f"(int)({self.full(1)})" for _ in range(4)]
        kinds = {
            "i": f"({self.pick(('u8', 'i16', 'int', '_Bool', 'signed char'))})({self.full(1)})",
            "u": f"(unsigned)({self.full(1)})",
            "l": f"(long)({self.full(1)})",
            "p": "g_pair",
            "s": str(self.pick(("&s->x32", "&g_i", "(int *)0"))),
            "d": f"{self.random.randint(0, 4)}.0f",
        }
        form = "".join(self.random.choice(list(kinds)) for _ in range(self.random.randint(0, 4)))
        given = "".join(f", {kinds[each]}" for each in form)
        form = form.replace("i", "ci") if self.chance(0.3) else form
        called = str(self.pick(("total", "outer", f"many[({self.atom()}) & 1]")))
        options = [
            f"{target} = ({ctype}){called}({counts[0]}{''.join(f', {each}' for each in values[: counts[0]])});",
            f"{target} = ({ctype})outer(({self.atom()}) & 3, {', '.join(values)});",
            f'{target} = ({ctype})mixed("{form}"{given});',
            f"{target} = ({ctype})bits_and({self.full(1)}, {self.pick(('0', '&s->x32'))}, 3, 1, (u8)({self.full(1)}), "
            f"({self.full(1)}) > 1);",
            f'note("%d", {self.atom()});',
            f'{{ char {name}[40]; sprintf({name}, "%d %5.2u", (int)({self.full(1)}), 7u); note("%s", {name}); }}',
        ]
        return str(self.pick(options))

    def _base(self) -> str:
        """A pointer to a base, not NULL in most cases."""
        kind = f"({self.atom()}) & 3"
        options = [f"family[{kind}]", "(struct base *)&s->leaf", "&s->twig.base", "s->who", "(struct base *)s->mid"]
        options += [
            f"(struct base *)&leaves[({self.atom()}) & 1]",
            f"(({self.full(1)}) ? &g_leaf.mid.base : family[1])",
        ]
        return str(self.pick(options))

    def inherited(self) -> str:
        """A statement over structs that begin with others."""
        (target, ctype), value, name = self.pick(self.writes), self.full(1), self.fresh("q")
        base = self._base()
        options = [
            *(f"s->who = {base};", f"if ({self.full(1)}) s->who = {base};", f"s->visit = {self._visit()};"),
            *("s->mid = (struct mid *)&g_leaf;", "s->mid = (struct mid *)&s->leaf.mid.base;", "s->who = 0;"),
            "if (s->who && s->who->kind == 1) s->mid = (struct mid *)s->who;",
            f"if (s->who) s->who->ev = {value};",
            f"if (s->who && s->who->kind == 1) ((struct leaf *)s->who)->l ^= {value};",
            f"if (s->who && s->who->kind == 2) {target} = ({ctype})((struct twig *)s->who)->t;",
            f"if (s->mid) {target} = ({ctype})((struct leaf *)s->mid)->l; else {target} = 3;",
            f"{{ struct base *{name} = {base}; if ({name}) {target} = ({ctype})by_kind({name}, (u8){value}); }}",
            f"{{ struct base *{name} = {base}; if ({name} && {name}->kind == 1) "
            f"{target} = ({ctype}){self._visit()}({name}, (u8){value}); }}",
            f"{target} = ({ctype})by_kind(family[({self.atom()}) & 3], 1);",
            "if (s->who && s->visit && s->who->kind == 1) g_i = s->visit(s->who, 2) & 255;",
            f"{{ struct base *{name} = (struct base *)&leaves[({self.atom()}) & 1]; struct leaf *{name}l = "
            f"(struct leaf *){name}; {name}l++; {name}l->l += {value}; {target} = ({ctype})({name}l - leaves); }}",
            f"{{ void *{name} = s->who; if ({name} == &s->leaf) ((struct leaf *){name})->mid.m = {value}; }}",
            f"{{ unsigned short *{name} = (unsigned short *)&s->row; {name}[1] = {value}; }}",
            "s->leaf = g_leaf;",
            f"*(struct base *)&g_twig = (struct base){{2, {value}}};",
            f"s->leaf.mid = *(struct mid *)&leaves[{self.random.randrange(3)}];",
        ]
        return str(self.pick(options))

    def _visit(self) -> str:
        return str(self.pick(("as_leaf", "as_mid", "by_kind", "visits[(i->i0 & 3) % 3]", "(*visits[2])")))
