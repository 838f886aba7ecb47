"""A task that takes its process with it; by itself, so that workers load nothing else for it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any


def killing(task: tuple[str, Callable[[Any], Any], Any]) -> Any:
    """Does a task: folder, function, what it is given. The first one of each function kills its process.

    The folder then has a file with the function's name.
    """
    folder, function, given = task
    try:
        (Path(folder) / function.__name__).touch(exist_ok=False)
    except FileExistsError:
        return function(given)
    os.kill(os.getpid(), signal.SIGKILL)
