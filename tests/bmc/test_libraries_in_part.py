"""The library of z3 is not loaded by pysmt, and is there for the engine that is made of it."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import bmc
import pysmt.shortcuts
print("z3" in sys.modules, hasattr(pysmt.constants, "Numeral"))
import z3
print(z3.simplify(z3.IntVal(1) + 1))
"""


def test_pysmt_does_not_load_z3() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "2"]
