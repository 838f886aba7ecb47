"""Tables of chains: goals of the last state, names of values, semicolons, decimal commas, changes only; read back."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from command_line import chaincover, fresh_names, write_files
from small_programs import program

from bmc.errors import InputRefused, UsageError
from chaincover.formats.chain_file import read_stimulus
from chaincover.formats.table_style import TableStyle, read_rows, with_point
from chaincover.project.load import load
from chaincover.project.project_file import read_project

CODE = """\
#define IDLE 0
#define BUSY 1
#define DONE 2
typedef struct { unsigned char cmd; float level; } t_in;
typedef struct { unsigned char mode; int n; } t_st;
void init(t_st *s) { s->mode = IDLE; s->n = 0; }
void compute(t_in *i, t_st *s) {
  switch (s->mode) {
  case IDLE: if (i->cmd == BUSY || i->cmd == DONE) s->mode = BUSY; break;
  case BUSY: if (i->level > 1.0f && i->cmd == DONE) s->mode = DONE; break;
  default: if (s->n < 1) s->n++;
  }
}
"""
PROJECT = """\
period = 0.5
[sources]
files = ["c.c"]
[ranges]
"i->cmd" = [0, 1, 2]
"i->level" = [0.0, 2.5]
[constraints]
dwell = { "i->cmd" = 3 }
[[property]]
text = "begun: cover(cmd == BUSY && mode == IDLE)"
[[property]]
text = "done: cover(mode == DONE && n == 1)"
"""


def made(folder: Path, *style: str) -> tuple[list[str], list[dict[str, float]]]:
    """The lines of ``chain.csv``, and the inputs of each step as ``chain.json`` has them."""
    write_files(folder, {"c.c": CODE, "chaincover.toml": PROJECT})
    assert chaincover("generate", ".", "-o", "out", "--no-replay", *style, cwd=folder).code == 0
    chain = json.loads((folder / "out/chain.json").read_text())["chain"]
    return (folder / "out/chain.csv").read_text().splitlines(), [step["inputs"] for step in chain["steps"]]


@pytest.mark.slow
def test_a_table_tells_all_that_the_chain_has_and_is_read_back(tmp_path: Path) -> None:
    lines, inputs = made(tmp_path)
    rows = list(csv.DictReader(lines))
    assert rows[-1] == {**dict.fromkeys(rows[0], ""), "step": "end", "time": f"{len(inputs) / 2:g}", "goals": "done"}
    assert {row["i->cmd"] for row in rows[:-1]} <= {"IDLE", "BUSY", "DONE"}
    assert [row["s->mode"] for row in rows[-3:-1]] == ["DONE", "DONE"]

    brief, same = made(tmp_path, "--changes-only", "--decimal-comma")
    assert same == inputs
    titles, *told = [line.split(";") for line in brief]
    assert titles == [*rows[0]]
    assert told[0] == [cell.replace(".", ",") if "." in cell else cell for cell in rows[0].values()]
    assert any("2,5" in row for row in told)
    for full, row in zip(rows[1:], rows[:-1], strict=True):
        written = next((each for each in told if each[0] == full["step"]), None)
        for at, name in enumerate(titles):
            if written is not None and full["step"] != "end" and name[:3] in ("i->", "s->"):
                assert written[at] == ("" if full[name] == row[name] else full[name].replace(".", ",")), (full, name)
    for table in ("out/chain.csv", "out/chain.json"):
        played = chaincover("replay", ".", table, "--no-native", cwd=tmp_path)
        assert (played.code, f"{len(inputs)} steps, 2 of 2 goals covered" in played.out) == (0, True), played.out
    judged = chaincover("judge", ".", "out/chain.json", "out/chain.csv", cwd=tmp_path)
    assert "none deviates" in judged.out


def test_only_changes_are_told_but_for_the_first_and_the_last_step() -> None:
    titles = ("step", "x", "y", "goals")
    rows = [(0, "a", "1", ""), (1, "a", "1", ""), (2, "a", "", "g"), (3, "a", "2", ""), (4, "a", "2", "")]
    style = TableStyle(";", True, True)
    assert "".join(style.lines([titles, *rows, ("end", "", "", "h")], range(1, 3))).splitlines() == [
        *("step;x;y;goals", "0;a;1;", "2;;-;g", "3;;2;", "4;;;", "end;;;h"),
    ]
    start = ("init", "a", "1", "")
    assert [*style.lines([titles, start, *rows[:2]], range(1, 3))][1:] == ["init;a;1;\n", "0;a;1;\n", "1;;;\n"]
    assert [*TableStyle().lines([titles, *rows[:1]], range(1, 3))] == ["step,x,y,goals\n", "0,a,1,\n"]


def test_commas_between_columns_and_in_numbers_exclude_each_other() -> None:
    assert (TableStyle.of(None, True), TableStyle.of("tab", True)) == (TableStyle(";", True), TableStyle("\t", True))
    with pytest.raises(UsageError, match="cannot stand between commas"):
        TableStyle.of("comma", True)
    assert read_rows(Path("t.csv"), "a;b\n1,5;2\n", "names") == ([["a", "b"], ["1,5", "2"]], True)
    assert [*map(with_point, ("1,5", "-,5e3", "a,b", "1,2,3"))] == ["1.5", "-.5e3", "a,b", "1,2,3"]


INPUTS = [
    # of a table with the inputs b and a; what is read of each step, or what is refused
    ("step,a,b\n0,1,0\n3,,1\n5,2,\n", [(1, 0), (1, 0), (1, 0), (1, 1), (1, 1), (2, 1)]),
    ("step;a;b\n1;1;0\n2;;1\n", [(1, 0), (1, 1)]),
    ("a,b\n1,0\n,\n,1\n", [(1, 0), (1, 1)]),
    ("step,a,b\n0,,1\n", "'' is no value of 'i->a'"),
    ("step,a,b\n0,1,1\n1,1,1\n1,1,1\n", "the step 1 follows 2 steps"),
    ("step,a,b\n2,1,1\n0,1,1\n", "the step 0 follows 1 step"),
    ("step,a,b\n0,1,1\n900000000,1,1\n", "the step 900000000 follows 1 step"),
]


def test_where_inputs_stay_steps_and_cells_may_be_left_out(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": program()})
    with fresh_names():
        system = load(read_project(str(tmp_path / "c.c")), ["cover(n == 1)"]).system
    for text, expected in INPUTS:
        (tmp_path / "inputs.csv").write_text(text)
        if isinstance(expected, str):
            with pytest.raises(InputRefused) as refused:
                read_stimulus(str(tmp_path / "inputs.csv"), system)
            assert expected in refused.value.message
        else:
            found = read_stimulus(str(tmp_path / "inputs.csv"), system).inputs
            assert [(row["i->a"], row["i->b"]) for row in found] == expected, text
