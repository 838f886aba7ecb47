"""CP-SAT is loaded without pandas, and nobody else notices."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import SourceFileLoader
from typing import Any

import pytest

from chaincover.orderings import cpsat as cp_sat

pytest.importorskip("ortools")

ALONE = """\
import sys
from chaincover.orderings.cpsat import MODULE, cp_model
found = cp_model()
assert cp_model() is found and "pandas" not in sys.modules and MODULE not in sys.modules
model = found.CpModel()
chosen = [model.new_bool_var("") for _ in range(3)]
model.add_circuit([(n, (n + 1) % 3, each) for n, each in enumerate(chosen)])
solver = found.CpSolver()
assert solver.solve(model) == found.OPTIMAL and all(map(solver.boolean_value, chosen))
import pandas
from ortools.sat.python import cp_model as own
assert own is not found
assert len(own.CpModel().new_bool_var_series("x", pandas.Index([1, 2]))) == 2
"""
BESIDE_PANDAS = """\
import pandas
from ortools.sat.python import cp_model as own
from chaincover.orderings.cpsat import cp_model
assert cp_model() is own and len(pandas.Index([1])) == 1
"""


@pytest.mark.slow
@pytest.mark.parametrize("program", [ALONE, BESIDE_PANDAS], ids=["alone", "beside pandas"])
def test_pandas_is_neither_loaded_nor_hidden(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_where_two_types_do_not_do_pandas_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    own = cp_sat.import_module(cp_sat.MODULE)
    for name in [name for name in sys.modules if name == "pandas"]:
        monkeypatch.delitem(sys.modules, name)

    def wants_more(loader: Any, module: Any) -> None:
        assert sys.modules["pandas"].DataFrame

    monkeypatch.setattr(SourceFileLoader, "exec_module", wants_more)
    cp_sat.cp_model.cache_clear()
    assert cp_sat.cp_model() is own
    assert "pandas" not in sys.modules
    cp_sat.cp_model.cache_clear()
