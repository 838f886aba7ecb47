"""Programs that write to outputs of their caller: init leaves these open, and goals read them before the first step."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import chaincover, write_files

SOURCE = """typedef struct { unsigned char motor, lamp, fault; } t_out;
static unsigned char mode, waited;
void init(void) { mode = 0; waited = 0; }
void step(_Bool go, _Bool stop, t_out *out) {
  if (stop) { mode = 0; waited = 0; }
  else if (go && waited < 9) { if (++waited == 9) mode = 2; else mode = 1; }
  out->motor = mode;
  if (mode == 2) out->lamp = 7;
  out->fault = stop && go ? 3 : 0;
}
"""
PROJECT = """[sources]
files = ["c.c"]
[functions]
init = ["init"]
step = "step"
[[property]]
text = "halts: G(out->motor == 2 && stop -> X(out->motor == 0))"
[[property]]
text = "both: cover(out->fault == 3 && out->lamp == 7)"
[[property]]
text = "full: cover(out->motor == 2 && X(out->motor == 2))"
"""


@pytest.mark.parametrize("native", [(), ("--no-native",)])
def test_a_chain_is_proved_minimal_although_outputs_start_with_any_value(tmp_path: Path, native: tuple[str]) -> None:
    """Three bytes have 16,777,216 start values, of which twelve differ. ``halts`` may hold in the first step."""
    write_files(tmp_path, {"c.c": SOURCE, "chaincover.toml": PROJECT})
    done = chaincover("generate", tmp_path, *native, "--json", "-o", tmp_path / "out")
    assert done.code == 0, done.err
    assert (done.json["bounds"]["length"], done.json["bounds"]["minimal"]) == (11, True)
    checked = chaincover("verify", tmp_path, tmp_path / "out", *native)
    assert checked.code == (6 if native else 0), checked.out  # without a compiler the chain is not replayed
    assert "all runs           holds" in checked.out
