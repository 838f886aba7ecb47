"""OR-tools' solver CP-SAT, loaded without pandas."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any

MODULE = "ortools.sat.python.cp_model"


@cache
def cp_model() -> Any:
    """OR-tools' module of models and their solver. ImportError where OR-tools is not installed.

    It is a copy of its own, and names two types of pandas: tables of variables, of which nothing here knows. To import
    pandas takes half a second and 40 MB, more than most orderings. Where pandas is there already, or two types do not
    do, it is OR-tools' own module.
    """
    spec = find_spec(MODULE)
    if spec is None or spec.loader is None or "pandas" in sys.modules:
        return import_module(MODULE)
    found, pandas = module_from_spec(spec), ModuleType("pandas")
    for name in ("Index", "Series"):
        setattr(pandas, name, type(name, (), {}))
    sys.modules["pandas"] = pandas
    try:
        spec.loader.exec_module(found)
        return found
    except (AttributeError, ImportError):  # OR-tools of another version wants more of pandas
        pass
    finally:
        del sys.modules["pandas"]
    return import_module(MODULE)
