"""Requirements that can fail though the chain does not show it: what commands tell, write and check."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Outcome, chaincover
from native_programs import needs_compiler
from small_programs import program, project
from verify_documents import claim, claimed, path

from bmc import ending
from chaincover import options
from chaincover.formats.document import read_document
from chaincover.formats.recorded_subject import load_for
from chaincover.project.load import Request
from chaincover.verification import claims
from chaincover.verification.setting import Setting

BODY = "s->m = s->n == 3 && i->b ? 9 : 1; if (i->a && s->n < 3) s->n++;"
GOALS = (
    ("--property", "one: G(a -> X(m == 1))", "--property", "bounded: G(a -> X(n <= 3))"),
    ("--property", "kept: G(n == 3 && b -> n == 3)"),
)
"""The chain covers all three with the first failing nowhere: the least run that violates it has one step more."""


def generated(folder: Path, *options: str) -> Outcome:
    (folder / "c.c").write_text(program(BODY))
    (folder / "chaincover.toml").write_text(project("[interface]\ninput = ['i->a', 'i->b']\n[ranges]\na = [0, 1]"))
    goals = [word for words in GOALS for word in words]
    return chaincover("generate", folder, *goals, "-o", folder / "out", *options)


def test_a_requirement_whose_antecedent_no_run_reaches_is_told_as_vacuous(tmp_path: Path) -> None:
    ended = generated(tmp_path, "--property", "far: G(n == 9 && a -> X(m == 1))", "--no-native")
    vacuous = "3 never violated, proved (1 vacuously, no run reaches the antecedent: far)"
    assert f"requirements: 1 can fail, {vacuous}" in ended.out.splitlines()


def verified(folder: Path, document: object, name: str = "chain.json", **variables: str) -> dict[str, object]:
    (folder / "out" / name).write_text(json.dumps(document))
    found = chaincover("verify", folder, folder / "out", "--json", **variables).json
    return {line["check"]: line["verdict"] for line in found["checks"]} | {"code": found["exit_code"]}


def wrong(folder: Path, document: object) -> set[str]:
    """The checks that find ``document`` wrong, by the model alone."""
    checks = verified(folder, document, CHAINCOVER_NO_NATIVE="1")
    return {check for check, verdict in checks.items() if verdict == "WRONG"}


@needs_compiler
def test_it_is_a_finding_with_a_run_of_its_own(tmp_path: Path) -> None:
    ended = generated(tmp_path)
    assert ended.code == 1
    headline, found, *_ = ended.out.splitlines()
    assert ": 1 finding; one chain of 4 steps" in headline
    assert found == (
        "FINDING: one can fail: at step 3 of a shortest run of 4 steps; at its end s->m is 9, expected 1; "
        "bounded, kept held there"
    )
    assert "requirements: 1 can fail, 2 never violated, proved" in ended.out.splitlines()
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    assert document["chain"]["failures"] == []
    replayed = json.loads((tmp_path / "out" / "run.json").read_text())["violations"]
    assert replayed["one"]["on"] != "model"
    assert replayed["one"]["disagreements"] == []

    again = chaincover("replay", tmp_path, tmp_path / "out" / "violation-one.csv", *GOALS[0], "--json")
    assert again.code == 1
    assert [(goal["name"], goal["failed_at"]) for goal in again.json["goals"]] == [("one", 3), ("bounded", None)]

    checks = verified(tmp_path, document)
    assert checks["code"] == 1
    assert [checks[name] for name in ("violations", "can fail", "never violated")] == ["holds", "finding", "holds"]


def test_what_is_not_so_is_found_out(tmp_path: Path) -> None:
    generated(tmp_path, "--no-native")
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    one, bounded, _ = document["requirements"]["rulings"]
    for ruling, field, value, check in (
        (one, "step", 2, "fields"),
        (one, "values", [], "fields"),
        (one, "held", ["kept"], "fields"),
        (one, "test", {**one["test"], "inputs": one["test"]["inputs"][1:], "length": 3}, "violations"),
        (bounded, "ruling", "can fail", "fields"),
        (bounded, "requirement", "R-1", "fields"),
    ):
        kept, ruling[field] = ruling[field], value
        assert check in wrong(tmp_path, document), field
        ruling[field] = kept
    never = {"ruling": "never violated", "shortest": None, "step": None, "values": [], "held": [], "test": None}
    document["requirements"]["rulings"][0] = {**one, **never}
    proof = claimed(document["requirements"])
    claim(document["requirements"], edges=(), unreachable=("violation:one", *proof.unreachable))
    assert wrong(tmp_path, document) == {"never violated"}


def test_a_longer_run_is_not_the_shortest(tmp_path: Path) -> None:
    """A run that violates the requirement later is a violation all the same; that it is the shortest is wrong."""
    generated(tmp_path, "--no-native")
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    ruling, edge = document["requirements"]["rulings"][0], path(document["requirements"], "init", "violation:one")
    test, step = ruling["test"], ruling["step"]
    test["inputs"].insert(0, {**test["inputs"][0], "i->a": 0})
    test["length"], ruling["step"], edge["before"] = test["length"] + 1, step + 1, step + 1
    ruling["values"] = [{**value, "step": value["step"] + 1} for value in ruling["values"]]
    assert wrong(tmp_path, document) == {"never violated"}
    ruling["shortest"] = False
    claim(document["requirements"], edges=())
    assert not wrong(tmp_path, document)


def without_inputs(requirements: dict[str, Any]) -> object:
    """What is said of requirements, but for the inputs of runs: simpler ones come last."""
    rulings = [{**each, "test": each["test"] and each["test"]["length"]} for each in requirements["rulings"]]
    return {**requirements, "rulings": rulings}


@needs_compiler
@pytest.mark.parametrize(("simulated", "several"), [(False, ()), (True, ("--several",))])
def test_what_is_found_out_before_a_run_is_stopped_is_on_disk_and_told(
    simulated: bool, several: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is stopped before there is any chain. What was on disk before says the same, and is verified, too."""
    name, before = "chains.json" if several else "chain.json", []

    def stopped(board: object) -> None:
        before.append((tmp_path / "out" / name).read_text())
        raise KeyboardInterrupt("terminated")

    if not simulated:
        monkeypatch.setattr("chaincover.runs.random.random_runs", lambda board: None)
    for stage in ("runs.joining.recombine", "reductions.alone.each_alone"):  # the first one needs a chain
        monkeypatch.setattr(f"chaincover.{stage}", stopped)
    monkeypatch.setattr("chaincover.cli.progress.PART", 0.0)  # nothing waits for its turn to be written
    ended = generated(tmp_path, "--engine", "sat", *several)
    assert ended.code == 143
    told = [line for line in ended.out.splitlines() if line.startswith(("FINDING", "requirements"))]
    assert told[0].startswith("FINDING: one can fail: at step 3 of a shortest run of 4 steps; ")
    assert told[-1] == "requirements: 1 can fail, 2 never violated, proved"
    assert (tmp_path / "out" / "violation-one.csv").exists()
    document, early = json.loads((tmp_path / "out" / name).read_text()), json.loads(before[-1])
    assert early["finished"] is False
    assert without_inputs(early["requirements"]) == without_inputs(document["requirements"])
    for each in (document,) if several else (document, early):  # chains beside chains.json were written later
        checks = verified(tmp_path, each, name)
        assert (checks["code"], checks["can fail"], checks["never violated"]) == (1, "finding", "holds")


@pytest.mark.parametrize("several", [(), ("--several",)])
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_replay_that_a_run_has_no_time_for_is_named(
    interrupted: bool, several: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run is stopped, and its runs are too long to be replayed then; or it is interrupted while it replays them."""

    def stopped(*_: object, **__: object) -> None:
        ending.call_off("time limit")
        raise KeyboardInterrupt("time limit")

    if interrupted:
        monkeypatch.setattr("chaincover.target.original.replay", stopped)
        monkeypatch.setattr("chaincover.target.original.replay_each", stopped)
    else:
        monkeypatch.setattr("chaincover.runs.joining.recombine", stopped)
        monkeypatch.setattr("chaincover.cli.delivery.REPLAYED", 0)
    ended = generated(tmp_path, "--engine", "sat", "--no-native", *several)
    chain = "chain-1.json" if several else "chain.json"
    assert (
        f"not replayed, as the run was stopped: {chain}, violation-one.csv; the command replay does that" in ended.out
    )
    assert "not replayed" not in generated(tmp_path, "--no-native", "--no-replay", *several).out


UNDECIDED = {"ruling": "undecided"} | dict.fromkeys(("shortest", "step", "test")) | {"values": [], "held": []}
NAMES = ("violations", "can fail", "never violated", "undecided")


def test_what_a_file_leaves_undecided_is_found_out_or_told(tmp_path: Path) -> None:
    """Nothing is claimed of it that could be wrong: a run that violates it is a finding, and silence no proof."""
    generated(tmp_path, "--no-native")
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    honest = document["requirements"]["rulings"][0]
    document["requirements"]["rulings"][0] = {**honest, **UNDECIDED, "detail": ""}
    claim(document["requirements"], edges=())
    (tmp_path / "out" / "chain.json").write_text(json.dumps(document))
    found = chaincover("verify", tmp_path, tmp_path / "out", "--json", CHAINCOVER_NO_NATIVE="1")
    lines = {line["check"]: line for line in found.json["checks"]}
    assert [lines[name]["verdict"] for name in NAMES if name in lines] == ["holds", "finding"]
    assert lines["undecided"]["details"][0].startswith("one: a run of 4 steps does so: step 0: i->a=1; ")
    little = chaincover("verify", tmp_path, tmp_path / "out", "--effort", "1e-9", CHAINCOVER_NO_NATIVE="1")
    assert (little.code, little.out.count("finding")) == (6, 0)
    assert "of 1 requirement the file has neither a run that violates it nor a proof that none does" in little.out

    rulings = document["requirements"]["rulings"]
    rulings[:] = [{**ruling, **UNDECIDED} for ruling in rulings]
    document["requirements"]["certificate"] = None
    (tmp_path / "out" / "chain.json").write_text(json.dumps(document))
    found = chaincover("verify", tmp_path, tmp_path / "out", "--json", CHAINCOVER_NO_NATIVE="1")
    assert [line["verdict"] for line in found.json["checks"] if line["check"] == "undecided"] == ["holds", "finding"]


def test_what_is_told_of_a_violation_is_what_was_checked(tmp_path: Path) -> None:
    generated(tmp_path, "--no-native")
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    document["requirements"]["rulings"][0]["detail"] = "withdrawn\x1b[2J\nchain              holds"
    (tmp_path / "out" / "chain.json").write_text(json.dumps(document))
    told = chaincover("verify", tmp_path, tmp_path / "out", CHAINCOVER_NO_NATIVE="1").out
    assert "- one: from step 3 of a shortest run of 4 steps" in told
    assert "\x1b" not in told
    assert "withdrawn" not in told


def test_no_run_is_no_violation(tmp_path: Path) -> None:
    """It ends before a violation of a longer property could begin."""
    generated(tmp_path, "--no-native", "--property", "late: G(a -> X(m == 1) && X(X(X(m == 1))))")
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    late = document["requirements"]["rulings"][-1]
    assert (late["goal"], late["ruling"]) == ("late", "can fail")
    late["test"] = {**late["test"], "inputs": [], "length": 0}
    assert wrong(tmp_path, document) == {"fields", "violations"}


def test_a_violation_by_a_forbidden_step_is_none(tmp_path: Path) -> None:
    """The requirement fails on that run, in a step that an assumption rules out."""
    generated(tmp_path, "--no-native")
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    ruling = document["requirements"]["rulings"][0]
    test, step = ruling["test"], ruling["step"]
    test["inputs"].insert(0, {**test["inputs"][0], "i->a": 2})
    test["inputs"][1]["i->a"] = 0
    test["length"], ruling["step"] = test["length"] + 1, step + 1
    ruling["values"] = [{**value, "step": value["step"] + 1} for value in ruling["values"]]
    ruling["shortest"] = False
    claim(document["requirements"], edges=())
    assert wrong(tmp_path, document) == {"violations"}


def test_several_chains_tell_it_once(tmp_path: Path) -> None:
    ended = generated(tmp_path, "--several", "--no-native")
    assert ended.code == 1
    assert ended.out.count("FINDING") == 1
    assert not (tmp_path / "out" / "chain.json").exists()
    summary = json.loads((tmp_path / "out" / "chains.json").read_text())
    assert json.loads((tmp_path / "out" / "chain-1.json").read_text())["requirements"] is None
    checks = verified(tmp_path, summary, "chains.json", CHAINCOVER_NO_NATIVE="1")
    assert (checks["can fail"], checks["never violated"]) == ("finding", "holds")
    assert checks["violations"] == "not re-proved", "on the model alone"
    ruling = summary["requirements"]["rulings"][0]
    summary["requirements"]["rulings"][0] = {**ruling, "step": 2}
    assert verified(tmp_path, summary, "chains.json", CHAINCOVER_NO_NATIVE="1")["code"] == 7
    summary["requirements"]["rulings"][0] = {**ruling, **UNDECIDED}
    claim(summary["requirements"], edges=())
    checks = verified(tmp_path, summary, "chains.json", CHAINCOVER_NO_NATIVE="1")
    assert (checks["undecided"], checks["never violated"]) == ("finding", "holds")


def test_files_of_violations_are_those_of_the_last_run(tmp_path: Path) -> None:
    assert generated(tmp_path, "--no-native").code == 1
    assert (tmp_path / "out" / "violation-one.csv").read_text().splitlines()[-1].endswith(",one")
    assert generated(tmp_path, "--no-native", "--exclude", "one").code == 0
    assert not [*(tmp_path / "out").glob("violation-*")]


def test_violations_are_goals_of_the_chain_where_they_are_asked_for(tmp_path: Path) -> None:
    """That one cannot be covered is no failure; a run that covers the others fails, which is what was asked for."""
    ended = generated(tmp_path, "--no-native", "--violations")
    assert ended.code == 1
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    goals = {goal["name"]: goal for goal in document["goals"]}
    assert goals["violation:one"]["verdict"] == "covered"
    assert goals["violation:one"]["generated"] == "violations()"
    assert goals["violation:bounded"]["verdict"] == goals["violation:kept"]["verdict"] == "unreachable"
    assert document["chain"]["failures"] == [{"goal": "one", "step": goals["violation:one"]["step"]}]
    assert not wrong(tmp_path, document)


LATE = """\
static unsigned char m, lamp;
void init(void) { m = 0; lamp = 0; }
void compute(_Bool a, _Bool b) { if (a) m = 1; else if (b) { m = 0; lamp = 1; } }
"""


@pytest.mark.parametrize(
    ("text", "step", "told", "values"),
    [
        (
            "G(a && m == 0 -> F[0,3](lamp))",
            3,
            "the antecedent held at step 0, F[0,3] had not held by step 3; at its end lamp is 0, expected true",
            [("lamp", 3, "0")],
        ),
        (
            "G(rise(a) && m == 1 -> X[2](G[1,9](lamp == 1 && !b)))",
            6,
            "the antecedent held at step 2, X[2](G[1,9]) did not hold at step 5; before step 5 lamp is 0, expected 1",
            [("lamp", 5, "0")],
        ),
        (
            "G(G[0,9](!b) -> F[9,100](m))",
            100,
            "the antecedent held at step 0, F[9,100] had not held by step 100; at its end m is 0, expected true",
            [("m", 100, "0")],
        ),
    ],
)
def test_a_deadline_that_fails_is_told_with_its_occurrence_and_its_last_check(
    text: str, step: int, told: str, values: list[tuple[str, int, str]], tmp_path: Path
) -> None:
    (tmp_path / "c.c").write_text(LATE)
    (tmp_path / "chaincover.toml").write_text(project())
    ended = chaincover("generate", tmp_path, "--property", f"r: {text}", "-o", tmp_path / "out", "--no-native")
    assert told in ended.out
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    ruling = document["requirements"]["rulings"][0]
    assert ruling["step"] == step
    assert [(each["variable"], each["step"], each["actual"]) for each in ruling["values"]] == values
    for field in ("antecedent", "check"):
        assert not wrong(tmp_path, document)
        ruling["deadline"][field] += 1
        assert wrong(tmp_path, document) == {"fields"}
        ruling["deadline"][field] -= 1


def test_a_deadline_is_told_as_it_is_written_with_its_steps(tmp_path: Path) -> None:
    """Whoever wrote a time or a constant looks for that, and not for the number that was made of it."""
    (tmp_path / "c.c").write_text(f"#define LATE 4\n{LATE}")
    (tmp_path / "chaincover.toml").write_text(f"period = 0.1\n{project()}")
    written = (
        "--property",
        "r: G(a && m == 0 -> (X[100 ms]( F[0, 250ms] (lamp))))",
        "--property",
        "s: G(a -> G[0,LATE](!lamp))",
    )
    ended = chaincover("generate", tmp_path, *written, "-o", tmp_path / "out", "--no-native")
    told = " ".join(ended.out.split())
    assert "X[100ms](F[0,250ms]) (100ms is 1 step, 250ms is 2 steps) had not held by step 3;" in told
    assert "G[0,LATE] (LATE is 4 steps) did not hold at step 1;" in told
    rulings = json.loads((tmp_path / "out" / "chain.json").read_text())["requirements"]["rulings"]
    assert [each["deadline"]["asked"] for each in rulings] == ["X[100ms](F[0,250ms])", "G[0,LATE]"]
    steps = chaincover("replay", tmp_path, tmp_path / "out", *written, "--no-native", "--steps").out
    assert "step  time/s" in steps, "times are beside the steps that a replay shows, as beside those of generate"


DIPS = """\
static unsigned char o, k;
void init(void) { o = 1; k = 0; }
void compute(unsigned char a) { if (k < 6) k++; o = k != 5; }
"""
"""The output o is 1, but for the step 5."""
LATER = ("--property", "r: G(k == 0 || k == 2 -> G[0,3](o == 1))")
"""Its second occurrence is broken, the first holds; the chain is the one of 3 steps that covers the first."""


@needs_compiler
def test_an_occurrence_that_fails_behind_one_that_holds_is_a_violation_for_every_command(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(DIPS)
    ended = chaincover("generate", tmp_path / "c.c", *LATER, "-o", tmp_path / "out")
    assert ended.code == 1
    assert "FINDING: r can fail: at step 5 of a shortest run of 5 steps; the antecedent held at step 2" in ended.out
    assert "DISAGREES" not in ended.out
    again = chaincover("replay", tmp_path / "c.c", tmp_path / "out" / "violation-r.csv", *LATER, "--json")
    assert (again.code, again.json["goals"][0]["covered_at"], again.json["goals"][0]["failed_at"]) == (1, 3, 5)
    found = chaincover("verify", tmp_path / "c.c", tmp_path / "out", "--json").json
    checks = {line["check"]: line["verdict"] for line in found["checks"]}
    assert found["exit_code"] == 1
    assert [checks[name] for name in ("violations", "can fail", "never violated")] == ["holds", "finding", "holds"]


def test_what_fails_behind_an_occurrence_that_holds_fails_on_the_chain(tmp_path: Path) -> None:
    """Whether or not a goal stands for others: r and its twin have one antecedent, and differ in what they ask for."""
    (tmp_path / "c.c").write_text(DIPS)
    twin = "twin: G((k == 0 || k == 2) && k < 9 -> G[0,3](o == 1))"
    more = ("--property", twin, "--property", "held: G(k == 0 || k == 2 -> G[0,3](o <= 1))")
    goals = (*LATER, *more, "--property", "far: cover(k == 6)")
    ended = chaincover("generate", tmp_path / "c.c", *goals, "-o", tmp_path / "out", "--no-native")
    assert "properties: 4 of 4 covered, 1 consequent held, 2 FAILED" in ended.out
    document = json.loads((tmp_path / "out" / "chain.json").read_text())
    assert document["chain"]["failures"] == [{"goal": "r", "step": 5}, {"goal": "twin", "step": 5}]
    verified = chaincover("verify", tmp_path / "c.c", tmp_path / "out", "--json", "--no-native").json
    checks = {line["check"]: line["verdict"] for line in verified["checks"]}
    assert (checks["fields"], checks["requirements"], checks["can fail"]) == ("holds", "finding", "finding")
    del document["chain"]["failures"][0]
    (tmp_path / "out" / "chain.json").write_text(json.dumps(document))
    silent = chaincover("verify", tmp_path / "c.c", tmp_path / "out", "--json", "--no-native").json
    assert {line["check"] for line in silent["checks"] if line["verdict"] == "WRONG"} == {"fields"}


def test_a_deadline_is_judged_by_looking_at_each_occurrence(tmp_path: Path) -> None:
    """Where goals remember another deadline than the property has, the chain covers nothing that is decided so."""
    generated(tmp_path, "--no-native", "--property", "soon: G(a -> F[1,4](m == 1))")
    document = read_document(tmp_path / "out" / "chain.json")
    subject = load_for(document, Request(str(tmp_path)))
    assert [goal.name for goal in subject.goals if goal.deadline] == ["soon"]
    told = "no occurrence of the antecedent of soon is decided so at step "
    for later, faults in ((0, 0), (1, 1)):
        goals = tuple(
            replace(g, deadline=g.deadline and replace(g.deadline, first=1 + later, last=4 + later))
            for g in subject.goals
        )
        setting = Setting(subject.system, goals, subject.final, "allow")
        stimulus = claims.stimulus_of(subject, document)
        line = claims.chain(replace(subject, goals=goals), document, stimulus, setting)
        assert sum(detail.startswith(told) for detail in line.details) == faults, line


def test_a_violation_is_chosen_and_left_out_with_its_property(tmp_path: Path) -> None:
    told = generated(tmp_path, "--no-native", "--violations", "--goal", "o*", "--goal", "kept", "--exclude", "kept").out
    assert "covers all 2 goals" in told.splitlines()[0]
    assert "violations: 1 of 1 covered" in told
    alone = generated(tmp_path, "--no-native", "--violations", "--goal", "violation:one").out
    assert "covers its goal" in alone.splitlines()[0]


FAR = "if (s->n < 200) s->n++; s->m = s->n == 200 && i->b ? 2 : 1;"
"""What fails first at the end of a run of 200 steps."""


@pytest.mark.parametrize("several", [(), ("--several",)])
def test_that_only_runs_too_long_to_be_stored_violate_it_is_a_finding(
    several: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "STORED", 100)
    (tmp_path / "c.c").write_text(program(FAR))
    command = ("generate", tmp_path / "c.c", "--property", "one: G(a -> X(m == 1))", "--no-native", *several)
    ended = chaincover(*command, "-o", tmp_path / "out")
    assert ended.code == 1
    headline, found, advice, *rest = ended.out.splitlines()
    assert ": 1 finding; " in headline
    assert found == (
        "FINDING: one can fail: a run of 200 steps violates it, more than are stored: a run has at most 100"
    )
    assert "--max-length" in advice
    assert "requirements: 1 can fail" in rest

    for most, told in (("150", "a run of 200 steps violates it, more"), ("300", "of a shortest run of 200 steps")):
        longer = chaincover(*command, "-o", tmp_path / "out", "--max-length", most)
        assert longer.code == 1
        assert told in longer.out


MIXED = """
#include <stdint.h>
static uint32_t n;
static _Bool lamp;
void init(void) { n = 1; lamp = 0; }
void compute(_Bool a) { n = n * 1664525u + (a ? 1013904223u : 12345u); lamp = n != 77; }
"""
"""A state of which nobody tells soon whether it is met."""


def test_why_it_is_not_known_whether_a_requirement_can_fail_is_told(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(MIXED)
    ended = chaincover(
        *("generate", tmp_path / "c.c", "--property", "one: G(a -> X(lamp))", "--no-native", "-o", tmp_path / "out"),
        *("--effort", "0.00001"),
    )
    lines = ended.out.splitlines()
    assert "requirements: 1 undecided (one)" in lines
    place = lines.index("undecided: whether one can fail")
    assert "stopped by the effort" in lines[place + 1]
    assert lines[place + 2].startswith("  next: allow more --effort")


def test_an_input_is_told_as_it_is_and_not_as_if_the_program_had_set_it(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text(
        "static _Bool motor;\nvoid init(void) { motor = 0; }\nvoid compute(unsigned char volt) { motor = volt > 90; }\n"
    )
    ended = chaincover(
        *("generate", tmp_path / "c.c", "--property", "one: G(motor -> X(!motor || volt >= 105))", "--no-native"),
        *("-o", tmp_path / "out"),
    )
    found = " ".join(ended.out.split())
    assert "expected false" in found
    assert "expected 105" not in found
