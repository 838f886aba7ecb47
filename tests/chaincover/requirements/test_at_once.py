"""What no state allows is proved before anything is asked that takes long."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import fresh_names, write_files

from chaincover.chain import NEVER_VIOLATED, UNDECIDED
from chaincover.limits import EffortUsedUp, Limits
from chaincover.options import Options
from chaincover.project.load import Request, load_request
from chaincover.requirements import violations
from chaincover.result import Silent

MIXER = """\
#include <stdint.h>
static uint32_t n; static _Bool lamp;
void init(void) { n = 1; lamp = 0; }
void step(_Bool on) { n = n * 1664525u + (on ? 1013904223u : 12345u); lamp = on; }
"""
PROJECT = """\
name = "mixer"
[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "step"
[interface]
input = ["on"]
[[property]]
id = "lit"
text = "G(on -> X(lamp))"
[[property]]
id = "mixed"
text = "G(on -> n != 77)"
"""


def test_it_is_told_although_no_effort_is_left_for_a_normal_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"c.c": MIXER, "chaincover.toml": PROJECT})

    def used_up(_: object) -> None:
        raise EffortUsedUp("the effort was used up")

    monkeypatch.setattr(violations, "fewer_states", lambda _: used_up)
    with fresh_names():
        problem = load_request(Request(str(tmp_path))).problem
        search = violations.Search(problem, Options(), Limits(), Silent())
        search.run()
        rulings = search.told("stopped by the effort").rulings
    assert [(each.goal, each.status) for each in rulings] == [("lit", NEVER_VIOLATED), ("mixed", UNDECIDED)]
