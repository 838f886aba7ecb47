"""The examples for CI servers are as these want them, and their commands are commands of ours."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys

import click
import pytest
from command_line import ROOT

from chaincover.cli.main import Commands

EXAMPLES = {"ci-github.yml": "vendor.github-workflows", "ci-gitlab.yml": "vendor.gitlab-ci"}
FOLDER = ROOT / "docs" / "how-to"


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_fits_the_schema_of_its_server(name: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", EXAMPLES[name], str(FOLDER / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", EXAMPLES)
def test_its_commands_can_be_given(name: str) -> None:
    lines = re.findall(r"chaincover (?:replay|verify) .*", (FOLDER / name).read_text())
    assert len(lines) == 2
    for line in lines:
        _, command, *arguments = shlex.split(line)
        found = Commands("chaincover").get_command(click.Context(Commands("chaincover")), command)
        assert found is not None
        found.make_context(command, arguments)
