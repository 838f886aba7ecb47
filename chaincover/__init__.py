"""Short chains of goals through embedded C controllers, with proofs: the public face (docs/reference/api.md).

Nothing is loaded before it is used: each name is looked up in the module that defines it when it is first asked for.
"""

# ruff: noqa: F401 (the imports are for type checkers: what they name is public)

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import bmc

if TYPE_CHECKING:
    from bmc.errors import ChainCoverError, InputRefused, LimitReached, UsageError
    from bmc.system.transition import Run, TransitionSystem
    from chaincover.certificate import Certificate
    from chaincover.chain import Bounds, Chain, Hit, Verdict, Violation
    from chaincover.options import Options
    from chaincover.problem import Problem
    from chaincover.project.load import Request
    from chaincover.public import generate, generate_most, generate_several, load, read, replay, save, verify
    from chaincover.report.saved_result import SavedResult
    from chaincover.result import ChainResult, Listener, SeveralChains
    from chaincover.steps import Step, Steps
    from chaincover.subject import Subject
    from chaincover.target.judge import JudgedRun
    from chaincover.verification.report import Verification
    from chaincover.weights import ReachGraph
    from properties.goal import Goal

_PLACES = {
    "Bounds": "chaincover.chain",
    "Certificate": "chaincover.certificate",
    "Chain": "chaincover.chain",
    "ChainCoverError": "bmc.errors",
    "ChainResult": "chaincover.result",
    "Subject": "chaincover.subject",
    "Goal": "properties.goal",
    "Hit": "chaincover.chain",
    "InputRefused": "bmc.errors",
    "LimitReached": "bmc.errors",
    "Listener": "chaincover.result",
    "Options": "chaincover.options",
    "Problem": "chaincover.problem",
    "ReachGraph": "chaincover.weights",
    "JudgedRun": "chaincover.target.judge",
    "Request": "chaincover.project.load",
    "Run": "bmc.system.transition",
    "SavedResult": "chaincover.report.saved_result",
    "SeveralChains": "chaincover.result",
    "Step": "chaincover.steps",
    "Steps": "chaincover.steps",
    "TransitionSystem": "bmc.system.transition",
    "UsageError": "bmc.errors",
    "Verdict": "chaincover.chain",
    "Verification": "chaincover.verification.report",
    "Violation": "chaincover.chain",
    "generate": "chaincover.public",
    "generate_most": "chaincover.public",
    "generate_several": "chaincover.public",
    "load": "chaincover.public",
    "read": "chaincover.public",
    "replay": "chaincover.public",
    "save": "chaincover.public",
    "verify": "chaincover.public",
}
"""Where each public name is defined."""

__all__ = [
    "Bounds",
    "Certificate",
    "Chain",
    "ChainCoverError",
    "ChainResult",
    "Goal",
    "Hit",
    "InputRefused",
    "JudgedRun",
    "LimitReached",
    "Listener",
    "Options",
    "Problem",
    "ReachGraph",
    "Request",
    "Run",
    "SavedResult",
    "SeveralChains",
    "Step",
    "Steps",
    "Subject",
    "TransitionSystem",
    "UsageError",
    "Verdict",
    "Verification",
    "Violation",
    "generate",
    "generate_most",
    "generate_several",
    "load",
    "read",
    "replay",
    "save",
    "verify",
]


def __getattr__(name: str) -> Any:
    if name == "Controller":
        raise AttributeError("chaincover.Controller is chaincover.Subject now")
    if name not in _PLACES:
        raise AttributeError(f"module 'chaincover' has no attribute {name!r}")
    value = getattr(import_module(_PLACES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    hidden = {"Any", "TYPE_CHECKING", "annotations", "import_module"}
    return sorted({*globals(), *__all__} - hidden)
