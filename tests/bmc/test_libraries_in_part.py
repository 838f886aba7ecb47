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
import numpy, pysmt.shortcuts
sys.setswitchinterval(1e-6)
asked = [(numpy._typing, name) for name in ("NDArray", "ArrayLike", "NBitBase", "_UFunc_Nin1_Nout1", "_DTypeLike")]
asked += [(pysmt.smtlib.parser, name) for name in ("SmtLibParser", "get_formula", "SmtLib20Parser", "open_")]
asked += [(pysmt.smtlib.printers, name) for name in ("to_smtlib", "SmtPrinter", "SmtDagPrinter", "quote")]
begin = threading.Barrier(2 * len(asked))
seen = []

def ask(module, name):
    begin.wait()
    seen.append(str(getattr(module, name, None)))

threads = [threading.Thread(target=ask, args=each) for each in 2 * asked]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(seen), "None" in seen, hasattr(numpy._typing, "what_is_not_there"))
"""


def test_threads_that_ask_at_once_all_get_what_they_ask_for() -> None:
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["26", "False", "False"]


FIRST = """
import bmc
from numpy._typing import NDArray
import numpy
print(NDArray[numpy.int64])
"""


def test_the_type_of_arrays_is_that_of_numpy_whoever_asks_first() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(NDArray[numpy.int64])


ABOUT = """
import inspect
import bmc
import numpy, pysmt.shortcuts
for module in (numpy._typing, pysmt.smtlib.printers, pysmt.solvers.portfolio):
    print(len(inspect.getsource(module)) > 500, type(module.__loader__).__name__)
"""


def test_what_stands_in_for_a_module_has_its_file_and_its_loader() -> None:
    done = subprocess.run([sys.executable, "-c", ABOUT], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "SourceFileLoader"] * 3


def test_a_portfolio_is_loaded_when_it_is_made() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "pysmt.solvers.portfolio", "True"]
