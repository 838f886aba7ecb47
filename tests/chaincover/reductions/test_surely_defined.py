"""A sum that limits itself, beside modes with a long timer: it keeps no chain from its proof, nor verify from that."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import chaincover, write_files

CODE = """
#include <stdint.h>
typedef struct { uint8_t by, off; _Bool go; int16_t level; } t_input;
typedef struct { uint16_t t; uint8_t m; SUM sum; float mean; } t_state;
void init(t_state *s) { s->t = 0; s->m = 0; s->sum = 0; s->mean = 0; }
void compute(t_input *i, t_state *s) {
    s->mean = s->mean * 0.5f + (float)i->level;
    if (i->by > 3 && s->sum < LIMIT) s->sum += i->by; else if (s->sum > 1000) s->sum -= i->off;
    switch (s->m) {
        case 0: if (i->go) { s->m = 1; s->t = 0; } break;
        case 1: if (++s->t >= 150) { s->m = 2; s->t = 0; } break;
        case 2: if (!i->go) s->m = 0; break;
    }
}
"""


def generated(folder: Path, *more: str) -> tuple[int | None, bool]:
    """The length of the chain through all transitions of the mode, and whether it is proved minimal."""
    write_files(folder, {"c.c": CODE})
    arguments = ["generate", "c.c", "--cover", "transitions(m, 0..2)", "--effort", "0.1", "-o", "out", "--json"]
    bounds = chaincover(*arguments, *more, cwd=folder).json["bounds"]
    return bounds["length"], bounds["minimal"]


@pytest.mark.slow
@pytest.mark.needs_compiler
def test_a_sum_that_never_overflows_keeps_no_chain_from_its_proof(tmp_path: Path) -> None:
    signed = ["-D", "SUM=int32_t", "-D", "LIMIT=100000"]
    assert generated(tmp_path, *signed) == (152, True)
    assert chaincover("verify", "c.c", "out", "-q", *signed, cwd=tmp_path).code == 0
    assert generated(tmp_path, "-D", "SUM=uint32_t", "-D", "LIMIT=100000") == (152, True)
