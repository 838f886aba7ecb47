"""Undefined behaviour that ``check`` tells: only where a run can come, and never hidden by an invariant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from command_line import chaincover, write_files
from small_programs import program, project

NO_LIMIT = "if (i->b) s->n++;"
COUNTED = "if (i->b) s->n = s->n < 5 ? s->n + 1 : 0; else if (s->m) s->m++;"
NOT_NEGATIVE = "int state_ok(t_st *s) { return s->n >= 0; }"


def undefined_behaviour(folder: Path, body: str, after: str = "", more: str = "") -> list[dict[str, Any]]:
    """What ``check`` says of a controller with this step."""
    functions = '[functions]\ninit = "init"\nstep = "compute"\n' + more
    write_files(folder, {"c.c": program(body, after=after), "chaincover.toml": project(functions)})
    outcome = chaincover("check", folder, "--compare", "0", "--effort", "0.005", "--json", CHAINCOVER_NO_NATIVE="1")
    found: list[dict[str, Any]] = outcome.json["undefined_behaviour"]
    return found


@pytest.mark.slow
def test_overflow_beyond_the_first_steps_is_named(tmp_path: Path) -> None:
    (found,) = undefined_behaviour(tmp_path, NO_LIMIT)
    assert "overflow" in found["kind"]
    assert found["steps_from_init"] is None


@pytest.mark.slow
def test_a_proved_invariant_does_not_hide_the_step_that_breaks_it(tmp_path: Path) -> None:
    """``n >= 0`` is inductive, because the overflow is no allowed step; the overflow is named all the same."""
    assert len(undefined_behaviour(tmp_path, NO_LIMIT, NOT_NEGATIVE, 'invariant = ["state_ok"]')) == 1


def test_what_no_reachable_state_meets_is_not_named(tmp_path: Path) -> None:
    assert undefined_behaviour(tmp_path, COUNTED) == []


def test_division_in_the_first_step_is_named_with_its_depth(tmp_path: Path) -> None:
    (found,) = undefined_behaviour(tmp_path, "s->n = 1 / (i->a == 7 ? s->m : 1);")
    assert found["steps_from_init"] == 0
