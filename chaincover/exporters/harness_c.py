"""A chain as a stand-alone harness in C99, without heap, stdio or recursion, that says in TAP 14 what it saw."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files as resources
from typing import Any

from pysmt.fnode import FNode

from bmc.errors import UsageError, counted
from bmc.floats.format import FORMATS, canonical
from bmc.formulas.folding import raw_value
from bmc.records import dataclass
from bmc.system.names import DEFINED
from bmc.system.original import CallingText
from bmc.system.transition import StateVariable, ValueType
from chaincover.exporters.c_text import (
    MOST_BITS,
    CWord,
    c_comment,
    c_string,
    computed,
    helpers,
    identifiers,
    table,
    tap_text,
    widest,
)
from chaincover.exporters.columns import failing_requirements
from chaincover.exporters.harness_host import port_files
from chaincover.exporters.harness_plan import Compared, HarnessPlan, JudgedHere, Tolerance, plan_of
from chaincover.exporters.protocol import ExportedChain

ROW = 110
"""Characters of a line of numbers in a table."""
DOUBLES = re.compile(r"\bdouble\b|\d\.|\.\d|\d[eE][-+]?\d")
"""What may be of the type ``double`` in a source: the word, and constants."""


class HarnessC:
    """The format ``c``."""

    def files(self, chain: ExportedChain) -> Mapping[str, bytes]:
        """See ``ChainExporter``."""
        return harness(chain).files()

    def failing(self, chain: ExportedChain) -> Iterator[str]:
        """See ``TestExporter``."""
        return failing_lines(chain)


def failing_lines(chain: ExportedChain) -> Iterator[str]:
    """What a harness says of the requirements that fail on the run of ``chain``."""
    unseen = harness(chain).plan.failing
    for each in failing_requirements(chain):
        yield f"requirement {each.goal.name} fails at step {each.step} of this run: " + (
            "the harness cannot judge it, and fails as long as the program does as predicted"
            if each in unseen
            else "the harness judges it by what it sees"
        )


def harness(chain: ExportedChain) -> Harness:
    """The harness of ``chain``. UsageError for a model that is no C program."""
    model: Any = chain.subject.model
    if not hasattr(type(model), "calling"):
        name = chain.subject.system.name
        raise UsageError(f"a harness in C calls a C program, and '{name}' is none", hint="export it as csv or json")
    calling: CallingText = model.calling
    return Harness(chain, calling, plan_of(chain, calling.unreachable, MOST_BITS))


@dataclass(frozen=True)
class Field:
    """A member of the structs for inputs or for outputs: of the variable ``name`` and its ``type``."""

    name: str
    type: ValueType
    member: str
    ctype: str

    @property
    def raw(self) -> str:
        """The unsigned type of as many bits as the value needs."""
        return f"uint{_storage(self.type.bits)}_t"


@dataclass(frozen=True)
class Harness:
    """The texts of a harness for ``chain``, which the host calls as ``calling`` says."""

    chain: ExportedChain
    calling: CallingText
    plan: HarnessPlan

    @property
    def inputs(self) -> list[Field]:
        """The members of the struct for inputs."""
        return self._fields([(var.name, var.type) for var in self.plan.inputs], "in_")

    @property
    def outputs(self) -> list[Field]:
        """The members of the struct for outputs."""
        return self._fields([(each.variable.name, each.variable.type) for each in self.plan.compared], "out_")

    def _fields(self, variables: Sequence[tuple[str, ValueType]], prefix: str) -> list[Field]:
        names = identifiers([name for name, _ in variables], prefix)
        return [Field(name, kind, names[name], _ctype(kind, self.calling)) for name, kind in variables]

    @property
    def word(self) -> CWord:
        """The type in which the harness computes."""
        types = [each.type for each in (*self.inputs, *self.outputs)]
        formulas = [formula for each in self.plan.judged for formula in each.formulas]
        formulas += [var.next for var in self.plan.memory]
        bits = max([*(kind.bits for kind in types), widest(formulas)])
        return CWord(32 if bits <= 32 else 64)

    def tables(self) -> list[bytes]:
        """The columns of the chain: inputs, then expected values."""
        given = [table(column, var.type.bits) for column, var in zip(self.plan.columns, self.plan.inputs, strict=True)]
        return [*given, *(table(_expected(each), each.variable.type.bits) for each in self.plan.compared)]

    def files(self) -> dict[str, bytes]:
        """The files by their names."""
        texts = {
            "chain.c": self._chain(),
            "chain.h": self._header(),
            "port.h": resources("chaincover.exporters").joinpath("port.h").read_text(encoding="utf-8"),
            **port_files(self),
        }
        headers = {f"stand_ins/{name}": text for name, text in self.calling.headers}
        return {name: text.encode("utf-8") for name, text in {**texts, **headers}.items()}

    # chain.h

    def _header(self) -> str:
        size = sum(map(len, self.tables()))
        steps = counted(self.plan.run.length, "step")
        left = [f" * Not compared: {c_comment(n)} ({c_comment(why)}).\n" for n, why in self.plan.not_compared.items()]
        return "".join(
            [
                f"/* A chain of {c_comment(self.chain.subject.system.name)}, {steps}; tables of {size} bytes.\n",
                " * chaincover_run() runs it by the functions of port.h, and returns 0 if nothing failed.\n",
                *left,
                " */\n#ifndef CHAINCOVER_CHAIN_H\n#define CHAINCOVER_CHAIN_H\n\n",
                *struct("chaincover_inputs", self.inputs),
                *struct("chaincover_outputs", self.outputs),
                "int chaincover_run(void);\n\n#endif\n",
            ]
        )

    # chain.c

    def _chain(self) -> str:
        after = "".join(self._generated())
        fixed = resources("chaincover.exporters").joinpath("harness.c").read_text(encoding="utf-8")
        return "".join([*self._head(after), fixed, *helpers(after), *self._unions(), after])

    def _head(self, after: str) -> Iterator[str]:
        plan, word = self.plan, self.word
        half_seen = sum(map(self._half_seen, plan.judged))
        source, name = c_comment(self.chain.source), c_comment(self.chain.subject.system.name)
        yield f"/* The chain {source} of {name} as a harness.\n"
        yield " * Written by ChainCover: port.h and what implements it are to be changed, this file is not. */\n"
        yield '#include <limits.h>\n#include <stdint.h>\n\n#include "chain.h"\n#include "port.h"\n\n'
        yield from self._assertions()
        yield f"typedef uint{word.bits}_t cc_word;\n\n"
        numbers = {
            "CC_STEPS": f"UINT32_C({plan.run.length})",
            "CC_COLUMNS": len(plan.inputs) + len(plan.compared),
            "CC_INPUTS": len(plan.inputs),
            "CC_OUTPUTS": len(plan.compared),
            "CC_MEMORY": len(plan.memory),
            "CC_LINES": f"{plan.lines}u",
            "CC_GOALS": len(plan.judged),
            "CC_REQUIREMENTS": sum(each.requirement_line for each in plan.judged),
            "CC_PREDICTED": len(plan.predicted) + half_seen,
            "CC_FAILING": len(plan.failing),
            "CC_UNSEEN": sum(each.goal.consequent is not None for each in plan.predicted) + half_seen,
            "CC_SIGNED": int(any(_is_signed(each.type) for each in self.outputs)),
            "CC_FLOATING": int(any(each.type.floating for each in self.outputs)),
            "CC_LESS": int("cc_less(" in after),
            "CC_EXACT": int(any(each.tolerance is None for each in plan.compared)),
        }
        yield "".join(f"#define {name} {value}\n" for name, value in numbers.items())

    def _assertions(self) -> Iterator[str]:
        """That basic types are those of the machine that the chain was made for."""
        sizes = dict(self.calling.sizes)
        if not any(DOUBLES.search(source.text) for source in self.chain.subject.sources):
            del sizes["double"]
        enum = sizes.pop("enum")
        yield "/* The chain was made for a machine with these types. With CHAINCOVER_ANY_SIZES others are accepted:\n"
        yield " * the program may then take other steps than on that machine. */\n#ifndef CHAINCOVER_ANY_SIZES\n"
        for name, size in sizes.items():
            shown = re.sub(r"\W+", "_", name).strip("_")
            yield f"typedef char cc_{shown}_has_{size}_bytes[sizeof({name}) == {size} ? 1 : -1];\n"
        yield "enum cc_enumeration { CC_FIRST, CC_SECOND };\n"
        yield f"typedef char cc_enum_has_{enum}_bytes[sizeof(enum cc_enumeration) == {enum} ? 1 : -1];\n"
        yield "typedef char cc_enum_is_unsigned[(enum cc_enumeration)-1 > CC_FIRST ? 1 : -1];\n"
        sign, test = ("signed", "CHAR_MIN < 0") if self.calling.char_signed else ("unsigned", "CHAR_MIN == 0")
        yield f"typedef char cc_char_is_{sign}[({test}) ? 1 : -1];\n#endif\n\n"

    def _unions(self) -> Iterator[str]:
        for bits in sorted({each.type.bits for each in (*self.inputs, *self.outputs) if each.type.floating}):
            number = "float" if bits == 32 else "double"
            yield f"union cc_float_{bits} {{\n  uint{bits}_t raw;\n  {number} value;\n}};\n"
            yield f"typedef char cc_float_of_{bits}_bits[sizeof({number}) == {bits // 8} ? 1 : -1];\n\n"

    def _generated(self) -> Iterator[str]:
        for number, data in enumerate(self.tables()):
            yield f"static const unsigned char cc_table_{number}[] CHAINCOVER_TABLE = {{\n{_rows(data)}}};\n"
        columns = len(self.inputs) + len(self.outputs)
        yield from _function("cc_start(void)", [f"cc_columns[{n}].next = cc_table_{n};" for n in range(columns)])
        yield from _function("cc_give(void)", self._give())
        yield from _function("cc_take(void)", self._take())
        yield from self._compare()
        yield from _function("cc_remember(void)", self._remember())
        yield from self._judge()
        yield from self._tell()

    def _give(self) -> Iterator[str]:
        word = self.word
        for number, each in enumerate(self.inputs):
            yield f"cc_input[{number}] = cc_following({number}u) & {word.mask(each.type.bits)};"
            if each.type.floating:
                bits = each.type.bits
                yield f"{{\n    union cc_float_{bits} number;\n    number.raw = ({each.raw})cc_input[{number}];"
                yield f"  cc_in.{each.member} = number.value;\n  }}"
            elif _is_signed(each.type):
                top = word.literal(1 << (each.type.bits - 1))
                value = f"({each.raw[1:]})((cc_input[{number}] ^ {top}) - {top})"
                yield f"cc_in.{each.member} = ({each.ctype}){value};"
            else:
                yield f"cc_in.{each.member} = ({each.ctype})cc_input[{number}];"
        if not self.inputs:
            yield "cc_in.unused = 0;"

    def _take(self) -> Iterator[str]:
        yield "chaincover_read(&cc_out);"
        for number, each in enumerate(self.outputs):
            bits = each.type.bits
            if each.type.floating:
                form = FORMATS[bits]
                yield f"{{\n    union cc_float_{bits} number;\n    number.value = cc_out.{each.member};"
                nan = f"(number.raw & {self.word.literal(form.sign - 1)}) > {self.word.literal(form.infinity)}"
                yield f"  cc_output[{number}] = {nan} ? {self.word.literal(form.nan)} : number.raw;\n  }}"
            else:
                raw = f"(cc_word)({each.raw})cc_out.{each.member}"
                mask = "" if bits == _storage(bits) else f" & {self.word.mask(bits)}"
                yield f"cc_output[{number}] = {raw}{mask};"

    def _compare(self) -> Iterator[str]:
        near = [each for each in self.plan.compared if each.tolerance is not None]
        for bits in sorted({each.variable.type.bits for each in near}):
            yield NEAR.format(bits=bits, infinity=self.word.literal(FORMATS[bits].infinity))
        lines = []
        for number, each in enumerate(self.plan.compared):
            bits, column = each.variable.type.bits, len(self.inputs) + number
            value = f"cc_following({column}u) & {self.word.mask(bits)}"
            if each.tolerance is None:
                lines.append(f"cc_check({number}u, step, UINT32_C({each.first}), {value});")
            else:
                given = ", ".join(_number(part) for part in _parts(each.tolerance))
                lines.append(f"cc_near_{bits}({number}u, step, UINT32_C({each.first}), {value}, {given});")
        yield from _function("cc_compare(uint32_t step)", lines)

    def _symbol(self, symbol: FNode) -> str:
        """What reads a variable."""
        name = symbol.symbol_name()
        if name.endswith(DEFINED):
            return "1"
        for array, names in (
            ("cc_input", [each.name for each in self.inputs]),
            ("cc_output", [each.name for each in self.outputs]),
            ("cc_memory", [var.name for var in self.plan.memory]),
        ):
            if name in names:
                text = f"{array}[{names.index(name)}]"
                return f"({text} != 0u)" if symbol.get_type().is_bool_type() else text
        raise KeyError(name)

    def _remember(self) -> Iterator[str]:
        memory = self.plan.memory
        if not memory:
            return
        statements, values = computed([var.next for var in memory], self._symbol, self.word)
        yield from statements
        for number, (var, value) in enumerate(zip(memory, values, strict=True)):
            yield f"const cc_word m{number} = {_as_word(var, value)};"
        yield from (f"cc_memory[{number}] = m{number};" for number in range(len(memory)))

    def _judge(self) -> Iterator[str]:
        lines = []
        for number, var in enumerate(self.plan.memory):
            assert var.init is not None
            if raw_value(var.init):
                lines.append(f"if (!step) cc_memory[{number}] = {self.word.literal(raw_value(var.init))};")
        for number, each in enumerate(self.plan.judged):
            yield from _function(f"cc_judge_{number}(uint32_t step)", self._judge_one(number, each))
            lines.append(f"cc_judge_{number}(step);")
        yield from _function("cc_judge(uint32_t step)", lines or ["(void)step;"])

    def _judge_one(self, number: int, each: JudgedHere) -> Iterator[str]:
        statements, values = computed(each.formulas, self._symbol, self.word)
        yield from statements
        yield f"if ({values[0]}) cc_covers({number}u, step - {each.goal.over(0)}u);"
        if each.requirement_line:
            _, occurred, decided, violated = values
            known = f"cc_goals[{number}].known"
            yield f"if ({occurred}) {known} = (unsigned char)({known} | CC_OCCURRED);"
            yield f"if ({decided}) {known} = (unsigned char)({known} | CC_DECIDED);"
            yield f"if ({violated}) cc_fails({number}u, step - {each.judged}u);"

    # what is told

    def _half_seen(self, each: JudgedHere) -> bool:
        """Whether the antecedent of a requirement is seen, but not its consequent, which does not fail on this run."""
        failing = {fails.goal.name for fails in self.plan.failing}
        return each.goal.consequent is not None and each.violated is None and each.goal.name not in failing

    def _tell(self) -> Iterator[str]:
        yield from self._deviations()
        lines, failing = list[str](), {each.goal.name for each in self.plan.failing}
        for number, each in enumerate(self.plan.judged):
            yield f"static const char cc_goal_{number}[] CHAINCOVER_TABLE = {c_string(_named(each.goal.name))};\n"
            if each.goal_line:
                lines.append(f"cc_tell_goal({number}u, cc_goal_{number});")
            if each.goal.consequent is not None and each.requirement_line:
                text = c_string(_named(each.goal.name, each.goal.requirement))
                yield f"static const char cc_requirement_{number}[] CHAINCOVER_TABLE = {text};\n"
                lines.append(f"cc_tell_requirement({number}u, cc_requirement_{number});")
            elif self._half_seen(each):
                lines.append(f"cc_tell_predicted(cc_requirement_is, cc_goal_{number}, 0);")
        for number, fails in enumerate(self.plan.failing):
            name, goal = f"cc_failing_{number}", fails.goal
            yield f"static const char {name}[] CHAINCOVER_TABLE = {c_string(_named(goal.name, goal.requirement))};\n"
            lines.append(f"cc_tell_failing({name}, UINT32_C({fails.step}), UINT32_C({fails.end}));")
        for number, predicted in enumerate(self.plan.predicted):
            name = f"cc_predicted_{number}"
            yield f"static const char {name}[] CHAINCOVER_TABLE = {c_string(_named(predicted.goal.name))};\n"
            agrees = "0" if predicted.end is None else f"!cc_deviates || cc_at > UINT32_C({predicted.end})"
            lines.append(f"cc_tell_predicted(cc_goal_is, {name}, {agrees});")
            if predicted.goal.consequent is not None and predicted.goal.name not in failing:
                lines.append(f"cc_tell_predicted(cc_requirement_is, {name}, 0);")
        yield from _function("cc_tell_goals(void)", lines)

    def _deviations(self) -> Iterator[str]:
        texts = {
            "after": '  ---\n  message: "first deviation"\n  after_steps: ',
            "variable": "\n  variable: ",
            "expected": "\n  expected: ",
            "actual": "\n  actual: ",
            "end": "\n  ...\n",
        }
        for name, text in texts.items():
            yield f"static const char cc_text_{name}[] CHAINCOVER_TABLE = {_quoted(text)};\n"
        cases: dict[str, str] = {}
        for number, each in enumerate(self.outputs):
            yield f"static const char cc_output_{number}[] CHAINCOVER_TABLE = {c_string(_yaml(each.name))};\n"
            cases[str(number)] = f"cc_say(cc_output_{number});"
        yield from _switch("cc_tell_name(void)", cases)
        values = {str(number): _shown(each, self.word) for number, each in enumerate(self.outputs)}
        yield from _switch("cc_tell_value(cc_word value)", values)
        yield from _function(
            "cc_tell_deviation(void)",
            [
                "cc_say(cc_text_after);",
                "cc_decimal((cc_word)cc_at);",
                "cc_say(cc_text_variable);",
                "cc_tell_name();",
                "cc_say(cc_text_expected);",
                "cc_tell_value(cc_expected);",
                "cc_say(cc_text_actual);",
                "cc_tell_value(cc_actual);",
                "cc_say(cc_text_end);",
            ],
        )


NEAR = """\
static void cc_near_{bits}(unsigned int variable, uint32_t step, uint32_t from, cc_word expected, double absolute,
                       double relative, double factor, double offset) {{
  union cc_float_{bits} wanted, seen;
  double difference, most;
  if (step < from || expected == cc_output[variable]) return;
  wanted.raw = (uint{bits}_t)expected;
  seen.raw = (uint{bits}_t)cc_output[variable];
  if ((expected & {infinity}) != {infinity} && (cc_output[variable] & {infinity}) != {infinity}) {{
    difference = ((double)seen.value - (double)wanted.value) * factor;
    most = (double)wanted.value * factor + offset;
    most = absolute + relative * (most < 0 ? -most : most);
    if ((difference < 0 ? -difference : difference) <= most) return;
  }}
  cc_deviation(variable, step, expected, cc_output[variable]);
}}

"""


def _expected(compared: Compared) -> Sequence[int]:
    kind = compared.variable.type
    return [canonical(raw, FORMATS[kind.bits]) for raw in compared.values] if kind.floating else compared.values


def _parts(tolerance: Tolerance) -> Iterator[float]:
    for part in (tolerance.absolute, tolerance.relative, tolerance.factor, tolerance.offset):
        yield float(part)


def _number(value: float) -> str:
    return repr(value)


def _is_signed(kind: ValueType) -> bool:
    return kind.signed and not kind.floating


def _as_word(variable: StateVariable, text: str) -> str:
    return text if variable.type.bits else f"({text} ? 1u : 0u)"


def _storage(bits: int) -> int:
    return next(size for size in (8, 16, 32, 64) if bits <= size)


def _ctype(kind: ValueType, calling: CallingText) -> str:
    """The basic type of as few bytes as possible that holds the values of ``kind``."""
    if kind.floating:
        return "float" if kind.bits == 32 else "double"
    sizes = {"char": 1, **{name: calling.sizes[name] for name in ("short", "int", "long", "long long")}}
    name = next(name for name, size in sizes.items() if 8 * size >= kind.bits)
    if not kind.signed:
        return f"unsigned {name}"
    return "signed char" if name == "char" else name


def struct(name: str, fields: Sequence[Field]) -> Iterator[str]:
    """The struct ``name`` with these members."""
    yield f"struct {name} {{\n"
    yield "".join(f"  {each.ctype} {each.member}; /* {c_comment(each.name)} */\n" for each in fields)
    if not fields:
        yield "  unsigned char unused;\n"
    yield "};\n\n"


def _function(head: str, lines: Sequence[str] | Iterator[str]) -> Iterator[str]:
    yield f"static void {head} {{\n"
    yield "".join(f"  {line}\n" for line in lines if line)
    yield "}\n\n"


def _switch(head: str, cases: Mapping[str, str]) -> Iterator[str]:
    """A function with a statement for each number of a variable."""
    lines = ["switch (cc_variable) {"]
    *others, last = cases.items()
    for number, statement in others:
        lines += [f"  case {number}u:", f"    {statement}", "    break;"]
    lines += ["  default:", f"    {last[1]}", "    break;", "}"]
    yield from _function(head, lines)


def _rows(data: bytes) -> str:
    rows, row = list[str](), "  "
    for byte in data:
        if len(row) > ROW:
            rows.append(row.rstrip())
            row = "  "
        row += f"{byte}, "
    return "".join(f"{each}\n" for each in [*rows, row.rstrip()])


def _shown(each: Field, word: CWord) -> str:
    if each.type.floating:
        return f"cc_pattern(value, {each.type.bits}u);"
    if _is_signed(each.type):
        return f"cc_signed(value, {word.literal(1 << (each.type.bits - 1))});"
    return "cc_decimal(value);"


def _named(name: str, requirement: str = "") -> str:
    return tap_text(name) + (f" ({tap_text(requirement)})" if requirement else "")


def _yaml(name: str) -> str:
    """A name as a string of YAML."""
    return '"' + tap_text(name).replace('"', '\\"').replace("\\#", "#") + '"'


def _quoted(text: str) -> str:
    """A text of the harness's own as a C string literal, with its ends of lines."""
    return '"' + text.replace('"', '\\"').replace("\n", "\\n") + '"'
