"""What a suite says, and the message for each mistake in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import write_files

from benchmarks.bench import tools
from benchmarks.bench.plan import plan
from benchmarks.bench.suite import read_suite
from bmc.errors import InputRefused, SeveralRefused

PROJECT = '[sources]\nfiles = ["m.c"]\n'
FILES = {
    "a/chaincover.toml": PROJECT,
    "a/m.c": "",
    "b/second.toml": PROJECT,
    "b/first.toml": PROJECT,
    "rows.toml": (
        '[[row]]\nname = "Second"\nproject = "b/second.toml"\nlength = 9\nbits = ["3b", "1b"]\nprinted.lkh = [1, 9]\n'
    ),
}
GOOD = """\
title = "A suite"
[limits]
seconds = 1.5
megabytes = 77

[[models]]
projects = "a"

[[models]]
projects = [
  "b/*.toml",
]
rows = "rows.toml"
cover = ["branches()"]
goals = ["branch:*"]
arguments = ["--final", "none"]

[[configurations]]
name = "default"
tool = "chaincover"

[[configurations]]
name = "orders"
tool = "chaincover"
ordering = ["exact", "tsp"]
several = [true, false]
K = 3
seed = [1, 2]
"""


def test_what_a_suite_says(tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES, "s.toml": GOOD})
    suite = read_suite(str(tmp_path / "s.toml"))
    assert (suite.name, suite.title, suite.seconds, suite.megabytes) == ("s", "A suite", 1.5, 77)
    assert [(model.name, model.family, model.shown) for model in suite.models] == [
        ("a", "a", "a/chaincover.toml"),
        ("Second branches()", "b", "b/second.toml"),
        ("first branches()", "b", "b/first.toml"),
    ], "rows come first, in their order"
    selection = ("--cover", "branches()", "--goal", "branch:*", "--final", "none")
    assert [model.selection for model in suite.models] == [(), selection, selection]
    pin = suite.models[1].pin
    assert pin is not None
    assert (pin.figures, pin.bits, pin.printed) == ({"length": 9}, ("3b", "1b"), {"lkh": [1, 9]})


def test_lists_multiply(tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES, "s.toml": GOOD})
    default, *orders = read_suite(str(tmp_path / "s.toml")).configurations
    assert (default.name, default.settings, default.seed) == ("default", {}, 0)
    assert [(each.name, each.seed) for each in orders] == [
        (f"orders ordering={ordering} several={several}", seed)
        for ordering in ("exact", "tsp")
        for several in ("true", "false")
        for seed in (1, 2)
    ]
    assert orders[-1].settings == {"ordering": "tsp", "several": False, "K": 3}


def test_a_configuration_may_have_seconds_of_its_own(tmp_path: Path) -> None:
    own = GOOD.replace('name = "default"\n', 'name = "default"\nseconds = 40\n')
    write_files(tmp_path, {**FILES, "s.toml": own, "b/m.c": ""})
    runs = plan(read_suite(str(tmp_path / "s.toml")))
    assert {(run.configuration.name.split()[0], run.task.seconds) for run in runs} == {("default", 40), ("orders", 1.5)}
    assert not any("seconds" in run.configuration.settings for run in runs)


def test_models_of_one_name_are_told_apart(tmp_path: Path) -> None:
    write_files(tmp_path, {"x/m/chaincover.toml": PROJECT, "y/m/chaincover.toml": PROJECT})
    tables = "".join(f'[[models]]\nprojects = "{each}/m"\nfamily = "{each}"\n' for each in ("x", "y", "x"))
    (tmp_path / "s.toml").write_text(f'{tables}[[configurations]]\nname = "c"\ntool = "chaincover"\n')
    assert [model.name for model in read_suite(str(tmp_path / "s.toml")).models] == ["x/m", "y/m"]


MISTAKES = {
    "top-key": ("title =", "titel =", 1, "unknown key 'titel'"),
    "limit-key": ("megabytes =", "memory =", 4, "unknown key 'limits.memory'"),
    "limit-value": ("seconds = 1.5", "seconds = 0", 3, "a number above 0"),
    "model-key": ("cover =", "covers =", 14, "unknown key 'models.covers'"),
    "no-match": ('"b/*.toml"', '"gone/*.toml"', 11, "no project file matches 'gone/*.toml'"),
    "no-projects": ('projects = "a"\n', "\n", 6, "no 'projects'"),
    "no-rows": ('"rows.toml"', '"gone.toml"', 13, "there is no file 'gone.toml'"),
    "tool": ('"default"\ntool = "chaincover"', '"default"\ntool = "chaincove"', 20, "no tool is called 'chaincove'"),
    "own-tool": (
        '"default"\ntool = "chaincover"',
        '"default"\ntool = "gone:Tool"',
        20,
        "cannot be loaded: No module",
    ),
    "setting": ("K = 3", "k = 3", 27, "unknown key 'configurations.k'"),
    "no-tool": ('"default"\ntool = "chaincover"', '"default"\ntool = "os:getcwd"', 20, "has no settings, missing"),
    "no-class": ('"default"\ntool = "chaincover"', '"default"\ntool = "os:path"', 20, "not callable"),
    "value": ('"tsp"]', '"tps"]', 25, "'ordering' cannot be 'tps': 'tps' is not one of 'auto', 'exact'"),
    "flag": ("[true, false]", '[true, "false"]', 26, "'several' cannot be 'false': true or false is needed"),
    "number": ("K = 3", "K = -3", 27, "'K' cannot be -3: -3 is not in the range x>=0"),
    "twice": ('"tsp"]', '"exact"]', 25, "without repetitions"),
    "seed": ("[1, 2]", '["one"]', 28, "'seed' must be a whole number"),
    "name": ('name = "orders"\n', "\n", 22, "no 'name'"),
    "table": ("K = 3", "K = { a = 3 }", 27, "a text, a number, true or false"),
    "no-toml": ("[limits]", "[limits", 2, "this is not TOML"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_with_its_line(mistake: str, tmp_path: Path) -> None:
    right, wrong, line, message = MISTAKES[mistake]
    assert right in GOOD
    write_files(tmp_path, {**FILES, "s.toml": GOOD.replace(right, wrong, 1)})
    with pytest.raises(InputRefused) as caught:
        read_suite(str(tmp_path / "s.toml"))
    where = caught.value.where
    assert message in caught.value.message
    assert where is not None
    assert (Path(where.file).name, where.line) == ("s.toml", line)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    wrong = (
        'titel = "x"\n[limits]\nseconds = "many"\n[[models]]\nfamily = 3\n'
        '[[configurations]]\ntool = "chaincove"\n[[configurations]]\nname = "a"\ntool = "chaincover"\norderin = 1\n'
    )
    (tmp_path / "s.toml").write_text(wrong)
    with pytest.raises(SeveralRefused) as caught:
        read_suite(str(tmp_path / "s.toml"))
    assert [(each.where.line, each.message) for each in caught.value.errors if each.where] == [
        (1, "unknown key 'titel'"),
        (3, "'seconds' must be a number above 0"),
        (4, "this table has no 'projects'"),
        (6, "this table has no 'name'"),
        (7, "no tool is called 'chaincove'"),
        (11, "unknown key 'configurations.orderin'"),
    ]


@pytest.mark.parametrize("name", tools.TOOLS)
def test_every_tool_says_what_its_settings_cannot_be(name: str) -> None:
    tool = tools.find(name)
    taken = {setting for setting in tool.settings if not tool.refused(setting, "nonsense words")}
    assert taken == {"path"} & tool.settings


def test_a_mistake_in_the_rows_is_told_with_its_line(tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES, "s.toml": GOOD})
    rows = tmp_path / "rows.toml"
    rows.write_text(rows.read_text() + '\n[[row]]\nname = "x"\nproject = "y"\nlenght = 3\n')
    with pytest.raises(InputRefused, match=r"rows\.toml:11:1: unknown key 'row\.lenght'"):
        read_suite(str(tmp_path / "s.toml"))


@pytest.mark.parametrize("table", ["models", "configurations"])
def test_there_has_to_be_something_to_do(table: str, tmp_path: Path) -> None:
    kept = [part for part in GOOD.replace("[[", "@[[").split("@") if not part.startswith(f"[[{table}]]")]
    write_files(tmp_path, {**FILES, "s.toml": "".join(kept)})
    with pytest.raises(InputRefused, match=f"there are no {table}"):
        read_suite(str(tmp_path / "s.toml"))


def test_two_configurations_need_two_names(tmp_path: Path) -> None:
    write_files(tmp_path, {**FILES, "s.toml": GOOD + '[[configurations]]\nname = "default"\ntool = "chaincover"\n'})
    with pytest.raises(InputRefused, match="two configurations are called 'default'"):
        read_suite(str(tmp_path / "s.toml"))


def test_an_unknown_suite_is_told_which_are_bundled() -> None:
    with pytest.raises(InputRefused, match="no such suite") as caught:
        read_suite("nosuch")
    assert "bundled suite" in caught.value.hint
