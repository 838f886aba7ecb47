"""A large stack for what recurses along the nesting of code."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from bmc import ending
from bmc.errors import MemoryLimitReached

T = TypeVar("T")


@contextlib.contextmanager
def _deep_recursion() -> Iterator[None]:
    old = sys.getrecursionlimit()
    sys.setrecursionlimit(max(old, 200_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(old)


STACK = 512
"""Megabytes of stack for what recurses along the code."""


_here = threading.local()
"""``deep``: this thread has a large stack."""


def with_deep_stack(work: Callable[[], T]) -> T:
    """Run ``work`` with a large stack: the parser and the executor recurse along the nesting of the code.

    Within ``work`` it is there for further calls.
    """
    if getattr(_here, "deep", False):
        return work()
    result: list[T] = []
    failure: list[BaseException] = []

    def body() -> None:
        _here.deep = True
        try:
            with _deep_recursion():
                result.append(work())
        except BaseException as error:  # handed on to the caller's thread
            failure.append(error)

    old = threading.stack_size(STACK << 20)
    try:
        thread = threading.Thread(target=body, daemon=True)
        thread.start()
    except RuntimeError:
        raise MemoryLimitReached(f"there is no memory for a stack of {STACK} MB", hint="allow more memory") from None
    finally:
        threading.stack_size(old)
    with ending.interruptible(0.0):
        thread.join()
    if failure:
        raise failure[0]
    return result[0]
