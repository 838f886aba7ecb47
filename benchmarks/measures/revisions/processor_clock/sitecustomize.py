"""Python's clocks count the processor's seconds: what a program does within a limit does not depend on its neighbours.

Python imports this file at its start where its folder is in ``PYTHONPATH``. Modules that have to wait in real time are
imported before the clocks are changed, and keep the real ones. Child processes count once they have ended.
"""

import concurrent.futures
import multiprocessing
import queue
import resource
import selectors
import subprocess
import threading
import time

REAL_TIME = (concurrent.futures, multiprocessing, queue, selectors, subprocess, threading)


def processor() -> float:
    """The processor's seconds of this process and of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


time.monotonic = processor
time.perf_counter = processor
