"""Harnesses in C: built, run, compared with the program and with changed ones; and chains that they cannot hold."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import MODELS, chaincover, fresh_names, write_files
from harnesses import CROSS, chain_of, export, model, needs_compiler, run, strictly
from hostile_names import HOSTILE
from random_terms import FLAGS, SYMBOLS, flag, term

from bmc.errors import UsageError, printable
from bmc.formulas.evaluate import compile_formulas
from bmc.native.original import find_compiler
from bmc.system.simulation import Simulator
from chaincover.exporters.c_text import CWord, NotInC, c_string, computed, helpers, table, tap_text
from chaincover.exporters.harness_c import HarnessC
from chaincover.exporters.protocol import ExportedChain
from chaincover.project.load import Request, load_request

FLOATS = """\
typedef struct { float flow; double level; signed char trim; } in_t;
static struct { double sum; float mean; int n : 5; } s;
static long long total;
void init(void) { s.sum = 0.0; s.mean = 0.0f; s.n = 0; total = -1; }
void step(in_t *i) {
  s.sum = s.sum + i->flow;
  if (s.n < 9) s.n++;
  s.mean = (float)(s.sum / s.n);
  total += i->trim;
}
"""
FLOAT_PROJECT = """\
name = "floats"
[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "step"
[interface]
input = ["i->*"]
output = ["s.*", "total"]
[[property]]
id = "third"
text = "G(s.n == 2 && i->trim < 0 -> X(s.n == 3 && total < 0))"
[[property]]
id = "high"
text = "cover(s.mean > 1.0f)"
"""
FLOAT_INPUTS = "i->flow,i->level,i->trim\n0.1,2.5,-3\n0.7,-1e300,5\n1e10,0.0,-100\n-3.25,1.0,-128\n"

SMALL = """\
#include "small.h"
static int level; static unsigned int ticks; static long total; enum mode mode;
void init(void) { level = 0; ticks = 65530u; total = 0L; mode = LOW; }
void step(int by) {
  level = level + by; ticks++; total = total + level * 2L; mode = level > 100 ? HIGH : LOW;
}
"""
SMALL_PROJECT = """\
name = "small"
[sources]
files = ["small.c"]
target = "ip16"
[functions]
init = ["init"]
step = "step"
[interface]
input = ["by"]
output = ["level", "ticks", "total", "mode"]
[ranges]
by = "-300..300"
[[property]]
id = "wraps"
text = "cover(ticks == 2)"
[[property]]
id = "high"
text = "G(level > 90 && by > 20 -> X(mode == HIGH))"
"""

TWO_FILES = {
    "main.c": '#include "valve.h"\nvoid init(void) { valve_init(); }\n'
    "unsigned char read_key(void);\nvoid step(void) { valve_step(read_key()); }\n",
    "valve.h": "void valve_init(void);\nvoid valve_step(unsigned char);\n",
    "valve.c": '#include "valve.h"\nstatic unsigned char open; static short set = 3;\n'
    "void valve_init(void) { open = 0; }\nvoid valve_step(unsigned char key) { if (key == set) open = !open; }\n",
    "chaincover.toml": 'name = "two"\n[sources]\nfiles = ["main.c", "valve.c"]\n[functions]\ninit = ["init"]\n'
    'step = "step"\ninput = ["read_key"]\n[ranges]\nread_key = "0..5"\n'
    '[interface]\noutput = ["open"]\n[[property]]\nid = "opens"\ntext = "cover(open == 1)"\n',
}

HIDDEN = {
    "c.c": "static int n; static unsigned char lamp;\nvoid init(void) { n = 0; lamp = 0; }\n"
    "void step(unsigned char on) { n = on ? n + 1 : 0; lamp = n > 0; }\n",
    "chaincover.toml": 'name = "hidden"\n[sources]\nfiles = ["c.c"]\n[functions]\ninit = ["init"]\n'
    'step = "step"\n[ranges]\non = "0..1"\n[interface]\noutput = ["lamp"]\n'
    '[[property]]\nid = "few"\ntext = "G(on -> X(n <= 2))"\n'
    '[[property]]\nid = "lit"\ntext = "G(on -> X(lamp == 1))"\nrequirement = "H-1"\n',
    "in.csv": "on\n1\n0\n1\n1\n1\n0\n",
}
"""The requirement ``few`` reads what is no output, and fails from step 4 on."""


def written(folder: Path, inputs: str, **files: str) -> Path:
    """The harness of inputs by hand."""
    write_files(folder, {name.replace("_dot_", "."): text for name, text in files.items()} | {"in.csv": inputs})
    return export(folder, folder / "in.csv", folder / "harness")


# running


@needs_compiler
@pytest.mark.parametrize("name", ["cruise", "window", "belt", "latch"])
def test_chains_of_bundled_models_pass(name: str, tmp_path: Path) -> None:
    project, folder = model(name, tmp_path)
    told = run(folder, project)
    expected = ["requirement reset_wins (L-04): failed at step 4"] if name == "latch" else []
    assert told.failed == expected
    assert told.tests[0] == (True, "the compared values are those of the chain")
    assert told.text.splitlines()[-1] == f"# chaincover: done, {len(expected)} failed"
    assert told.code == bool(expected)
    if name == "belt":  # among its requirements are deadlines of 500 steps
        assert (True, "goal reacts: covered at step 502 as seen") in told.tests
        assert (True, "requirement reacts (SB-1): held") in told.tests
    if name == "window":  # its outputs do not tell in which state it is
        assert "# goal pinch: as predicted" in told.text
        assert "# requirement pinch: not observable" in told.text


@needs_compiler
def test_a_run_on_which_a_requirement_fails_unseen_fails_until_it_is_repaired(tmp_path: Path) -> None:
    write_files(tmp_path, HIDDEN)
    done = chaincover("export", tmp_path, tmp_path / "in.csv", "--format", "c", "-o", tmp_path / "h")
    assert done.out.startswith(
        "requirement few fails at step 4 of this run: the harness cannot judge it, and fails as long as the program "
        "does as predicted\n"
    )
    told = run(tmp_path / "h", tmp_path)
    assert told.tests == [
        (True, "the compared values are those of the chain"),
        (True, "goal few: covered at step 0 as seen"),
        (True, "goal lit: covered at step 0 as seen"),
        (True, "requirement lit (H-1): held"),
        (False, "requirement few: fails at step 4, the program does as predicted"),
    ]
    assert (
        "this harness cannot judge it.\n# The values are compared with those of a run on which it fails." in told.text
    )
    assert (told.code, told.text.splitlines()[-1]) == (1, "# chaincover: done, 1 failed")
    assert strictly(tmp_path / "h", find_compiler() or "") == ""
    lists = export(tmp_path, tmp_path / "in.csv", tmp_path / "ctest", "ctest") / "CMakeLists.txt"
    assert "add_test(NAME 5.requirement.few COMMAND chain)" in lists.read_text()
    source = HIDDEN["c.c"]
    write_files(tmp_path, {"c.c": source.replace("n > 0", "n > 1")})  # step 1 has another lamp
    assert (
        "requirement few: not judged, the program deviates from the run before" in run(tmp_path / "h", tmp_path).failed
    )
    write_files(tmp_path, {"c.c": source.replace("n + 1", "n + (n < 2)")})
    told = run(export(tmp_path, tmp_path / "in.csv", tmp_path / "again"), tmp_path)
    assert (told.failed, told.code) == ([], 0)


@needs_compiler
@pytest.mark.parametrize(
    ("name", "line", "changed", "step", "values"),
    [
        ("belt", "if (b->timer < PATIENCE)", "if (b->timer < PATIENCE - 1)", 501, ("500", "499")),
        ("belt", "b->timer = 0;\n    b->mode = s", "b->timer = 1;\n    b->mode = s", 1, ("0", "1")),
        ("latch", "l->changes++", "l->changes += 2", 1, ("1", "2")),
    ],
)
def test_a_changed_line_deviates_at_the_exact_step(
    name: str, line: str, changed: str, step: int, values: tuple[str, str], tmp_path: Path
) -> None:
    project, folder = model(name, tmp_path)
    source = project / f"{name}.c"
    text = source.read_text()
    assert line in text, text
    source.write_text(text.replace(line, changed))
    told = run(folder, project)
    assert not told.tests[0][0]
    found = told.deviation
    assert found["after_steps"] == str(step)
    assert (found["expected"], found["actual"]) == values


@needs_compiler
@pytest.mark.parametrize(
    ("name", "line", "changed"),
    [
        pytest.param("kiln", "k->minutes >= SOAK_TIME", "k->minutes > SOAK_TIME", marks=pytest.mark.evidence),
        pytest.param("kiln", "if (p->door)\n", "if (p->door && k->ticks)\n", marks=pytest.mark.evidence),
        ("cruise", "if (i->gas || i->brake)", "if (i->gas)"),
        ("oven", "o->heater = ", "o->heater = !"),
    ],
)
def test_verdicts_are_those_of_the_judge_who_sees_everything(
    name: str, line: str, changed: str, tmp_path: Path
) -> None:
    project, folder = model(name, tmp_path)
    source = project / f"{name}.c"
    text = source.read_text()
    assert line in text
    source.write_text(text.replace(line, changed))
    told = run(folder, project)
    done = chaincover("replay", MODELS / name, tmp_path / "chain", "--against", source, "--json")
    judged = {goal["name"]: goal for goal in done.json["goals"]}
    seen = dict(
        re.findall(r"(?:goal|requirement) (\w+)(?: \([^)]*\))?: (?:covered|missed)(?: at step (\d+))?", told.text)
    )
    assert seen.keys() <= judged.keys()
    assert {goal: bool(step) for goal, step in seen.items()} == {
        goal: judged[goal]["verdict"] == "covered" for goal in seen
    }
    rulings = re.findall(r"requirement (\w+)(?: \([^)]*\))?: ([a-z ]+?)(?: at step (\d+))?$", told.text, re.M)
    assert rulings
    for goal, verdict, step in rulings:
        if verdict != "not observable":
            failed = judged[goal]["failed_at"]
            assert (verdict, step) == (judged[goal]["requirement"], "" if failed is None else str(failed)), goal


@needs_compiler
def test_floating_values_are_compared_bit_by_bit_or_within_a_tolerance(tmp_path: Path) -> None:
    files = {"c_dot_c": FLOATS, "chaincover_dot_toml": FLOAT_PROJECT}
    folder = written(tmp_path, FLOAT_INPUTS, **files)
    told = run(folder, tmp_path)
    assert told.failed == []
    assert (True, "requirement third: held") in told.tests
    (tmp_path / "c.c").write_text(FLOATS.replace("s.sum + i->flow", "(s.sum + i->flow) * (1.0 + 1e-9)"))
    changed = run(folder, tmp_path)
    assert changed.deviation["variable"] == '"s.sum"'
    assert changed.deviation["after_steps"] == "1"
    assert changed.deviation["expected"].startswith("0x3fb9999")
    tolerance = (
        '[target.signals]\n"s.sum" = { unit = "l", relative = 1e-6 }\n"s.mean" = { unit = "l", absolute = 900 }\n'
    )
    (tmp_path / "chaincover.toml").write_text(FLOAT_PROJECT + tolerance)
    (tmp_path / "c.c").write_text(FLOATS)
    folder = export(tmp_path, tmp_path / "in.csv", tmp_path / "tolerant")
    (tmp_path / "c.c").write_text(FLOATS.replace("s.sum + i->flow", "(s.sum + i->flow) * (1.0 + 1e-9)"))
    assert run(folder, tmp_path).failed == []
    (tmp_path / "c.c").write_text(FLOATS.replace("s.sum + i->flow", "(s.sum + i->flow) * (1.0 + 1e-5)"))
    assert run(folder, tmp_path).deviation["after_steps"] == "1"
    assert strictly(folder, find_compiler() or "", "-O2") == ""


@needs_compiler
def test_a_chain_for_sixteen_bits_is_refused_on_other_machines(tmp_path: Path) -> None:
    header = "enum mode { LOW, HIGH };\n"
    files = {"small_dot_c": SMALL, "small_dot_h": header, "chaincover_dot_toml": SMALL_PROJECT}
    folder = written(tmp_path, "by\n50\n45\n30\n-300\n" + "7\n" * 6, **files)
    assert "cc_int_has_2_bytes" in strictly(folder, find_compiler() or "")
    told = run(folder, tmp_path, "-DCHAINCOVER_ANY_SIZES")
    assert told.failed == []
    assert [text for _, text in told.tests][1:] == [
        "goal wraps: covered at step 8 as seen",
        "goal high: covered at step 2 as seen",
        "requirement high: held",
    ]


@needs_compiler
def test_what_is_static_in_several_files_and_what_no_file_defines_is_reached(tmp_path: Path) -> None:
    write_files(tmp_path, TWO_FILES | {"in.csv": "read_key\n1\n3\n3\n3\n"})
    folder = export(tmp_path, tmp_path / "in.csv", tmp_path / "harness")
    assert {place.name for place in folder.glob("*.c")} == {
        "chain.c",
        "port_host.c",
        "port_host_1.c",
        "port_host_environment.c",
    }
    told = run(folder, tmp_path)
    assert told.failed == []
    assert (True, "goal opens: covered at step 2 as seen") in told.tests


@needs_compiler
def test_results_of_the_step_and_programs_without_inputs(tmp_path: Path) -> None:
    code = "static int last;\nint step(short a) { last = a > 3 ? a : last; return last > 3 ? -1 : 1; }\n"
    toml = 'name = "r"\n[sources]\nfiles = ["c.c"]\n[functions]\ninit = []\nstep = "step"\n[interface]\n'
    goal = 'output = ["return", "last"]\n[[property]]\nid = "up"\ntext = "G(a > 3 -> X(last > 3))"\n'
    write_files(tmp_path, {"c.c": code, "chaincover.toml": toml + goal, "in.csv": "a\n1\n-7\n4\n-9\n"})
    told = run(export(tmp_path, tmp_path / "in.csv", tmp_path / "h"), tmp_path)
    assert told.failed == []
    assert (True, "requirement up: held") in told.tests
    (tmp_path / "c.c").write_text(code.replace("? -1 : 1", "? -2 : 1"))
    assert run(tmp_path / "h", tmp_path).deviation == {
        "message": '"first deviation"',
        "after_steps": "3",
        "variable": '"return"',
        "expected": "-1",
        "actual": "-2",
    }
    counter = tmp_path / "counter"
    goal = '[[property]]\nid = "two"\ntext = "cover(n == 2)"\n'
    files = {"c.c": "unsigned char n = 250; void step(void) { n++; }\n", "chaincover.toml": toml + goal}
    write_files(counter, files)
    folder = export(counter, chain_of(counter, tmp_path / "chain"), tmp_path / "second")
    assert (True, "goal two: covered at step 8 as seen") in run(folder, counter).tests
    assert strictly(folder, find_compiler() or "") == ""


# what is written


@pytest.mark.parametrize(("name", "most"), [pytest.param("kiln", 4096, marks=pytest.mark.evidence), ("belt", 100)])
def test_long_chains_take_small_tables(name: str, most: int, tmp_path: Path) -> None:
    _, folder = model(name, tmp_path)
    size = int((folder / "chain.h").read_text().partition("tables of ")[2].split()[0])
    text = (folder / "chain.c").read_text()
    written_bytes = sum(part.partition("};")[0].count(",") for part in text.split("CHAINCOVER_TABLE = {")[1:])
    assert size == written_bytes <= most


def test_the_same_chain_gives_the_same_bytes(tmp_path: Path) -> None:
    project, folder = model("cruise", tmp_path)
    again = export(project, tmp_path / "chain", tmp_path / "again")
    files = sorted(place.name for place in folder.iterdir())
    assert files == sorted(place.name for place in again.iterdir())
    assert all((folder / name).read_bytes() == (again / name).read_bytes() for name in files)


@pytest.mark.parametrize("name", ["latch", "belt", "fan", pytest.param("turret", marks=pytest.mark.evidence)])
@pytest.mark.parametrize("compiler", ["gcc", "clang", *CROSS])
def test_no_compiler_warns(name: str, compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    _, folder = model(name, tmp_path)
    flags = (*CROSS.get(compiler, ()), "-DCHAINCOVER_ANY_SIZES")
    assert strictly(folder, compiler, *flags) == ""
    text = (folder / "chain.c").read_text()
    assert not any(word in text for word in ("stdio.h", "stdlib.h", "malloc"))


@pytest.mark.parametrize("compiler", [*CROSS])
def test_sizes_are_those_of_the_board(compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"needs {compiler}")
    target = {"avr-gcc": "ip16", "arm-none-eabi-gcc": "ilp32"}[compiler]
    header = "enum mode { LOW, HIGH };\n"
    project = SMALL_PROJECT.replace("ip16", target)
    files = {"small_dot_c": SMALL, "small_dot_h": header, "chaincover_dot_toml": project}
    folder = written(tmp_path, "by\n50\n60\n", **files)
    assert strictly(folder, compiler, *CROSS[compiler]) == ""
    assert "array" in strictly(folder, compiler, *CROSS[compiler], "-funsigned-char")


def test_tables_give_back_what_they_were_made_of() -> None:
    rng = random.Random(5)
    for bits in (1, 8, 16, 32, 64):
        size = 1 << bits
        for _ in range(50):
            values, value = list[int](), rng.randrange(size)
            while len(values) < 40:
                by, length = rng.choice([0, 0, 1, size - 1, rng.randrange(size)]), rng.randrange(1, 9)
                for _ in range(length):
                    value = (value + by) % size
                    values.append(value)
            assert read_table(table(values, bits), bits) == values
    assert len(table([7] * 100_000, 16)) <= 5
    assert len(table([*range(50_000)], 16)) <= 5


def read_table(data: bytes, bits: int) -> list[int]:
    """The values of a table, read as its description says."""
    numbers, number, shift = list[int](), 0, 0
    for byte in data:
        number, shift = number | (byte & 127) << shift, shift + 7
        if byte < 128:
            numbers.append(number)
            number, shift = 0, 0
    found, last, place = list[int](), 0, 0
    while place < len(numbers):
        head, first = numbers[place : place + 2]
        by = unfolded(numbers[place + 2]) if head % 2 else 0
        place += 2 + head % 2
        begin = last + unfolded(first)
        found += [(begin + by * n) % (1 << bits) for n in range(head // 2)]
        last = found[-1]
    return found


def unfolded(number: int) -> int:
    return -(number + 1) // 2 if number % 2 else number // 2


# formulas


@needs_compiler
@pytest.mark.parametrize(("bits", "widths"), [(32, (3, 8, 32)), (64, (3, 8, 32, 64))])
def test_formulas_have_the_values_in_c_that_they_have_in_python(
    bits: int, widths: tuple[int, ...], tmp_path: Path
) -> None:
    rng, word = random.Random(bits), CWord(bits)
    symbols = [symbol for width in widths for symbol in SYMBOLS[width]] + FLAGS
    numbers = {symbol: number for number, symbol in enumerate(symbols)}
    formulas = []
    while len(formulas) < 60:
        made = term(rng, rng.choice(widths), 2, widths) if rng.random() < 0.5 else flag(rng, 3, widths)
        try:
            computed([made], lambda symbol: "x", word)
        except NotInC:  # a part of it is wider than the word
            continue
        formulas.append(made)

    def read(symbol: object) -> str:
        text = f"v[{numbers[symbol]}]"  # type: ignore[index]
        return f"({text} != 0u)" if symbol in FLAGS else text

    lines = []
    for number, formula in enumerate(formulas):
        statements, (value,) = computed([formula], read, word)
        lines.append(f"static cc_word f{number}(const cc_word *v) {{ {' '.join(statements)} (void)v; "
                     f"return (cc_word)({value}); }}\n")  # fmt: skip
    assignments = [
        {symbol.symbol_name(): rng.choice([0, 1, rng.getrandbits(width), (1 << width) - 1, 1 << width - 1])
         for symbol in symbols for width in [1 if symbol in FLAGS else symbol.bv_width()]}
        for _ in range(40)
    ]  # fmt: skip
    body = "".join(lines)
    rows = ", ".join("{" + ", ".join(word.literal(row[s.symbol_name()]) for s in symbols) + "}" for row in assignments)
    calls = " ".join(f'printf("%llu\\n", (unsigned long long)f{number}(v[k]));' for number in range(len(formulas)))
    text = (
        f"#include <stdint.h>\n#include <stdio.h>\ntypedef uint{bits}_t cc_word;\n"
        "static int cc_less(cc_word a, cc_word b) { return a < b; }\n"
        f"{''.join(helpers(body))}{body}static const cc_word v[{len(assignments)}][{len(symbols)}] = {{{rows}}};\n"
        f"int main(void) {{ int k; (void)cc_less; for (k = 0; k < {len(assignments)}; k++) {{ {calls} }} return 0; }}\n"
    )
    (tmp_path / "f.c").write_text(text)
    words = [*(find_compiler() or "").split(), "-std=c99", "-Wconversion", "-Werror", str(tmp_path / "f.c")]
    subprocess.run([*words, "-o", str(tmp_path / "f")], check=True)
    found = subprocess.run([tmp_path / "f"], capture_output=True, text=True, check=True).stdout.split()
    expected = [value for row in assignments for value in compile_formulas(formulas)(row)]
    assert [int(each) for each in found] == expected


# names


@pytest.fixture
def latch() -> Iterator[ExportedChain]:
    """A chain of the latch by hand, whose goals can be renamed."""
    with fresh_names():
        yield exported()


def exported() -> ExportedChain:
    subject = load_request(Request(str(MODELS / "latch" / "chaincover.toml")))
    simulator = Simulator(subject.system)
    names = [var.name for var in subject.system.inputs]
    inputs = [dict(zip(names, values, strict=True)) for values in [(1, 0), (0, 1), (1, 0), (0, 0), (1, 1), (0, 1)]]
    run = simulator.run(simulator.initial({}), tuple(inputs))
    return ExportedChain(subject, run, (), {}, "inputs.csv")


def renamed(chain: ExportedChain, *names: str) -> ExportedChain:
    """The chain with the one goal that fails, called so, once for each name."""
    goals = [goal for goal in chain.subject.goals if goal.name == "reset_wins"]
    called = tuple(replace(goal, name=name, requirement=name) for name in names for goal in goals)
    return replace(chain, subject=replace(chain.subject, goals=called), source=" ".join(names).replace("/", "_"))


@needs_compiler
def test_hostile_names_are_plain_text(latch: ExportedChain, tmp_path: Path) -> None:
    for number, names in enumerate((HOSTILE[:-1], HOSTILE[-1:])):
        folder = tmp_path / str(number)
        write_files(folder, dict(HarnessC().files(renamed(latch, *names))))
        assert strictly(folder, find_compiler() or "", "-trigraphs") == ""
        told = run(folder, MODELS / "latch", "-trigraphs")
        shown = [printable(name).replace("\\", "\\\\").replace("#", "\\#") for name in names]
        expected = [f"goal {name}: covered at step 4 as seen" for name in shown]
        expected += [f"requirement {name} ({name}): failed at step 4" for name in shown]
        assert sorted(text for _, text in told.tests[1:]) == sorted(expected)
        assert told.code == 1
        assert told.text.isascii() or "größer" in names[0]


def test_texts_in_c_and_in_tap() -> None:
    assert c_string('a"b\\c??/d\n') == '"a\\"b\\\\c\\?\\?/d\\012"'
    assert tap_text("x # TODO\n\\") == "x \\# TODO\\\\n\\\\"
    assert len(tap_text("x" * 10_000)) < 300


# refusals


def test_a_model_that_is_no_c_program_is_refused(tmp_path: Path) -> None:
    machine = 'digraph g { __start0 [label="" shape="none"]; s0; s1; s0 -> s1 [label="a/x"]; s1 -> s0 [label="a/y"]; '
    write_files(tmp_path, {"m.dot": machine + "__start0 -> s0; }", "in.csv": "input\na\n"})
    done = chaincover("export", tmp_path / "m.dot", tmp_path / "in.csv", "--format", "c", "-o", tmp_path / "out")
    assert done.code == 2
    assert "is none" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("declared", "project", "said"),
    [
        ("static int n; static int tick(void) { static unsigned char t; t = n > 2; return t; }",
         'output = ["tick::t"]', "the output 'tick::t': it lives within the function 'tick'"),
        ("static int n; static int tick(void) { static unsigned char k; return k; }",
         'input = ["tick::k"]', "the input 'tick::k': it lives within the function 'tick'"),
    ],
)  # fmt: skip
def test_what_the_harness_cannot_reach_is_refused_by_name(
    declared: str, project: str, said: str, tmp_path: Path
) -> None:
    step = "void step(unsigned char by) { unsigned char t = tick(); n += t + by; }"
    code = f"{declared}\nvoid init(void) {{ n = 0; }}\n{step}\n"
    toml = (
        f'name = "t"\n[sources]\nfiles = ["c.c"]\n[functions]\ninit = ["init"]\nstep = "step"\n[interface]\n{project}\n'
    )
    inputs = "by,tick::k\n1,0\n" if "tick::k" in project else "by\n1\n"
    write_files(tmp_path, {"c.c": code, "chaincover.toml": toml, "in.csv": inputs})
    done = chaincover("export", tmp_path, tmp_path / "in.csv", "--format", "c", "-o", tmp_path / "out")
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "out").exists()


def test_a_file_whose_name_c_cannot_hold_is_refused(latch: ExportedChain) -> None:
    sources = tuple(replace(source, name='a"b.c') for source in latch.subject.sources)
    with pytest.raises(UsageError, match=r"cannot include the file 'a\"b\.c'"):
        HarnessC().files(replace(latch, subject=replace(latch.subject, sources=sources)))
