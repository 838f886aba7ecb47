"""Systems whose states are too many to list: suggested invariants and induction prove what listing would."""

from __future__ import annotations

from pathlib import Path

from command_line import chaincover, write_files

CODE = """
typedef struct { unsigned total; unsigned char mode; unsigned char twin; } S;
static S s;
void init(void) { s.total = 0; s.mode = 0; s.twin = 0; }
void step(unsigned in) {
    s.total += in;
    if (in == 7u) { if (s.mode < 3) { s.mode++; s.twin++; } }
    else if (in == 9u) { s.mode = 0; s.twin = 0; }
}
"""
PROJECT = """
name = "twins"
[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "step"
[interface]
input = ["in"]
state = ["s.*"]
[[property]]
id = "top"
text = "cover(s.mode == 3 && s.total > 100)"
[[property]]
id = "apart"
text = "cover(s.mode == 2 && s.twin == 1 && s.total > 5)"
"""


def test_a_goal_that_only_an_invariant_excludes_is_proved_unreachable(tmp_path: Path) -> None:
    write_files(tmp_path, {"c.c": CODE, "chaincover.toml": PROJECT})
    outcome = chaincover("generate", ".", "--json", "--no-cache", "-o", "out", cwd=tmp_path)
    goals = {goal["name"]: goal for goal in outcome.json["goals"]}
    assert goals["top"]["verdict"] == "covered"
    assert goals["apart"]["verdict"] == "unreachable"
    assert "proved invariants" in goals["apart"]["detail"]
    assert outcome.code == 4
    assert "s.mode = s.twin" in outcome.json["certificate"]["invariants"]
    again = chaincover("verify", ".", "out/chain.json", cwd=tmp_path)
    assert "s.mode = s.twin: true at the start, and kept by every step" in again.out


RINGS = """
static unsigned total; static unsigned char ring;
void init(void) { total = 0; ring = 0; }
void step(unsigned in) {
    total += in;
    if (ring < 10) { ring = ring == 9 ? 0 : ring + 1; }
    else if (ring >= 20 && ring <= 22) { ring = ring == 22 ? 20 : ring + 1; }
}
"""


def test_a_goal_in_a_ring_of_states_that_nothing_enters_is_unreachable_by_induction(tmp_path: Path) -> None:
    project = (
        PROJECT.split("[interface]")[0]
        + """
[interface]
input = ["in"]
state = ["total", "ring"]
[[property]]
id = "inside"
text = "cover(ring == 4 && total > 100)"
[[property]]
id = "outside"
text = "cover(ring == 22)"
"""
    )
    write_files(tmp_path, {"c.c": RINGS, "chaincover.toml": project})
    outcome = chaincover("generate", ".", "--json", "--no-cache", "-o", "out", cwd=tmp_path)
    goals = {goal["name"]: goal for goal in outcome.json["goals"]}
    assert goals["inside"]["verdict"] == "covered"
    assert (goals["outside"]["verdict"], goals["outside"]["detail"]) == (
        "unreachable", "no run covers it: proved by induction over 3 step(s)"
    )  # fmt: skip
