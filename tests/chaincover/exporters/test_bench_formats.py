"""Options of the formats of benches, what they refuse, the bench's own signals, and other builds of the program."""

from __future__ import annotations

import json
import shlex
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from c_support import own_environment
from command_line import MODELS, Outcome, chaincover, write_files
from exported_chains import FLOATS, FLOATS_PROJECT, chain_rows, csv_rows, json_rows, run_tests, table_of

from bmc.native.original import find_compiler
from bmc.system.transition import InputVariable, StateVariable, ValueType
from chaincover.exporters.columns import Column, in_runs
from chaincover.exporters.waveform import clock, waveform
from chaincover.target.table import Layout
from chaincover.target.vcd import read_vcd

__all__ = ["own_environment"]
MACHINE = """\
digraph g {
  s0 [label="s0"]; s1 [label="s1"]; __start0 -> s0;
  s0 -> s1 [label="=1+1/$end x"]; s1 -> s0 [label="=1+1/y"]; s0 -> s0 [label="b/y"]; s1 -> s1 [label="b/y"];
}
"""
SIGNALS = """
[target.signals]
"in->temp" = "Temp"
"s->below" = { name = "Below", unit = "V", factor = -0.1, offset = 2.5 }
"in->raw" = { name = "= raw; $end", unit = "1", factor = 0.25 }
"s->mode" = "mode of work"
"""
COUNTER = """\
typedef struct { unsigned char up; } in_t;
STORAGE unsigned char n;
STORAGE unsigned char goes;
void init(void) { n = 0; }
void step(in_t *i) { if (i->up && n < 9) n++; goes = n > LIMIT; }
"""
COUNTER_PROJECT = """\
[sources]
files = ["c.c"]
defines = { STORAGE = "static", LIMIT = "3" }
[functions]
init = ["init"]
step = "step"
[interface]
output = ["goes"]
[ranges]
"i->up" = [0, 1]
[[property]]
id = "two"
text = "cover(n == 2)"
requirement = "R"
[[property]]
id = "goes"
text = "G(i->up && n == 3 -> X(goes))"
requirement = "R"
"""


def made(folder: Path, files: dict[str, str], *options: str) -> Path:
    write_files(folder, files)
    outcome = chaincover("generate", ".", "--no-replay", "-q", "-o", "chain", *options, cwd=folder)
    assert outcome.code == 0, outcome.stderr
    return folder


@pytest.fixture(scope="module")
def floats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("floats")
    return made(folder, {"floats.c": FLOATS, "chaincover.toml": FLOATS_PROJECT})


@pytest.fixture(scope="module")
def counter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made(tmp_path_factory.mktemp("counter"), {"c.c": COUNTER, "chaincover.toml": COUNTER_PROJECT})


def export(folder: Path, form: str, *options: str, chain: str = "chain") -> Outcome:
    return chaincover("export", ".", chain, "--format", form, "-o", form, *options, cwd=folder)


def refused(outcome: Outcome, code: int, *texts: str) -> None:
    assert outcome.code == code, outcome.out
    assert all(text in outcome.stderr for text in texts), outcome.stderr
    assert "Traceback" not in outcome.stderr


@pytest.mark.parametrize(
    ("options", "delimiter", "comma"),
    [
        (("--delimiter", "semicolon"), ";", False),
        (("--delimiter", "tab", "--decimal-comma"), "\t", True),
        (("--decimal-comma",), ";", True),
    ],
)
def test_tables_of_other_countries(options: tuple[str, ...], delimiter: str, comma: bool, floats: Path) -> None:
    assert export(floats, "csv", *options).code == 0
    place = floats / "csv/chain.csv"
    assert csv_rows(place, delimiter, comma) == chain_rows(floats / "chain/chain.json")
    assert ("0,025" in place.read_text()) is comma
    outcome = chaincover("judge", ".", "chain", "csv/chain.csv", "--json", cwd=floats)
    assert (outcome.code, outcome.json["comparison"]["first"]) == (0, None)


def test_options_of_tables_belong_to_tables(floats: Path) -> None:
    refused(export(floats, "json", "--delimiter", "tab"), 2, "--delimiter belongs to the format csv")
    refused(export(floats, "vcd", "--decimal-comma"), 2, "--decimal-comma belongs to the format csv")
    refused(export(floats, "aiger", "--decimal-comma"), 2, "--decimal-comma belongs to the format csv")
    both = export(floats, "csv", "--decimal-comma", "--delimiter", "comma")
    refused(both, 2, "a decimal comma cannot stand between commas", "--delimiter semicolon")


@pytest.mark.parametrize("form", ["csv", "vcd"])
def test_signals_of_the_bench_are_called_and_scaled_as_there(form: str, floats: Path, tmp_path: Path) -> None:
    write_files(tmp_path, {"floats.c": FLOATS, "chaincover.toml": FLOATS_PROJECT + SIGNALS})
    folder, chain = tmp_path, floats / "chain"
    assert export(folder, form, chain=str(chain)).code == 0
    outcome = chaincover("judge", ".", chain, f"{form}/chain.{form}", "--json", cwd=folder)
    assert outcome.code == 0, outcome.stderr
    assert (outcome.json["comparison"]["first"], outcome.json["remarks"]) == (None, [])
    assert {goal["how"] for goal in outcome.json["goals"]} == {"as seen"}
    if form == "csv":
        titles = (folder / "csv/chain.csv").read_text().splitlines()[0]
        assert "Temp [driven],in->demand [driven],'= raw; $end [driven]" in titles
        rows = chain_rows(chain / "chain.json")
        shown = [row["Below"] for row in csv_rows(folder / "csv/chain.csv")]
        assert shown == [pytest.approx(2.5 - row["s->below"] / 10) for row in rows]
    else:
        assert {"Temp", "Below", "= raw; $end", "mode of work"} < {
            *table_of(folder / "vcd/chain.vcd")["signals"].values()
        }


def test_a_scaled_signal_has_no_nan(floats: Path, tmp_path: Path) -> None:
    scaled = SIGNALS.replace('"Temp"', '{ name = "Temp", offset = 1 }')
    write_files(tmp_path, {"floats.c": FLOATS, "chaincover.toml": FLOATS_PROJECT + scaled})
    outcome = export(tmp_path, "csv", chain=str(floats / "chain"))
    refused(outcome, 2, "'in->temp' is nan, and its signal has a factor or an offset", "take the format")
    assert not (tmp_path / "csv").exists()


@pytest.mark.needs_compiler
def test_headers_that_stand_in_for_missing_ones_are_part_of_the_module(tmp_path: Path) -> None:
    heater = MODELS / "heater"
    assert chaincover("generate", heater, "--no-replay", "-q", "-o", tmp_path / "chain").code == 0
    assert chaincover("export", heater, tmp_path / "chain", "--format", "pytest", "-q", "-o", tmp_path).code == 0
    done = run_tests(tmp_path / "test_chain.py", CHAINCOVER_SOURCES=str(heater))
    assert {*done.outcomes.values()} == {"passed"}, done.out


@pytest.mark.needs_compiler
def test_a_program_of_several_files(tmp_path: Path) -> None:
    """Static variables of one name, headers in a folder of their own, a macro, sources below the project's folder."""
    files = {
        "include/both.h": "typedef struct { signed char by; } in_t;\nint other(int by);\n",
        "src/a.c": '#include "both.h"\nstatic int n;\nvoid init(void) { n = START; }\n'
        "void step(in_t *i) { if (n < 20 && n > -20) n += i->by; if (other(i->by) > 3) n = -n; }\n",
        "src/b.c": '#include "both.h"\nstatic int n;\nint other(int by) { n += by > 0 && n < 9; return n; }\n',
        "chaincover.toml": """\
[sources]
files = ["src/a.c", "src/b.c"]
include = ["include"]
defines = { START = "5" }
[functions]
init = ["init"]
step = "step"
[ranges]
"i->by" = "-2..2"
[[property]]
id = "turned"
text = "cover(a.c::n < -7)"
""",
    }
    folder = made(tmp_path, files)
    assert export(folder, "pytest").code == 0
    text = (folder / "pytest/test_chain.py").read_text()
    assert str(tmp_path) not in text
    done = run_tests(folder / "pytest/test_chain.py")
    assert {*done.outcomes.values()} <= {"passed", "skipped"}, done.out


@pytest.mark.needs_compiler
def test_a_requirement_without_a_name_that_fails_later_than_its_goal_is_covered_fails(tmp_path: Path) -> None:
    """The run of a finding ends with a failed test, whatever the requirement is called."""
    source = "int n;\nvoid compute(unsigned char up) { n = up ? n + 1 : 0; }\n"
    write_files(tmp_path, {"c.c": source, "in.csv": "up\n1\n1\n1\n0\n"})
    goal = ("--property", "few: G(up -> X(n <= 2))")
    done = chaincover("export", "c.c", "in.csv", *goal, "--format", "pytest", "-o", ".", cwd=tmp_path)
    assert done.out.startswith("requirement few fails at step 2 of this run: its test fails as long as")
    tests = run_tests(tmp_path / "test_chain.py")
    failed = {name for name, outcome in tests.outcomes.items() if outcome not in ("passed", "skipped")}
    assert failed == {"test_requirement[few]"}, tests.out
    assert "'few' fails at step 2: the program does as predicted" in tests.out


@pytest.mark.needs_compiler
def test_a_variable_that_is_called_like_a_function_of_the_c_library(tmp_path: Path) -> None:
    """The program's own ``time`` is read and written, not that of the library."""
    source = "unsigned time;\nvoid compute(unsigned char up) { if (up) time += 3; }\n"
    write_files(tmp_path, {"c.c": source, "in.csv": "up\n1\n0\n1\n"})
    goal = ("--property", "x: cover(time == 6)")
    assert chaincover("export", "c.c", "in.csv", *goal, "--format", "pytest", "-o", ".", cwd=tmp_path).code == 0
    done = run_tests(tmp_path / "test_chain.py")
    assert {*done.outcomes.values()} <= {"passed", "skipped"}, done.out
    assert done.outcomes


def test_a_chain_of_other_sources_is_refused(counter: Path, tmp_path: Path) -> None:
    files = {"c.c": COUNTER.replace("n < 9", "n < 1"), "chaincover.toml": COUNTER_PROJECT}
    write_files(tmp_path, files)
    outcome = export(tmp_path, "json", chain=str(counter / "chain"))
    refused(outcome, 3, "the chain covers 'two' at step 2, and the program does not", "generate it again")
    assert not (tmp_path / "json").exists()


def test_inputs_by_hand_are_exported_with_the_goals_that_they_cover(counter: Path) -> None:
    write_files(counter, {"in.csv": "i->up\n1\n1\n0\n"})
    assert export(counter, "json", chain="in.csv").code == 0
    data = json.loads((counter / "json/stimulus.json").read_text())
    assert [(goal["name"], goal["step"], goal["end"], goal["held"]) for goal in data["goals"]] == [("two", 2, 2, None)]
    assert data["inputs"] == {"i->up": [[1, 2], 0]}


def test_start_values_that_the_tester_chooses(tmp_path: Path) -> None:
    source = """\
typedef struct { unsigned char up; } in_t;
typedef struct { unsigned char n, last; } st_t;
void init(st_t *s) { s->last = 0; }
void step(in_t *i, st_t *s) { s->last = s->n; if (i->up && s->n < 9) s->n++; }
"""
    project = (
        COUNTER_PROJECT.partition("[interface]")[0]
        + """\
[interface]
chosen = ["s->n"]
[[property]]
id = "late"
text = "cover(s->last == 7 && !i->up)"
"""
    )
    folder = made(tmp_path, {"c.c": source, "chaincover.toml": project})
    for form in ("csv", "json", "pytest"):
        assert export(folder, form).code == 0
    data = json.loads((folder / "json/stimulus.json").read_text())
    first = chain_rows(folder / "chain/chain.json")[0]
    assert data["chosen"] == {"s->n": first["s->n"]}
    assert first["s->n"] > 0
    assert chaincover("judge", ".", "chain", "csv/chain.csv", cwd=folder).code == 0
    if find_compiler() is not None:
        assert run_tests(folder / "pytest/test_chain.py").code == 0


def test_what_is_not_defined_is_unknown_in_a_waveform(tmp_path: Path) -> None:
    kinds = {"a": ValueType("float", 32, floating=True), "b": ValueType("char", 8), "c": ValueType("bool", 1)}
    one, two = 0x3F800000, 0x40000000
    values: dict[str, tuple[int | None, ...]] = {
        "a": (None, one, None, two),
        "b": (5, None, 7, 7),
        "c": (1, None, 0, 0),
    }
    found = [
        Column(name, StateVariable(name, kind, None, kind.constant(0)), False, values[name], values[name][0])
        for name, kind in kinds.items()
    ]
    drive = InputVariable("i", kinds["c"])
    place = tmp_path / "x.vcd"
    place.write_bytes(waveform("x", [*found, Column("i", drive, True, (0, 1, 1, 0))], Fraction(1, 2), {}))
    layout = Layout({**{each.title: each.variable for each in found}, "i": drive}, {}, frozenset("i"))
    read = read_vcd(str(place), layout)
    assert [row["i"] for row in read.inputs] == [0, 1, 1, 0]
    for name, expected in values.items():
        assert tuple(row.get(name) for row in read.states) == (expected[0], *expected)


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        (None, ("1 us", 2)),
        ("0.05", ("1 ms", 50)),
        ("1.0", ("1 ms", 1000)),
        ("2", ("1 s", 2)),
        ("0.001", ("1 us", 1000)),
        ("1e-7", ("1 ns", 100)),
        ("1/3", ("1 fs", 333333333333334)),
    ],
)
def test_a_step_has_an_even_number_of_units_of_time(period: str | None, expected: tuple[str, int]) -> None:
    assert clock(None if period is None else Fraction(period)) == expected


def test_values_of_many_steps() -> None:
    assert in_runs([0, 0, 1, 0.0, -0.0, None, None, "A"]) == [[0, 2], 1, 0.0, -0.0, [None, 2], "A"]
    assert [*map(str, in_runs([0, 0.0, -0.0, False]))] == ["0", "0.0", "-0.0", "False"]


@pytest.mark.needs_compiler
def test_goals_before_the_first_deviation_pass(counter: Path, tmp_path: Path) -> None:
    """The program of the module is another one from the fourth step on; the requirement has goals before and after."""
    assert export(counter, "pytest").code == 0
    write_files(tmp_path, {"c.c": COUNTER.replace("n > LIMIT", "n > 4")})
    done = run_tests(counter / "pytest/test_chain.py", CHAINCOVER_SOURCES=str(tmp_path))
    assert done.outcomes == {
        "test_chain": "failure",
        "test_goal[two]": "passed",
        "test_goal[goes]": "failure",
        "test_requirement[R]": "failure",
    }
    assert "'goes': after 4 steps 'goes' is 0, not 1" in done.out


@pytest.mark.needs_compiler
def test_a_requirement_that_fails_in_the_model_fails_in_the_module(tmp_path: Path) -> None:
    project = COUNTER_PROJECT.replace("X(goes)", "X(!goes)")
    write_files(tmp_path, {"c.c": COUNTER, "chaincover.toml": project})
    assert chaincover("generate", ".", "--no-replay", "-q", "-o", "chain", cwd=tmp_path).code in (0, 1)
    assert export(tmp_path, "pytest").code == 0
    outcomes = run_tests(tmp_path / "pytest/test_chain.py").outcomes
    assert outcomes["test_requirement[R]"] == "failure"
    assert {outcomes["test_chain"], outcomes["test_goal[goes]"]} == {"passed"}


@pytest.mark.needs_compiler
def test_a_library_of_the_user(counter: Path) -> None:
    """What it does not export is named."""
    assert export(counter, "pytest").code == 0
    module = counter / "pytest/test_chain.py"
    for storage in ("", "static"):
        words = [*shlex.split(find_compiler() or ""), f"-DSTORAGE={storage}", "-DLIMIT=3", "-shared", "-fPIC"]
        subprocess.run([*words, "-o", counter / "lib.so", counter / "c.c"], check=True, capture_output=True)
        done = run_tests(module, CHAINCOVER_LIBRARY=str(counter / "lib.so"))
        if storage:
            assert {*done.outcomes.values()} == {"error"}
            assert "the library does not export 'n': is it static?" in done.out
        else:
            assert {*done.outcomes.values()} == {"passed"}


@pytest.mark.needs_compiler
def test_sources_that_are_not_there_are_named(counter: Path, tmp_path: Path) -> None:
    assert export(counter, "pytest").code == 0
    done = run_tests(counter / "pytest/test_chain.py", CHAINCOVER_SOURCES=str(tmp_path))
    assert {*done.outcomes.values()} == {"error"}
    assert "no folder has c.c: set CHAINCOVER_SOURCES or CHAINCOVER_LIBRARY" in done.out


def test_what_a_module_of_tests_cannot_reach_is_refused_by_name(tmp_path: Path) -> None:
    inside = COUNTER.replace("goes = n", "static unsigned char hidden; hidden = !hidden; goes = n")
    folder = made(tmp_path, {"c.c": inside, "chaincover.toml": COUNTER_PROJECT})
    outcome = export(folder, "pytest")
    refused(outcome, 2, "cannot reach static variables within functions: step::hidden", "take another format")
    assert not (folder / "pytest").exists()


def test_what_comes_from_functions_that_no_source_defines_is_refused_by_name(tmp_path: Path) -> None:
    source = COUNTER.replace("typedef", "unsigned char sensor(void);\ntypedef", 1).replace("i->up &&", "sensor() &&")
    project = COUNTER_PROJECT.replace('step = "step"', 'step = "step"\ninput = ["sensor"]').replace("i->up &&", "")
    folder = made(tmp_path, {"c.c": source, "chaincover.toml": project}, "--goal", "two")
    refused(export(folder, "pytest"), 2, "cannot reach what functions that no source defines yield or take: sensor")


def test_a_machine_is_no_program_to_compile(tmp_path: Path) -> None:
    write_files(tmp_path, {"m.dot": MACHINE, "chaincover.toml": '[sources]\nfiles = ["m.dot"]\n'})
    outcome = chaincover("generate", ".", "--cover", "transitions()", "--no-replay", "-q", "-o", "chain", cwd=tmp_path)
    assert outcome.code == 0, outcome.stderr
    refused(export(tmp_path, "pytest"), 2, "the format pytest runs a compiled C program")
    for form in ("csv", "json", "vcd"):
        assert export(tmp_path, form).code == 0
    assert json_rows(tmp_path / "json/stimulus.json") == chain_rows(tmp_path / "chain/chain.json")
    for form in ("csv", "vcd"):
        outcome = chaincover("judge", ".", "chain", f"{form}/chain.{form}", "--json", cwd=tmp_path)
        assert (outcome.code, outcome.json["comparison"]["first"]) == (0, None)
    assert ",'=1+1," in (tmp_path / "csv/chain.csv").read_text()
