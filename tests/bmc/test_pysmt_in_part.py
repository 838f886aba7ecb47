"""What of pysmt is not loaded with it is there where it is asked for."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import bmc
from pysmt.shortcuts import Portfolio
print("multiprocessing" in sys.modules, "z3" in sys.modules)
made = Portfolio(["z3"], logic="QF_BOOL")
print(type(made).__module__, "multiprocessing" in sys.modules)
"""


def test_a_portfolio_is_loaded_when_it_is_made() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "pysmt.solvers.portfolio", "True"]
