"""The public face: every name is there, nothing is loaded before it is used, and the examples of its page run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import FENCE, MODELS, ROOT

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
@pytest.mark.parametrize("seed", range(3))
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
@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_example(number: int, tmp_path: Path) -> None:
    shutil.copytree(MODELS / "cruise", tmp_path / "benchmarks" / "models" / "cruise")
    python(EXAMPLES[number], tmp_path)
