"""Commands that other packages add through a group of entry points."""

from __future__ import annotations

import tomllib
from pathlib import Path
from pkgutil import resolve_name

import click
import pytest
from command_line import ROOT, chaincover, write_files

from chaincover.cli.main import COMMANDS, GROUP

PLUGIN = '''\
import click
from bmc.errors import InputRefused

@click.command()
@click.argument("word")
def command(word):
    """Say a word. And more."""
    if word == "bad":
        raise InputRefused("this is a bad word")
    click.echo(word)
    return 4
'''


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    text = f"""\
[console_scripts]
elsewhere = other_package:main

[{GROUP}]
say = other_package:command
broken = no_such_package:command
generate = other_package:command
"""
    write_files(tmp_path, {"other-1.0.dist-info/entry_points.txt": text, "other_package.py": PLUGIN})
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("plugin")
def test_help_shows_them_below_its_own() -> None:
    text = chaincover("--help").out
    assert "  say       Say a word." in text
    assert "broken    the command broken of another package cannot be loaded: No module named 'no_such_package'" in text
    assert "elsewhere" not in text
    assert f"  generate  {COMMANDS['generate'][:20]}" in text, "none takes the place of one of its own"


@pytest.mark.usefixtures("plugin")
def test_they_end_as_all_commands_do() -> None:
    said = chaincover("say", "hello")
    assert (said.code, said.out) == (4, "hello\n")
    bad = chaincover("say", "bad")
    assert (bad.code, bad.stderr.splitlines()[0]) == (3, "error: this is a bad word")
    assert chaincover("say").code == 2
    broken = chaincover("broken")
    assert broken.code == 2
    assert "next: install that package again" in broken.stderr


def test_bench_is_registered() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][GROUP]
    assert [*declared] == ["bench"]
    assert isinstance(resolve_name(declared["bench"]), click.Command)
