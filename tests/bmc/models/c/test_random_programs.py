"""Random controllers: the model equals the compiled original, and no step that it calls defined is undefined.

``python -m benchmarks fuzz`` takes as many programs as one likes.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from c_support import agreement, own_environment, read, sanitizing_compiler  # noqa: F401
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from benchmarks.checks.fuzz.agreement import Agreement
from benchmarks.checks.fuzz.generator import Program
from bmc.errors import UnsupportedConstruct

pytestmark = pytest.mark.needs_compiler
PROGRAMS = 2
REFUSED = ("in no given order", "of which only some are set", "that may not all be set")
"""What drawn programs may be refused for."""


@pytest.fixture(scope="module", autouse=True)
def traps() -> Iterator[bool]:
    """The compiler traps undefined behaviour where it can; whether it does."""
    with pytest.MonkeyPatch.context() as patch:
        command = sanitizing_compiler()
        if command is not None:
            patch.setenv("CC", command)
        yield command is not None


KINDS = {
    "floating": "floating point",
    "jumps": "jumps",
    "gnu": "gnu",
    "overlaid": "bit-fields and unions",
    "pointers": "pointers",
    "idioms": "idioms",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["integers", *KINDS.values()])
def test_random_programs_agree(traps: bool, kind: str) -> None:
    wanted = PROGRAMS
    total = Agreement()
    programs = refused = 0

    @settings(
        max_examples=wanted,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(seed=st.integers(0, 2**32 - 1), size=st.integers(3, 5))
    def check(seed: int, size: int) -> None:
        nonlocal programs, refused
        text = Program(random.Random(seed), size, **{flag: kind == name for flag, name in KINDS.items()}).text
        with tempfile.TemporaryDirectory() as folder:
            try:
                model = read(Path(folder), text, step="compute")
            except UnsupportedConstruct as error:
                if not any(each in str(error) for each in REFUSED):
                    raise
                refused += 1
                return
            found = agreement(model, pairs=200, undefined=1 if traps else 0, seed=seed)
        assert not found.differences, f"{found.differences[0]}\n{text}"
        assert not found.traps, f"undefined, but the model calls it defined: {found.traps[0]}\n{text}"
        total.add(found)
        programs += 1

    check()
    print(f"{programs} programs, {refused} refused, {total}")
    assert programs >= wanted * (0.8 if kind != "bit-fields and unions" else 0.5)
    assert total.steps > 50 * programs
    if traps and total.tried > 10:  # the compiler folds some undefined operations away before they are checked
        assert total.trapped >= 0.85 * total.tried
