"""A table of bad inputs: each gives one clear message with its place and a next step, and nothing half-written."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from command_line import Outcome, chaincover, write_files
from small_programs import COUNTER, GOOD, HEAD, REACH, program, project


@dataclass(frozen=True)
class Bad:
    """``command`` is run where ``files`` are; ``says`` is part of the message, ``next_step`` of what follows it."""

    id: str
    code: int
    command: tuple[str, ...]
    says: str
    next_step: str = ""
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    compiles: bool = False


def rows(table: str) -> list[list[str]]:
    """The cells of a table's rows; ``⏎`` stands for a new line, other words for long texts."""
    return [[spelled(cell.strip()) for cell in row.split("¦")] for row in table.strip().splitlines()]


WORDS = {"⏎": "\n", "NUMBER": "9" * 5_000, "NESTED": "[" * 20_000, "WORD": "x" * 140_000}


def spelled(text: str) -> str:
    """``text`` with what the words in it stand for."""
    for word, meant in WORDS.items():
        text = text.replace(word, meant)
    return text


def c_file(name: str, text: str | bytes, says: str, next_step: str = "", more: tuple[str, ...] = REACH) -> Bad:
    """A C file that is refused."""
    return Bad(name, 3, ("generate", "c.c", *more), says, next_step, {"c.c": text})


# name ¦ the step's body, from 8:3 ¦ what stands before the step, in line 6 ¦ message ¦ next step
UNSUPPORTED = """
always-undefined ¦ s->n = 1 << 40; ¦ ¦ c.c:8:10: no first step is possible: ¦ correct the code
function-pointer ¦ int (*p)(int) = f; ¦ int f(int); ¦ c.c:8:19: unsupported C construct: address of the ¦ add the
union ¦ u.f = i->a; s->n = u.f; ¦ union { int f; int *g; } u; ¦ c.c:8:3: unsupported C construct: union with ¦
transcendental ¦ s->n = (int)sin(i->a); ¦ double sin(double x); ¦ c.c:8:15: unsupported C construct: 'sin' ¦ define
long-number ¦ s->n = NUMBER; ¦ ¦ c.c:8:10: there are more than 1,000 digits in a number ¦ its type can hold
long-hexadecimal ¦ s->n = 0xNUMBER; ¦ ¦ c.c:8:10: there are more than 1,000 digits in a number ¦
long-float ¦ s->n = NUMBER.0 > 1.0; ¦ ¦ c.c:8:3: there are more than 1,000 digits in a number ¦
long-length ¦ s->n = q[0]; ¦ int q[NUMBER]; ¦ c.c:6:7: there are more than 1,000 digits in a number ¦
long-double ¦ s->n = (int)(i->a * 0.5L); ¦ ¦ c.c:8:23: unsupported C construct: long double ¦
inline-assembly ¦ __asm__("nop"); ¦ ¦ c.c:8:3: unsupported C construct: inline assembly 'nop' ¦ assembly = ["nop"]
variable-length-array ¦ int v[i->a]; v[0] = 1; s->n = v[0]; ¦ ¦ c.c:8:9: unsupported C construct: array of variable ¦
undefined-function ¦ s->n = f(); ¦ int f(void); ¦ c.c:8:10: the function 'f' is called but not defined ¦ sources.files
undeclared-name ¦ s->n = spede; ¦ ¦ c.c:8:10: unknown name 'spede' ¦ declare it
unknown-member ¦ s->speed = 1; ¦ ¦ c.c:8:3: struct t_st has no member 'speed' ¦
unbounded-loop ¦ while (i->b) s->n ^= 1; ¦ ¦ c.c:8:3: this loop never ends: its state comes back ¦ bound the
endless-loop ¦ for (unsigned k = 0; k < 2; k *= 1) s->n = i->a; ¦ ¦ c.c:8:3: this loop never ends ¦ bound the loop
endless-loop-of-a-state ¦ while (i->b) s->n = s->m; ¦ ¦ c.c:8:3: this loop never ends ¦ bound the loop
syntax-error ¦ s->n = ; ¦ ¦ c.c:8:10: C syntax error: ¦ C11
"""

# name ¦ text of --property ¦ message after its place ¦ next step
TEXTS = """
not-a-property ¦ n == 1 ¦ 'n == 1' is not a property ¦ write G(antecedent -> consequent)
no-implication ¦ G(n == 1) ¦ no implication in 'G(n == 1)' ¦ write G(antecedent -> consequent)
two-implications ¦ G(n == 1 => m == 1 => m == 2) ¦ more than one implication ¦ write G(antecedent -> consequent)
missing-parenthesis ¦ G(n == 1 -> X(n == 2) ¦ a ')' is missing ¦ write G(
too-much ¦ cover(n == 1) && m ¦ '&& m' stands after the end ¦ cover(antecedent)
empty ¦ cover() ¦ cannot read the expression '' ¦
syntax ¦ cover(n == ) ¦ cannot read the expression 'n ==': Invalid expression ¦
unknown-name ¦ cover(nm == 1) ¦ unknown name 'nm' in 'nm == 1' ¦ did you mean 's->n' or 's->m'?
unknown-member ¦ cover(s->speed == 1) ¦ struct t_st has no member 'speed' in 's->speed == 1' ¦ known names are m, n
misspelt-member ¦ cover(i->aa == 1) ¦ struct t_in has no member 'aa' ¦ did you mean 'a'?
constant-compared ¦ hot: cover(1 == *s) ¦ a scalar value is needed ¦ correct it in the property 'hot' and run
struct-as-condition ¦ cover(*s) ¦ a scalar value is needed here in '*s' ¦
struct-compared ¦ cover(*s == 1) ¦ a scalar value is needed here in '*s == 1' ¦
void-as-condition ¦ cover(init(s)) ¦ a scalar value is needed here in 'init(s)' ¦
assignment ¦ cover(n = 1) ¦ the condition changes 's->n' in 'n = 1' ¦ compare with '=='
assignment-later ¦ cover(b && X(n = 1)) ¦ the condition changes 's->n' ¦ compare with '=='
assignment-to-a-sum ¦ G(n = m - 1 -> X(b)) ¦ the condition changes 's->n' ¦ compare with '=='
assignment-to-no-variable ¦ cover(n - 1 = m) ¦ '=' assigns to what is no variable in 'n - 1 = m' ¦ did you mean '=='?
assignment-to-a-constant ¦ cover(1 = n) ¦ '=' assigns to what is no variable ¦ did you mean '=='?
increment ¦ G(m == 1 -> n++ == 1) ¦ the condition changes 's->n' ¦ may only read
long-number ¦ cover(n == NUMBER) ¦ there are more than 1,000 digits in a number ¦ its type can hold
always-undefined ¦ cover(10 / 0 == n) ¦ always undefined: division by zero in '/' in '10 / 0 == n' ¦
empty-x ¦ cover(X()) ¦ X takes one condition ¦ operators are X(e)
reserved-name ¦ init: cover(n == 1) ¦ 'init' cannot be a goal's name ¦ use letters
"""

# name ¦ project file from line 4 on ¦ message after the file's name ¦ next step
PROJECTS = """
toml-syntax ¦ [functions]⏎step = compute ¦ :5:8: this is not TOML ¦
unknown-key ¦ [functions]⏎stpe = 'compute' ¦ :5:1: unknown key 'functions.stpe' ¦ did you mean 'step'?
unknown-table ¦ [function]⏎step = 'compute' ¦ :4:1: unknown key 'function' ¦ did you mean 'functions'?
wrong-type ¦ [functions]⏎step = 3 ¦ :5:1: 'step' must be a text in quotes ¦
wrong-list ¦ [interface]⏎input = [1] ¦ :5:1: 'input' must be a list of texts in quotes ¦
wrong-choice ¦ [search]⏎ordering = 'fast' ¦ :5:1: 'ordering' must be one of auto, exact, ¦
wrong-bound ¦ [search]⏎bound = -1 ¦ :5:1: 'bound' must be a number of steps ¦
wrong-group ¦ [constraints]⏎at_most_one = ['a'] ¦ :5:1: 'at_most_one' must be a list of lists ¦
wrong-range ¦ [ranges]⏎'i->a' = 1.5 ¦ :5:1: 'i->a' must be a list of values, or a range ¦
strange-table ¦ [x] ¦ :4:1: unknown key 'x' ¦ known names are
unknown-step ¦ [functions]⏎step = 'conpute' ¦ :5:9: no step function 'conpute' ¦ did you mean 'compute'?
unknown-init ¦ [functions]⏎init = ['innit'] ¦ :5:10: no init function 'innit' ¦ did you mean 'init'?
unknown-property-function ¦ [functions]⏎properties = ['p1'] ¦ :5:16: no property function 'p1' ¦ compute, init
unknown-final-function ¦ [functions]⏎final = 'fin' ¦ :5:10: no function 'fin' is defined ¦
unknown-input ¦ [interface]⏎input = ['i->q'] ¦ :5:11: unknown input variable 'i->q' ¦ did you mean 'i->
unknown-range ¦ [ranges]⏎'s->nn' = '0..9' ¦ :5:2: unknown variable 's->nn' ¦ did you mean 's->n'
range-does-not-fit ¦ [ranges]⏎'i->b' = '0..300' ¦ :5:2: 300 does not fit 'i->b' (_Bool: 0..1) ¦
empty-range ¦ [ranges]⏎'i->a' = '9..0' ¦ :5:2: the range of 'i->a' is empty ¦
range-is-no-number ¦ [ranges]⏎'i->a' = '0..many' ¦ :5:14: unknown name 'many' ¦
unknown-exclusive ¦ [constraints]⏎at_most_one = [['a', 'c']] ¦ :5:23: unknown input 'c' ¦ known names are i->a, i->b
assume-unknown ¦ [constraints]⏎assume = ['aa > 1'] ¦ :5:12: unknown name 'aa' ¦ did you mean 'i->a'?
assume-assigns ¦ [constraints]⏎assume = ['a = 1'] ¦ :5:12: the condition changes 'i->a' in 'a = 1' ¦ compare with '=='
two-finals ¦ [functions]⏎final = 'f'⏎[final]⏎condition = '1' ¦ :7:1: both final.condition and functions.final ¦
final-reads-input ¦ [final]⏎condition = 'i->a == 1' ¦ :5:14: the final condition reads the input 'i->a' ¦ name state
contradiction ¦ [constraints]⏎assume = ['a > 3', 'a < 2'] ¦ : the input assumptions contradict each other ¦ look at the
no-first-step ¦ [constraints]⏎assume = ['n > 3'] ¦ :5:12: no first step is possible ¦ look at the ranges
contradictory-first-step ¦ [constraints]⏎assume = ['a > 3']⏎initial = ['a < 2'] ¦ :5:12: no first step is possible ¦
constraint-unknown ¦ [constraints]⏎assume = ['X(a) <= aa'] ¦ :5:20: unknown name 'aa' ¦ did you mean 'i->a'?
constraint-of-state ¦ [constraints]⏎assume = ['a || X(n)'] ¦ :5:12: 'a || X(n)' reads 's->n' ¦ read no state of a later
constraint-since ¦ [constraints]⏎assume = ['a since b'] ¦ :5:12: 'a since b' looks back over any ¦ leave out since
initial-unknown ¦ [constraints]⏎initial = ['aa > 1'] ¦ :5:13: unknown name 'aa' ¦ did you mean 'i->a'?
dwell-unknown ¦ [constraints]⏎dwell = { c = 3 } ¦ :5:11: unknown input 'c' ¦ known names are i->a, i->b
dwell-of-state ¦ [constraints]⏎dwell = { n = 3 } ¦ :5:11: 'n' is state: only an input has a dwell time ¦ known names are
dwell-number ¦ [constraints]⏎dwell = { a = 0 } ¦ :5:1: the dwell time of 'a' must be a number of steps from 1 to ¦
dwell-table ¦ [constraints]⏎dwell = 3 ¦ :5:1: 'dwell' must be a table such as { door = 5 ¦
no-text ¦ [[property]]⏎id = 'x' ¦ :4: a [[property]] has no text ¦ write text = "G(
unknown-property-key ¦ [[property]]⏎txt = 'x' ¦ :5:1: unknown key 'property.txt' ¦ did you mean 'text'?
long-number ¦ [search]⏎bound = NUMBER ¦ :5:9: there are more than 1,000 digits in a number ¦ its type can hold
long-hexadecimal ¦ [search]⏎bound = 0xNUMBER ¦ :5:9: there are more than 1,000 digits in a number ¦
long-number-in-a-range ¦ [ranges]⏎'i->a' = '0..NUMBER' ¦ : there are more than 1,000 digits in a number ¦
deep ¦ [search]⏎bound = NESTED ¦ : there are more than 100 lists and tables one within the other ¦ name the right file
nul ¦ [sources.defines]⏎A = "\\u0000" ¦ : a text holds the character NUL ¦ leave it out
property-unknown-name ¦ [[property]]⏎text = 'G(k == 1 -> X(n == 1))' ¦ :5: unknown name 'k' in 'k == 1' ¦
"""

# name ¦ inputs.csv ¦ message after the file's name ¦ next step
TABLES = """
csv-empty ¦ ¦ : the file is empty ¦ write a header
csv-missing-column ¦ a⏎1⏎ ¦ :1: there is no column for the input 'i->b' ¦ add it
csv-unknown-column ¦ a,b,colour⏎1,1,1⏎ ¦ :1:3: unknown input 'colour' ¦ known names are i->a, i->b
csv-column-twice ¦ a,b,i->a⏎1,0,1⏎ ¦ :1:3: a second column for the input 'i->a' ¦ leave one
csv-bad-value ¦ a,b⏎1,1⏎1,maybe⏎ ¦ :3:2: 'maybe' is no value of 'i->b' (_Bool) ¦ write a whole number
csv-leading-zero ¦ a,b⏎1,01⏎ ¦ :2:2: '01' is no value of 'i->b' (_Bool) ¦ write a whole number, without zeros before it
csv-underscore ¦ a,b⏎1_0,1⏎ ¦ :2:1: '1_0' is no value of 'i->a' (int) ¦ write a whole number
csv-other-digits ¦ a,b⏎٣,1⏎ ¦ :2:1: '٣' is no value of 'i->a' (int) ¦ write a whole number
csv-does-not-fit ¦ a,b⏎1,256⏎ ¦ :2:2: 256 does not fit 'i->b' (_Bool: 0..1) ¦
csv-short-row ¦ a,b⏎1,0⏎1⏎ ¦ :3: 1 values for 2 columns ¦ one value under each title
csv-long-cell ¦ a,b⏎WORD,0⏎ ¦ :2:1: there are more than 1,000 digits ¦
csv-long-number ¦ a,b⏎NUMBER,0⏎ ¦ :2:1: there are more than 1,000 digits in a number ¦ its type can hold
csv-long-row ¦ a,b⏎1,0,1⏎ ¦ :2: 3 values for 2 columns ¦ one value under each title
"""


def chain_json(steps: object) -> str:
    chain = {"steps": steps, "initial": {"chosen": {}}, "hits": []}
    return json.dumps({"schema": "chaincover/chain/6", "chain": chain})


# content, message after the file's name
DOCUMENTS = {
    "json-cut-off": ('{"schema": "chaincover/chain/6",\n', ":2:1: this is not JSON"),
    "json-other-schema": ('{"schema": "chaincover/chain/9"}', ": this is no chain of the schema"),
    "json-no-chain": ('{"schema": "chaincover/chain/6", "chain": null}', ": this result holds no chain"),
    "json-damaged": ('{"schema": "chaincover/chain/6", "chain": {}}', ": the chain is damaged"),
    "json-deep": ("[" * 100_000, ": there are more than 100 lists and tables one within the other"),
    "json-long-number": (chain_json([int("9" * 1_200)]), ":1:54: there are more than 1,000 digits in a number"),
    "json-infinite": (chain_json([float("inf")]), ": this is not JSON: Infinity is no finite number"),
    "json-nul": (chain_json(["\0"]), ": a text holds the character NUL"),
    "json-is-a-list": ("[]", ": this is no chain of the schema"),
    "json-strange-steps": (chain_json([[]]), ": the chain is damaged"),
    "json-other-program": (
        chain_json([{"inputs": {"i->gas": 1}, "state": {}, "outputs": {}}]),
        ": the chain names 'i->gas', which the program does not have",
    ),
    "json-missing-input": (
        chain_json([{"inputs": {"i->a": 1}, "state": {}, "outputs": {}}]),
        ": the chain gives no value for the input 'i->b'",
    ),
}

TWO_PARTS = """\
typedef struct { int n; } t_part;
typedef struct { t_part left, right; } t_st;
void init(t_st *s) { s->left.n = s->right.n = 0; }
void compute(int a, t_st *s) { s->left.n = a; s->right.n = a; }
"""
TWO = {"c.c": TWO_PARTS, "chaincover.toml": project("[interface]\noutput = ['n']")}
OK = {"c.c": GOOD}
INVARIANT = project("[functions]\ninvariant = ['ok']")
FALSE_INVARIANT = {"c.c": program(after="int ok(t_st *s) { return s->n < 2; }"), "chaincover.toml": INVARIANT}
INPUT_INVARIANT = {"c.c": program(after="int ok(t_in *i) { return i->a < 2; }"), "chaincover.toml": INVARIANT}
GCC_REFUSES = {"c.c": program(COUNTER, "#ifndef __CHAINCOVER__\nint hidden = nowhere;\n#endif")}
INIT_UNDEFINED = program(head=HEAD.replace("s->m = 0", "s->m = 1 / s->n"))
SAME_NAME = ("--property", "a: cover(n)", "--property", "a: cover(m)")

LONG = "x" * 5_000
TOO_LONG = "File name too long"

REFUSED = [
    *(
        Bad(
            f"period-{word}",
            3,
            ("check", "p.toml"),
            "p.toml:1:1: 'period' must",
            "",
            {"p.toml": f"period = {word}\n{project()}"},
        )
        for word in ("nan", "inf", "1e400", "-1")
    ),
    Bad("long-path", 3, ("check", f"{LONG}.c"), "no such file", "name a model"),
    Bad("long-chain-path", 3, ("replay", "c.c", LONG), TOO_LONG, "name chain.json or inputs.csv", OK),
    Bad("long-path-of-a-proof", 3, ("verify", "c.c", LONG), TOO_LONG, "name chain.json or its folder", OK),
    Bad("long-path-of-init", 3, ("init", f"{LONG}.c"), "no such C file", "name an existing"),
    Bad("long-path-for-init", 74, ("init", "c.c", "-o", LONG), TOO_LONG, "another place", OK),
    c_file("nul-in-a-header-name", '#include "a\0b.h"\n' + GOOD, "c.c:1: header 'a\\x00b.h' not found", "(-I)"),
    Bad("missing-file", 3, ("generate", "gone.c"), "gone.c: no such file", "name a model"),
    Bad("missing-project", 3, ("check", "gone/chaincover.toml"), "gone/chaincover.toml: no such file", "name a model"),
    Bad("missing-file-of-init", 3, ("init", "gone.c"), "gone.c: no such C file", "name an existing"),
    Bad("folder-without-project", 3, ("generate", "."), ".: there is no chaincover.toml", "chaincover init"),
    Bad("not-a-c-file", 3, ("generate", "c.h"), "c.h: this is neither", "end in .c, .dot or .toml", {"c.h": GOOD}),
    Bad("no-argument", 2, ("generate",), "Missing argument 'PATH'", "Try 'chaincover generate --help'"),
    Bad("unknown-option", 2, ("generate", "c.c", "--colour"), "No such option", "generate --help", OK),
    Bad("unknown-command", 2, ("genrate", "c.c"), "No such command 'genrate'", "Try 'chaincover --help'"),
    Bad("negative-bound", 2, ("generate", "c.c", "-K", "-1"), "-1 is not in the range", "generate --help", OK),
    Bad("zero-time", 2, ("generate", "c.c", "--time-limit", "0"), "no number above 0", "generate --help", OK),
    Bad("init-over-file", 3, ("init", "c.c"), "chaincover.toml: this file exists", "--force", {**OK, **TWO}),
    Bad("unknown-goal", 2, ("generate", "c.c", *REACH, "--goal", "raech"), "no goal is called 'raech'", "'reach'?", OK),
    Bad("unknown-excluded", 2, ("graph", "c.c", *REACH, "--exclude", "x*"), "--exclude: no goal", "reach", OK),
    Bad("same-name", 3, ("check", "c.c", *SAME_NAME), "--property 2: two goals are called 'a'", "--property 1", OK),
    Bad("final-unknown-name", 3, ("graph", "c.c", "--final", "nn"), "--final: unknown name 'nn'", "did you mean", OK),
    Bad("final-assigns", 3, ("check", "c.c", "--final", "n = 0"), "--final: the condition changes 's->n'", "'=='", OK),
    Bad(
        "final-looks-ahead",
        3,
        ("check", "c.c", "--final", "X(n)"),
        "'X(n)' looks at another step",
        "leave out X, F, G",
        OK,
    ),
    c_file("empty-file", "", "c.c: no step function", "chaincover init c.c"),
    c_file("binary-file", bytes(range(256)) * 4, "c.c:1:1: C syntax error", "C11"),
    c_file("missing-header", '#include "gone.h"\n' + GOOD, "c.c:1: header 'gone.h' not found", "(-I)"),
    c_file("error-directive", "\n#error no target\n" + GOOD, "c.c:2: #error no target", "(-D)"),
    c_file("syntax-error-at-end", HEAD + "void compute(t_in *i, t_st *s) {", "c.c:6: C syntax error: the file ends"),
    c_file("no-goal", GOOD, "c.c: there is no goal", "--property", more=()),
    c_file("init-undefined", INIT_UNDEFINED, "c.c:5:39: init has undefined behaviour: division by zero"),
    *(c_file(name, program(body, before), says, hint) for name, body, before, says, hint in rows(UNSUPPORTED)),
    *(
        Bad(f"text-{name}", 3, ("generate", "c.c", "--property", text), f"--property 1: {says}", hint, OK)
        for name, text, says, hint in rows(TEXTS)
    ),
    *(
        Bad(
            name, 3, ("generate", ".", *REACH), "chaincover.toml" + says, hint, {**OK, "chaincover.toml": project(text)}
        )
        for name, text, says, hint in rows(PROJECTS)
    ),
    *(
        Bad(name, 3, ("replay", "c.c", "in.csv"), "in.csv" + says, hint, {**OK, "in.csv": text})
        for name, text, says, hint in rows(TABLES)
    ),
    *(
        Bad(name, 3, ("replay", "c.c", "chain.json"), "chain.json" + says, "", {**OK, "chain.json": text})
        for name, (text, says) in DOCUMENTS.items()
    ),
    Bad("ambiguous-name", 3, ("generate", "c.c", *REACH), "--property 1: the name 'n' is ambiguous", "full name", TWO),
    Bad("ambiguous-in-project", 3, ("check", "."), "chaincover.toml:5:12: the name 'n' is ambig", "full name", TWO),
    Bad("no-sources", 3, ("check", "p.toml"), "p.toml: no source file is named", "files =", {"p.toml": "name = 'x'"}),
    Bad("wrong-table", 3, ("check", "p.toml"), "p.toml:1:1: 'sources' must be", "", {"p.toml": "sources = 3"}),
    Bad(
        "not-utf8",
        3,
        ("check", "p.toml"),
        "p.toml: cannot read the project file: not UTF-8",
        "",
        {"p.toml": b"name = '\xff'"},
    ),
    Bad("false-invariant", 3, ("generate", ".", *REACH), "c.c:10:5: the invariant 'ok'", "correct it", FALSE_INVARIANT),
    Bad("invariant-on-input", 3, ("check", "."), "c.c:10:5: the invariant 'ok' reads the input", "", INPUT_INVARIANT),
    Bad("missing-chain", 3, ("replay", "c.c", "gone.json"), "gone.json: cannot read the chain", "inputs.csv", OK),
    Bad("no-chain-in-folder", 3, ("replay", "c.c", "."), "chain.json: cannot read the chain", "inputs.csv", OK),
    Bad("binary-csv", 3, ("replay", "c.c", "a.csv"), "not UTF-8", "inputs.csv", {**OK, "a.csv": b"\xff\xfe\x00"}),
    Bad("output-is-a-file", 2, ("generate", "c.c", *REACH, "-o", "c.c"), "c.c: cannot write results", "-o DIR", OK),
    Bad("output-below-a-file", 2, ("generate", "c.c", *REACH, "-o", "c.c/o"), "c.c/o: cannot write", "-o DIR", OK),
    Bad("graph-below-a-file", 2, ("graph", "c.c", *REACH, "-o", "c.c/g.json"), "c.c: cannot write", "-o DIR", OK),
    Bad("init-below-a-file", 74, ("init", "c.c", "-o", "c.c/p.toml"), "c.c/p.toml: cannot write", "another place", OK),
    Bad("gcc-refuses", 3, ("generate", "c.c", *REACH), "c.c:7:14: the C compiler refuses", "cc -c", GCC_REFUSES, True),
    Bad("gcc-refuses-check", 3, ("check", "c.c"), "c.c:7:14: the C compiler refuses", "cc -c", GCC_REFUSES, True),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "bad", [pytest.param(b, id=b.id, marks=[pytest.mark.needs_compiler] if b.compiles else []) for b in REFUSED]
)
def test_refused(bad: Bad, tmp_path: Path) -> None:
    write_files(tmp_path, dict(bad.files))
    outcome = chaincover(*bad.command, cwd=tmp_path)
    assert outcome.code == bad.code, outcome
    message, next_step = parts(outcome)
    assert bad.says in message, outcome.err
    assert next_step, f"no next step: {outcome.err}"
    assert bad.next_step in next_step, outcome.err
    written = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*")} - set(bad.files)
    if bad.id == "gcc-refuses":
        assert written == {"chain-out", *(f"chain-out/{name}" for name in ("chain.json", "chain.csv", "run.json"))}
    else:
        assert not outcome.out
        assert not written


@pytest.mark.parametrize("name", ["c.c", "h.h", "p.toml", "a.csv", "chain.json"])
@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_what_may_never_end_is_not_read(name: str, kind: str, tmp_path: Path) -> None:
    write_files(tmp_path, {**OK, "i.c": '#include "h.h"\n' + GOOD})
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name) if kind == "pipe" else (tmp_path / name).symlink_to("/dev/zero")
    command = {
        "c.c": ("check", "c.c"),
        "h.h": ("check", "i.c"),
        "p.toml": ("check", "p.toml"),
        "a.csv": ("replay", "i.c", "a.csv"),
        "chain.json": ("verify", "c.c", "."),
    }
    if name == "a.csv":
        write_files(tmp_path, {"h.h": ""})
    outcome = chaincover(*command[name], cwd=tmp_path)
    assert outcome.code == 3
    message, next_step = parts(outcome)
    assert message.endswith(f"{name}: this is a device or a pipe, not a file")
    assert next_step == "write the text into a file"


def parts(outcome: Outcome) -> tuple[str, str]:
    """The one message, and the next step."""
    assert "Traceback" not in outcome.out + outcome.err
    assert "internal error" not in outcome.err
    assert sum(row.lower().startswith("error: ") for row in outcome.err.splitlines()) == 1
    if outcome.err.startswith("Usage:"):
        usage, _, message = outcome.err.partition("Error: ")
        return message, usage
    assert outcome.err.startswith("error: ")
    message, _, next_step = outcome.err.partition("\n  next: ")
    return message, next_step.strip()
