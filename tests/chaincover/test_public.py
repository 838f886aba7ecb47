"""The public face: every name is there, nothing is loaded before it is used, and the examples of its page run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from command_line import FENCE, MODELS, ROOT
from nbclient import NotebookClient

import chaincover

EXAMPLES = [
    body
    for page in (ROOT / "README.md", ROOT / "docs" / "reference" / "api.md")
    for language, body in FENCE.findall(page.read_text(encoding="utf-8"))
    if language == "python"
]


def python(code: str, cwd: Path | None = None) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_it_loads_no_library() -> None:
    loaded = python("import sys, chaincover; print(*sorted({name.partition('.')[0] for name in sys.modules}))").split()
    assert not {"pysmt", "numpy", "z3", "click", "rich", "clingo", "networkx", "properties"} & set(loaded)


@pytest.mark.parametrize("name", chaincover.__all__)
def test_every_name_is_there_and_told(name: str) -> None:
    assert callable(getattr(chaincover, name))
    assert name in dir(chaincover)
    assert f"`{name}" in (ROOT / "docs" / "reference" / "api.md").read_text()


def test_all_names_are_listed_as_type_checkers_read_them() -> None:
    assert [*chaincover.__all__] == sorted(chaincover._PLACES)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'chains'"):
        chaincover.chains  # noqa: B018


def test_a_name_that_has_another_one_now() -> None:
    with pytest.raises(AttributeError, match=r"is chaincover\.Subject now"):
        chaincover.Controller  # noqa: B018


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1))
def test_the_order_of_imports_changes_nothing(seed: int) -> None:
    """All modules of the packages, in an order that is drawn: the public names are what they are after none."""
    names = "print(*(f'{getattr(chaincover, n).__module__}.{n}' for n in chaincover.__all__))"
    code = f"""
import importlib, pkgutil, random
import bmc, chaincover, properties
found = [m.name for p in (bmc, properties, chaincover) for m in pkgutil.walk_packages(p.__path__, p.__name__ + ".")]
found = [name for name in found if not name.endswith("__main__")]
random.Random({seed}).shuffle(found)
for name in found:
    importlib.import_module(name)
"""
    assert python(code + names) == python(f"import chaincover; {names}")


@pytest.mark.slow
def test_examples(tmp_path: Path) -> None:
    """One after the other in one process, each with names of its own; a failure shows the code of its example."""
    shutil.copytree(MODELS / "cruise", tmp_path / "benchmarks" / "models" / "cruise")
    python("\n".join(f"exec(compile({body!r}, {body!r}, 'exec'), {{}})" for body in EXAMPLES), tmp_path)


STRICT = """
[mypy]
strict = True
follow_imports = silent
ignore_missing_imports = True
"""


@pytest.mark.evidence
def test_examples_pass_a_strict_type_checker_outside_of_the_checkout(tmp_path: Path) -> None:
    """The signatures of the public names are there before these are first used, for a checker that runs nothing."""
    (tmp_path / "mypy.ini").write_text(STRICT)
    for number, example in enumerate(EXAMPLES):
        (tmp_path / f"example_{number}.py").write_text(example)
    wrong = "import chaincover\nchaincover.load(1)\nchaincover.generate(2).chain.lenght\n"
    (tmp_path / "wrong.py").write_text(wrong)
    files = sorted(place.name for place in tmp_path.glob("*.py"))
    command = [sys.executable, "-m", "mypy", "--no-incremental", *files]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    checked = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    rows = [row for row in checked.stdout.splitlines() if "error:" in row]
    assert [row for row in rows if not row.startswith("wrong.py:")] == [], checked.stdout + checked.stderr
    assert sum("[arg-type]" in row for row in rows) == 2, checked.stdout + checked.stderr
    assert any('has no attribute "lenght"' in row for row in rows)


@pytest.mark.slow
@pytest.mark.needs_compiler
def test_the_notebook_runs_and_shows_little() -> None:
    """All its cells, in a kernel of their own; no cell prints more than forty lines, or a record of more than ten."""
    notebook = nbformat.read(ROOT / "docs" / "how-to" / "notebook.ipynb", as_version=4)
    nbformat.validate(notebook)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = [
        output.get("text") or output["data"]["text/plain"]
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    ]
    assert len(shown) >= 5
    assert "Bounds(lower=9, length=9" in shown[1]
    assert all(len(text.splitlines()) <= 40 and len(text) <= 3_000 for text in shown)
