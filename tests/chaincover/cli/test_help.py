"""Options in groups, ``-q`` for every command, and what a shell completes."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from command_line import chaincover, in_process_of_its_own, write_files
from small_programs import GOOD

from chaincover.cli.help import GROUPS, OWN, Command
from chaincover.cli.main import cli
from chaincover.cli.options import Shown

EVERY = [*cli.list_commands(None)]


def options_of(name: str) -> list[click.Option]:
    command = cli.get_command(click.Context(cli), name)
    assert isinstance(command, Command)
    return [each for each in command.params if isinstance(each, click.Option)]


def test_every_command_shows_its_options_in_groups_and_can_be_quiet() -> None:
    known = {name for names in GROUPS.values() for name in names}
    used: set[str] = set()
    for name in EVERY:
        shown = chaincover(name, "--help")
        assert shown.code == 0
        assert "\nWhat is told and written:\n" in shown.out, name
        for option in options_of(name):
            assert max(option.opts, key=len) in shown.out.replace("\n", " "), (name, option.opts)
            used.add(option.name or "")
        assert "quiet" in {option.name for option in options_of(name)}, name
        assert shown.out.count(f"\n{OWN}:\n") == 1, name
    assert known <= used, known - used


def test_init_can_be_quiet(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": GOOD})
    outcome = chaincover("init", "c.c", "-q", cwd=tmp_path)
    assert (outcome.code, outcome.out, outcome.stderr) == (0, "", "")
    assert (tmp_path / "chaincover.toml").exists()
    assert chaincover("init", "c.c", "-q", cwd=tmp_path).err.startswith("error: chaincover.toml: this file exists")
    assert Shown(quiet=True).text is False


@pytest.mark.slow
def test_a_shell_completes_commands_options_values_and_files() -> None:
    def completed(words: str) -> list[str]:
        count = str(len(words.split(" ")) - 1)
        asked = {"_CHAINCOVER_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": count}
        outcome = in_process_of_its_own(**asked)
        assert (outcome.code, outcome.stderr) == (0, "")
        return outcome.out.split()

    assert completed("chaincover gen") == ["plain,generate"]
    assert completed("chaincover compare --ordering cp") == ["plain,cpsat"]
    assert completed("chaincover graph models/x") == ["file,models/x"]
    assert completed("chaincover generate m -o bu") == ["file,bu"]
    script = in_process_of_its_own(_CHAINCOVER_COMPLETE="zsh_source")
    assert (script.code, script.stderr) == (0, "")
    assert "#compdef chaincover" in script.out
