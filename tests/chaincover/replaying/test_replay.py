"""Replay: hand-written inputs, chains that were changed afterwards, programs that were, and no compiler."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import MODELS, Outcome, chaincover, write_files
from schemas import faults
from small_programs import GOOD, HEAD, program, project

from benchmarks.checks.short_runs import short_runs
from chaincover.report.console import MANY_LINES

CRUISE = MODELS / "cruise"
WAYS = [
    pytest.param({}, marks=pytest.mark.needs_compiler, id="compiled"),
    pytest.param({"CHAINCOVER_NO_NATIVE": "1"}, id="model"),
]
COMPILED = [WAYS[0], pytest.param(*WAYS[1].values, id="model", marks=pytest.mark.evidence)]
"""The same, but replay on the model is evidence."""

LABELS = HEAD.replace("#include", "typedef enum { RED = -1, BLUE = 7 } t_colour;\n#include").replace(
    "int a;", "t_colour a;"
)
PAINT = program("if (i->b) s->n = i->a;", head=LABELS)
PAINTED = ("--property", "blue: G(a == BLUE && b -> X(n == 7))", "--property", "red: G(a == RED && b -> X(n == 7))")


def replay(folder: Path, files: dict[str, str], *options: str, path: str = "c.c", **variables: str) -> Outcome:
    write_files(folder, files)
    return chaincover("replay", path, "in.csv", *options, "--json", cwd=folder, **variables)


@pytest.mark.parametrize("way", WAYS)
def test_hand_written_inputs(way: dict[str, str], tmp_path: Path) -> None:
    """Labels, numbers in C's notations, truth values; short names in any order; other columns; empty rows."""
    rows = "step,b,n,a,goals\n0, true ,9,BLUE,x\n1,0x1,,7,\n\n2,FALSE,,RED,\n3,1,,-1,\n,,,,\n"
    outcome = replay(tmp_path, {"c.c": PAINT, "in.csv": rows}, *PAINTED, **way)
    found = outcome.json
    assert outcome.code == found["exit_code"] == 1
    assert found["steps"] == 4
    keys = ("name", "covered_at", "times", "consequent_held", "failed_at")
    assert [{key: goal[key] for key in keys} for goal in found["goals"]] == [
        {"name": "blue", "covered_at": 0, "times": 2, "consequent_held": True, "failed_at": None},
        {"name": "red", "covered_at": 3, "times": 1, "consequent_held": False, "failed_at": 3},
    ]
    assert (found["on"] == "model") == bool(way)
    assert found["remarks"] == (["replayed on the model: with --no-native nothing is compiled"] if way else [])


def test_a_failure_after_the_first_cover_is_found(tmp_path: Path) -> None:
    code = program("s->n = i->b && s->m < 1; if (i->b) s->m++;")
    goal = ("--property", "x: G(b -> X(n == 1))")
    found = replay(tmp_path, {"c.c": code, "in.csv": "a,b\n0,1\n0,1\n"}, *goal).json
    assert found["goals"][0]["covered_at"] == 0
    assert found["goals"][0]["consequent_held"] is True
    assert found["goals"][0]["failed_at"] == 1
    assert found["exit_code"] == 1


DIPS = """\
static unsigned char o, k;
void init(void) { o = 1; k = 0; }
void compute(unsigned char a) { if (k < 9) k++; o = k != 5; }
"""
"""The output o is 1, but for the step 5."""


@pytest.mark.parametrize(
    ("occurs", "deadline", "covered", "times", "failed"),
    [
        ("k == 0 || k == 2", "G[0,3](o == 1)", 3, 2, 5),  # the second one begins while the first is judged
        ("k == 0 || k == 3", "G[0,3](o == 1)", 3, 2, 5),  # it begins where that one ends
        ("k == 0 || k == 4", "G[0,3](o == 1)", 3, 2, 5),
        ("k <= 2", "G[0,2](o == 1)", 2, 3, None),
        ("k <= 3", "G[0,2](o == 1)", 2, 4, 5),
        ("k == 0 || k == 2 || k == 4", "F[0,3](o == 0)", 3, 3, 3),  # the first fails, the second holds
        ("k == 1 || k == 4", "F[0,3](o == 0)", 4, 2, 4),  # it begins where the first one fails
    ],
)
def test_each_occurrence_is_judged_where_others_are_waiting(
    occurs: str, deadline: str, covered: int, times: int, failed: int | None, tmp_path: Path
) -> None:
    files = {"c.c": DIPS, "in.csv": "a\n" + "0\n" * 8}
    outcome = replay(tmp_path, files, "--property", f"x: G({occurs} -> {deadline})", CHAINCOVER_NO_NATIVE="1")
    goal = outcome.json["goals"][0]
    assert (goal["covered_at"], goal["times"], goal["failed_at"]) == (covered, times, failed)
    assert outcome.code == (0 if failed is None else 1)


@pytest.mark.parametrize("way", WAYS)
def test_steps_that_are_not_allowed_are_named(way: dict[str, str], tmp_path: Path) -> None:
    toml = project("[constraints]\nassume = ['n < 2']\n[ranges]\na = '0..3'")
    files = {"c.c": GOOD, "chaincover.toml": toml, "in.csv": "a,b\n0,1\n4,1\n0,1\n0,0\n"}
    outcome = replay(tmp_path, files, "--property", "x: cover(n == 2)", path=".", **way)
    assert outcome.code == 1
    assert outcome.json["refused_steps"] == [
        "step 1: i->a is 4, allowed 0..3 (line 3 of in.csv)",
        "step 2 breaks the constraint 'n < 2' (s->n 2) (line 4 of in.csv)",
        "step 3 breaks the constraint 'n < 2' (s->n 3) (line 5 of in.csv)",
    ]


ALLOWED = """
typedef enum { RED = -1, BLUE = 7 } t_colour;
int level, pick, x; _Bool on, by; t_colour c;
void init(void) { x = 0; }
void step(void) { __CPROVER_assume(x < 90); x = (1 << pick) + level + on + by + (c == BLUE); }
"""
RESTRICTED = """name = "c"
sources.files = ["c.c"]
functions.init = ["init"]
functions.step = "step"
interface.input = ["level", "pick", "on", "by", "c"]
interface.state = ["x"]
ranges.level = "0..100"
ranges.pick = [0, 7, 40]
constraints.at_most_one = [["on", "by"]]
"""


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ("200,0,0,0,RED", ": level is 200, allowed 0..100"),
        ("0,5,0,0,RED", ": pick is 5, allowed 0, 7, 40"),
        ("0,0,2,0,RED", ": on is 2, allowed 0..1"),
        ("0,0,0,0,3", ": c is 3, allowed RED, BLUE"),
        ("101,1,0,0,RED", ": level is 101, allowed 0..100; pick is 1, allowed 0, 7, 40"),
        ("0,0,1,1,RED", " breaks the input constraint at_most_one = [on, by] (on 1, by 1)"),
        ("0,40,0,0,RED", " relies on undefined behaviour: shift by a negative or too large amount in '<<' at c.c:5:50"),
        ("95,0,0,0,RED\n0,0,0,0,RED", " breaks the assumption in the code at c.c:5:19"),
    ],
)
def test_what_a_step_may_not_do_is_told_with_what_is_allowed(row: str, text: str, tmp_path: Path) -> None:
    files = {"c.c": ALLOWED, "chaincover.toml": RESTRICTED, "in.csv": f"level,pick,on,by,c\n0,0,0,0,BLUE\n\n{row}\n"}
    found = replay(tmp_path, files, "--property", "x: cover(x > 0)", path=".", CHAINCOVER_NO_NATIVE="1").json
    step = 1 + row.count("\n")
    assert found["refused_steps"][:1] == [f"step {step}{text} (line {step + 3} of in.csv)"]


def test_many_steps_that_are_not_allowed_are_counted(tmp_path: Path) -> None:
    rows = "level,pick,on,by,c\n" + "200,0,0,0,RED\n" * 14
    write_files(tmp_path, {"c.c": ALLOWED, "chaincover.toml": RESTRICTED, "in.csv": rows})
    shown = chaincover("replay", ".", "in.csv", "--property", "x: cover(x > 0)", cwd=tmp_path, CHAINCOVER_NO_NATIVE="1")
    assert shown.out.count("NOT ALLOWED: step") == MANY_LINES
    assert "NOT ALLOWED: 2 more, which --json tells" in shown.out


@pytest.mark.parametrize("way", WAYS)
def test_undefined_step_is_named(way: dict[str, str], tmp_path: Path) -> None:
    code = program("s->n = 1 << i->a;")
    files = {"c.c": code, "in.csv": "a,b\n3,0\n40,0\n"}
    outcome = replay(tmp_path, files, "--property", "x: cover(n == 8)", **way)
    assert outcome.code == 1
    assert outcome.json["refused_steps"][0].startswith("step 1 ")
    assert outcome.json["goals"][0]["covered_at"] == 1


@pytest.mark.parametrize(("final", "code", "reached"), [("n == 1", 0, True), ("n == 0", 4, False), ("none", 0, None)])
def test_final_condition(final: str, code: int, reached: bool | None, tmp_path: Path) -> None:
    goal = ("--property", "x: cover(n == 0)", "--final", final)
    outcome = replay(tmp_path, {"c.c": GOOD, "in.csv": "a,b\n0,1\n"}, *goal, CHAINCOVER_NO_NATIVE="1")
    assert outcome.code == code
    assert outcome.json["final"] is reached


def test_assertions_of_the_program_are_findings(tmp_path: Path) -> None:
    code = program("assert(i->a < 9); if (i->b) s->n++;")
    outcome = replay(tmp_path, {"c.c": code, "in.csv": "a,b\n8,1\n9,1\n"}, "--property", "x: cover(n == 2)")
    assert outcome.code == 1
    assert outcome.json["assertions_failed"] == ["c.c:8:3: assertion fails in step 1"]
    assert outcome.json["goals"][0]["covered_at"] == 2


def test_the_table_of_a_chain_can_be_replayed(tmp_path: Path) -> None:
    assert chaincover("generate", CRUISE, "-o", tmp_path, "--no-replay").code == 0
    with (tmp_path / "chain.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 9
    outcome = chaincover("replay", CRUISE, tmp_path / "chain.csv", "--json", CHAINCOVER_NO_NATIVE="1")
    assert outcome.code == 0
    assert outcome.json["final"] is True
    assert all(goal["claimed_at"] is None for goal in outcome.json["goals"])


# chains that were changed afterwards


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("chain")
    assert chaincover("generate", CRUISE, "-o", folder, "--no-replay").code == 0
    document: dict[str, Any] = json.loads((folder / "chain.json").read_text())
    return document


def other_input(chain: dict[str, Any]) -> None:
    """The last step's button becomes gas: the end is not reached, and the states differ."""
    chain["steps"][-1]["inputs"] = {name: int(name == "i->gas") for name in chain["steps"][-1]["inputs"]}


def two_inputs(chain: dict[str, Any]) -> None:
    chain["steps"][0]["inputs"] = dict.fromkeys(chain["steps"][0]["inputs"], 1)


def moved_goal(chain: dict[str, Any]) -> None:
    chain["hits"][0]["step"] += 1


def goal_beyond_the_end(chain: dict[str, Any]) -> None:
    chain["hits"][0]["step"] = chain["length"]


def other_state(chain: dict[str, Any]) -> None:
    chain["steps"][4]["state"]["s->speed"] += 1


def other_label(chain: dict[str, Any]) -> None:
    chain["steps"][4]["state"]["s->mode"] = "DIS" if chain["steps"][4]["state"]["s->mode"] == "ON" else "ON"


def cut_off(chain: dict[str, Any]) -> None:
    del chain["steps"][6:]


Change = Callable[[dict[str, Any]], None]
CHANGES = [
    (other_input, "disagreements", "before step 9 's->"),
    (two_inputs, "refused_steps", "step 0 breaks the input constraint"),
    (moved_goal, "goals", ""),
    (goal_beyond_the_end, "goals", ""),
    (other_state, "disagreements", "before step 5 's->speed' is "),
    (other_label, "disagreements", "before step 5 's->mode' is "),
    (cut_off, "goals", ""),
]


@pytest.mark.slow
@pytest.mark.parametrize("way", COMPILED)
@pytest.mark.parametrize(("change", "key", "says"), CHANGES, ids=[c[0].__name__ for c in CHANGES])
def test_changed_chain_is_found_out(
    change: Change, key: str, says: str, way: dict[str, str], document: dict[str, Any], tmp_path: Path
) -> None:
    changed = json.loads(json.dumps(document))
    change(changed["chain"])
    (tmp_path / "chain.json").write_text(json.dumps(changed))
    outcome = chaincover("replay", CRUISE, tmp_path, "--json", **way)
    assert outcome.code == 1
    found = outcome.json
    if key == "goals":
        claims = {hit["goal"]: hit["step"] for hit in changed["chain"]["hits"]}
        assert any(goal["covered_at"] != claims[goal["name"]] for goal in found["goals"])
        assert not found["disagreements"] + found["refused_steps"]
    else:
        assert says in found[key][0]
    text = chaincover("replay", CRUISE, tmp_path, **way).out
    if key == "disagreements":
        assert text.startswith("the compiled original") or text.startswith("the model")
        assert re.search(r" differs from what the chain says; first difference at step [59]: s->", text)
        assert re.search(r"\n> [59] .*\(expected ", text.replace("\n ", "\n")), "the value is marked"
    else:
        assert ("the chain says" if key == "goals" else "NOT ALLOWED: step 0 ") in text


@pytest.mark.parametrize("way", WAYS)
def test_unchanged_chain_passes(way: dict[str, str], document: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "any.json").write_text(json.dumps(document))
    assert chaincover("replay", CRUISE, tmp_path / "any.json", "-q", **way).code == 0


@pytest.mark.parametrize("command", ["replay", "verify"])
def test_a_file_cannot_write_to_the_terminal(command: str, document: dict[str, Any], tmp_path: Path) -> None:
    """A name that would clear the screen and forge a line is shown as it would stand in a string, within its line."""
    forged = "x\x1b[2J\x9b1m\rgone\nchain  holds  all of it"
    changed = json.loads(json.dumps(document))
    changed["chain"]["hits"][0]["goal"] = forged
    if command == "replay":
        changed["goals"][0]["name"] = forged
    (tmp_path / "chain.json").write_text(json.dumps(changed))
    outcome = chaincover(command, CRUISE, tmp_path / "chain.json", CHAINCOVER_NO_NATIVE="1")
    shown = outcome.out + outcome.err
    assert "x\\x1b[2J\\x9b1m\\rgone\\nchain" in " ".join(shown.split())
    assert not [character for character in shown if not character.isprintable() and character != "\n"]
    assert not [line for line in shown.splitlines() if line.lstrip().startswith("chain  holds  all of it")]


def test_a_chain_need_not_cover_what_it_was_not_made_for(document: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "chain.json").write_text(json.dumps(document))
    goal = ("--property", "off: cover(mode == DIS && !enable)")
    outcome = chaincover("replay", CRUISE, tmp_path, *goal, CHAINCOVER_NO_NATIVE="1")
    assert outcome.code == 0
    assert "off" in outcome.out
    assert "the chain was not made for it" in outcome.out


@pytest.mark.parametrize("way", WAYS)
def test_changed_program_is_found_out(way: dict[str, str], document: dict[str, Any], tmp_path: Path) -> None:
    """A chain recorded on the program as it was, replayed on the program with a fault."""
    code = (CRUISE / "cruise.c").read_text()
    assert "s->mode = DIS;" in code
    write_files(tmp_path, {"cruise.c": code.replace("s->mode = DIS;", "s->mode = OFF;")})
    (tmp_path / "chain.json").write_text(json.dumps(document))
    outcome = chaincover("replay", "cruise.c", "chain.json", "--json", cwd=tmp_path, **way)
    assert outcome.code == 1
    assert "DIS as the chain says" in outcome.json["disagreements"][0]


@pytest.mark.slow
@pytest.mark.needs_compiler
def test_original_that_differs_from_the_model_is_found_out(tmp_path: Path) -> None:
    """The compiler is given other code than the front end: every way in which the two differ ends so."""
    code = program("#ifdef __CHAINCOVER__\n  if (i->b)\n#endif\n  s->n++;".replace("#ifdef", "\n#ifdef", 1))
    write_files(tmp_path, {"c.c": code, "in.csv": "a,b\n0,1\n0,0\n"})
    outcome = chaincover("replay", "c.c", "in.csv", "--property", "x: cover(n == 2)", "--json", cwd=tmp_path)
    assert outcome.code == 1
    assert outcome.json["disagreements"] == ["before step 2 's->n' is 2 in the compiled original, 1 in the model"]
    assert outcome.json["goals"][0]["covered_at"] == 2
    checked = chaincover("check", "c.c", "--compare", "50", "--effort", "0.003", cwd=tmp_path)
    assert checked.code == 1
    assert "DISAGREES: before step 6 's->n' is 6 in the original, 5 in the model\n" in checked.out
    assert " > 6  5 (the original: 6)  (end)\n" in checked.out


def test_all_chains_of_a_folder(tmp_path: Path) -> None:
    """Two branches, so two chains; each is replayed, and told under its name."""
    goals = ("--property", "one: cover(n == 1)", "--property", "two: G(n == 2 -> n == 3)")
    write_files(tmp_path, {"c.c": program("if (s->n == 0) s->n = i->b ? 1 : 2;")})
    assert chaincover("generate", "c.c", *goals, "--several", "-o", "out", "--no-replay", cwd=tmp_path).code == 1
    for place in ("out", "out/chains.json"):
        told = chaincover("replay", "c.c", place, "--json", cwd=tmp_path)
        assert told.code == 1
        assert told.json["schema"] == "chaincover/judgements/1"
        assert faults(told.json, "judgements.json") == []
        assert [chain["chain"] for chain in told.json["chains"]] == ["chain-1.json", "chain-2.json"]
        assert [chain["exit_code"] for chain in told.json["chains"]] == [0, 1]
    text = chaincover("replay", "c.c", "out", cwd=tmp_path).out
    assert text.startswith("chain-1.json:\nreplay on")
    assert "\nchain-2.json:\nFINDING: two fails at step 1" in text
    alone = chaincover("replay", "c.c", "out/chain-1.json", "--json", cwd=tmp_path)
    assert (alone.code, alone.json["steps"]) == (0, 1)
    for text in ("{}", '{"chains": [{"file": "../chain-1.json"}]}', "[1]"):
        write_files(tmp_path, {"out/chains.json": text})
        refused = chaincover("replay", "c.c", "out", cwd=tmp_path)
        assert (refused.code, "this file names no chains" in refused.err) == (3, True)


@pytest.mark.slow
@pytest.mark.parametrize("way", COMPILED)
@short_runs()
def test_start_values_that_the_tester_chose(way: dict[str, str], tmp_path: Path) -> None:
    head = HEAD.replace("s->m = 0; ", "")
    toml = project("[interface]\nchosen = ['s->m']\n[ranges]\n'i->a' = [0]\n[[property]]\ntext = 'x: cover(n == 1)'")
    write_files(tmp_path, {"c.c": program("if (s->m == 1234) s->n = 1;", head=head), "chaincover.toml": toml})
    assert chaincover("generate", ".", "--effort", "0.03", "-o", "o", cwd=tmp_path, **way).code == 0
    document = json.loads((tmp_path / "o" / "chain.json").read_text())
    assert document["chain"]["initial"]["chosen"] == {"s->m": 1234}
    assert document["chain"]["length"] == 1
    assert "start values chosen by the tester: s->m" in document["claims"]
    assert chaincover("replay", ".", "o", cwd=tmp_path, **way).code == 0
    assert (tmp_path / "o" / "chain.csv").read_text().splitlines()[1].startswith("init,")
    assert chaincover("replay", ".", "o/chain.csv", cwd=tmp_path, **way).code == 0
    document["chain"]["initial"]["chosen"]["s->m"] = 1
    (tmp_path / "o" / "chain.json").write_text(json.dumps(document))
    assert chaincover("replay", ".", "o", cwd=tmp_path, **way).code == 1


def test_of_many_goals_that_are_as_they_are_to_be_their_number_says_that_they_held(tmp_path: Path) -> None:
    """Of a chain, so that there is a claim for each goal."""
    write_files(tmp_path, {"c.c": GOOD})
    goals = [word for n in range(MANY_LINES + 1) for word in ("--property", f"g{n}: G(n == 0 && b -> X(n == 1))")]
    made = chaincover("generate", "c.c", *goals, "-o", "out", cwd=tmp_path, CHAINCOVER_NO_NATIVE="1")
    assert made.code == 0, made.err
    shown = chaincover("replay", "c.c", "out/chain.json", *goals, cwd=tmp_path, CHAINCOVER_NO_NATIVE="1")
    assert f"{MANY_LINES + 1} goals covered, consequents held: -v tells where" in shown.out
