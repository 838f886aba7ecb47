"""Generated C with state that makes no difference: what ``check`` says of it, and chains back to init."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import chaincover, fresh_names
from live_programs import NODE, NODE_PROJECT, PLANT, PLANT_PROJECT

from bmc.errors import listed
from chaincover.certificate import from_data
from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.report.console_variables import grouped
from chaincover.subject import Subject, like_init


@pytest.fixture(autouse=True)
def names_of_its_own() -> Iterator[None]:
    """Programs here give plain names to their variables, as others do."""
    with fresh_names():
        yield


def write(folder: Path, code: str, project: str, name: str) -> Path:
    (folder / f"{name}.c").write_text(code)
    place = folder / f"{name}.toml"
    place.write_text(project)
    return place


def subject(folder: Path, code: str, project: str, name: str) -> Subject:
    return load(read_project(str(write(folder, code, project, name))))


def compared(read: Subject) -> list[str]:
    return [var.name for var in like_init(read.system, read.observers)]


def test_check_tells_live_dead_and_constant_state(tmp_path: Path) -> None:
    place = write(tmp_path, PLANT, PLANT_PROJECT, "plant")
    out = chaincover("check", "-v", place, "--compare", "0").out
    lines = out[out.index("live at") : out.index("goals that")].splitlines()
    assert lines == [
        "live at the start of a step, 3 of 13: plant_Y.lamp, plant_DW.is_c1_plant, plant_DW.ticks",
        "dead at the start of a step, 7: plant_B.* (5), plant_DW.UnitDelay_DSTATE, plant_DW.calls (nothing that is "
        "observed ever depends on their value there)",
        "of these read, but only by themselves or each other, 5: plant_B.Gain, plant_B.Delay[0], plant_B.Delay[1], "
        "plant_B.Total, plant_DW.calls (such as a total that nothing else reads)",
        "never change, 2: plant_P.Gain_Gain = 3, plant_P.Limit = 4",
        "a state like the one after init has as then: plant_Y.lamp, plant_DW.is_c1_plant, plant_DW.ticks",
        "the goals and the final condition depend on 4 of 13 state variables and 3 of 4 inputs; the search leaves out "
        "the rest",
        "inputs that nothing depends on: plant_U.spare",
    ]
    found = chaincover("check", place, "--compare", "0", "--json").json["liveness"]
    assert found["constant"] == {"plant_P.Gain_Gain": "3", "plant_P.Limit": "4"}
    assert found["dead"][:3] == ["plant_B.Gain", "plant_B.Delay[0]", "plant_B.Delay[1]"]
    assert found["goals_depend_on"]["inputs"] == ["plant_U.start", "plant_U.stop", "plant_U.demand"]
    assert (found["observed"], found["live_only_for_validity"]) == (True, [])


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--engine", "sat"]])
def test_a_chain_goes_back_to_init_whatever_dead_counters_say(tmp_path: Path, options: list[str]) -> None:
    """plant_DW.calls grows with every step, and was 0 after init."""
    place = write(tmp_path, PLANT, PLANT_PROJECT, "plant")
    outcome = chaincover("generate", place, "-o", tmp_path / "out", "--json", *options)
    assert outcome.code == 0
    document = outcome.json
    assert (document["bounds"]["length"], document["bounds"]["minimal"]) == (7, True)
    last = document["chain"]["steps"][-1]["state"]
    assert (last["plant_DW.calls"], last["plant_DW.is_c1_plant"], last["plant_P.Limit"]) == (7, 1, 4)
    checked = chaincover("verify", place, tmp_path / "out", "--json")
    assert checked.code == 0
    lines = {line["check"]: line for line in checked.json["checks"]}
    assert lines["invariants"]["verdict"] == "holds"
    assert "never change: plant_P.Gain_Gain, plant_P.Limit: true" in lines["invariants"]["text"]
    proof = from_data(json.loads((tmp_path / "out" / "chain.json").read_text())["certificate"])
    assert lines["edges"]["verdict"] == ("holds" if proof.edges else "not claimed")


def test_a_wrong_claim_of_constants_is_found_out(tmp_path: Path) -> None:
    place = write(tmp_path, PLANT, PLANT_PROJECT, "plant")
    chaincover("generate", place, "--no-replay", "-o", tmp_path)
    file = tmp_path / "chain.json"
    text = file.read_text()
    for wrong in ("plant_P.Gain_Gain, plant_DW.ticks", "plant_P.Gain_Gain, plant_U.start"):
        file.write_text(text.replace("plant_P.Gain_Gain, plant_P.Limit", wrong))
        checked = chaincover("verify", place, file, "--json")
        assert checked.code == 7
        assert {line["check"]: line["verdict"] for line in checked.json["checks"]}["invariants"] == "WRONG"


def test_locals_in_a_context_are_dead(tmp_path: Path) -> None:
    read = subject(tmp_path, NODE, NODE_PROJECT, "node")
    assert compared(read) == ["outC->M_pre", "outC->first"]
    place = tmp_path / "node.toml"
    out = chaincover("check", "-v", place, "--compare", "0").out
    assert "\ndead at the start of a step, 2: outC->_L12, outC->_L7 (" in out
    assert "never change" not in out
    result = chaincover("generate", place, "-o", tmp_path / "out")
    assert (result.code, "one chain of 2 steps" in result.out) == (0, True)


HELD = """
unsigned int lamp; unsigned int mode; unsigned int mirror; unsigned int shown;
void init(void) { lamp = 1; mode = 0; mirror = 0; shown = 0; }
void compute(int on, int off)
{
    if (on) { lamp = 2; mode = 1; }
    if (off) { mode = 0; }
    mirror = mode;
    shown = mirror + lamp;
}
"""


def test_a_held_output_is_compared_only_where_the_outside_sees_it(tmp_path: Path) -> None:
    project = '[sources]\nfiles = ["c.c"]\n[interface]\n{}\n[[property]]\nid = "a"\ntext = "cover(mode == 1)"\n'
    names = {
        "": ["lamp", "mode"],  # nothing is declared: what is written and never read is an output
        'output = ["lamp"]': ["lamp", "mode"],
        'output = ["shown"]': ["lamp", "mode"],
        'output = ["mirror"]': ["mode"],
        'output = ["lamp"]\nignore = ["mode"]': ["lamp"],
    }
    for interface, expected in names.items():
        assert compared(subject(tmp_path, HELD, project.format(interface), "c")) == expected


SET_LATER = """
typedef struct { int level; int held; } S;
void init(S *s) { s->level = 0; }
void compute(S *s, int on) { if (on) { s->held = on; s->level = s->held; } }
"""


def test_what_init_leaves_open_is_not_compared(tmp_path: Path) -> None:
    project = '[sources]\nfiles = ["c.c"]\n[[property]]\nid = "a"\ntext = "cover(level == 1)"\n'
    assert compared(subject(tmp_path, SET_LATER, project, "c")) == ["s->level"]


OVERFLOW = """
int total; unsigned char mode;
void init(void) { total = 0; mode = 0; }
void compute(unsigned char on) { total = total + on; mode = on; }
"""


def test_state_that_matters_for_undefined_behaviour_only_is_named(tmp_path: Path) -> None:
    project = (
        '[sources]\nfiles = ["c.c"]\n[interface]\nstate = ["*"]\n[[property]]\nid = "a"\ntext = "cover(mode == 1)"\n'
    )
    place = write(tmp_path, OVERFLOW, project.replace('["*"]', '["total", "mode"]'), "c")
    out = chaincover("check", "-v", place, "--compare", "0", "--final", "init", "--effort", "0.02").out
    assert "\nlive at the start of a step, 2 of 2: total, mode\n" in out
    assert "\nof these only for undefined behaviour, 1: total\n" in out


def test_without_observers_nothing_is_called_dead(tmp_path: Path) -> None:
    code = "int n; void init(void) { n = 0; } void compute(int on) { n = n ^ on; }"
    place = write(tmp_path, code, '[sources]\nfiles = ["c.c"]\n', "c")
    out = chaincover("check", "-v", place, "--compare", "0").out
    assert "live at" not in out
    assert "dead at" not in out


def test_fields_of_one_object_are_listed_as_one() -> None:
    everything = ["a.x", "a.y", "a.z", "b->c.p", "b->c.q", "b->c.r", "b->d", "t[0]", "t[1]", "t[2]", "n"]
    assert grouped(everything, everything) == ["a.* (3)", "b->* (4)", "t[*] (3)", "n"]
    assert grouped(["a.x", "a.z"], everything) == ["a.x", "a.z"]
    assert grouped(["n", "b->c.p", "b->c.q", "b->c.r", "t[1]"], everything) == ["n", "b->c.* (3)", "t[1]"]
    assert listed([f"v{n}" for n in range(14)]).endswith("v7 and 6 more")


SWITCHED = """typedef enum { OFF, LOW, HIGH, FULL } mode_t; mode_t mode; int lamp, fan;
void init(void) { mode = OFF; lamp = 7; fan = 7; }
void compute(_Bool up) {
  switch (mode) { case OFF: lamp = 0; break; case LOW: lamp = 1; break; case HIGH: case FULL: lamp = 2; break; }
  switch (mode) { case OFF: fan = 0; break; case LOW: fan = 1; break; case HIGH: fan = 2; break; }
  if (up) { mode = mode == FULL ? OFF : (mode_t)(mode + 1); }
}
"""


def test_a_switch_over_all_values_of_a_mode_leaves_nothing_as_it_was(tmp_path: Path) -> None:
    """No default is needed where the mode is 0 to 3 in every run; in FULL the fan goes on as it was."""
    project = '[sources]\nfiles = ["switched.c"]\n[interface]\noutput = ["lamp", "fan"]\n'
    assert compared(subject(tmp_path, SWITCHED, project, "switched")) == ["mode", "fan"]
