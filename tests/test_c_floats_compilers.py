"""Where compilers get floating point wrong: the original is built so that they do not."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, own_environment, read  # noqa: F401

pytestmark = pytest.mark.needs_compiler


def test_zero_minus_a_converted_integer(tmp_path: Path) -> None:
    """gcc 12 folds ``0.0f - (float)n`` into a negation, even without optimisation: -0.0 for n = 0 instead of 0.0."""
    text = """
    float r; double d; struct { float quotient; } s;
    void step(int n, unsigned char k) {
      r = 0.0f - (float)n;
      d = 0.0 - (double)(k & 1);
      s.quotient = 1.0f / r;
    }
    """
    found = agreement(read(tmp_path, text), pairs=200)
    assert found.steps == 200
    assert not found.differences
