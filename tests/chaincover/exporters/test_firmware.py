"""The firmware for the driver ``serial``: what it holds of a program, and that a board's compilers take it."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from c_support import own_environment
from command_line import Outcome, chaincover, write_files
from hostile_names import HOSTILE

from benchmarks.boards.build import WARNINGS, Built
from benchmarks.boards.line import host_target
from benchmarks.boards.noise import NoisyLine
from bmc.native.original import find_compiler
from bmc.system.simulation import Simulator
from chaincover.exporters.firmware import Firmware
from chaincover.exporters.protocol import ExportedChain
from chaincover.project.load import Request, load_request

__all__ = ["own_environment"]

PROGRAM = """\
#include <stdint.h>
struct in { int8_t small; int64_t large; float ratio; _Bool on; unsigned field : 3; };
static int16_t low; static uint64_t sum; static double mean;
struct out { int32_t back : 5; float half; };
static struct out o;
void start(void) { low = 0; sum = 0; mean = 0; o.back = 0; o.half = 0; }
void step(struct in *i) {
  low = (int16_t)(i->small - 100);
  sum += (uint64_t)i->large;
  mean = i->on ? mean / 2 : i->ratio;
  o.back = -(int)i->field;
  o.half = i->ratio / 2;
}
"""
PROJECT = """\
name = "kinds"
[sources]
files = ["kinds.c"]
[functions]
init = ["start"]
step = "step"
[interface]
input = ["i->*"]
state = ["low", "sum", "mean"]
output = ["o.*"]
[[property]]
id = "always"
text = "cover(i->on)"
[target]
safe = { "i->small" = 0, "i->large" = 0, "i->ratio" = 0, "i->on" = 0, "i->field" = 0 }
"""
INPUTS = """\
i->small,i->large,i->ratio,i->on,i->field
-128,-9223372036854775808,-0.1,0,7
127,9223372036854775807,1e-40,1,0
-1,-1,3.5,0,5
5,4294967296,inf,1,1
"""


def exported(folder: Path) -> Outcome:
    write_files(folder, {"kinds.c": PROGRAM, "chaincover.toml": PROJECT, "in.csv": INPUTS})
    return chaincover("export", ".", "in.csv", "--format", "firmware", "-o", "made", cwd=folder)


@pytest.mark.needs_compiler
def test_values_of_all_types_go_to_the_program_and_come_back(tmp_path: Path) -> None:
    """Signed, wide and floating ones, truth values and fields of bits: each as the model has it."""
    pytest.importorskip("serial")
    assert exported(tmp_path).code == 0
    target = host_target(Built("kinds", tmp_path, tmp_path / "in.csv", tmp_path / "made"))
    line = NoisyLine([str(target), str(tmp_path / "counts")], 0, 0.0)
    try:
        done = chaincover("run", ".", "in.csv", "--driver", f"serial:{line.port}", "--json", cwd=tmp_path)
    finally:
        line.close()
    assert (done.code, done.json["comparison"]["first"]) == (0, None)
    lines = [json.loads(text) for text in (tmp_path / "online.jsonl").read_text().splitlines()]
    last = next(each["outputs"] for each in lines if each.get("step") == 2)
    assert (last["low"], last["sum"], last["o.back"], last["o.half"]) == (-101, (1 << 64) - 2, -5, 1.75)
    assert (tmp_path / "counts").read_text() == "4 0\n"


@pytest.mark.parametrize("command", ["gcc", "clang", "avr-gcc -mmcu=atmega328p", "arm-none-eabi-gcc -mcpu=cortex-m3"])
def test_the_own_files_have_no_warning(command: str, tmp_path: Path) -> None:
    program, *options = command.split()
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    folder = tmp_path
    write_files(folder, {"kinds.c": PROGRAM.replace("double", "float"), "chaincover.toml": PROJECT, "in.csv": INPUTS})
    assert chaincover("export", ".", "in.csv", "--format", "firmware", "-o", "made", cwd=folder).code == 0
    for name in ("chaincover_serial.c", "chaincover_binding.c"):
        call = [program, *options, *WARNINGS, "-c", name, "-o", "/dev/null"]
        done = subprocess.run(call, cwd=tmp_path / "made", capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_serial_side_is_small_and_has_no_heap() -> None:
    text = (Path(__file__).parents[3] / "chaincover" / "exporters" / "chaincover_serial.c").read_text()
    assert len(text.splitlines()) <= 250
    assert "alloc" not in text
    assert "stdio" not in text


def test_a_variable_that_the_firmware_cannot_reach_is_named(tmp_path: Path) -> None:
    hidden = "static int n; void step(int up) { static int inside; inside += up; n = inside; }\n"
    project = 'name = "hidden"\n[sources]\nfiles = ["h.c"]\n[functions]\nstep = "step"\n'
    project += '[interface]\ninput = ["up"]\nstate = ["n", "inside"]\n[[property]]\ntext = "cover(n == 1)"\n'
    write_files(tmp_path, {"h.c": hidden, "chaincover.toml": project, "in.csv": "up\n1\n"})
    refused = chaincover("export", ".", "in.csv", "--format", "firmware", "-o", "made", cwd=tmp_path)
    assert refused.code == 2
    assert "the firmware cannot reach" in refused.stderr
    assert "it lives within the function 'step'" in refused.stderr
    assert not (tmp_path / "made").exists()


@pytest.mark.needs_compiler
def test_hostile_names_are_plain_text(tmp_path: Path) -> None:
    """Names of programs stand in comments."""
    assert exported(tmp_path).code == 0
    subject = load_request(Request(str(tmp_path)))
    for name in HOSTILE:
        hostile = replace(subject, system=replace(subject.system, name=name))
        run = Simulator(subject.system).run(Simulator(subject.system).initial(), ())
        files = Firmware().files(ExportedChain(hostile, run, (), {}, name))
        assert files == Firmware().files(ExportedChain(hostile, run, (), {}, name))
        for file, content in files.items():
            (tmp_path / "made" / file).write_bytes(content)
        call = [find_compiler() or "cc", *WARNINGS, "-c", "chaincover_binding.c", "-o", "/dev/null"]
        done = subprocess.run(call, cwd=tmp_path / "made", capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
