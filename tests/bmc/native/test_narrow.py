"""The compiled original for 32 bits, which a worker of its own loads: the same records, the same errors."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from c_support import agreement, own_environment, read
from native_programs import Write, counter, numbers, writer

from bmc.native.build import NoCompiler
from bmc.native.narrow import OPTIONS, worker
from bmc.native.original import OriginalCrashed, OriginalTimeout, compiled
from bmc.system.original import NativeInterface
from bmc.system.simulation import Simulator

__all__ = ["own_environment"]
pytestmark = [pytest.mark.needs_compiler, pytest.mark.needs_narrow]

EVERYTHING = """
#include <stdint.h>
typedef struct { long gain; signed char level; double weight; unsigned flag : 3; } input;
typedef struct state {
  void (*handler)(struct state *, const input *);
  const input *last;
  long sum;
  unsigned long product;
  int64_t whole;
  float part;
  double exact;
  short few;
  int low : 5, high : 7;
} state;
static const input table[2] = {{1, 2, 0.5, 1}, {3, 4, 1.5, 2}};
static long long count;
static void first(state *s, const input *in);
static void second(state *s, const input *in) {
  s->sum = (long)((unsigned long)s->sum * 3u + (unsigned long)in->gain);
  if (in->level < 0) s->handler = first;
}
static void first(state *s, const input *in) {
  s->product = s->product * 65599u + (unsigned long)in->level;
  if (in->level > 3) { s->handler = second; s->last = &table[in->level & 1]; }
}
void init(state *s, unsigned char few, long long whole, float part, double exact, signed char low) {
  s->handler = first; s->last = table; s->sum = sizeof(long) + sizeof(void *) + sizeof(state);
  s->product = 0; s->whole = whole; s->part = part; s->exact = exact; s->few = few; s->low = low; s->high = 0;
}
RESULT step(input *in, state *s, signed char small, long long large, float ratio, double weight) {
  static unsigned char kept;
  kept += small;
  s->handler(s, in);
  count = (long long)((unsigned long long)count * 31u + (unsigned long long)large) + s->last->level;
  s->whole ^= large;
  s->part = (float)in->level * 0.1f + ratio * 0.5f;
  s->exact = s->part * 3.1 + weight / 7.0;
  s->few = (short)(s->few + small);
  s->low = in->flag; s->high = kept & 63;
  return (RESULT)(s->exact * 0 == 0 ? s->few : 3);
}
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


def narrow(native: NativeInterface) -> NativeInterface:
    return replace(native, compilation=replace(native.compilation, word_sizes="ilp32"))


@pytest.mark.slow
@pytest.mark.parametrize("result", ["signed char", "unsigned long", "long long", "float", "double"])
def test_every_kind_of_argument_result_and_variable_is_that_of_the_model(result: str, tmp_path: Path) -> None:
    init = ("init(s, 250, -5000000000LL, 0.1f, 0.1, -3)",)
    model = read(tmp_path, EVERYTHING.replace("RESULT", result), target="ilp32", init=init)
    assert model.native.compilation.word_sizes == "ilp32"
    assert Simulator(model.system).initial()["s->sum"] == 4 + 4 + 40
    found = agreement(model, pairs=400)
    assert (found.differences, found.traps) == ([], [])
    assert found.steps > 300


def test_a_crash_and_an_endless_step_are_told_with_the_states_before(write: Write) -> None:
    crash = narrow(counter(write(a="int n; int *p; void step(void) { if (++n == 3) *p = 1; }")))
    with pytest.raises(OriginalCrashed, match=r"in step 2 \(of 5, counted from 0\): SIGSEGV") as crashed:
        numbers(crash, 5)
    assert [state["n"] for state in crashed.value.states] == [0, 1, 2]
    endless = narrow(counter(write(b="int n; void step(void) { n++; while (n == 2) ; }")))
    with pytest.raises(OriginalTimeout, match="stopped in step 1"):
        numbers(endless, 5, time_limit=1)
    missing = narrow(counter(write(c="int n; void gone(void); void step(void) { n++; gone(); }")))
    with pytest.raises(OriginalCrashed, match=r"called 'gone' in step 0 .*, which no source file defines"):
        numbers(missing, 5)


def test_each_step_from_a_state_starts_with_the_memory_after_init(write: Write) -> None:
    text = (
        "int n; static int hidden; static double d; void step(void) { hidden++; d += 0.5; n += hidden + (int)(2 * d); }"
    )
    with compiled(narrow(counter(write(a=text)))) as program:
        assert [state["n"] for state in program.run([{}] * 3)] == [0, 2, 6, 12]
        assert [state["n"] for state in program.steps([({"n": k}, {}) for k in (5, -3 & 0xFFFFFFFF)])] == [
            7,
            0xFFFFFFFF,
        ]
        assert [state["n"] for state in program.runs([[{}] * 2, [{}] * 3])] == [2, 6, 2, 6, 12]


def test_doubles_round_as_in_c_and_not_as_in_wider_registers(write: Write) -> None:
    text = "int n; volatile double a = 1e16, b = 2.9999; void step(void) { n = (a + b) - a == 2; }"
    assert numbers(narrow(counter(write(a=text))), 1) == [0, int(1e16 + 2.9999 - 1e16 == 2)]


def test_a_compiler_without_these_word_sizes_is_told_with_what_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(NoCompiler, match="makes none") as refused:
        worker(["false", *OPTIONS["ilp32"]], tmp_path)
    assert "gcc-multilib" in refused.value.hint
