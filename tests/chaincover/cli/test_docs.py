"""What README and docs tell the reader to type works, and so does every command's help."""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from command_line import FENCE, ROOT, chaincover, write_files
from pages import COMPARED_BY_TESTS, PLAIN, WIDTH, Folder, run_page, steps

from bmc.ending import ExitCode
from bmc.errors import ChainCoverError
from bmc.models.c.controller.reading import SourceConfig
from chaincover.cli.main import COMMANDS, EXIT_CODES
from chaincover.pipeline import STAGES
from chaincover.project.project_file import KEYS, read_project
from properties.operators import OPERATORS, SINCE

PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "docs/index.md")),
    *sorted((ROOT / "docs").glob("[!a]*/*.md")),
]
FOLDERS = ("bmc", "properties", "chaincover", "benchmarks", "tests", "docs")
OPTIONS_OF_OTHERS = {"--basetemp", "--check", "--keep-going"}
"""Those of pytest, ruff and Sphinx."""
MAY_BE_WIDER = {
    "JSON": r" *[\[{].*[}\]]",
    "a row of CSV": r"[^,]*(,[^,]*){5,}",
    "a property as the argument of a command": r".*'[^']{60,}'.*",
    "a line that init prints or writes": r"style .*|-?# .*",
    "a debugger's own": r"Breakpoint 1, .*|\d+ {4,}.*",
}
"""Lines that cannot be folded: the site wraps them."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page if page.stem == "README" else pytest.param(page, marks=pytest.mark.evidence) for page in COMPARED_BY_TESTS],
    ids=lambda page: page.stem,
)
def test_a_page_shows_what_its_commands_print(page: Path, tmp_path: Path) -> None:
    """``python tests/support/pages.py --write`` mends the pages, and runs those that no test runs."""
    before = {*tmp_path.iterdir()}
    folder = Folder(tmp_path)
    own = {place.name for place in tmp_path.iterdir()} - before
    _, differences = run_page(page, folder)
    assert differences == []
    ignored = {row.strip("/") for row in (ROOT / ".gitignore").read_text().splitlines()}
    assert page.name != "README.md" or {place.name for place in tmp_path.iterdir()} - own <= ignored


def test_a_result_is_what_its_command_writes_after_what_stands_above(tmp_path: Path) -> None:
    page = "```sh\necho '<svg/>' > drawn\n```\n\n<!-- result of: cp drawn x.svg # -o x.svg -->\n"
    first, result = steps(page)
    assert page[result.start : result.end] == "<!-- result of: cp drawn x.svg # -o x.svg -->"
    folder = Folder(tmp_path)
    with pytest.raises(AssertionError, match="exit code 1"):
        folder.result(result)
    folder = Folder(tmp_path / "again")
    folder.run(first.text)
    assert folder.result(result) == "<svg/>\n"


def test_calls_of_chaincover_print_in_this_process_what_they_print_by_a_shell(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    command = "chaincover --version && chaincover init 'no file.c' && chaincover --version"
    assert PLAIN.fullmatch(command)
    assert not PLAIN.fullmatch("chaincover --help | head -1")
    here = folder.run(command), folder.run("echo $?")
    assert here == (folder.run(f"({command})"), folder.run("echo $?"))
    assert here[1] == f"{ExitCode.REFUSED.value}\n"


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_lines_of_code_fit_beside_the_navigation(page: Path) -> None:
    lines = [line for _, text in FENCE.findall(page.read_text(encoding="utf-8")) for line in text.splitlines()]
    wide = [line for line in lines if len(line) > WIDTH]
    assert [line for line in wide if not any(re.fullmatch(kind, line) for kind in MAY_BE_WIDER.values())] == []


def rows_of(page: str, heading: str) -> list[list[str]]:
    """The rows of the first table under a heading of a page of ``docs``."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"][2:]


def test_architecture_has_every_stage() -> None:
    named = {name for row in rows_of("development/architecture.md", "Stages and turns") for name in row[0].split(", ")}
    assert named == {stage.name for stage in STAGES}


def test_architecture_says_where_each_algorithm_of_the_paper_is() -> None:
    rows = rows_of("development/architecture.md", "The paper's algorithms")
    assert {int(n) for row in rows for n in re.findall(r"Algorithm (\d+)", row[0])} == {*range(1, 13)}
    for _, functions, files in rows:
        for function, file in zip(re.findall("`(.*?)`", functions), re.findall("`(.*?)`", files), strict=True):
            source = (ROOT / "chaincover" / file).read_text(encoding="utf-8")
            assert re.search(rf"^(def|class) {function}\b", source, re.MULTILINE), (function, file)


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "docs" / "adr").glob("*.md"))], ids=str)
def test_files_that_a_page_names_exist(page: Path) -> None:
    for name in re.findall(r"`([\w/]+/\w+\.py)`", page.read_text(encoding="utf-8")):
        assert any((folder / name).exists() for folder in (ROOT, ROOT / "chaincover")), name


def test_readme_sets_up_with_its_first_two_blocks() -> None:
    first, second = (body for language, body in FENCE.findall((ROOT / "README.md").read_text())[2:4])
    assert ".venv/bin/chaincover generate benchmarks/models/cruise/cruise.c" in first
    assert ".venv/bin/python -m pytest" in second


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help(command: str) -> None:
    outcome = chaincover(*command.split(), "--help")
    assert outcome.code == 0
    assert outcome.out.startswith("Usage: ")
    assert outcome.err == ""
    assert f"`{command}`" in (ROOT / "README.md").read_text()


def test_version() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert chaincover("--version").out.split()[-1] == declared


def test_the_page_on_project_files_names_every_key(tmp_path: Path) -> None:
    """Its example can be read, and has each key that is known."""
    page = (ROOT / "docs" / "reference" / "project-file.md").read_text()
    example = next(body for language, body in FENCE.findall(page) if language == "toml")
    given = tomllib.loads(example)
    place = tmp_path / "chaincover.toml"
    # the page shows both ways to state a final condition; a project may use one
    place.write_text(example.replace('final = "is_final"', ""))
    entry = {"directory": str(tmp_path), "file": "cruise.c", "command": "cc -c cruise.c"}
    write_files(tmp_path, {"build/compile_commands.json": json.dumps([entry])})
    project = read_project(str(place))
    assert isinstance(project.config, SourceConfig)
    assert len(project.properties) == 2
    shown = {table: set(given if not table else given[table]) for table in KEYS if table != "property"}
    shown["property"] = {key for item in given["property"] for key in item}
    assert shown == {table: set(keys) for table, keys in KEYS.items()}


def test_the_list_of_exit_codes_has_every_code() -> None:
    kinds = [ChainCoverError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    assert {kind.exit_code for kind in kinds} <= EXIT_CODES.keys()
    assert list(EXIT_CODES) == list(ExitCode)


def test_the_grammar_of_properties_has_every_operator() -> None:
    """Each as often as it is written in the list of operators."""
    page = (ROOT / "docs" / "reference" / "properties.md").read_text(encoding="utf-8")
    grammar = page.partition("condition  = ")[2].partition("\n## ")[0]
    for word, operator in OPERATORS.items():
        assert grammar.count(f'"{word}" "(" condition') == operator.written.count(f"{word}("), word
        assert grammar.count(f'"{word}" "[" ') == operator.written.count(f"{word}["), word
    assert f'condition "{SINCE}" condition' in grammar


def test_links_between_pages() -> None:
    for page in [*PAGES, ROOT / "CHANGELOG.md"]:
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose):
            assert link.startswith("http") or (page.parent / link).exists(), f"{page.name}: {link}"


SOURCES = [path.relative_to(ROOT).as_posix() for top in FOLDERS for path in (ROOT / top).rglob("*.py")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_source_file_that_a_page_names_exists(page: Path) -> None:
    """Named by its path, or by the last parts of it."""
    named = re.findall(r"`([\w./]+\.py)`", page.read_text(encoding="utf-8"))
    assert [name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in SOURCES)] == []


@cache
def declared_options() -> set[str]:
    return {text for path in SOURCES for text in re.findall(r'"(--[a-z][a-z-]+)', (ROOT / path).read_text())}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_option_that_a_page_names_exists(page: Path) -> None:
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", page.read_text(encoding="utf-8")))
    assert named - declared_options() - OPTIONS_OF_OTHERS == set()


def test_functions_that_a_walk_through_the_source_names_exist() -> None:
    text = (ROOT / "docs" / "development" / "ten-minutes.md").read_text(encoding="utf-8")
    named = re.findall(r"@\((\w[\w/]*\.py):(\w+)\)", text)
    assert len(named) > 20
    for file, name in named:
        source = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"^(def|class) {name}\b", source, re.MULTILINE), (file, name)
