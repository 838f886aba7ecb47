"""The chain as it is shown: values before each step, waiting in one row, what is too wide or too long cut and told."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from command_line import MODELS, chaincover
from pysmt.shortcuts import BV

from bmc.system.transition import InputVariable, Run, StateVariable, TransitionSystem, ValueType
from chaincover.chain import Chain, Hit
from chaincover.project.load import Request, load_request
from chaincover.project.names import short_names, without_front
from chaincover.report.chain_table import ChainTable
from chaincover.report.console import Console, shortened

BYTE = ValueType("unsigned char", 8)


def lines(
    states: Sequence[Mapping[str, int]],
    inputs: Sequence[Mapping[str, int]],
    hits: Sequence[Hit] = (),
    labels: Mapping[str, Mapping[int, str]] | None = None,
    marks: Mapping[tuple[str, int], str] | None = None,
    **wanted: int,
) -> list[str]:
    """The table of a run of byte variables; ``wanted``: ``width``, ``most``, ``milliseconds``, ``read``."""
    state = tuple(StateVariable(name, BYTE, BV(0, 8), BYTE.symbol(name)) for name in states[0])
    flags = tuple(InputVariable(name, BYTE, ((0, 1),) if name[:1] == "f" else ((0, 255),)) for name in inputs[0])
    chain = Chain(Run(tuple(states), tuple(inputs)), (), tuple(hits))
    out = Console(io.StringIO(), wanted.get("width", 120), bool(wanted.get("everything")))
    read = {name: wanted[name] for name in states[0] if name in wanted}
    period = Fraction(wanted["milliseconds"], 1000) if "milliseconds" in wanted else None
    ChainTable(TransitionSystem("t", state, flags), chain, read, labels, period, marks).show(out, wanted.get("most", 0))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue().splitlines()


def test_values_are_those_before_the_step() -> None:
    shown = lines(
        [{"x": 0}, {"x": 5}, {"x": 7}], [{"fgo": 1}, {"fgo": 0}], [Hit("five", 1, False), Hit("end", 2, None)]
    )
    assert shown == [
        "      before the step",
        "step  x  inputs  goals covered from here",
        "   0  0  fgo",
        "   1  5  (none)  five (FAILED)",
        "   2  7  (end)   end",
    ]


def test_inputs_leave_out_zeros_and_what_all_begin_with() -> None:
    inputs = [{f"u_{name}": 9 * (name in step) for name in "abcdefgh"} for step in ("b", "", "ah")]
    shown = lines([{"x": step} for step in range(4)], inputs)
    assert shown[1].split("  ")[2] == "inputs (u_*, others 0)"
    assert [row.split()[2:] for row in shown[2:]] == [["b=9"], ["(all", "0)"], ["a=9", "h=9"], ["(end)"]]


def test_inputs_are_columns_where_these_are_narrower() -> None:
    assert lines([{"x": 0}, {"x": 1}], [{"speed": 0, "level": 255}]) == [
        "      before the step  inputs",
        "step  x                speed  level  goals covered from here",
        "   0  0                0      255",
        "   1  1                (end)",
    ]


def test_waiting_is_one_row_and_a_goal_is_never_in_it() -> None:
    counting = [{"byte_timer": n, "mode": 1 + (n > 8)} for n in range(10)]
    shown = lines(counting, [{"fgo": 1}] * 9, [Hit("five", 5, None)])
    assert [row.split() for row in shown[2:]] == [
        ["0..4", "0..4", "1", "fgo"],
        ["5", "5", "1", "fgo", "five"],
        ["6..8", "6..8", "1", "fgo"],
        ["9", "9", "2", "(end)"],
    ]
    assert lines(counting, [{"fgo": 1}] * 9, [Hit("five", 5, None)], everything=1) == shown
    timed = lines(counting, [{"fgo": 1}] * 9, [Hit("five", 5, None)], milliseconds=250)
    assert timed[1].split()[:3] == ["step", "time/s", "byte_timer"]
    assert [row.split()[:2] for row in timed[2:]] == [
        ["0..4", "0.00"],
        ["5", "1.25"],
        ["6..8", "1.50"],
        ["9", "2.25"],
    ]


def test_waiting_ends_where_an_input_changes_or_a_value_jumps() -> None:
    values = [0, 1, 2, 3, 50, 51, 52, 52, 52, 52]
    inputs = [{"fgo": int(step == 6)} for step in range(9)]
    shown = lines([{"x": value} for value in values], inputs)
    assert [row.split()[0] for row in shown[2:]] == ["0..3", "4", "5", "6", "7", "8", "9"]


def test_a_long_chain_is_cut_in_its_middle() -> None:
    states = [{"x": step * step % 251} for step in range(101)]
    shown = lines(states, [{"fgo": step % 2} for step in range(100)], most=20)
    assert len(shown) == 20
    cut = next(row for row in shown if "..." in row)
    assert cut == " ...  84 steps left out here, 9 to 92: chain.csv has them"
    assert shown[shown.index(cut) - 1].split()[0] == "8"
    assert shown[shown.index(cut) + 1].split()[0] == "93"


def test_a_row_with_a_failure_or_a_goal_is_not_cut_out() -> None:
    states, inputs = [{"x": step * step % 251} for step in range(101)], [{"fgo": step % 2} for step in range(100)]
    hits = [Hit("near", 3, True), Hit("mid", 50, True), Hit("wrong", 50, False), Hit("far", 90, True)]
    shown = lines(states, inputs, hits, most=8)
    assert [row.split()[0] for row in shown[2:]] == [*"0123", "...", "50", "...", "90", "...", "98", "99", "100"]
    assert "  wrong (FAILED) mid" in next(row for row in shown if row.startswith("  50"))
    many = [Hit(f"goal{step}", step, True) for step in range(0, 100, 3)]
    shown = lines(states, inputs, [*many, Hit("wrong", 50, False)], most=12)
    assert len(shown) == 12
    assert sum("wrong (FAILED)" in row for row in shown) == 1, "of many goals there is no room for all"


@pytest.mark.parametrize(("width", "beside"), [(120, 0), (80, 0), (60, 2)])
def test_a_marked_value_is_shown_whatever_the_width(width: int, beside: int) -> None:
    names = ["alarm_out", "deck_mode", "settle_count", *(f"other_{letter}" for letter in "abcd")]
    states = [dict.fromkeys(names, value) for value in (0, 3, 7)]
    marks = {(name, 1): "(expected 100)" for name in names[:3]}
    hits = [Hit(f"requirement_of_a_goal_{number}", 1, True) for number in range(4)]
    read = {f"other_{letter}": 9 for letter in "abcd"}
    inputs = [{"fdoor_open": 1, "fstop_pressed": 1, "level": 20}, {"fdoor_open": 1, "fstop_pressed": 0, "level": 7}]
    shown = lines(states, inputs, hits, None, marks, width=width, milliseconds=20, **read)
    assert max(map(len, shown)) <= width
    assert " ".join(shown).count("(expected") == 3
    assert sum(row.startswith("before step 1: ") for row in shown) == beside
    assert width > 60 or "before step 1: settle_count 3 (expected 100)" in shown


@pytest.mark.parametrize("width", [60, 80])
def test_a_run_without_a_last_state_is_told_whole(width: int) -> None:
    names = [f"variable_{letter}" for letter in "abcdefghijkl"]
    states, marks = [dict.fromkeys(names, value) for value in (0, 100)], {("variable_a", 1): "(expected 5)"}
    shown = lines(states, 2 * [{"fgo": 1}], (), None, marks, width=width, everything=1, **dict.fromkeys(names, 1))
    told = " ".join(shown)
    assert "variable_a=100" in told
    assert "(expected 5)" in told
    assert told.count("=100") == len(names)


def test_flags_of_state_and_inputs_have_headings_of_their_own() -> None:
    names = [f"flag{letter}" for letter in "abcdefgh"]
    states = [{"speed": step, **dict.fromkeys(names, 0), names[step]: 1} for step in range(8)]
    shown = lines(states, [{"fgo": 1, "fstop": 0, "level": 100 + step} for step in range(7)], width=60)
    assert shown[1].split()[0] == "flags"
    assert shown[2].split()[:5] == ["step", "speed", "set", "set", "level"]


def test_where_not_all_fits_the_variables_that_most_goals_read_are_shown() -> None:
    names = [f"variable_{letter}" for letter in "abcdefghijkl"]
    states = [dict.fromkeys(names, value) for value in (0, 100, 3)]
    shown = lines(states, [{"fgo": 1}, {"fgo": 0}], width=80, variable_k=3, variable_l=2)
    assert max(map(len, shown)) <= 80
    assert shown[1].split()[:4] == ["variable_"] * 4
    assert shown[2].split()[1:5] == ["a", "b", "k", "l"]
    assert shown[-1].endswith("of 12 changing variables that most goals read; chain.csv has all")
    everything = " ".join(lines(states, [{"fgo": 1}, {"fgo": 0}], width=80, everything=1))
    assert all(f"{name}=100" in everything for name in names)


def test_long_names_of_goals_leave_room_for_state_in_a_narrow_terminal() -> None:
    hits = [Hit(f"requirement_{number}", 0, None) for number in range(3)]
    inputs = [{"fstart": 1, "fstop": 1, "freset": 1, "level": 20}, {"fstart": 0, "fstop": 0, "freset": 0, "level": 0}]
    shown = lines([{"mode": 0}, {"mode": 9}, {"mode": 0}], inputs, hits, width=80, milliseconds=100)
    assert shown[2].split() == ["step", "time/s", "mode", "set", "level", "from", "here"]
    assert max(map(len, shown)) <= 80


def test_names_are_cut_where_they_are_equal_and_not_where_they_differ() -> None:
    names = ["a->left.up", "a->right.up", "a->down", "*speed", "t[0].x", "t[1].x"]
    assert list(short_names(names).values()) == ["left.up", "right.up", "down", "speed", "t[0].x", "t[1].x"]
    assert short_names(["*x", "x"]) == {"*x": "*x", "x": "x"}


@pytest.mark.parametrize(
    ("labels", "cut"),
    [
        ({0: "c_IN_NO_ACTIVE_CHILD", 1: "c_IN_Off", 2: "c_IN_On_b"}, ["(none)", "Off", "On_b"]),
        ({0: "MODE_OFF", 1: "MODE_ON"}, ["OFF", "ON"]),
        ({1: "GEAR_1", 2: "GEAR_2"}, ["GEAR_1", "GEAR_2"]),
        ({1: "ONLY_ONE"}, ["ONLY_ONE"]),
        ({1: "a_IN_Off", 2: "b_IN_Off"}, ["a_IN_Off", "b_IN_Off"]),
    ],
)
def test_labels_are_cut_where_they_are_equal(labels: dict[int, str], cut: list[str]) -> None:
    assert list(without_front(labels).values()) == cut


def test_modes_are_called_as_the_code_calls_them() -> None:
    subject = load_request(Request(str(MODELS / "window")))
    names = [var.name for var in subject.system.state]
    found = subject.model.value_names(names, [goal.text for goal in subject.goals])
    of_last = {name.rpartition("->")[2]: labels for name, labels in found.items()}
    assert of_last["is_MovingUp"][1] == "window_IN_Auto"
    assert of_last["is_c1_window"][1] == "window_IN_Emergency"
    assert of_last["lastCommand"] == {0: "window_CMD_NONE", 1: "window_CMD_UP", 2: "window_CMD_DOWN"}
    assert "temporalCounter_i1" not in of_last


def test_a_limit_that_a_counter_is_compared_with_is_no_mode() -> None:
    subject = load_request(Request(str(MODELS / "reminder")))
    found = subject.model.value_names([var.name for var in subject.system.state], ())
    assert {name.rpartition("->")[2] for name in found} == {"mode"}


def test_the_words_of_cases_are_names_of_modes(tmp_path: Path) -> None:
    code = """#define MODE_OFF 0
    #define MODE_ON 1
    #define KEY_UP 2
    #define KEY_DOWN 3
    static int phase, pressed, other;
    void init(void) { phase = pressed = other = 0; }
    void compute(int event) {
        switch (phase) {  /* } */
        case MODE_OFF:
            switch (event) { case KEY_UP: pressed = 2; break; case KEY_DOWN: pressed = 3; }
            if (pressed) { phase = 1; }
        case MODE_ON: phase = !phase;
        }
        switch (other) { case 1: case 2: other = 0; }
    }
    """
    (tmp_path / "m.c").write_text(code)
    subject = load_request(Request(str(tmp_path / "m.c")))
    names = [*(var.name for var in subject.system.state), *(var.name for var in subject.system.inputs)]
    found = subject.model.value_names(names, ())
    assert found == {"phase": {0: "MODE_OFF", 1: "MODE_ON"}, "event": {2: "KEY_UP", 3: "KEY_DOWN"}}


def test_the_number_of_a_parameter_is_no_name_of_a_column() -> None:
    assert short_names(["show::1", "s->mode"]) == {"show::1": "show::1", "s->mode": "mode"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Chart_IN_idle->IN_approach", "...->IN_approach"),
        ("cover(mode == MODE_ON)", "cover(mode ==..."),
        ("short", "short"),
    ],
)
def test_a_name_that_is_too_long_keeps_its_end_and_a_sentence_its_start(text: str, shown: str) -> None:
    assert shortened(text, 16) == shown


def test_a_failed_consequent_is_in_the_headline_and_at_its_step(tmp_path: Path) -> None:
    told = chaincover("generate", MODELS / "latch", "--no-replay", cwd=tmp_path).out.splitlines()
    assert told[0].startswith("latch: 1 finding; one chain of 6 steps covers all 5 goals")
    assert told[1].startswith("FINDING: reset_wins (L-04) can fail: at step 1 of a shortest run of 2 steps; ")
    assert [row.split() for row in told[4:7]] == [
        ["0", "0", "set"],
        ["1", "1", "set", "reset", "reset_wins", "(FAILED)"],
        [">", "2", "1", "(expected", "0)", "(end)"],
    ]
    assert told[7] == "on the chain the consequent of reset_wins fails at step 4"
    assert told[8] == "properties: 5 of 5 covered, 3 consequents held, 1 FAILED"
    assert [row.split()[-2:] for row in told if "(FAILED)" in row] == 2 * [["reset_wins", "(FAILED)"]]


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_a_narrow_terminal_gets_its_table_too(tmp_path: Path, columns: int) -> None:
    told = chaincover("generate", MODELS / "latch", "--no-replay", cwd=tmp_path, COLUMNS=str(columns)).out
    rows = [row.split()[0] for row in told.splitlines() if row[:4].strip().isdigit()]
    assert rows == [*"01", *"0123456"], "the run of the finding, then the chain"
    assert columns < 60 or max(map(len, told.splitlines())) <= columns


BELL = """
#define BELL_IN_SILENT 1
#define BELL_IN_RINGING 2
typedef unsigned char byte;
typedef struct { byte mode; } bell;
void bell_init(bell *self) { self->mode = BELL_IN_SILENT; }
void bell_step(bell *self, _Bool push, _Bool stop) { if (push) self->mode = BELL_IN_RINGING; }
"""


def test_a_finding_has_the_words_of_the_code_and_one_line_of_steps(tmp_path: Path) -> None:
    (tmp_path / "bell.c").write_text(BELL)
    chaincover("init", "bell.c", "-o", "bell.toml", cwd=tmp_path)
    stops = "stops: G(mode == BELL_IN_RINGING && stop -> X(mode) == BELL_IN_SILENT)"
    rings = "cover(push && stop && X(stop) && X[2](stop) && X[3](!stop) && X[4](stop))"
    told = chaincover("generate", "bell.toml", "--property", stops, "--property", rings, cwd=tmp_path).out.splitlines()
    assert told[1].endswith("at its end self->mode is BELL_IN_RINGING, expected BELL_IN_SILENT")
    assert "RINGING (expected SILENT)" in " ".join(told)
    assert "on the chain the consequent of stops fails at steps 1, 2, 4" in told


LIGHTS = """
static _Bool north, east; static int phase;
void lights_init(void) { north = east = 1; phase = 0; }
void lights_step(_Bool tick) { phase = tick ? (phase + 1) % 3 : phase; north = phase == 1; east = phase == 2; }
"""


def test_a_requirement_that_fails_before_the_first_step_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "lights.c").write_text(LIGHTS)
    chaincover("init", "lights.c", "-o", "lights.toml", cwd=tmp_path)
    texts = ("now: G(1 -> !(north && east))", "then: G(tick -> X(!(north && east)))", "never: G(phase == 1 -> !north)")
    options = [word for text in texts for word in ("--property", text)]
    told = chaincover("generate", "lights.toml", *options, cwd=tmp_path).out.splitlines()
    assert told[1].startswith("FINDING: now can fail: at step 0 ")
    assert told[2].startswith("  note: that is the state after init, before any step; within X(...) ")
    never = next(line for line in told[3:] if line.startswith("FINDING"))
    assert never.startswith("FINDING: never can fail: at step 1 ")
    assert not [line for line in told[3:] if line.startswith("  note: ")]
