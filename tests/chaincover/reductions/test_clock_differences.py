"""Controllers with clocks of C through generate and verify: the chain is the shortest, and nothing is said of what may
come after a wrap."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import chaincover, fresh_names
from drawn_seeds import seeds

from benchmarks.clocks.compare import compare
from benchmarks.clocks.programs import drawn
from chaincover.reductions import slicing

CLOCK = """
typedef struct { _Bool go; } t_input; typedef struct { CLOCK now, last; unsigned char t, m; } t_state;
void init(t_state *s) { s->now = 0; s->last = 0; s->t = 0; s->m = 0; }
void compute(t_input *i, t_state *s) {
  s->now += 100;
  if (s->now >= s->last + 100) { s->last += 100; if (s->t < 255) s->t++; }
  switch (s->m) {
    case 0: if (i->go) { s->m = 1; s->t = 0; } break;
    case 1: if (s->t >= 50) s->m = 2; else if (!i->go) s->m = 0; break;
    case 2: if (!i->go) s->m = 0; break;
  }
}
"""
BLINK = """
typedef struct { _Bool go; } t_input; typedef struct { CLOCK now, last, next; unsigned char led, m; } t_state;
void init(t_state *s) { s->now = 0; s->last = 0; s->next = 500; s->led = 0; s->m = 0; }
void compute(t_input *i, t_state *s) {
  s->now += 100;
  if (s->now >= s->next) { s->next = s->now + 500; s->led = !s->led; }
  if (i->go) s->last = s->now;
  if (s->led && s->now >= s->last + 1700) s->m = 1;
  else if (s->m == 1 && s->now < s->last + 300) s->m = 2;
}
"""


def made(text: str, clock: str, folder: Path, *more: object) -> tuple[Path, object]:
    """The source, and chain.json of a run on it."""
    source = folder / "clock.c"
    source.write_text(text.replace("CLOCK", clock), encoding="utf-8")
    out = folder / "out"
    asked = ("--cover", "transitions(m, 0..2)", "--final", "none", "--effort", 1, "-o", out, *more)
    chaincover("generate", source, *asked)
    return source, json.loads((out / "chain.json").read_text(encoding="utf-8"))


def verdicts(found: object) -> dict[str, str]:
    assert isinstance(found, dict)
    return {goal["name"].removeprefix("transitions(m)="): goal["verdict"] for goal in found["goals"]}


@pytest.mark.slow
@pytest.mark.parametrize("clock", ["unsigned long", "unsigned", "int"])
def test_the_clock_that_keeps_pace_has_its_shortest_chain(clock: str, tmp_path: Path) -> None:
    source, found = made(CLOCK, clock, tmp_path)
    assert (found["bounds"]["length"], found["bounds"]["lower"]) == (54, 54)  # type: ignore[index]
    assert [name for name, said in verdicts(found).items() if said == "unreachable"] == ["0->2", "2->1"]
    checked = chaincover("verify", source, tmp_path / "out")
    assert checked.code == 0
    assert "normal form" in checked.out


def test_after_the_wrap_of_a_promoted_clock_nothing_is_as_before(tmp_path: Path) -> None:
    """323 states: with ``uint8_t`` the sum ``last + 100`` is an ``int`` that no clock reaches after the wrap."""
    _, found = made(CLOCK, "unsigned char", tmp_path)
    assert sorted(verdicts(found).values()) == ["covered"] * 2 + ["unreachable"] * 4
    assert found["certificate"]["validity"] is None  # type: ignore[index]


@pytest.mark.slow
def test_up_to_a_wrap_the_bound_is_proved_and_nothing_is_unreachable(tmp_path: Path) -> None:
    """Mode 1 is never met again, nor are others than by way of it: induction shows some of that, a wrap none of it."""
    source, found = made(BLINK, "unsigned", tmp_path)
    assert found["bounds"]["minimal"]  # type: ignore[index]
    assert found["certificate"]["validity"]["steps"] == pytest.approx(2**32 / 100, rel=1e-3)  # type: ignore[index]
    said = verdicts(found)
    assert (said["0->1"], said["1->2"], said["0->2"], said["2->0"]) == ("covered",) * 2 + ("unreachable",) * 2
    assert chaincover("verify", source, tmp_path / "out").code == 0
    data = json.loads((tmp_path / "out" / "chain.json").read_text(encoding="utf-8"))
    data["certificate"]["validity"]["rises"]["s->now"][1] = 1
    (tmp_path / "out" / "chain.json").write_text(json.dumps(data), encoding="utf-8")
    forged = chaincover("verify", source, tmp_path / "out", "--json")
    assert "WRONG" in forged.out


def test_a_clock_that_wraps_soon_is_as_it_is() -> None:
    assert slicing.LEAST_HORIZON > 2**16 // 2
    with fresh_names():
        problem = drawn(3)
        assert compare(problem).wrong == ()


@pytest.mark.slow
@seeds(4)
def test_no_claim_is_contradicted_by_a_search_over_all_states(seed: int) -> None:
    with fresh_names():
        assert compare(drawn(seed)).wrong == ()
