"""What ``check`` says of inputs, state and outputs where the table of variables has no room."""

from __future__ import annotations

import io
from pathlib import Path

from command_line import fresh_names, write_files

from chaincover.project.load import load
from chaincover.project.project_file import read_project
from chaincover.report.console import Console
from chaincover.report.console_variables import show_interface

CODE = """typedef struct { int n; int kept; int lamp; } t_st;
void init(t_st *s) { s->n = 0; }
void compute(_Bool b, t_st *s) { s->lamp = s->kept; if (s->n < 9) s->n++; if (b) s->kept = s->n; }
"""
PROJECT = """sources.files = ["c.c"]
interface.output = ["s->lamp"]
property = [{ text = "cover(s->n == 2)" }]
"""


def test_state_that_init_leaves_open_is_a_plain_fact_and_outputs_are_none(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": CODE, "chaincover.toml": PROJECT})
    shown = io.StringIO()
    with fresh_names():
        show_interface(Console(shown, 120), load(read_project(str(tmp_path))))
    assert "not set by init, and a chain holds whatever they start with: s->kept" in shown.getvalue().splitlines()
