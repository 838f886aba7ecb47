"""``chaincover init``: the interface styles, recognised in every bundled model, and what is proposed for each."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from c_support import own_environment  # noqa: F401
from command_line import MODEL_NAMES, MODELS, chaincover, fresh_names, write_files

from bmc import ending
from bmc.models.c.controller.build import read_c
from chaincover.project.project_file import read_project
from chaincover.project.scaffold.text import propose


@dataclass(frozen=True)
class Expected:
    """What is recognised in a bundled model without its project file; ``inputs``: where they are not the project's."""

    style: str
    step: str
    init: str
    inputs: frozenset[str] = frozenset()


EXPECTED = {
    "alarm": Expected("D", "car_alarm_compute", "car_alarm_init"),
    "cruise": Expected("D", "compute", "init"),
    "cruise_fig1": Expected("D", "compute", "init"),
    "window": Expected("B", "window", "window_Init"),
    "elevator": Expected("H", "elevator_step", "elevator_init"),
    "mixer": Expected("-", "mixer_step", "mixer_init"),
    "turnsignal": Expected("-", "turnsignal_step", "turnsignal_init"),
    "latch": Expected("-", "latch_step", "latch_init"),
    "charger": Expected("-", "charger_step", "charger_init"),
    "boiler": Expected("-", "boiler_step", "boiler_init"),
    "crane": Expected("-", "crane_step", "crane_init"),
    "burner": Expected("-", "burner_step", "burner_init"),
    "dishwasher": Expected("-", "dishwasher_step", "dishwasher_init"),
    "dispenser": Expected("-", "dispenser_step", "dispenser_init"),
    "lubricator": Expected("-", "lubricator_step", "lubricator_init"),
    "drive": Expected("-", "drive_step", "drive_init"),
    "kiln": Expected("-", "kiln_step", "kiln_init"),
    "reminder": Expected("-", "reminder_step", "reminder_init"),
    "belt": Expected("-", "belt_step", "belt_init"),
    "oven": Expected("-", "oven_step", "oven_init"),
    "tank": Expected("-", "tank_step", "tank_init"),
    "stairlight": Expected("-", "stairlight_step", "stairlight_init"),
    "turret": Expected("-", "turret_step", "turret_init"),
    "gate": Expected("D", "Gate", "Gate_init"),
    "door": Expected("A", "door_step", "door_initialize"),
    "fan": Expected("C", "fan_step", "fan_initialize"),
    "pump": Expected("D", "Pumps", "Pumps_init"),
    "crossing": Expected("E", "tick", "reset"),
    "heater": Expected("F", "Heater__heater_step", "Heater__heater_reset"),
    "seat": Expected("H", "seat_DU", "seat_init"),
    "wiper": Expected(
        "G",
        "Wiper_Step",
        "Wiper_Init",
        frozenset(
            (
                "Rte_IRead_Wiper_Step_Lever_Position",
                "Rte_IRead_Wiper_Step_Motor_InPark",
                "Rte_Read_Washer_Button::data",
                "Rte_Read_Rain_Level::data",
                "Rte_CData_WipesAfterWash",
            )
        ),
    ),
}

SOME = ["door", "window", "fan", "pump", "crossing", "heater", "wiper", "seat"]
"""A model of each style that has a letter; the latch has none, and the other models are evidence."""
EVERY = [
    model if model in (*SOME, "latch") else pytest.param(model, marks=pytest.mark.evidence) for model in MODEL_NAMES
]


def copy_of(model: str, folder: Path) -> Path:
    """A model's folder without its project file and all that belongs to it."""
    place = folder / model
    place.mkdir()
    for source in sorted((MODELS / model).iterdir()):
        if source.suffix in (".c", ".h"):
            shutil.copy(source, place)
    return place


@pytest.mark.slow
@pytest.mark.parametrize("model", EVERY)
def test_the_style_of_a_bundled_model(model: str, tmp_path: Path) -> None:
    """Style, step, init and inputs, from the sources alone; the own project file tells which inputs are right."""
    expected = EXPECTED[model]
    place = copy_of(model, tmp_path)
    written = chaincover("init", place)
    assert (written.code, written.err) == (0, "")
    assert f"step {expected.step}(), init {expected.init}()" in written.out
    with fresh_names():
        reading = propose([str(place)], place).reading
        assert reading is not None
    assert (reading.proposal.letter, reading.problem) == (expected.style, "")
    with fresh_names():
        proposed = read_c(read_project(str(place)).config)
    with fresh_names():
        own = read_c(read_project(str(MODELS / model)).config)
    inputs = expected.inputs or {v.name for v in own.variables if v.role == "input"}
    assert {v.name for v in proposed.variables if v.role == "input"} == inputs
    if not expected.inputs:
        assert {v.name for v in proposed.variables} == {v.name for v in own.variables}


def test_each_style_has_a_model() -> None:
    assert {each.style for each in EXPECTED.values()} == {*"ABCDEFGH", "-"}


@pytest.mark.slow
@pytest.mark.parametrize("model", SOME[2::2])
def test_the_written_project_checks(model: str, tmp_path: Path) -> None:
    """Without a further word: read, compared with the compiled original."""
    place = copy_of(model, tmp_path)
    assert chaincover("init", place).code == 0
    checked = chaincover("check", place, "--compare", "40", "--effort", "0.02")
    assert (checked.code, checked.err) == (0, "")


def proposed_text(folder: Path, files: dict[str, str | bytes], *arguments: str) -> str:
    """What ``chaincover init`` writes for these files; it must be readable as a project file."""
    write_files(folder, files)
    outcome = chaincover("init", *(arguments or (".",)), cwd=folder)
    assert (outcome.code, outcome.err) == (0, "")
    read_project(str(folder))
    return (folder / "chaincover.toml").read_text()


STEP = "static int n;\nvoid X_initialize(void) { n = 1; }\nvoid X_step(void) { n++; }\n"
DRIVER = "void X_initialize(void); void X_step(void);\nint main(void) { X_initialize(); for (;;) X_step(); }\n"


def test_a_driver_is_left_out_and_shows_the_step(tmp_path: Path) -> None:
    text = proposed_text(tmp_path, {"x.c": STEP, "ert_main.c": DRIVER})
    assert 'files = ["x.c"]' in text
    assert "# left out: ert_main.c: it has a main()" in text
    assert "#   main() in ert_main.c calls it in its loop" in text


def test_a_main_in_the_only_file_does_not_matter(tmp_path: Path) -> None:
    text = proposed_text(tmp_path, {"x.c": STEP + DRIVER})
    assert 'files = ["x.c"]' in text
    assert 'step = "X_step"' in text
    assert "# void X_initialize(void), x.c:2: called beside the step in x.c" in text


def test_headers_are_found_below_and_beside(tmp_path: Path) -> None:
    files: dict[str, str] = {
        "Src/x.c": '#include "x.h"\n#include "deep/y.h"\n#include "gone.h"\n' + STEP,
        "Inc/x.h": "",
        "Src/shared/deep/y.h": "",
    }
    write_files(tmp_path, files)
    assert "cannot be read yet: Src/x.c:3: header 'gone.h' not found" in chaincover("init", "Src", cwd=tmp_path).out
    (tmp_path / "Src" / "chaincover.toml").unlink()
    write_files(tmp_path, {"Src/x.c": files["Src/x.c"].replace('#include "gone.h"\n', "")})
    assert chaincover("init", "Src", cwd=tmp_path).code == 0
    assert 'include = ["../Inc", "shared"]' in (tmp_path / "Src" / "chaincover.toml").read_text()


def test_files_that_nothing_needs_are_left_out(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "x.c": "int helper(int a);\nextern const int table[2];\nstatic int n;\n"
        "void X_step(int a) { n = helper(a) + table[1]; }\n",
        "helper.c": "int helper(int a) { return a & 1; }\n",
        "table.c": "const int table[2] = {1, 2};\n",
        "other.c": "int unrelated;\nvoid unrelated_do_it(void) { unrelated++; }\n",
        "broken.c": "this is no C\n",
        "tests/test_x.c": "int main(void) { return 0; }\n",
    }
    text = proposed_text(tmp_path, files)
    assert 'files = ["helper.c", "table.c", "x.c"]' in text
    assert "# left out: other.c: neither step nor init needs it" in text
    assert "# left out: broken.c: broken.c:1" in text
    assert "# not looked into: tests" in text


def test_several_named_files_all_belong_to_the_project(tmp_path: Path) -> None:
    text = proposed_text(tmp_path, {"x.c": STEP, "y.c": "int y;\n"}, "x.c", "y.c")
    assert 'files = ["x.c", "y.c"]' in text


def test_candidates_are_listed_with_reasons(tmp_path: Path) -> None:
    code = "static int n, m;\nvoid fast_step(int a) { n = a; }\nvoid slow_step(int a) { m = a; }\n"
    text = proposed_text(tmp_path, {"x.c": code})
    assert 'step = "fast_step"' in text
    others = "# other candidates (to choose one: chaincover init --step NAME):\n#   slow_step, x.c:3 (written by hand)"
    assert others in text
    chosen = proposed_text(tmp_path, {}, ".", "--force", "--step", "slow_step")
    assert 'step = "slow_step"' in chosen
    assert "#   fast_step, x.c:2 (written by hand)" in chosen


def test_what_cannot_be_read_is_told_with_its_line(tmp_path: Path) -> None:
    """The project is written all the same, and check tells the same."""
    code = "static int n;\nvoid X_step(int a) {\n  goto end;\n{ end: n = a; } }\n"
    text = proposed_text(tmp_path, {"x.c": code})
    assert "# not read yet: x.c:3:3: unsupported C construct: goto" in text
    checked = chaincover("check", ".", cwd=tmp_path)
    assert checked.code == 3
    assert "x.c:3:3: unsupported C construct: goto" in checked.err


@pytest.mark.parametrize(
    ("code", "arguments", "message"),
    [
        ("int n;\n", (), "no function looks like the step of a controller"),
        ("int n;\nstatic void go(int a) { n = a; }\n", (), "next: name it: --step NAME; defined are go"),
        (STEP, ("--step", "Y_step"), "no function 'Y_step' in the files that could be read"),
        (STEP, ("--step", "Y_step"), "did you mean 'X_step'"),
        ("this is no C\n", (), "none of the C files can be read; of x.c: x.c:1"),
        ("void X_step(void) { int a = ; }\n", (), "C syntax error: Invalid expression\n  next: only standard C11"),
    ],
)
def test_a_failed_init_leaves_no_file(code: str, arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    write_files(tmp_path, {"x.c": code})
    refused = chaincover("init", ".", *arguments, cwd=tmp_path)
    assert refused.code == 3
    assert message in refused.err
    assert not (tmp_path / "chaincover.toml").exists()


def test_a_static_function_may_be_named(tmp_path: Path) -> None:
    text = proposed_text(tmp_path, {"x.c": "int n;\nstatic void go(int a) { n = a; }\n"}, ".", "--step", "go")
    assert 'step = "go"' in text


def test_folders_and_macros_are_given(tmp_path: Path) -> None:
    """Headers that are neither below nor beside the sources, and a macro without which there is no step."""
    code = '#include "kinds.h"\n#ifdef WITH_STEP\nstatic kind n;\nvoid X_step(kind a) { n = a; }\n#endif\n'
    write_files(tmp_path, {"far/away/kinds.h": "typedef int kind;\n"})
    text = proposed_text(
        tmp_path, {"a/x.c": code}, "a/x.c", "-o", "chaincover.toml", "-I", "far/away", "-D", "WITH_STEP"
    )
    assert 'include = ["far/away"]' in text
    assert 'defines = { WITH_STEP = "1" }' in text
    assert chaincover("check", ".", "--compare", "20", cwd=tmp_path).code == 0


def test_imported_objects_and_functions_get_a_role(tmp_path: Path) -> None:
    code = (
        "extern int speed;\nextern unsigned char limits[2];\nint read_button(void);\nvoid show(int x);\n"
        "int pick(int a);\nstatic int n;\n"
        "void X_step(void) { n = read_button() ? speed + limits[1] : 0; show(n); }\n"
    )
    text = proposed_text(tmp_path, {"x.c": code})
    assert "# speed: declared extern, and no file defines it" in text
    assert 'input = ["speed", "limits[*]", "read_button"]' in text
    assert "# read_button() is called and not defined: it has no parameters; called in x.c:7" in text
    assert 'output = ["show"]' in text
    assert chaincover("check", ".", "--compare", "20", cwd=tmp_path).code == 0


def test_model_reference_starts_in_order(tmp_path: Path) -> None:
    code = (
        "typedef struct { int x; } DW_m;\nvoid m_Init(DW_m *localDW) { localDW->x += 1; }\n"
        "void m_Start(DW_m *localDW) { localDW->x *= 2; }\nvoid m_initialize(DW_m *localDW) { localDW->x = 3; }\n"
        "void m(const int *rtu_a, int *rty_b, DW_m *localDW) { localDW->x += *rtu_a; *rty_b = localDW->x; }\n"
    )
    text = proposed_text(tmp_path, {"m.c": code})
    assert 'init = ["m_initialize", "m_Start", "m_Init"]' in text
    assert 'input = ["*rtu_a"]\nstate = ["localDW->x"]\noutput = ["*rty_b"]' in text


def test_ranges_stand_for_all_values(tmp_path: Path) -> None:
    """Truth values and Boolean types are restricted; other values that are told apart are proposed."""
    code = (
        "typedef unsigned char boolean_T;\nstatic int n;\n"
        "void X_step(boolean_T on, char button, short level, int value, unsigned char mode) {\n"
        "  if (on == 2) n = 7; if (button) n = 1; if (level > 100) n = 2; if (mode == 3 || mode >= 250) n = 9;\n"
        "  n += value & 1; n &= 63; }\n"
    )
    text = proposed_text(tmp_path, {"x.c": code})
    assert '"on" = [0, 1]   # boolean_T' in text
    assert '\n"button" = [0, 1]   # char; 0 and 1 stand for' in text
    assert '# "level" = [0, 101]   # short' in text
    assert '# "value" = "-2147483648..2147483647"   # int' in text
    assert '# "mode" = [0, 3, 250]   # unsigned char; these stand for all values that the step tells' in text
    assert "apart; add those that properties name" in text


def test_word_sizes_are_found(tmp_path: Path) -> None:
    check = "#include <limits.h>\n#if LONG_MAX != 2147483647L\n#error wrong sizes\n#endif\n"
    text = proposed_text(tmp_path, {"x.c": check + STEP})
    assert 'target = "ilp32"' in text


def test_an_existing_project_is_kept(tmp_path: Path) -> None:
    write_files(tmp_path, {"x.c": STEP, "chaincover.toml": "# mine\n"})
    refused = chaincover("init", ".", cwd=tmp_path)
    assert refused.code == 3
    assert "this file exists already" in refused.err
    assert (tmp_path / "chaincover.toml").read_text() == "# mine\n"
    assert chaincover("init", ".", "--force", cwd=tmp_path).code == 0


def test_a_folder_without_sources(tmp_path: Path) -> None:
    write_files(tmp_path, {"x.h": ""})
    refused = chaincover("init", ".", cwd=tmp_path)
    assert refused.code == 3
    assert "there is no C file in this folder" in refused.err


@pytest.mark.needs_compiler
def test_a_recipe_finds_its_headers(tmp_path: Path) -> None:
    """They lie elsewhere than the project file, beside which the recipe's file is written."""
    sources = {f"src/{f.name}": f.read_text() for f in (MODELS / "fan").glob("*.c")}
    headers = {f"inc/{f.name}": f.read_text() for f in (MODELS / "fan").glob("*.h")}
    text = proposed_text(tmp_path, {**sources, **headers}, "src", "-o", "chaincover.toml")
    recipe = text[text.index("#   #include") : text.index("#   }\n")].replace("#   ", "") + "}\n"
    assert '#include "inc/fan.h"\n' in recipe
    write_files(tmp_path, {"setup.c": recipe})
    folders = [f"-I{tmp_path / name}" for name in (".", "inc", "src")]
    subprocess.run(["cc", "-fsyntax-only", "-Wall", "-Werror", *folders, "setup.c"], cwd=tmp_path, check=True)


@pytest.mark.needs_compiler
def test_a_reusable_model_may_get_static_objects(tmp_path: Path) -> None:
    """The setup function in the comments, taken as it stands: init and step then work on objects that start with 0."""
    place = copy_of("fan", tmp_path)
    assert chaincover("init", place).code == 0
    text = (place / "chaincover.toml").read_text()
    recipe = text[text.index("#   #include") : text.index("#   }\n")].replace("#   ", "") + "}\n"
    assert "  rtM->dwork = &the_dwork;\n" in recipe
    write_files(place, {"setup.c": recipe})
    text = text.replace('"fan_data.c"]', '"fan_data.c", "setup.c"]').replace('["fan_initialize"]', '["setup"]')
    text = "\n".join(row for row in text.splitlines() if "rtM->" not in row or row.startswith("#"))
    write_files(place, {"chaincover.toml": text})
    checked = chaincover("check", place, "--compare", "40")
    assert (checked.code, checked.err) == (0, "")
    assert "the_dwork.Filter_DSTATE" in checked.out


MODEL_H = """typedef struct { unsigned short t; unsigned char mode; } DW;
typedef struct { unsigned char key; } %s;
typedef struct { unsigned char lamp; } ExtY;
typedef struct { unsigned short lim; } P;
typedef struct { P *defaultParam; DW *dwork; %s *%s; ExtY *outputs; } RT_MODEL;
void ctl_initialize(RT_MODEL *const rtM);
void ctl_step(RT_MODEL *const rtM);
"""
MODEL = """#include "ctl.h"
void ctl_step(RT_MODEL *const rtM) {
  DW *d = rtM->dwork;
  if (rtM->%s->key) { if (d->t < rtM->defaultParam->lim) d->t++; else d->mode = 1; } else { d->t = 0; d->mode = 0; }
  rtM->outputs->lamp = d->mode;
}
void ctl_initialize(RT_MODEL *const rtM) { rtM->dwork->t = 0; rtM->dwork->mode = 0; }
"""


@pytest.mark.needs_compiler
@pytest.mark.parametrize(("kind", "member"), [("ExtU", "inputs"), ("signals", "from_outside")])
def test_the_recipe_for_pointers_leads_to_a_chain(kind: str, member: str, tmp_path: Path) -> None:
    """Followed as it is printed: the harness, init again, check, generate."""
    sources = {"inc/ctl.h": MODEL_H % (kind, kind, member), "src/ctl.c": MODEL % member}
    write_files(tmp_path, {f"rtm/{name}": source for name, source in sources.items()})
    assert chaincover("init", "rtm", "-o", "rtm/c.toml", cwd=tmp_path).code == 0
    text = (tmp_path / "rtm" / "c.toml").read_text()
    assert "beside this file, and run the same 'chaincover init' again with --force:" in text
    recipe = text[text.index("#   #include") : text.index("#   }\n")].replace("#   ", "") + "}\n"
    assert "static P the_defaultParam = {0};   /* write its values here */\n" in recipe
    write_files(tmp_path, {"rtm/harness.c": recipe.replace("{0}", "{3}")})
    again = chaincover("init", "rtm", "-o", "rtm/c.toml", "--force", cwd=tmp_path)
    assert again.out.splitlines()[0].endswith("step ctl_step(), init setup()")
    text = (tmp_path / "rtm" / "c.toml").read_text()
    assert f'input = ["the_{member}.key"]\n' in text
    assert 'state = ["the_defaultParam.lim", "the_dwork.*"]\noutput = ["the_outputs.lamp"]\n' in text
    assert "harness.c beside" not in text
    assert "without values" not in text
    checked = chaincover("check", "rtm/c.toml", "--compare", "40", cwd=tmp_path)
    assert (checked.code, checked.err) == (0, "")
    goal = "cover(prev(the_outputs.lamp) == 1)"
    generated = chaincover("generate", "rtm/c.toml", "--property", goal, "--json", cwd=tmp_path)
    assert (generated.code, generated.json["chain"]["length"]) == (0, 5)


def test_a_recipe_connects_what_is_left(tmp_path: Path) -> None:
    """Beside a setup that connects a part: what it leaves, in a function and a file of other names."""
    part = "static DW mine;\nvoid setup(RT_MODEL *rtM) { rtM->dwork = &mine; ctl_initialize(rtM); }\n"
    files = {"inc/ctl.h": MODEL_H % ("ExtU", "ExtU", "inputs"), "src/ctl.c": MODEL % "inputs"}
    files["harness.c"] = '#include "inc/ctl.h"\n' + part
    text = proposed_text(tmp_path, dict(files))
    assert "For that write harness2.c beside this file" in text
    assert "#   void setup2(RT_MODEL *rtM) {\n#     rtM->defaultParam = &the_defaultParam;\n" in text
    assert "#     setup(rtM);\n#   }\n" in text
    assert "the_dwork" not in text


NODE = "typedef struct { int a; } inC_node_pack;\ntypedef struct { int n; } outC_node_pack;\n"
INNER_INIT = (
    NODE
    + "void node_reset_pack(outC_node_pack *outC) { outC->n = 0; }\n"
    + "void node_init_pack(outC_node_pack *outC) { outC->n = 1; }\n"
    + "void node_pack(inC_node_pack *inC, outC_node_pack *outC) { outC->n += inC->a; }\n"
)
BY_VALUE = (
    "typedef struct { int *dwork; } RT_MODEL_X_T;\nstatic int n;\n"
    "void X_initialize(RT_MODEL_X_T *X_M, unsigned char *up) { *up = 0; n = 0; }\n"
    "void X_step(RT_MODEL_X_T *X_M, unsigned char up) { n += up; }\n"
)


LONG = "SeatBeltReminderControl_"
CUT = f"static int n;\nvoid {LONG}initial(void) {{ n = 1; }}\nvoid {LONG}step(void) {{ n++; }}\n"
CUT_BEFORE = (
    "static int n;\nvoid stm32f207_template_a_initialize(void) { n = 1; }\n"
    "void stm32f207_template_app_ver_step(void) { n++; }\n"
)
RTE = "typedef unsigned char boolean;\nextern boolean Rte_IRead_Lamp_Control_10ms_Button(void);\nstatic int n;\n"
RUNNABLE = "void Lamp_Control_10ms(void) { if (Rte_IRead_Lamp_Control_10ms_Button()) n++; }\n"
COMPONENT = RTE + "void Door_Init(void) { n = 3; }\n" + RUNNABLE
ONLY = RTE + "void Startup_Init(void) { n = 3; }\n" + RUNNABLE
INSTANCE = (
    "typedef void *Rte_Instance;\nextern int Rte_IRead_Run_Button(Rte_Instance self);\nstatic int n;\n"
    "void Door_Init(Rte_Instance self) { (void)self; n = 3; }\n"
    "void Run(Rte_Instance self) { n += Rte_IRead_Run_Button(self); }\n"
)


@pytest.mark.parametrize(
    ("code", "init"),
    [
        (INNER_INIT, "node_init_pack"),
        (BY_VALUE, "X_initialize"),
        (CUT, "SeatBeltReminderControl_initial"),
        (CUT_BEFORE, "stm32f207_template_a_initialize"),
        (COMPONENT, "Door_Init"),
        (ONLY, "Startup_Init"),
        (INSTANCE, "Door_Init"),
    ],
)
def test_inits_are_found(code: str, init: str, tmp_path: Path) -> None:
    """A package's name after the word, addresses of what the step takes by value, names cut at 31 characters, and
    AUTOSAR components, whose init is named like the file and not like the runnable.
    """
    assert f'init = ["{init}"]' in proposed_text(tmp_path, {"Door.c": code})


def test_of_several_inits_in_a_file_none_is_guessed(tmp_path: Path) -> None:
    """Neither is named like the step or the file."""
    code = (
        "static int n, m;\nvoid a_init(void) { n = 1; }\nvoid b_init(void) { m = 1; }\nvoid X_step(void) { n += m; }\n"
    )
    assert '# init = ["..."]' in proposed_text(tmp_path, {"x.c": code})


def test_the_step_is_the_node_for_which_the_others_work(tmp_path: Path) -> None:
    """SCADE KCG: several nodes with inputs and contexts of their own; inits and resets of nodes are no steps."""
    node = (
        "typedef struct {{ int in; }} inC_{0}_pack;\ntypedef struct {{ int out; int n; }} outC_{0}_pack;\n"
        "void {0}_init_pack(outC_{0}_pack *outC) {{ outC->n = 0; }}\n"
        "void {0}_reset_pack(outC_{0}_pack *outC) {{ outC->n = 0; }}\n"
    )
    leaf = "void {0}_pack(inC_{0}_pack *inC, outC_{0}_pack *outC) {{ outC->n += inC->in; outC->out = outC->n & 1; }}\n"
    count = "static int count(int a, int b) { return (a + b) & 7; }\n"
    root = "void Root_pack(inC_Root_pack *inC, outC_Root_pack *outC) { outC->n = count(outC->n, inC->in); }\n"
    code = (node + leaf).format("Converter") + node.format("Root") + count + root
    write_files(tmp_path, {"nodes.c": code})
    outcome = chaincover("init", ".", cwd=tmp_path)
    assert "step Root_pack(), init Root_init_pack()" in outcome.out
    assert "- the step may be another function, too: Converter_pack (--step NAME)" in outcome.out
    assert "_init_pack (SCADE" not in (tmp_path / "chaincover.toml").read_text()


HEPTAGON = (
    "typedef struct { int lamp; } N_out;\ntypedef struct { int mode; int t; } N_mem;\n"
    "void N_step(int up, N_out *_out, N_mem *self) {\n"
    "  if (up) { self->mode = !self->mode; self->t = 0; } else if (self->t < 9) self->t++;\n"
    "  _out->lamp = self->mode && self->t < 5; }\n"
)


@pytest.mark.parametrize("choice", ["zeroed", "chosen"])
def test_a_context_that_nothing_sets(choice: str, tmp_path: Path) -> None:
    """Zeroed memory and values that the tester chooses are proposed; either works as it is written."""
    write_files(tmp_path, {"n.c": HEPTAGON})
    outcome = chaincover("init", ".", cwd=tmp_path)
    assert "- nothing sets these before the first step: self->mode, self->t" in outcome.out
    text = (tmp_path / "chaincover.toml").read_text()
    assert f'\n# {choice} = ["self->*"]\n' in text
    write_files(tmp_path, {"chaincover.toml": text.replace(f"# {choice} =", f"{choice} =")})
    checked = chaincover("check", ".", "--json", "--compare", "40", cwd=tmp_path)
    assert (checked.code, checked.err) == (0, "")
    is_open = {row["name"]: row["open"] for row in json.loads(checked.out)["state"] if row["role"] == "state"}
    assert is_open == dict.fromkeys(("self->mode", "self->t"), choice == "chosen")


def test_final_conditions_can_come_true(tmp_path: Path) -> None:
    """A state with a first-cycle flag never is like the one after init: a mode is proposed that a chain can end in."""
    code = (
        "typedef struct { unsigned char is_active_c1, is_c1; } DW_X;\ntypedef struct { int up; } ExtU_X;\n"
        "DW_X X_DW;\nExtU_X X_U;\nvoid X_initialize(void) { X_DW.is_active_c1 = 0; X_DW.is_c1 = 0; }\n"
        "void X_step(void) { if (!X_DW.is_active_c1) { X_DW.is_active_c1 = 1; X_DW.is_c1 = 2; }\n"
        "  else if (X_U.up) X_DW.is_c1 = X_DW.is_c1 == 2 ? 1 : 2; }\n"
    )
    text = proposed_text(tmp_path, {"x.c": code})
    assert "# no later state is like the one after init: the first step changes X_DW.is_active_c1 for good" in text
    assert '# condition = "X_DW.is_c1 == 2"   # as after a first step with all inputs at rest' in text
    proposed = text.replace("# condition", "condition") + '[[property]]\ntext = "cover(is_c1 == 1)"\n'
    write_files(tmp_path, {"chaincover.toml": proposed})
    assert chaincover("generate", ".", "-q", cwd=tmp_path).code == 0


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("#define X_IN_Off ((unsigned char)1U)\n#define X_IN_On ((unsigned char)2U)\n", "X_IN_On"),
        ("enum { X_IN_Off = 1, X_IN_On };\n", "X_IN_On"),
        ("#define X_IN_Off 1\n#define X_IN_On (1 + 1)\n", "2"),
    ],
    ids=["macros", "enumerators", "a macro that is no number"],
)
def test_a_mode_at_the_end_has_the_name_that_the_code_gives_it(given: str, shown: str, tmp_path: Path) -> None:
    code = (
        "typedef struct { unsigned char is_active_c1, is_c1; } DW_X;\ntypedef struct { int up; } ExtU_X;\n"
        "DW_X X_DW;\nExtU_X X_U;\nvoid X_initialize(void) { X_DW.is_active_c1 = 0; X_DW.is_c1 = 0; }\n"
        "void X_step(void) { if (!X_DW.is_active_c1) { X_DW.is_active_c1 = 1; X_DW.is_c1 = X_IN_On; }\n"
        "  else if (X_U.up) { if (X_DW.is_c1 == X_IN_On) X_DW.is_c1 = X_IN_Off; else X_DW.is_c1 = X_IN_On; } }\n"
    )
    text = proposed_text(tmp_path, {"x.c": given + code})
    assert f'# condition = "X_DW.is_c1 == {shown}"' in text
    proposed = text.replace("# condition", "condition") + '[[property]]\ntext = "cover(is_c1 == 1)"\n'
    write_files(tmp_path, {"chaincover.toml": proposed})
    assert chaincover("generate", ".", "-q", cwd=tmp_path).code == 0


def test_parameters_of_a_program_without_inputs(tmp_path: Path) -> None:
    """They are the only values that can be set; where there is an input they stay what they are."""
    code = "typedef struct { int limit; int spare; } P_X;\nP_X X_P = { 5, 7 };\nstatic int n;\n"
    step = "void X_step(void) { n = n < X_P.limit ? n + 1 : 0; }\n"
    text = proposed_text(tmp_path, {"x.c": code + step})
    assert "# X_P.limit: a parameter that nothing in the program writes; there are no other inputs" in text
    assert 'input = ["X_P.limit"]' in text
    more = "int up;\nvoid X_step(void) { n = up && n < X_P.limit ? n + 1 : 0; }\n"
    assert 'input = ["up"]' in proposed_text(tmp_path, {"x.c": code + more}, ".", "--force")


def test_nothing_that_looks_like_an_input_is_asked_about(tmp_path: Path) -> None:
    write_files(tmp_path, {"x.c": STEP})
    assert (
        "- nothing looks like an input: a program without inputs has one run only"
        in chaincover("init", ".", cwd=tmp_path).out
    )


def test_what_cannot_be_read_is_asked_about(tmp_path: Path) -> None:
    """A file that may hold the step, and a step that is not read yet."""
    write_files(tmp_path, {"x.c": STEP.replace("n++", "goto e; { e: n++; }"), "main.c": '#include "iostream"\n'})
    told = chaincover("init", ".", cwd=tmp_path).out
    assert "- the step cannot be read yet: x.c:3:21: unsupported C construct: goto" in told
    assert "- main.c cannot be read, and nothing in it was considered: main.c:1: header 'iostream' not found" in told


def test_long_interfaces_are_told_in_short(tmp_path: Path) -> None:
    """AUTOSAR: many ports and many states; what every port is called twice is written once."""
    ports = [f"Speed{n}" for n in range(14)]
    reads = "".join(f"unsigned char Rte_Read_Door_{p}_{p}(boolean *u);\n" for p in ports)
    states = "".join(
        f"  boolean tmp{n}; (void)Rte_Read_Door_{p}_{p}(&tmp{n}); d.s{n} ^= tmp{n};\n" for n, p in enumerate(ports)
    )
    outs = "".join(f" boolean s{n}; boolean o{n};" for n in range(14))
    sums = "".join(f"  d.o{n} = !d.s{n};\n" for n in range(14))
    code = (
        "typedef unsigned char boolean;\n"
        + reads
        + f"static struct {{{outs} }} d;\nvoid Door_Step(void) {{\n{states}{sums}}}\n"
    )
    text = proposed_text(tmp_path, {"Door.c": code})
    assert "#   it calls 14 functions Rte_Read_*" in text
    assert "\n# input: 14 variables, by the way the code uses them" in text
    assert "\n# state: 14 variables, by the way the code uses them: 14 of d\n" in text
    assert '"Speed3" = [0, 1]   # boolean' in text
    assert "is given no values but" not in text
    assert "the result 0: 14 of Rte_Read_* (" in text
    property_text = '[[property]]\ntext = "cover(Speed3 && !s3)"\n'
    write_files(tmp_path, {"chaincover.toml": text + property_text})
    assert chaincover("check", ".", "--compare", "20", cwd=tmp_path).code == 0


PUMP_H = """#include <stdbool.h>
typedef enum { IDLE, FILL, DONE, FAULT } state_t;
typedef struct { unsigned char limit; bool dry; } settings_t;
typedef struct { unsigned char level; bool leak; } sensors_t;
typedef struct { state_t state; unsigned char t; settings_t settings; } pump_t;
void pump_init(pump_t *p, sensors_t *s, settings_t settings, int trim);
void pump_start(pump_t *p);
void pump_set(pump_t *p, unsigned char t);
bool pump_done(const pump_t *p);
int pump_tick(pump_t *p, const sensors_t *x, sensors_t *s);
"""
PUMP = """#include "pump.h"
void pump_init(pump_t *p, sensors_t *s, settings_t settings, int trim) {
  p->state = IDLE; p->t = (unsigned char)trim; p->settings = settings; s->level = 0; s->leak = 0;
}
void pump_start(pump_t *p) { if (p->state == IDLE) p->state = FILL; }
void pump_set(pump_t *p, unsigned char t) { p->t = t; }
bool pump_done(const pump_t *p) { return p->state == DONE; }
int pump_tick(pump_t *p, const sensors_t *x, sensors_t *s) {
  if (p->state == FILL) {
    p->t++;
    if (s->level > 9) p->state = DONE; else if (p->t >= p->settings.limit) p->state = FAULT;
  }
  return s->leak && !x->leak;
}
"""


@pytest.mark.needs_compiler
def test_values_of_an_init_and_calls_of_the_environment(tmp_path: Path) -> None:
    """A file to copy makes them a setup and a step; with it in the folder the same command gives a project."""
    files: dict[str, str | bytes] = {"lib/pump.h": PUMP_H, "lib/pump.c": PUMP}
    write_files(tmp_path, files)
    told = chaincover("init", "lib", "-o", "chaincover.toml", cwd=tmp_path).out
    assert "step pump_tick(), init pump_init()" in told
    assert "- pump_init() takes values that only you know: settings, trim (see the recipe in [functions])" in told
    assert "- the environment may call pump_start, pump_set, too (see the recipe in [functions])" in told
    text = (tmp_path / "chaincover.toml").read_text()
    assert '\n# init = ["setup"]' in text
    recipe = text[text.index("#   #include") : text.index("# int pump_tick(")].replace("#   ", "")
    assert recipe == (
        '#include "lib/pump.h"\n'
        "void setup(pump_t *p, sensors_t *s) {\n"
        "  settings_t settings = {0};   /* write its value here */\n"
        "  int trim = 0;   /* write its value here */\n"
        "  pump_init(p, s, settings, trim);\n"
        "}\n"
        "int tick(pump_t *p, const sensors_t *x, sensors_t *s, _Bool call_pump_start, _Bool call_pump_set, "
        "unsigned char pump_set_t) {\n"
        "  if (call_pump_start) pump_start(p);\n"
        "  if (call_pump_set) pump_set(p, pump_set_t);\n"
        "  return pump_tick(p, x, s);\n"
        "}\n"
    )
    write_files(tmp_path, {"harness.c": recipe.replace("settings = {0}", "settings = {5, 0}")})
    assert "and run the same 'chaincover init' again with harness.c and --force:" in text
    again = chaincover("init", "lib", "harness.c", "-o", "chaincover.toml", "--force", cwd=tmp_path)
    assert (
        again.out
        == "written by hand: step tick(), init setup()\nwrote chaincover.toml; next: chaincover check chaincover.toml\n"
    )
    text = (tmp_path / "chaincover.toml").read_text()
    assert "# s->level: the step changes nothing of what it stands in" in text
    goal = '[[property]]\ntext = "cover(p->state == FAULT && prev(p->state) == FILL)"\n'
    write_files(tmp_path, {"chaincover.toml": text + goal})
    generated = chaincover("generate", ".", "--json", cwd=tmp_path)
    assert (generated.code, generated.json["chain"]["length"]) == (0, 2)


def test_what_a_step_is_given_once_is_no_input(tmp_path: Path) -> None:
    """Settings that init sets, by the name of their type, and what the step cannot change."""
    code = (
        "typedef struct { int limit; } config_t;\ntypedef struct { int n; } state_t;\n"
        "typedef struct { int up; } in_t;\n"
        "void X_init(config_t *c, state_t *s, in_t *i) { c->limit = 5; s->n = 0; i->up = 0; }\n"
        "void X_step(config_t *c, state_t *s, in_t *i) { if (i->up && s->n < c->limit) s->n++; }\n"
    )
    assert 'input = ["i->up"]' in proposed_text(tmp_path, {"x.c": code})


def test_a_function_block_of_a_programmable_controller(tmp_path: Path) -> None:
    """MatIEC: names with underscores at their end, and an init that takes whether values are retained."""
    code = (
        "typedef unsigned char BOOL;\ntypedef struct { BOOL START; int N; } PROGRAM0;\n"
        "void PROGRAM0_init__(PROGRAM0 *data__, BOOL retain) { if (!retain) { data__->N = 0; } data__->START = 0; }\n"
        "void PROGRAM0_body__(PROGRAM0 *data__) { if (data__->START && data__->N < 9) data__->N++; }\n"
    )
    text = proposed_text(tmp_path, {"POUS.c": code})
    assert 'step = "PROGRAM0_body__"' in text
    assert "# PROGRAM0_init__() takes BOOL retain: values that only you know." in text
    assert "# For that write this at the end of POUS.c, and run the same 'chaincover init' again with --force:" in text


def test_members_that_init_clears_are_inputs_where_there_are_no_others(tmp_path: Path) -> None:
    """Gene-Auto: inputs and outputs stand in one structure, all of which init sets."""
    code = (
        "typedef struct { int up; int lamp; } t_io;\ntypedef struct { int n; } t_state;\n"
        "void L_init(t_io *io, t_state *s) { io->up = 0; io->lamp = 0; s->n = 0; }\n"
        "void L_compute(t_io *io, t_state *s) { if (io->up && s->n < 9) s->n++; io->lamp = s->n > 3; }\n"
    )
    text = proposed_text(tmp_path, {"x.c": code})
    assert 'input = ["io->up"]' in text
    assert "# io->up: the step reads it and never writes it; there are no other inputs" in text


NAMED_LIKE_PROPERTIES = (
    "static int n;\nvoid p_init(void) { n = 0; }\nstatic int p_next(int m) { return m < 3 ? m + 1 : 0; }\n"
    "void p_step(int up) { if (up) n = p_next(n); }\n"
)


@pytest.mark.parametrize("more", ["", "void p_terminate(void) { n = 9; }\n"])
def test_a_program_whose_functions_are_named_like_properties(tmp_path: Path, more: str) -> None:
    """What init and step run is no property by its name, nor is what neither assumes nor asserts."""
    text = proposed_text(tmp_path, {"x.c": NAMED_LIKE_PROPERTIES + more})
    assert 'init = ["p_init"]' in text
    assert 'step = "p_step"' in text
    checked = chaincover("check", ".", "--compare", "0", cwd=tmp_path)
    assert (checked.code, checked.err) == (0, "")


def test_a_property_beside_such_functions_is_one(tmp_path: Path) -> None:
    prop = "void __CPROVER_assume(int);\nvoid p_1(int up) { __CPROVER_assume(n == 3 && up); p_step(up); }\n"
    proposed_text(tmp_path, {"x.c": NAMED_LIKE_PROPERTIES + prop})
    told = chaincover("check", ".", "--compare", "0", "--json", cwd=tmp_path)
    assert [goal["name"] for goal in told.json["goals"]] == ["p_1"]


def test_a_function_that_is_no_property_is_told_with_the_pattern(tmp_path: Path) -> None:
    text = proposed_text(tmp_path, {"x.c": NAMED_LIKE_PROPERTIES + "void p_terminate(void) { n = 9; }\n"})
    write_files(tmp_path, {"chaincover.toml": text.replace("properties = []", "#")})
    told = chaincover("check", ".", "--compare", "0", cwd=tmp_path)
    assert told.code == 3
    assert "the property function 'p_terminate' never calls 'p_step'" in told.err
    assert "'p_terminate' is read as a property because functions.properties has 'p_*'" in told.err


LACKING = """\
#include "vendor.h"
static int mode;
void ctl_init(void) { mode = 0; }
void ctl_step(int on) { if (on) mode = !mode; }
"""


def test_files_that_cannot_be_read_are_guessed_beside_those_that_can(tmp_path: Path) -> None:
    # one readable file kept every other from being looked at
    write_files(tmp_path, {"a.c": LACKING, "b.c": 'const char *version = "1.0";\n'})
    told = chaincover("init", ".", cwd=tmp_path).out
    assert "step ctl_step(), init ctl_init()" in told
    assert "a.c:1: header 'vendor.h' not found" in told


def test_no_file_that_cannot_be_read_is_without_its_reason(tmp_path: Path) -> None:
    files = {"a.c": STEP, "x.c": '#include "one.h"\nint x(int a) { return a; }\n', "y.c": "this is no C\n"}
    write_files(tmp_path, {**files, "z.c": '#include "one.h"\nint z(int a) { return a; }\n'})
    told = chaincover("init", ".", cwd=tmp_path).out
    assert "step X_step()" in told
    assert "cannot be read yet" not in told
    assert (
        "- x.c cannot be read, and it seems that step and init do not need it: x.c:1: header 'one.h' not found" in told
    )
    assert "- y.c cannot be read, and nothing in it was considered: y.c:1" in told
    assert "- z.c cannot be read" in told
    text = (tmp_path / "chaincover.toml").read_text()
    assert "left out: x.c: neither step nor init needs it, as far as can be guessed" in text


def test_where_no_step_is_found_each_unreadable_file_is_named(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.c": "int n;\n", "b.c": "this is no C\n", "c.c": "nor is this\n"})
    told = chaincover("init", ".", cwd=tmp_path).err
    assert "no function looks like the step of a controller" in told
    assert "b.c:1" in told
    assert "c.c:1" in told


ESTEREL = """\
static int on, E;
void M_I_SECOND(void) { on = 1; }
void M_I_LEVEL(int v) { E = v; on = 1; }
void M_reset(void) { on = 0; E = 0; }
int M(void) { if (on && E > 3) E = 0; on = 0; return E; }
"""


def test_setters_of_an_esterel_module_are_calls_of_the_environment(tmp_path: Path) -> None:
    write_files(tmp_path, {"m.c": ESTEREL})
    told = chaincover("init", "m.c", "-o", "p.toml", cwd=tmp_path).out
    assert "step M(), init M_reset()" in told
    assert "the environment may call M_I_SECOND, M_I_LEVEL" in told
    text = (tmp_path / "p.toml").read_text()
    recipe = [line.removeprefix("#   ") for line in text.splitlines() if line.startswith("#   ")]
    (tmp_path / "m.c").write_text(
        ESTEREL + "\n".join(line for line in recipe if "tick" in line or "M_I" in line) + "\n  return M();\n}\n"
    )
    assert "step tick()" in chaincover("init", "m.c", "-o", "p.toml", "--force", cwd=tmp_path).out
    assert '"call_M_I_SECOND"' in (tmp_path / "p.toml").read_text()


def test_the_restart_function_of_targetlink_is_an_init(tmp_path: Path) -> None:
    code = "static int x; int u, y;\nvoid RESTART_pid(void) { x = 7; }\nvoid pid(void) { x += u; y = x; }\n"
    write_files(tmp_path, {"pid.c": code})
    assert "step pid(), init RESTART_pid()" in chaincover("init", "pid.c", cwd=tmp_path).out


def test_a_step_whose_calls_do_not_fit_comes_after_one_whose_calls_fit(tmp_path: Path) -> None:
    # two generations of one program in a folder
    old = "int Inner(int a); int n;\nvoid Ctl(int a) { n = Inner(a); }\n"
    new = "int Inner(int a, int b) { return a + b; }\nint m;\nvoid Ctl_New(int a, int b) { m = Inner(a, b); }\n"
    write_files(tmp_path, {"a.c": old, "b.c": new})
    assert "step Ctl_New()" in chaincover("init", ".", cwd=tmp_path).out
    assert "calls Inner() with another number of arguments" in (tmp_path / "chaincover.toml").read_text()


def test_a_database_that_is_not_followed_is_told_beside_what_follows_from_that(tmp_path: Path) -> None:
    entry = {"directory": str(tmp_path), "file": "door.c", "command": "gcc -ffast-math -DLIMIT=3 -c door.c"}
    code = "int n; void door_step(int x) { n = x > LIMIT; }\n"
    write_files(tmp_path, {"door.c": code, "compile_commands.json": json.dumps([entry])})
    made = chaincover("init", ".", cwd=tmp_path)
    told = (made.out + made.err).splitlines()
    first = next(number for number, line in enumerate(told) if line.startswith("- "))
    assert told[first].startswith("- the compilation database is not followed: ")
    assert "-ffast-math" in told[first]
    assert any("unknown name 'LIMIT'" in line for line in told[first + 1 :])


def test_inline_assembly_that_changes_nothing_is_listed(tmp_path: Path) -> None:
    """Of other instructions nothing is guessed."""
    known = 'static int n; void step(int x) { __asm volatile ("cpsid i" ::: "memory"); n = x; __asm ("nop\\n\\twfi"); }'
    (tmp_path / "c.c").write_text(known)
    found = propose([str(tmp_path / "c.c")], tmp_path)
    assert 'assembly = ["cpsid i", "nop; wfi"]' in found.text
    assert found.reading.model is not None
    (tmp_path / "c.c").write_text(known.replace("wfi", "str r0, [r1]"))
    found = propose([str(tmp_path / "c.c")], tmp_path)
    assert 'assembly = ["cpsid i"]' in found.text
    assert "inline assembly 'nop; str r0, [r1]'" in found.reading.problem


def test_where_the_run_is_called_off_before_a_step_is_known_the_files_and_candidates_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"a.c": "static int n;\nvoid helper(void) { n++; }\nvoid motor_step(void)\n{ helper(); }\n"})

    def called_off(*given: object) -> object:
        ending.call_off(ending.TIME_LIMIT)
        raise KeyboardInterrupt

    monkeypatch.setattr("chaincover.project.scaffold.sources._file_facts", called_off)
    ending.begin()
    try:
        found = propose([str(tmp_path / "a.c")], tmp_path)
    finally:
        ending.begin()
    assert 'files = ["a.c"]' in found.text
    assert "# may be the step, by its name: motor_step, a.c" in found.text
    assert any("not read to the end: time limit" in question for question in found.questions)
    assert any("motor_step" in question and "helper" not in question for question in found.questions)


def test_the_step_of_a_plc_program_runs_all_its_tasks(tmp_path: Path) -> None:
    tasks = (
        "static int n;\nvoid config_init__(void) { n = 0; }\nvoid config_run__(unsigned long tick) { n += tick & 1; }\n"
    )
    main = "void config_run__(unsigned long);\nstatic unsigned long ticks;\nstatic int ratio;\n"
    main += "void __run(void) { ticks++; config_run__(ticks); }\nstatic void help(int by) { ratio += by; }\n"
    main += "void align_tick(int by) { help(by); ratio++; }\nvoid __init(void) { ratio = 0; }\n"
    write_files(tmp_path, {"Config0.c": tasks, "plc_main.c": main})
    reading = propose([str(tmp_path)], tmp_path).reading
    assert reading is not None
    assert reading.proposal.step.name == "config_run__"
    assert [function.name for function, _ in reading.init] == ["config_init__"]
