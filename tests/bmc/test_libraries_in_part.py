"""What of pysmt and numpy is not loaded with them is there where it is asked for."""

from __future__ import annotations

import subprocess
import sys

import numpy
from numpy.typing import NDArray

CODE = """
import sys
import bmc
from pysmt.shortcuts import Portfolio
print("multiprocessing" in sys.modules, "z3" in sys.modules)
made = Portfolio(["z3"], logic="QF_BOOL")
print(type(made).__module__, "multiprocessing" in sys.modules)
"""


SMT_LIB = """
import io, sys
import bmc
import pysmt.shortcuts
print("pysmt.smtlib.parser.parser" in sys.modules, pysmt.shortcuts.to_smtlib(pysmt.shortcuts.Symbol("p")))
print(pysmt.shortcuts.read_smtlib.__module__, pysmt.smtlib.parser.SmtLibParser.__module__)
from pysmt.smtlib.script import SmtLibScript
print(SmtLibScript.__module__)
"""


def test_what_reads_and_writes_smt_lib_is_loaded_when_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", SMT_LIB], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n") == [
        "False p",
        "pysmt.shortcuts pysmt.smtlib.parser.parser",
        "pysmt.smtlib.script",
        "",
    ]


TYPES = """
import sys
import bmc
import numpy
print("numpy._typing._array_like" in sys.modules, numpy._typing.__file__ is None)
from numpy.typing import ArrayLike, NDArray
print("numpy._typing._array_like" in sys.modules, NDArray[numpy.int64])
print(numpy.linalg.eig(numpy.eye(2)).eigenvalues.tolist())
"""


def test_the_types_of_numpy_are_loaded_when_they_are_asked_for() -> None:
    done = subprocess.run([sys.executable, "-c", TYPES], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["False False", f"True {NDArray[numpy.int64]}"]
    assert done.stdout.split("\n")[2] == "[1.0, 1.0]"


THREADS = """
import sys, threading
import bmc
import numpy
sys.setswitchinterval(1e-6)
names = ["NDArray", "ArrayLike", "DTypeLike", "NBitBase", "_UFunc_Nin1_Nout1", "_DTypeLike"] * 4
begin = threading.Barrier(len(names))
seen = []

def ask(name):
    begin.wait()
    seen.append(str(getattr(numpy._typing, name, None)))

threads = [threading.Thread(target=ask, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(seen), "None" in seen, hasattr(numpy._typing, "what_is_not_there"))
"""


def test_threads_that_ask_at_once_for_types_of_numpy_all_get_them() -> None:
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["24", "False", "False"]


FIRST = """
import bmc
from numpy._typing import NDArray
import numpy
print(NDArray[numpy.int64])
"""


def test_the_type_of_arrays_is_that_of_numpy_whoever_asks_first() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(NDArray[numpy.int64])


def test_a_portfolio_is_loaded_when_it_is_made() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "pysmt.solvers.portfolio", "True"]
