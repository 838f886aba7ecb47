"""The report: what it says of a result is what the result says, and no text of a result breaks out of its place."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command_line import chaincover
from hostile_names import HOSTILE
from html_pages import Page
from native_programs import needs_compiler

from bmc.errors import InputRefused
from chaincover.formats.table_style import whole_steps
from chaincover.report.html.bounds import graph_of
from chaincover.report.html.saved import SavedChain
from chaincover.report.html.table import MOST_ROWS, step_table
from chaincover.report.html.trace import Trace, Variable

PROGRAM = """\
typedef enum { Phase_IDLE, Phase_FILL, Phase_DRAIN } Phase;
struct in { _Bool start, stop; unsigned char level; } in;
struct out { _Bool valve, pump; } out;
static Phase phase;
static unsigned short timer;
void wash_init(void) { phase = Phase_IDLE; timer = 0; out.valve = out.pump = 0; }
void wash_step(void) {
    timer++;
    if (phase == Phase_IDLE && in.start) { phase = Phase_FILL; timer = 0; }
    else if (phase == Phase_FILL && (in.stop || timer > 30)) { phase = Phase_DRAIN; timer = 0; }
    else if (phase == Phase_DRAIN && in.level == 0) { phase = Phase_IDLE; timer = 0; }
    out.valve = phase == Phase_FILL;
    out.pump = phase == Phase_DRAIN;
}
"""
PROJECT = """\
name = "wash"
period = 0.1
[sources]
files = ["wash.c"]
[functions]
init = ["wash_init"]
step = "wash_step"
[interface]
input = ["in.*"]
state = ["phase", "timer"]
output = ["out.*"]
[ranges]
"in.start" = [0, 1]
"in.stop" = [0, 1]
"in.level" = [0, 50, 80]
[final]
condition = "phase == Phase_IDLE"
[coverage]
criteria = ["transitions(phase)"]
[[property]]
id = "fills"
text = "G(phase == Phase_IDLE && start -> X(valve))"
requirement = "W-1"
description = "Start fills the drum"
[[property]]
id = "full"
text = "G(phase == Phase_FILL && level == 80 -> X(phase == Phase_DRAIN))"
requirement = "W-2"
[[property]]
id = "drained"
text = "G(phase == Phase_FILL && stop -> F[0,5](phase == Phase_IDLE))"
requirement = "W-3"
[[property]]
id = "both"
text = "cover(valve && pump)"
[[property]]
id = "timeout"
text = "cover(phase == Phase_FILL && timer == 30)"
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project, with a result in ``out``: two requirements can fail, one goal is unreachable."""
    folder = tmp_path_factory.mktemp("wash")
    (folder / "wash.c").write_text(PROGRAM)
    (folder / "chaincover.toml").write_text(PROJECT)
    ended = chaincover("generate", folder, "-o", folder / "out", "-q", "--report", "--no-native")
    assert ended.code == 1, ended.err
    return folder


@pytest.fixture
def result(generated: Path, tmp_path: Path) -> Path:
    """A copy of the project with its result, to be changed."""
    return Path(shutil.copytree(generated, tmp_path / "wash"))


def report(folder: Path, *options: object, damaged: bool = False) -> Page:
    ended = chaincover("report", folder / "out", "-q", *options)
    assert ended.code == 0, ended.err
    page = Page((folder / "out" / "report.html").read_text())
    assert ("cannot be made" in page.text) == damaged
    return page


def changed(folder: Path, change: Callable[[Any], None]) -> None:
    place = folder / "out" / "chain.json"
    data = json.loads(place.read_text())
    change(data)
    place.write_text(json.dumps(data))


def test_the_page_is_whole_and_lets_nothing_in(generated: Path) -> None:
    page = Page((generated / "out" / "report.html").read_text())
    assert page.wrong == []
    assert page.allowed() == {"style": "own", "script": "own"}
    assert [address for address in page.addresses if not address.startswith("#")] == []
    assert {address[1:] for address in page.addresses if not address.startswith("#step=")} <= {*page.ids}
    assert "innerHTML" not in page.source
    assert '<code><bdi>G(phase == Phase_IDLE &amp;&amp; start <span class="whole">-&gt;</span> ' in page.source


def test_the_verdict_comes_first(generated: Path) -> None:
    page = Page((generated / "out" / "report.html").read_text())
    chain = json.loads((generated / "out" / "chain.json").read_text())["chain"]
    length = chain["length"]
    missed = "2 requirements can fail; 1 goal is unreachable: both"
    covered = f"one chain of {length} steps ({length / 10:g} s) covers 7 of 8 goals"
    assert f"{missed}; {covered} (3 more, generated, are proved unreachable), proved minimal." in page.text
    assert page.headings[:3] == ["wash", "Traceability", "Findings"]
    tiles = [" ".join(item.split()) for item in page.items]
    assert "Written goals 80 % 4 of 5 covered, 1 proved unreachable" in tiles
    assert "transitions(phase) 100 % 3 of 3 covered, 3 proved unreachable" in tiles
    assert "Requirements 1 of 3 never violated: 2 can fail, 1 proved" in tiles


def test_each_goal_has_its_requirement_verdict_and_step(generated: Path) -> None:
    page = Page((generated / "out" / "report.html").read_text())
    chain = json.loads((generated / "out" / "chain.json").read_text())["chain"]
    steps = {hit["goal"]: hit["step"] for hit in chain["hits"]}
    row = page.row("fills")
    assert row[1] == "W-1"
    assert "Start fills the drum" in row[2]
    assert row[3:5] == ["covered", str(steps["fills"])]
    assert page.row("full")[6].startswith("can fail")
    assert page.row("both")[3].startswith("unreachable")
    assert page.row("both")[4] == ""


def test_a_finding_has_its_run_its_values_and_a_place_in_the_waveform(generated: Path) -> None:
    page = Page((generated / "out" / "report.html").read_text())
    violation = (generated / "out" / "violation-full.csv").read_text().splitlines()
    runs = {trace["name"]: trace for trace in page.data["traces"]}
    own = runs["violation of full"]
    assert own["length"] == len(violation) - 1
    assert own["failed"] == [[own["length"] - 1, "full"]]
    assert page.row("phase")[1:] == [str(own["length"]), "FILL", "DRAIN"]
    assert f"the antecedent holds at step {own['length'] - 1}" in page.text
    assert f"and the consequent fails by step {own['length']}" in page.text
    assert [column["differs"] for column in own["columns"] if "differs" in column] == [
        [[own["length"], own["length"] + 1, "DRAIN"]]
    ]
    assert "FILL ≠ DRAIN expected" in [cell.strip() for row in page.rows for cell in row]
    assert f"#step={own['length'] - 1}" in page.addresses
    missed = runs["violation of drained"]["deadlines"]
    assert [bar[:2] for bar in missed] == [["drained", "F[0,5]"]]


def columns(trace: Any, variables: Any) -> dict[str, list[Any]]:
    """The values of each variable at each step, decoded as the script does."""
    found = {}
    for variable, column in zip(variables, trace["columns"], strict=True):
        runs = zip(column.get("values", ()), column.get("runs", ()), strict=True)
        coded = column.get("all") or [value for value, count in runs for _ in range(count)]
        found[variable["name"]] = [trace["words"][v[0]] if isinstance(v, list) else v for v in coded]
    return found


def test_the_waveform_has_the_values_of_the_chain(generated: Path) -> None:
    page = Page((generated / "out" / "report.html").read_text())
    document = json.loads((generated / "out" / "chain.json").read_text())
    chain, trace = document["chain"], page.data["traces"][0]
    shown = columns(trace, page.data["variables"])
    for number, step in enumerate(chain["steps"]):
        assert {name: shown[name][number] for name in step["inputs"]} == step["inputs"]
        after = {**step["state"], **step["outputs"]}
        assert {name: shown[name][number + 1] for name in after} == after
    before = {**chain["initial"]["state"], **chain["initial"]["outputs"]}
    assert {name: shown[name][0] for name in before} == before
    labels = {variable["name"]: variable["labels"] for variable in page.data["variables"]}
    assert labels["phase"] == {"Phase_IDLE": "IDLE", "Phase_FILL": "FILL", "Phase_DRAIN": "DRAIN"}
    for first, end in trace["folds"]:
        assert len({json.dumps(step["inputs"]) for step in chain["steps"][first:end]}) == 1
        assert not any(first < step < end for step, _ in trace["goals"])
    assert trace["folds"], "the chain waits for the timeout"


def break_out(original: str, text: str) -> Any:
    """A result whose names, texts, labels and values are ``text``: those of a goal and of a variable everywhere."""
    data = json.loads(original.replace('"fills"', json.dumps(text)).replace('"phase"', json.dumps(f"{text}.phase")))
    data["controller"]["name"] = text
    data["goals"][0].update(property=text, requirement=text, description=text, detail=text)
    data["goals"][3].update(detail=text)
    data["requirements"]["rulings"][1].update(detail=text, held=[text])
    data["requirements"]["rulings"][1]["values"][0].update(actual=text, expected=text)
    data["claims"].append(text)
    data["bounds"]["basis"] = text
    labels = data["controller"]["state"][0]["labels"]
    data["controller"]["state"][0]["labels"] = dict.fromkeys(labels, text)
    return data


@pytest.mark.parametrize("style", [("--decimal-comma",), ("--delimiter", "tab", "--changes-only")])
def test_the_run_of_a_violation_is_shown_whatever_the_style_of_its_table(
    generated: Path, result: Path, style: tuple[str, ...]
) -> None:
    ended = chaincover("generate", result, "-o", result / "out", "-q", "--report", "--no-native", *style)
    assert ended.code == 1
    tables = [(folder / "out" / "violation-drained.csv").read_text() for folder in (generated, result)]
    assert tables[0] != tables[1]
    plain, styled = (Page(report_of(folder)).data["traces"] for folder in (generated, result))
    assert styled == plain


def test_a_table_of_changes_is_told_from_one_with_gaps() -> None:
    whole = "step,time,i,a,b,goals\n0,0,1,5,,\n1,1,1,5,,\n2,2,0,,7,g\n"
    changes = "step,time,i,a,b,goals\n0,0,1,5,,\n2,2,0,-,7,g\n"
    read = [whole_steps(Path("v.csv"), text, ["i"], 3) for text in (whole, changes)]
    for rows in read:
        assert [(row["i"], row["a"], row["b"]) for row in rows] == [("1", "5", ""), ("1", "5", ""), ("0", "", "7")]
    with pytest.raises(InputRefused, match="other steps than its run"):
        whole_steps(Path("v.csv"), whole, ["i"], 4)


def graph_with(edges: list[dict[str, Any]], order: list[str], steps: list[int], **more: Any) -> Any:
    """The graph of a chain that covers the goals of ``order`` in these ``steps``; the last one is its end."""
    joined = {edge[end] for edge in edges for end in ("from", "to")}
    nodes = ["init", *(goal for goal in order if goal in joined), "end"]
    hits = [{"goal": goal, "step": step} for goal, step in zip(order, steps, strict=False)]
    data = {"nodes": nodes, "edges": edges, **more}
    own = {"order": order, "length": steps[-1], "hits": hits}
    graph = graph_of(SavedChain("chain.json", {"graph": data, "chain": own, "controller": {"name": "x"}}, None, {}))
    assert graph is not None
    return graph


def cells_of(graph: Any) -> dict[tuple[str, str], str]:
    return {
        (a, b): text
        for a, cells in graph.matrix.rows
        for b, (text, _, _) in zip(graph.matrix.titles, cells, strict=True)
        if text
    }


def test_the_way_of_the_chain_has_no_gap_where_goals_have_no_distances() -> None:
    goals = [f"g{number}" for number in range(11)]
    nodes = ["init", *goals, "end"]
    edges = [{"from": a, "to": b, "weight": 1} for a in nodes for b in nodes[1:] if a != b and a != "end"]
    order = ["g0", "implied", *goals[1:], "implied too"]
    graph = graph_with(edges, order, [*range(1, 15)])
    used = [(a, b) for a, cells in graph.matrix.rows for b, (_, bold, _) in zip(nodes[1:], cells, strict=True) if bold]
    assert used == [*pairwise(nodes)]
    assert [leg.goals for leg in graph.legs] == [(node,) for node in ("init", *order, "end")]
    told = {leg.goals: leg.compared for leg in graph.legs}
    assert told["implied",] == ""
    assert told["g1",] == "≥ 1 since step 1", "a goal that others imply has no distance of its own"
    assert any(text.startswith("since step n: ") for text in graph.explained)
    assert any(text.startswith("2 goals are not in it: wherever another goal") for text in graph.matrix.meaning)
    assert "implied" not in graph.svg
    assert "Goals that others imply are not drawn: 2." in graph.notes
    small = graph_with([{"from": "g0", "to": "g1", "weight": 0}], ["g0", "implied", "g1"], [2, 3, 4, 5])
    assert small.svg.count('class="edge path"') == 4
    assert "implied" in small.svg


def test_the_legs_of_a_chain_are_one_for_each_step_that_covers_goals() -> None:
    weights = {("init", "a"): 2, ("a", "b"): 0, ("b", "c"): 1, ("c", "end"): 0}
    edges = [{"from": a, "to": b, "weight": weight} for (a, b), weight in weights.items()]
    graph = graph_with(edges, ["a", "b", "c"], [2, 2, 5, 5], exact=True)
    assert [(leg.step, leg.goals) for leg in graph.legs] == [(0, ("init",)), (2, ("a", "b")), (5, ("c", "end"))]
    assert [(leg.taken, leg.fewest, leg.longer) for leg in graph.legs[1:]] == [(2, "2", False), (3, "1", True)]
    assert graph.compared.startswith("1 of 2 legs takes the fewest steps that any run takes, 1 takes more.")
    example = "3 (1) from b to c says that it takes 3, and that the fewest are 1."
    assert any(text.endswith(example) for text in graph.matrix.meaning)


def test_a_number_in_the_graph_is_a_distance_or_the_steps_of_the_chain_and_a_bound_is_told_as_one() -> None:
    """A weight of the search may begin in a state that no run reaches: then it is a bound, and the chain takes more."""
    weights = (("init", "a", 3), ("a", "b", 0), ("b", "a", 2), ("b", "end", 1), ("a", "end", 5))
    edges = [{"from": a, "to": b, "weight": weight} for a, b, weight in weights]
    open_ones = [{"from": "init", "to": "b", "at_least": 2}]
    graph = graph_with(edges, ["a", "b"], [3, 73, 74], open=open_ones)
    told = {("init", "a"): "3", ("a", "b"): "70", ("b", "end"): "1"}
    assert cells_of(graph) == {
        **told,
        ("a", "b"): "70 (?)",
        ("b", "a"): "≥ 2",
        ("a", "end"): "≥ 5",
        ("init", "b"): "≥ 2",
    }
    assert [(leg.taken, leg.fewest) for leg in graph.legs[1:]] == [(3, "3"), (70, ""), (1, "1")]
    drawn = [*re.findall(r'class="weight[^>]*>([^<]*)</text>', graph.svg)]
    assert sorted(drawn) == ["1", "3", "70 (?)", "≥ 2", "≥ 5"]
    exact = graph_with(edges, ["a", "b"], [3, 73, 74], open=open_ones, exact=True)
    assert cells_of(exact) == {
        **told,
        **{("a", "b"): "70 (0)", ("b", "a"): "2", ("a", "end"): "5", ("init", "b"): "never"},
    }


def test_an_input_that_is_constant_and_not_0_is_in_the_table_of_a_run() -> None:
    shown = [Variable(name, name, role, "int") for name, role in (("on", "inputs"), ("off", "inputs"), ("s", "state"))]
    trace = Trace("run", "violation", 2, {"on": [1, 1, None], "off": [0, 0, None], "s": [0, 0, 1]})
    table = step_table(trace, shown, ["s"])
    assert [title for title, _ in table.titles] == ["on", "s"]
    assert table.note == ""
    many = [Variable(f"v{number}", f"v{number}", "state", "int") for number in range(11)]
    wide = Trace("run", "violation", 1, {var.name: [0, 1] for var in many})
    assert step_table(wide, many, []).note.startswith("1 more variable ")


def test_the_marked_step_is_among_the_rows_of_a_long_table() -> None:
    odd = Trace("run", "judged", 1000, {"a": [*(step % 2 for step in range(1000)), None]})
    table = step_table(odd, [Variable("a", "a", "inputs", "_Bool")], ["a"], {495: "antecedent", 500: "fails"})
    assert len(table.rows) == MOST_ROWS
    assert [(steps, marked) for steps, _, marked in table.rows if marked] == [("495", "antecedent"), ("500", "fails")]
    assert table.note == f"{1001 - MOST_ROWS} rows left out: the waveform has all"


def test_a_table_of_a_part_has_what_acts_there_and_its_waiting_in_one_row_around_each_mark() -> None:
    """``late`` changes behind the part."""
    shown = [Variable(name, name, "state", "int") for name in ("a", "late")]
    run = Trace("run", "judged", 100, {"a": [0] * 10 + [1] * 91, "late": [0] * 90 + [1] * 11})
    table = step_table(run, shown, [], {30: "fails"}, (9, 50))
    assert [title for title, _ in table.titles] == ["a"]
    assert [(steps, marked) for steps, _, marked in table.rows] == [
        ("9", ""),
        ("10..29", ""),
        ("30", "fails"),
        ("31..49", ""),
        ("50", ""),
    ]
    assert table.note == "Steps 9 to 50 of 100"


def test_a_goal_that_fails_often_is_one_finding_and_a_deadline_is_told_by_its_steps(result: Path) -> None:
    def fail(data: Any) -> None:
        deadline = {"asked": "F[0,5]", "antecedent": 2, "check": 7, "last": 5}
        next(hit for hit in data["chain"]["hits"] if hit["goal"] == "drained").update(step=7, deadline=deadline)
        data["chain"]["failures"] = [{"goal": "full", "step": step} for step in (3, 4, 5, 9)]
        data["chain"]["failures"] += [{"goal": "drained", "step": step} for step in (7, 8)]

    changed(result, fail)
    text = " ".join(report(result).text.split())
    assert text.count("the consequent of full fails on chain.json") == 1
    assert "The antecedent holds at steps 3..5, 9 of the chain, and the consequent does not." in text
    told = "What it asks within a time has failed at steps 7, 8 of the chain"
    assert f"{told}: the antecedent holds at step 2, F[0,5] does not." in text


EVIL = (*HOSTILE, "</script><script>alert(1)</script>", "<!--<script>", "\u2028\u2029", "\u202egoal\u202c", "{{ 7*7 }}")


def test_no_text_breaks_out_of_its_place(result: Path) -> None:
    original = (result / "out" / "chain.json").read_text()
    for text in EVIL:
        data = break_out(original, text.replace("\x00", ""))
        (result / "out" / "chain.json").write_text(json.dumps(data))
        page = report(result)
        assert page.wrong == [], repr(text)
        assert page.allowed() == {"style": "own", "script": "own"}, repr(text)
        assert page.source.count("<script") == 2, repr(text)
        assert "{{" in page.headings[0] or "{{" not in text, "a text was taken for a template"


def report_of(folder: Path) -> str:
    return (folder / "out" / "report.html").read_text()


def test_what_is_missing_is_said_and_the_rest_is_shown(result: Path) -> None:
    (result / "out" / "run.json").unlink()
    (result / "out" / "violation-full.csv").unlink()
    (result / "wash.c").write_text("int changed;\n")
    page = report(result)
    said = " ".join(page.text.split())
    assert "There is no run.json beside chain.json" in said
    assert "Of the run in violation-full.csv only the inputs are shown" in said
    assert f"wash.c is not shown: {result / 'wash.c'} has changed since the result was made" in said
    assert f"type 'chaincover report {result / 'out'} --sources DIR' with the folder of the old one" in said
    assert "chaincover replay PROJECT violation-full.csv --steps" in said, "what was typed is in run.json"

    assert "covers 7 of 8 goals" in said


def test_commands_and_notes_name_what_was_typed_and_no_place_on_the_machine(tmp_path: Path) -> None:
    (tmp_path / "wash.c").write_text(PROGRAM)
    (tmp_path / "chaincover.toml").write_text(PROJECT)
    more = "--property", "low: G(level == 0 -> X(valve))", "--property", "dry: G(level == 50 -> X(!pump))"
    assert chaincover("generate", ".", *more, "-o", "out", "-q", "--no-native", cwd=tmp_path).code == 1
    (tmp_path / "wash.c").rename(tmp_path / "other.c")
    told = chaincover("report", "out", cwd=tmp_path)
    page = Page((tmp_path / "out" / "report.html").read_text())
    assert "chaincover replay . out/violation-full.csv --property" in page.text
    assert f"chaincover replay . out/violation-low.csv --property '{more[1]}' --steps" in page.text
    assert "chaincover replay . out/chain.json --property" in page.text
    wanted = (
        "wash.c is not shown: it is not in out/, ./; type 'chaincover report out --sources DIR' with its folder as DIR."
    )
    assert wanted in " ".join(told.out.split())
    assert str(tmp_path) not in "".join(place.read_text() for place in (tmp_path / "out").iterdir())


def test_sources_are_found_in_the_folder_that_the_command_named(tmp_path: Path) -> None:
    (tmp_path / "wash").mkdir()
    (tmp_path / "wash" / "wash.c").write_text(PROGRAM)
    (tmp_path / "wash" / "chaincover.toml").write_text(PROJECT)
    assert chaincover("generate", "wash", "-o", "build/wash", "-q", "--no-native", cwd=tmp_path).code == 1
    assert "not shown" not in chaincover("report", "build/wash", cwd=tmp_path).out
    run = tmp_path / "build" / "wash" / "run.json"
    run.write_text(json.dumps({**json.loads(run.read_text()), "asked": [str(tmp_path / "wash")]}))
    told = chaincover("report", "../build/wash", cwd=tmp_path / "wash")
    assert "not shown" not in told.out, "it lies in the working folder"
    (tmp_path / "aside").mkdir()
    told = chaincover("report", "../build/wash", cwd=tmp_path / "aside")
    assert "wash.c is not shown" in " ".join(told.out.split()), "a file of a result leads to no other folder"


def test_a_source_name_that_leads_out_of_the_folder_is_not_followed(result: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.c"
    secret.write_text("int secret_of_others;\n")

    def point_out(data: Any) -> None:
        from hashlib import sha256

        source = data["controller"]["sources"][0]
        source.update(file="../../secret.c", sha256=sha256(secret.read_bytes()).hexdigest())

    changed(result, point_out)
    page = report(result)
    assert "secret_of_others" not in page.source
    assert "its name leads out of the folder" in page.text


def test_another_schema_is_shown_as_far_as_it_goes(result: Path) -> None:
    changed(result, lambda data: data.update(schema="chaincover/chain/5"))
    page = report(result)
    assert "chain.json is of the schema chaincover/chain/5" in page.text
    assert page.headings[0] == "wash"


@pytest.mark.parametrize("key", ["goals", "chain", "graph", "bounds", "controller", "requirements", "settings"])
def test_a_damaged_part_leaves_the_others(result: Path, key: str) -> None:
    changed(result, lambda data: data.update({key: 17}))
    page = report(result, damaged=True)
    assert page.wrong == []


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("empty", "", "is not JSON"),
        ("other", '{"schema": "other/1"}', "this is no result of ChainCover (its schema is 'other/1')"),
        ("list", "[]", "this is no result of ChainCover"),
        ("cut", '{"schema": "chaincover/chain/6", "goals": [', "is not JSON"),
    ],
)
def test_what_is_no_result_is_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    place = tmp_path / f"{name}.json"
    place.write_text(text)
    ended = chaincover("report", place)
    assert ended.code == 3
    assert said in ended.err
    assert not (tmp_path / "report.html").exists()


def test_of_a_result_that_is_cut_off_the_page_shows_what_is_whole_and_a_table_is_refused(result: Path) -> None:
    place = result / "out" / "chain.json"
    text = place.read_text()
    place.write_text(text[: text.index('"steps"', text.index('"chain": {')) + 200])
    page = report(result, damaged=True)
    assert "chain.json is cut off behind 'certificate'. What stands before that is shown." in page.text
    assert (
        "the steps of the chain that covers 7 of 8 goals (3 more, generated, are proved unreachable) are missing"
        in page.text
    )
    assert page.row("fills")
    ended = chaincover("report", result / "out", "--format", "csv")
    assert (ended.code, "it has no entry 'chain'" in ended.err) == (3, True)


def test_steps_that_are_missing_and_goals_beyond_the_end_are_told(result: Path) -> None:
    def damage(data: Any) -> None:
        del data["chain"]["steps"][5:]
        data["chain"]["hits"][0]["step"] = 9999

    length = json.loads((result / "out" / "chain.json").read_text())["chain"]["length"]
    changed(result, damage)
    page = report(result)
    goal = json.loads((result / "out" / "chain.json").read_text())["chain"]["hits"][0]["goal"]
    assert f"its chain is to have {length} steps, and 5 are in the file." in page.text
    assert f"{goal} is to be covered at step 9999 of {length}." in page.text
    assert "The result is damaged: see what is missing;" in page.text


def test_an_entry_that_is_not_there_is_named_in_words(result: Path) -> None:
    changed(result, lambda data: data.pop("goals"))
    page = report(result, damaged=True)
    assert "the result is damaged (it has no entry 'goals')" in page.text
    assert "KeyError" not in page.text


def test_a_dash_stands_for_standard_output(result: Path) -> None:
    ended = chaincover("report", result / "out", "--format", "csv", "-o", "-", cwd=result)
    assert ended.code == 0
    assert ended.out.startswith("requirement,goal,property")
    assert not (result / "-").exists()


def test_no_text_turns_the_direction_of_the_writing(result: Path) -> None:
    name = "counted \u202eabc"
    place = result / "out" / "chain.json"
    place.write_text(place.read_text().replace('"fills"', json.dumps(name)).replace('"W-1"', json.dumps(name)))
    page = report(result)
    assert "\u202e" not in page.source
    assert "\\u202e" in page.row("counted \\u202eabc")[1]
    assert "counted \\u202eabc" in [goal for _, goal in page.data["traces"][0]["goals"]]


def test_a_folder_without_a_result_is_refused(tmp_path: Path) -> None:
    ended = chaincover("report", tmp_path)
    assert (ended.code, "no result was found here" in ended.err) == (3, True)


def test_an_earlier_result_shows_what_changed(result: Path) -> None:
    shutil.copytree(result / "out", result / "before")

    def change(data: Any) -> None:
        data["goals"][0]["property"] = "G(start -> X(valve))"
        data["goals"][1]["verdict"] = "undecided"
        data["controller"]["sources"][0]["sha256"] = "0" * 64

    changed(result, change)
    page = report(result, "--earlier", result / "before")
    assert page.row("fills")[-1] == "property changed"
    assert ["full", "covered", "undecided"] in [[cell.strip() for cell in row] for row in page.rows]
    assert "These sources are others: wash.c." in page.text


def test_a_requirement_whose_antecedent_is_unreachable_is_never_violated_vacuously(result: Path) -> None:
    changed(result, lambda data: data["goals"][0].update(verdict="unreachable", step=None))
    page = report(result)
    assert "never violated: 2 can fail, 1 proved; 1 of these vacuously: no run reaches the antecedent" in page.text
    assert any("never violatedvacuously: no run reaches its antecedent" in cell for cell in page.row("fills"))


def test_a_written_goal_that_no_chain_covers_is_told_first_and_counts_as_missed(result: Path) -> None:
    """Without requirements that can fail, an unreachable written goal alone keeps the verdict from being good."""

    def without_failures(data: Any) -> None:
        data["requirements"] = None
        data["goals"][0].update(verdict="no-way-to-final")
        next(goal for goal in data["goals"] if goal["name"] == "both")["requirement"] = "W-4: never both"

    changed(result, without_failures)
    page = report(result)
    assert "1 goal is unreachable: both; 1 goal is without a way to the final condition: fills; one chain" in page.text
    ended = chaincover("report", result / "out", "--format", "markdown", "-o", "-", "-q")
    assert ended.out.startswith("## ? ")
    assert "| ? 60 % |" in ended.out
    finding = page.text[page.text.index("both (W-4: never both): unreachable") :]
    assert "cover(valve && pump)" in finding
    assert "Next: correct the antecedent, or the ranges, constraints and held inputs that exclude it." in finding


def test_goals_without_a_way_to_the_end_are_told_in_the_figures(result: Path) -> None:
    changed(result, lambda data: data["goals"][0].update(verdict="no-way-to-final"))
    more = "3 of 5 covered, 1 proved unreachable, 1 reached, but proved to have no way to the final condition"
    assert more in report(result).text


@pytest.mark.parametrize(("number", "folded"), [(25, False), (26, True)])
def test_many_coverage_goals_are_a_closed_table_so_that_findings_come_soon(
    number: int, folded: bool, result: Path
) -> None:
    def cover(data: Any) -> None:
        (first, *_) = (goal for goal in data["goals"] if goal["generated"])
        written = [goal for goal in data["goals"] if not goal["generated"]]
        data["goals"] = [*written, *({**first, "name": f"c{at}", "verdict": "unreachable"} for at in range(number))]

    changed(result, cover)
    page = report(result)
    assert ("26 goals of transitions(phase): 26 unreachable" in page.text) == folded
    assert ("coverage-goals-1" in page.ids) == folded
    assert len(page.row("c24")) == (6 if folded else 8), "without requirement and ruling, which no such goal has"
    assert page.row("c24")
    assert page.row("fills")


def test_a_test_of_its_own_is_named_with_its_steps_and_its_file(result: Path) -> None:
    test = {"length": 9, "chosen": {}, "inputs": []}
    changed(result, lambda data: data["goals"][3].update(verdict="no-way-to-final", test=test))
    assert "a test of its own of 9 steps (0.9 s) in chain.json" in report(result).row("both")


def test_judgements_and_verifications_are_shown(result: Path) -> None:
    out = result / "out"
    chaincover("replay", result, out, "-o", out / "judged.json", "--no-native", "-q")
    found = chaincover("verify", result, out, "--json", CHAINCOVER_NO_NATIVE="1")
    (out / "verified.json").write_text(found.out)
    page = report(result)
    tiles = [" ".join(item.split()) for item in page.items]
    judged = json.loads((out / "judged.json").read_text())
    assert f"Judged: judged.json 7 of {len(judged['goals'])} goals covered on model" in tiles, tiles
    assert any(tile.startswith("Verified") and found.json["summary"] in tile for tile in tiles)
    for line in found.json["checks"]:
        assert page.row(line["check"])[1] == line["verdict"]


def test_several_chains_share_one_page(result: Path) -> None:
    ended = chaincover("generate", result, "-o", result / "out", "--several", "-q", "--no-native")
    assert ended.code == 1
    page = report(result)
    names = [trace["name"] for trace in page.data["traces"]]
    assert names[0] == "chain-1.json"
    assert "violation of full" in names, "the summary has the runs that violate requirements"
    assert "Show it in the waveform" in page.text
    assert "damaged" not in page.text
    assert page.wrong == []
    assert page.row("fills")[-1].startswith("chain-")


def test_the_same_result_gives_the_same_page(result: Path) -> None:
    report(result)
    first = report_of(result)
    report(result)
    assert report_of(result) == first


@needs_compiler
def test_the_report_says_on_what_the_chain_was_replayed(result: Path) -> None:
    chaincover("generate", result, "-o", result / "out", "-q", "--report")
    page = Page(report_of(result))
    assert any(item.startswith("Replayed on") and "steps agree" in item for item in page.items)


def test_a_run_that_a_limit_ends_has_its_report(result: Path) -> None:
    (result / "wash.c").write_text(PROGRAM.replace("timer > 30", "timer > 60000"))
    ended = chaincover("generate", result, "-o", result / "out", "--report", "--time-limit", "2", "--no-native")
    assert "Stopped by time limit" in ended.out
    assert "report.html" in ended.out
    said = Page(report_of(result)).text
    assert "stopped by time limit" in said
    if json.loads((result / "out" / "chain.json").read_text())["chain"] is None:
        assert "Bold: the way of the chain" not in said
        assert "--coverage" not in said
