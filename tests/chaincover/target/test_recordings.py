"""Recordings of a chain: what deviates, what is covered, and what is not known; and those that cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Outcome, chaincover, write_files
from schemas import faults as faults_in

from benchmarks.checks.recordings import CHECKS, faults, subject_of
from bmc.models.c.source.survey import apart

COUNTER = """\
typedef struct { unsigned char up, clear; } in_t;
typedef struct { unsigned char n, hidden; } state_t;
typedef struct { short level; unsigned char lamp; } out_t;
static state_t s; static out_t o;
void init(void) { s.n = 0; s.hidden = 0; o.level = 0; o.lamp = 0; }
void step(in_t *i) {
  if (i->clear) s.n = 0; else if (i->up && s.n < 6) s.n++;
  s.hidden = s.n == 3; o.level = s.n * 10 - 5; o.lamp = s.n >= 4;
}
"""
PROJECT = """\
name = "counter"
period = 0.01
[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "step"
[interface]
input = ["i->*"]
state = ["s.*"]
output = ["o.*"]
[ranges]
"i->*" = [0, 1]
[[property]]
id = "lights"
text = "G(i->up && !i->clear && s.n == 3 -> X(o.lamp == 1))"
[[property]]
id = "soon"
text = "G(i->clear && o.lamp -> F[0,2](o.lamp == 0))"
[[property]]
id = "third"
text = "cover(s.hidden == 1)"
"""
INPUTS = "i->up,i->clear\n1,0\n1,0\n1,0\n1,0\n0,1\n0,0\n"
LEVELS, LAMPS = (5, 15, 25, 35, -5, -5), (0, 0, 0, 1, 0, 0)
"""What the outputs are after each of these steps."""
STARTS = {"Level": 1}
"""What is recorded before the first step, where that is not 0."""


def rows(start: bool = True, **columns: object) -> str:
    """A recording with the inputs, and further columns: values of each step."""
    lines = [line.split(",") for line in INPUTS.splitlines()]
    for title, values in columns.items():
        lines[0].append(title)
        for line, value in zip(lines[1:], values, strict=False):  # type: ignore[call-overload]
            line.append(str(value))
    if not start:
        return "".join(",".join(line) + "\n" for line in lines if len(line) == len(lines[0]))
    before = ["init", "", "", *(str(STARTS.get(title, 0)) for title in lines[0][2:])]
    steps = [[str(number), *line] for number, line in enumerate(lines[1:]) if len(line) == len(lines[0])]
    return "".join(",".join(line) + "\n" for line in (["step", *lines[0]], before, *steps))


GOOD = rows(**{"o.level": LEVELS, "o.lamp": LAMPS})
PLAIN = rows(start=False, **{"o.level": LEVELS, "o.lamp": LAMPS})
"""The same as rows of values alone: what was there before the first step is not known."""


TWO_HIDDEN = "another output is called hidden, too"


def judge(
    folder: Path, recording: str, *options: str, target: str = "", name: str = "run.csv", code: str = COUNTER
) -> Outcome:
    files = {"c.c": code, "chaincover.toml": PROJECT + target, "in.csv": INPUTS, name: recording}
    write_files(folder, files)
    return chaincover("judge", ".", "in.csv", name, *options, "--json", cwd=folder, CHAINCOVER_NO_NATIVE="1")


def verdicts(outcome: Outcome) -> dict[str, tuple[str, str, str]]:
    return {goal["name"]: (goal["verdict"], goal["how"], goal["requirement"]) for goal in outcome.json["goals"]}


def test_what_is_not_recorded_is_predicted_where_all_outputs_agree(tmp_path: Path) -> None:
    """The goals read the state, which is not recorded; the outputs are those of the model."""
    outcome = judge(tmp_path, GOOD)
    assert verdicts(outcome) == {
        "lights": ("covered", "as predicted", "not observable"),
        "soon": ("covered", "as seen", "held"),
        "third": ("covered", "as predicted", ""),
    }
    found = outcome.json["comparison"]
    assert (found["signals"], found["steps"], found["first"], found["agrees"]) == (["o.level", "o.lamp"], 6, None, 6)
    assert outcome.code == 4


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"o.lamp": LAMPS}, "not observable"),  # an output is missing: nothing is predicted
        ({}, "not observable"),  # nothing is compared
        ({"o.level": LEVELS, "o.lamp": (0, 0, 1, 1, 0, 0)}, "not observable"),  # it deviates before the goal's end
        ({"o.level": LEVELS, "o.lamp": (0, 0, 0, 0, 0, 0)}, "covered"),  # it deviates after the goal's end
        ({"o.level": LEVELS, "o.lamp": LAMPS, "s.hidden": (0,) * 6}, "missed"),  # the goal is seen not to be met
    ],
)
def test_a_prediction_needs_all_outputs_up_to_the_end_of_the_goal(
    columns: dict[str, object], expected: str, tmp_path: Path
) -> None:
    assert verdicts(judge(tmp_path, rows(**columns)))["third"][0] == expected


def test_the_first_deviation_is_told_with_the_values_around_it(tmp_path: Path) -> None:
    wrong = rows(**{"o.level": (5, 15, 25, 36, -5, -4), "o.lamp": LAMPS})
    outcome = judge(tmp_path, wrong)
    first = outcome.json["comparison"]["first"]
    assert (first["variable"], first["step"], first["expected"], first["actual"]) == ("o.level", 4, "35", "36")
    assert [(each["step"], each["expected"], each["actual"]) for each in first["around"]] == [
        *((2, "15", "15"), (3, "25", "25"), (4, "35", "36"), (5, "-5", "-5"), (6, "-5", "-4"))
    ]
    assert outcome.json["comparison"]["number"] == 2
    assert outcome.code == 1
    text = chaincover("judge", ".", "in.csv", "run.csv", cwd=tmp_path, CHAINCOVER_NO_NATIVE="1").out
    assert text.startswith("DEVIATES: before step 4 o.level is 36, expected 35, 2 times\n")
    assert [row.split()[3:5] for row in text.splitlines() if row.startswith(" > ")] == [
        ["36", "(expected"],
        ["-4", "(expected"],
    ]


def test_the_start_state_is_compared_where_it_was_recorded(tmp_path: Path) -> None:
    outcome = judge(tmp_path, GOOD.replace("init,,,1,0", "init,,,1,1").replace("init,,,0,0", "init,,,0,1"))
    assert outcome.code == 1
    first = outcome.json["comparison"]["first"]
    assert (first["variable"], first["step"], first["expected"], first["actual"]) == ("o.lamp", 0, "0", "1")
    assert verdicts(outcome)["third"][0] == "not observable"


STATE_ONLY = """\
static unsigned char n, lamp;
void init(void) { n = 0; lamp = 0; }
void compute(unsigned char up) { if (up && n < 9) n++; lamp = n >= 2; }
"""


@pytest.mark.parametrize(
    ("lamps", "expected", "signals"),
    [("011", "covered", ["lamp"]), ("0..", "not observable", ["lamp"]), ("...", "not observable", [])],
)
def test_nothing_is_predicted_where_nothing_was_compared(
    lamps: str, expected: str, signals: list[str], tmp_path: Path
) -> None:
    """The program declares no output, and the column of the lamp has empty cells."""
    cells = [lamp.replace(".", "") for lamp in lamps]
    table = "up,lamp\n" + "".join(f"{up},{lamp}\n" for up, lamp in zip("110", cells, strict=True))
    project = '[sources]\nfiles = ["c.c"]\n[functions]\ninit = "init"\nstep = "compute"\n'
    project += '[interface]\nstate = ["n", "lamp"]\n'
    write_files(tmp_path, {"c.c": STATE_ONLY, "p.toml": project, "in.csv": "up\n1\n1\n0\n", "run.csv": table})
    goal = ("--property", "x: cover(n == 2)", "--no-native", "--json")
    outcome = chaincover("judge", "p.toml", "in.csv", "run.csv", *goal, cwd=tmp_path)
    assert outcome.json["comparison"]["signals"] == signals
    assert verdicts(outcome)["x"][0] == expected


UNSET = """\
typedef struct { unsigned char level, lamp; } out_t;
void init(void) { }
void compute(unsigned char up, out_t *o) { o->lamp = up; if (up) o->level = 7; }
"""


@pytest.mark.parametrize(("last", "deviates"), [(7, False), (9, True)])
def test_a_value_that_the_program_does_not_define_may_be_any(last: int, deviates: bool, tmp_path: Path) -> None:
    """The level is set in the second step, so that what stands there before is of no matter."""
    table = f"up,o->level,o->lamp\n0,99,0\n1,{last},1\n"
    write_files(tmp_path, {"c.c": UNSET, "in.csv": "up\n0\n1\n", "run.csv": table})
    goal = ("--property", "x: cover(o->lamp == 1)", "--no-native", "--json")
    first = chaincover("judge", "c.c", "in.csv", "run.csv", *goal, cwd=tmp_path).json["comparison"]["first"]
    assert (None if first is None else (first["variable"], first["step"])) == (("o->level", 2) if deviates else None)


UNSET_GOALS = (
    ("--property", "a: G(o->level < 5 -> X(o->lamp == 1))"),
    ("--property", "b: cover(o->lamp == 0 && o->level == 0)"),
    ("--property", "c: G(X(o->lamp == 1) -> o->level == 0)"),
)


@pytest.mark.parametrize("start", ["", "init,,0,0\n"])
def test_a_condition_on_a_value_that_is_not_defined_does_not_hold(start: str, tmp_path: Path) -> None:
    """What a bench records there is no value of the program: the verdicts are those of the replay of the same run."""
    table = f"step,up,o->level,o->lamp\n{start}0,0,0,0\n1,1,7,1\n2,0,7,0\n"
    write_files(tmp_path, {"c.c": UNSET, "in.csv": "up\n0\n1\n0\n", "run.csv": table})
    goals = (*(word for goal in UNSET_GOALS for word in goal), "--no-native", "--json")
    judged = chaincover("judge", "c.c", "in.csv", "run.csv", *goals, cwd=tmp_path)
    assert {name: (found[0], found[2]) for name, found in verdicts(judged).items()} == {
        "a": ("missed", "not exercised"),
        "b": ("missed", ""),
        "c": ("covered", "failed"),
    }
    replayed = chaincover("replay", "c.c", "in.csv", *goals, cwd=tmp_path)
    assert verdicts(replayed) == verdicts(judged)


CLOCK = """\
int step; unsigned time;
void init(void) { time = 0; step = 0; }
void compute(unsigned char goals) { time += 2; if (goals) step = -1; }
"""


def test_variables_that_are_called_like_columns_of_a_table(tmp_path: Path) -> None:
    """Their own columns are those with the suffix in exported tables, and those of the plain name in others."""
    own = "goals,step,time\n0,0,2\n1,-1,4\n0,-1,6\n"
    write_files(tmp_path, {"c.c": CLOCK, "in.csv": "goals\n0\n1\n0\n", "own.csv": own})
    goal = ("--property", "x: cover(step == -1 && time == 4)", "--no-native")
    chaincover("export", "c.c", "in.csv", *goal, "--format", "csv", "-o", ".", cwd=tmp_path)
    for table in ("chain.csv", "own.csv"):
        found = chaincover("judge", "c.c", "in.csv", table, *goal, "--json", cwd=tmp_path).json["comparison"]
        assert (sorted(found["signals"]), found["steps"], found["first"]) == (["step", "time"], 3, None)


def test_a_title_may_be_the_tail_of_one_variable(tmp_path: Path) -> None:
    """The judgement is that of the full names: each tail is that of one variable only."""
    short = GOOD.replace("o.level", "level").replace("o.lamp", "lamp").replace("i->up", "up")
    full = judge(tmp_path, GOOD, name="full.csv").json
    tails = judge(tmp_path, short, name="tails.csv").json
    assert (tails["goals"], tails["comparison"], tails["remarks"]) == (full["goals"], full["comparison"], [])


@pytest.mark.parametrize(
    ("title", "target", "why"),
    [
        ("hidden", TWO_HIDDEN, "hidden (ambiguous: s.hidden, o.hidden; write the full name)"),
        ("lamp", "", "lamp (o.lamp has another column)"),
        ("level", '[target.signals]\n"o.level" = "Level"\n', "level (o.level has another column)"),
        ("hiden", "", "hiden (did you mean 's.hidden'?)"),
        ("zzz", "", "zzz"),
    ],
)
def test_a_column_that_is_not_looked_at_is_named(title: str, target: str, why: str, tmp_path: Path) -> None:
    """No title is taken for a variable where another variable, another column or a signal may be meant."""
    table = rows(**{"o.level": LEVELS, "o.lamp": LAMPS, title: (1,) * 6})
    table = table.replace("o.level", "Level") if "Level" in target else table
    code = COUNTER.replace("unsigned char lamp", "unsigned char lamp, hidden") if target == TWO_HIDDEN else COUNTER
    target = "" if target == TWO_HIDDEN else target
    found = judge(tmp_path, table, target=target, code=code).json
    assert found["remarks"] == [f"1 column of the recording is not looked at: {why}"]
    assert {*found["comparison"]["signals"]} == {"o.level", "o.lamp"}


def test_two_columns_with_the_tail_of_one_variable_are_both_left_out(tmp_path: Path) -> None:
    table = rows(**{"o.level": LEVELS, "o.lamp": LAMPS, "hidden": (0,) * 6, "*hidden": (0,) * 6})
    (note,) = judge(tmp_path, table).json["remarks"]
    assert note.startswith("2 columns of the recording are not looked at: hidden (")


def test_of_many_columns_that_are_not_looked_at_the_first_are_named(tmp_path: Path) -> None:
    """All are with -v, and in the file of the judgement; one that may be meant for a variable stands first."""
    others = {f"analogue_channel_{number}": (0,) * 6 for number in range(90)}
    table = rows(**{"o.level": LEVELS, "o.lamp": LAMPS, **others, "hiden": (0,) * 6})
    (note,) = judge(tmp_path, table).json["remarks"]
    assert note.startswith("91 columns of the recording are not looked at: hiden (did you mean 's.hidden'?), analogue_")
    command = ("judge", ".", "in.csv", "run.csv")
    short, whole = (chaincover(*command, *more, cwd=tmp_path, COLUMNS="100").out for more in ((), ("-v",)))
    assert "did you mean 's.hidden'" in short
    assert "more lines: -v tells all" in short
    assert ("analogue_channel_89" in short, "analogue_channel_89" in whole) == (False, True)


@pytest.mark.parametrize("numbered", [True, False])
def test_a_start_state_that_was_not_recorded_is_asked_for_as_a_row(numbered: bool, tmp_path: Path) -> None:
    """What is shown is read again, once it stands below the titles; until then the model's values decide nothing."""
    target = '[target.signals]\n"o.level" = { name = "Level", factor = 0.5, unit = "V" }\n'
    halves = [level / 2 for level in LEVELS]
    plain = rows(start=False, Level=halves, **{"o.lamp": LAMPS, "s.n": (1, 2, 3, 4, 0, 0)})
    with_numbers = with_steps(plain, 0)
    found = judge(tmp_path, with_numbers if numbered else plain, target=target)
    assert verdicts(found)["lights"][2] == "undecided"
    (note,) = found.json["remarks"]
    assert note.startswith("a row 'init' looks as follows")
    assert ("under a further first title 'step'" in note) is not numbered
    row = note.rpartition(": ")[2]
    assert row == "init,,,0,0,0"
    titles, *steps = with_numbers.splitlines()
    whole = judge(tmp_path, "\n".join([titles, row, *steps]) + "\n", target=target)
    assert (verdicts(whole)["lights"][2], whole.json["remarks"]) == ("held", [])


def test_an_antecedent_that_may_never_have_held_is_not_called_unjudged(tmp_path: Path) -> None:
    """Whether the antecedent holds depends on the lamp, which was not recorded; its deadline lies beyond the end."""
    cut = "\n".join(line.rpartition(",")[0] for line in PLAIN.splitlines()[:6])
    assert verdicts(judge(tmp_path, cut))["soon"][2] == "not observable"


def test_a_requirement_that_fails_on_the_bench_is_a_finding(tmp_path: Path) -> None:
    """The lamp stays on after it should have gone off; where the recording ends before, that is not judged."""
    stays_on = rows(**{"o.level": LEVELS, "o.lamp": (0, 0, 0, 1, 1, 1), "s.n": (1, 2, 3, 4, 0, 0)})
    outcome = judge(tmp_path, stays_on)
    assert {name: found[2] for name, found in verdicts(outcome).items()} == {
        "lights": "held",
        "soon": "failed",
        "third": "",
    }
    assert outcome.code == 1
    shorter = judge(tmp_path, "".join(stays_on.splitlines(keepends=True)[:-1]))
    assert verdicts(shorter)["soon"][2] == "not judged to the end"
    late = rows(**{"o.level": LEVELS, "o.lamp": (0, 0, 0, 0, 1, 0), "s.n": (1, 2, 3, 4, 0, 0)})
    assert verdicts(judge(tmp_path, late))["lights"][2] == "failed"


SLOW = """\
[[property]]
id = "slow"
text = "G(rise(s.n == 3) -> F[0,3](s.n == 6))"
[[property]]
id = "dark"
text = "G(s.n == 0 -> o.lamp == 0)"
"""


def test_beside_a_missed_deadline_only_what_is_judged_at_that_step_is_told(tmp_path: Path) -> None:
    """The deadline is missed at step 6; ``lights`` is judged at step 3, where that began, and ``soon`` at step 5."""
    whole = rows(**{"o.level": LEVELS, "o.lamp": LAMPS, "s.n": (1, 2, 3, 4, 0, 0)})
    for target, end in ((SLOW, "; dark held there"), (SLOW.replace("lamp == 0", "lamp == 1"), "; dark fails there")):
        assert verdicts(judge(tmp_path, whole, target=target))["slow"][2] == "failed"
        told = chaincover("judge", ".", "in.csv", "run.csv", cwd=tmp_path, CHAINCOVER_NO_NATIVE="1", COLUMNS="400").out
        (finding,) = (line for line in told.splitlines() if line.startswith("FINDING: slow fails at step 6"))
        assert finding.endswith(end)


TOLERANT = """\
[target.signals]
"o.level" = { name = "Level", unit = "mm", factor = 0.5, offset = 1, absolute = 0.25, jitter = 1 }
"o.lamp" = "Lamp"
"""
DEADLINE = """\
[[property]]
id = "high"
text = "G(o.lamp -> o.level >= 35)"
"""


def test_tolerance_and_units_belong_to_the_comparison(tmp_path: Path) -> None:
    """Recorded is half of the level, and one more: within a quarter nothing deviates, beyond it does."""
    numbers = [value / 2 + 1 for value in LEVELS]
    near = rows(Level=[number + 0.25 for number in numbers], Lamp=LAMPS)
    found = judge(tmp_path, near, target=TOLERANT).json
    assert found["comparison"]["first"] is None
    far = rows(Level=[*numbers[:3], 19.3, *numbers[4:]], Lamp=LAMPS)
    first = judge(tmp_path, far, target=TOLERANT).json["comparison"]["first"]
    assert (first["variable"], first["step"]) == ("o.level", 4)
    assert (first["expected"], first["actual"]) == ("18.5 mm", "19.3 mm")


def test_a_verdict_that_tolerance_or_jitter_leaves_open_is_undecided(tmp_path: Path) -> None:
    numbers = [value / 2 + 1 for value in LEVELS]
    found = judge(tmp_path, rows(Level=numbers, Lamp=LAMPS), target=DEADLINE + TOLERANT).json
    high = next(goal for goal in found["goals"] if goal["name"] == "high")
    assert high["requirement"] == "undecided"  # the level may have risen a step later
    assert high["why"] == "it depends on which value o.level had before step 4"
    exact = DEADLINE + TOLERANT.replace("jitter = 1", "jitter = 0")
    steady = judge(tmp_path, rows(Level=numbers, Lamp=LAMPS), target=exact)
    assert verdicts(steady)["high"][2] == "held"


def test_the_judgement_has_the_recorded_values_and_where_they_differ(tmp_path: Path) -> None:
    """They stand where they change, and in the unit of the variable; within the tolerance nothing differs."""
    recorded = [value / 2 + 1 for value in (5, 15, 25, 37, -5, -5)]
    found = judge(tmp_path, rows(Level=[recorded[0] + 0.25, *recorded[1:]], Lamp=LAMPS), target=TOLERANT).json["tracks"]
    tracks = {track["variable"]: track for track in found}
    assert [*tracks] == ["i->up", "i->clear", "o.level", "o.lamp"]
    assert tracks["o.lamp"] == {"variable": "o.lamp", "values": ["0", "1", "0"], "runs": [4, 1, 2], "differs": []}
    assert tracks["o.level"]["values"] == ["0", "5.5", "15", "25", "37", "-5"]
    assert tracks["o.level"]["runs"] == [1, 1, 1, 1, 1, 2]
    assert tracks["o.level"]["differs"] == [[4, 5, "35"]]


def test_an_input_that_is_not_that_of_the_chain_differs_in_its_steps(tmp_path: Path) -> None:
    (up,) = (track for track in judge(tmp_path, GOOD.replace("\n5,0,0", "\n5,1,0")).json["tracks"][:1])
    assert (up["values"], up["runs"], up["differs"]) == (["1", "0", "1"], [4, 1, 1], [[5, 6, "0"]])


def test_other_inputs_than_those_of_the_chain_are_told_first(tmp_path: Path) -> None:
    """The model is simulated under the recorded inputs: outputs that fit these do not deviate."""
    other = PLAIN.replace("1,0,35,1\n", "0,0,25,0\n")
    outcome = judge(tmp_path, other)
    assert outcome.json["other_inputs"] == ["step 3: i->up is 0, the chain has 1"]
    assert outcome.json["comparison"]["first"] is None
    assert verdicts(outcome)["third"][:2] == ("not observable", "")
    text = chaincover("judge", ".", "in.csv", "run.csv", cwd=tmp_path, CHAINCOVER_NO_NATIVE="1").out
    assert text.startswith("OTHER INPUTS than those of the chain: step 3: i->up is 0")


def test_a_recording_that_is_cut_short_is_judged_as_far_as_it_goes(tmp_path: Path) -> None:
    outcome = judge(tmp_path, "".join(GOOD.splitlines(keepends=True)[:5]))
    assert outcome.code == 5
    assert outcome.json["cut_short"] is True
    assert verdicts(outcome)["third"][:2] == ("covered", "as predicted")
    assert verdicts(outcome)["soon"] == ("missed", "", "not exercised")


def with_steps(text: str, first: int) -> str:
    lines = text.splitlines()
    return "\n".join([f"step,{lines[0]}", *(f"{first + n},{line}" for n, line in enumerate(lines[1:]))]) + "\n"


def test_a_recording_begins_at_a_reset(tmp_path: Path) -> None:
    late = judge(tmp_path, with_steps(PLAIN, 7))
    assert late.code == 3
    assert "run.csv:2: the recording begins with step 7, not at a reset" in late.stderr
    before = "9,1,1,5,0\n8,0,1,5,0\n".replace("9,", "5,").replace("8,", "6,")
    head, _, rest = with_steps(PLAIN, 7).partition("\n")
    started = judge(tmp_path, f"{head}\n{before}{rest}", "--start", "3")
    assert started.json["comparison"]["first"] is None
    assert started.json["steps"] == 6


def test_a_shift_is_found_by_the_inputs_alone(tmp_path: Path) -> None:
    """Two rows stand before the reset; an output that is late by a step is no shift."""
    head, _, rest = PLAIN.partition("\n")
    early = f"{head}\n0,1,-5,0\n0,0,-5,0\n{rest}"
    found = judge(tmp_path, early, target="[target]\nshift = 3\n").json
    assert found["remarks"][0] == "the recording begins 2 steps before the reset, by its inputs"
    assert (found["comparison"]["first"], found["steps"]) == (None, 6)
    lit = judge(tmp_path, f"{head}\n0,1,-5,0\n0,0,-5,1\n{rest}", target="[target]\nshift = 3\n").json
    assert lit["comparison"]["first"] is None, "what was there before the reset is not the start state"
    late = rows(**{"o.level": (-5, *LEVELS[:-1]), "o.lamp": (0, *LAMPS[:-1])})
    shifted = judge(tmp_path, late, target="[target]\nshift = 3\n").json
    assert shifted["comparison"]["first"]["step"] == 1


def test_two_shifts_that_fit_equally_well_are_refused(tmp_path: Path) -> None:
    still = "i->up,i->clear,o.lamp\n" + "0,0,0\n" * 9
    files = {"c.c": COUNTER, "chaincover.toml": PROJECT + "[target]\nshift = 2\n"}
    write_files(tmp_path, {**files, "in.csv": "i->up,i->clear\n" + "0,0\n" * 6, "run.csv": still})
    outcome = chaincover("judge", ".", "in.csv", "run.csv", cwd=tmp_path, CHAINCOVER_NO_NATIVE="1")
    assert outcome.code == 3
    assert "fit those of the chain equally well 0 and 1 steps late" in outcome.stderr


HELD = """\
[target.signals]
"o.lamp" = {{ name = "o.lamp", held = {held} }}
"""


@pytest.mark.parametrize(("held", "expected"), [("true", "not exercised"), ("false", "undecided")])
def test_a_missing_sample_is_not_known_unless_the_signal_is_held(held: str, expected: str, tmp_path: Path) -> None:
    """The sample of the one step is missing in which the lamp is on."""
    gap = GOOD.replace("1,0,35,1", "1,0,35,")
    assert verdicts(judge(tmp_path, gap, target=HELD.format(held=held)))["soon"][2] == expected


def test_times_and_decimal_commas(tmp_path: Path) -> None:
    """A recording of another tool: semicolons, times in seconds, columns that are no signals."""
    lines = PLAIN.replace("i->up", "i->up [driven]").replace("o.lamp", "o.lamp [expected]").splitlines()
    table = [f"time;{lines[0].replace(',', ';')};room"]
    table += [f"0,0{number};{line.replace(',', ';')};x" for number, line in enumerate(lines[1:])]
    outcome = judge(tmp_path, "\n".join(table) + "\n")
    assert outcome.json["comparison"]["steps"] == 6
    assert outcome.json["comparison"]["first"] is None
    assert outcome.json["remarks"][0] == "1 column of the recording is not looked at: room"


MODES = """\
enum mode { OFF, ON };
static enum mode mode; static signed char level;
void init(void) { mode = OFF; level = 0; }
void compute(signed char by) { mode = by < 0 ? ON : OFF; level = by; }
"""
WIDE = """\
$timescale 1 us $end
$var integer 32 ! by $end
$var string 1 " mode $end
$var integer 32 # level $end
$enddefinitions $end
#0
b11111111111111111111111111111110 ! sON " b11111111111111111111111111111110 #
#2
b101 ! sOFF " b101 #
#4
"""


def test_signals_of_simulators_that_are_wider_or_texts(tmp_path: Path) -> None:
    """A simulator writes a signed number of 8 bits as one of 32, and an enumeration by its names."""
    pytest.importorskip("vcd")
    project = 'period = 0.000002\n[sources]\nfiles = ["c.c"]\n[functions]\ninit = "init"\nstep = "compute"\n'
    write_files(tmp_path, {"c.c": MODES, "p.toml": project, "in.csv": "by\n-2\n5\n", "run.vcd": WIDE})
    goal = ("--property", "x: G(by == 5 && level == -2 -> mode == ON)", "--no-native", "--json")
    outcome = chaincover("judge", "p.toml", "in.csv", "run.vcd", *goal, cwd=tmp_path)
    found = outcome.json["comparison"]
    assert (sorted(found["signals"]), found["steps"], found["first"]) == (["level", "mode"], 2, None)
    assert verdicts(outcome)["x"] == ("covered", "as seen", "held")


VCD = """\
$timescale 1 ms $end
$scope module bench $end
$var wire 1 ! up $end
$var wire 1 " clear $end
$var wire 16 # Level [15:0] $end
$var wire 1 $ Lamp $end
$upscope $end
$enddefinitions $end
#0
1! 0" b101 # 0$
#10
b1111 #
#20
b11001 #
#30
b100011 # 1$
#40
0! 1" b1111111111111011 # 0$
#50
0"
#60
"""
OF_VCD = '[target.signals]\n"i->up" = "up"\n"i->clear" = "clear"\n"o.level" = "Level"\n"o.lamp" = "Lamp"\n'


def test_a_vcd_file(tmp_path: Path) -> None:
    text = VCD.replace('1! 0" b101 # 0$', '1!\n0"\nb101 #\n0$').replace("b100011 # 1$", "b100011 #\n1$")
    text = text.replace('0! 1" b1111111111111011 # 0$', '0!\n1"\nb1111111111111011 #\n0$')
    outcome = judge(tmp_path, text, target=OF_VCD, name="run.vcd")
    assert outcome.json["comparison"]["first"] is None
    assert (outcome.json["comparison"]["steps"], outcome.json["steps"]) == (6, 6)
    assert verdicts(outcome)["soon"] == ("covered", "as seen", "held")
    unknown = judge(tmp_path, text.replace("b100011 #\n1$", "b100011 #\nx$"), target=OF_VCD, name="run.vcd")
    assert verdicts(unknown)["soon"][2] == "undecided"


@pytest.mark.parametrize(
    ("recording", "target", "message"),
    [
        (
            "a,b\n1,2\n",
            "",
            "no column is that of a variable of the program; 2 columns of the recording are not looked at",
        ),
        ("", "", "run.csv: the file is empty"),
        ("i->up,i->up\n1,1\n", "", "run.csv:1: a second column for 'i->up'"),
        (PLAIN, '[target.signals]\n"o.lamp" = "Light"\n', "run.csv:1: the recording has no column for Light"),
        (PLAIN, '[target.signals]\nlight = "Light"\n', "chaincover.toml:24:1: unknown variable 'light'"),
        (PLAIN, '[target.signals]\n"o.lamp" = "L"\nlamp = "M"\n', "a second signal of 'o.lamp'"),
        (PLAIN, '[target.signals]\n"o.lamp" = "L"\n"o.level" = "L"\n', "the signal 'L' is that of 'o.lamp' already"),
        (
            GOOD,
            '[target.signals]\n"o.lamp" = { absolute = 1 }\n',
            "the tolerance of the signal of 'o.lamp' has no unit",
        ),
        (PLAIN, '[target.signals]\n"o.lamp" = { factr = 1 }\n', "unknown key 'factr' of a signal"),
        (PLAIN, '[target.signals]\n"o.lamp" = { factor = 0 }\n', "'factor' of the signal of 'o.lamp' must be a number"),
        (PLAIN.replace(",35,", ",nan,"), TOLERANT, "'nan' is no number of the signal 'Level'"),
        (PLAIN.replace(",35,", ",99999,"), "", "99999 does not fit 'o.level'"),
        (PLAIN.replace("1,0,35,1\n", "1,0,35\n"), "", "run.csv:5: 3 values for 4 columns"),
        (with_steps(PLAIN, 0).replace("\n4,", "\n1,"), "", "run.csv:6: the recording goes back in time"),
        (with_steps(PLAIN, 0).replace("\n4,", "\n4000000000,"), "", "there is no sample of 3,999,999,996 steps"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(recording: str, target: str, message: str, tmp_path: Path) -> None:
    recording = recording.replace("o.level", "Level") if "Level" in target else recording
    recording = recording.replace("o.lamp", "Lamp") if '"Lamp"' in target else recording
    outcome = judge(tmp_path, recording, target=target)
    assert outcome.code == 3, outcome.out
    assert message in outcome.stderr
    assert "Traceback" not in outcome.stderr


def test_the_judgement_is_written_whole(tmp_path: Path) -> None:
    outcome = judge(tmp_path, GOOD, "-o", "judged.json")
    assert (tmp_path / "judged.json").read_text() == outcome.out
    assert outcome.json["schema"] == "chaincover/judged/4"
    assert faults_in(outcome.json, "judged.json") == []


def test_drawn_recordings_are_judged_as_the_whole_run() -> None:
    """A part of the variables, noise, other values: the verdict is that of a judge that sees everything, or open."""
    subject_of.cache_clear()
    with apart():
        drawn = [(kind, seed, form) for kind in CHECKS for seed in range(8) for form in ("csv", "vcd")]
        assert [(*one, text) for one in drawn for text in faults(*one)] == []


def test_a_step_under_inputs_that_are_not_allowed_is_told(tmp_path: Path) -> None:
    """Of such a step the model says nothing."""
    outcome = judge(tmp_path, PLAIN.replace("0,0,-5,0\n", "0,7,-5,0\n"))
    assert outcome.json["refused_steps"] == ["step 5: i->clear is 7, allowed 0..1"]
    assert outcome.code == 1


def test_nothing_is_predicted_under_inputs_that_are_not_certain(tmp_path: Path) -> None:
    """An input within tolerance may have been another one."""
    loose = '[target.signals]\n"i->up" = { name = "i->up", unit = "V", absolute = 1.0 }\n'
    assert verdicts(judge(tmp_path, GOOD, target=loose))["third"][0] == "not observable"
    assert verdicts(judge(tmp_path, GOOD))["third"][:2] == ("covered", "as predicted")


def test_a_quote_without_an_end_is_no_table(tmp_path: Path) -> None:
    outcome = judge(tmp_path, PLAIN.replace("0,1,-5,0", '0,"1,-5,0'))
    assert outcome.code == 3
    assert "this is no table" in outcome.stderr
