"""Programs of csmith (Debian's packages ``csmith`` and ``libcsmith-dev``), narrowed to the subset of C that is read.

csmith's own ``csmith.h`` prints checksums; ours gives the programs the same arithmetic wrappers and nothing else.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from bmc.errors import ChainCoverError

WRAPPERS = Path("/usr/include/csmith")
"""Where the package keeps ``safe_math.h``."""
HEADER = """\
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#define STATIC static
#define UNDEFINED(value) (value)
#define LOG_INDEX
#define LOG_EXEC
#define FUNC_NAME(name) (safe_##name)
#include "safe_math.h"
"""
_LIMITS = {
    "max-funcs": 3,
    "max-block-depth": 2,
    "max-expr-complexity": 4,
    "max-array-dim": 2,
    "max-array-len-per-dim": 4,
}
_WITHOUT = ("volatiles", "argc", "checksum")
"""Features of csmith that have no meaning for a step function: what is volatile is an input."""


class CsmithMissing(ChainCoverError):
    """csmith is not installed."""


def source(seed: int, floating: bool) -> str:
    """The program of a seed, with ``step`` as its step function. CsmithMissing where csmith or its headers lack."""
    if shutil.which("csmith") is None or not (WRAPPERS / "safe_math.h").exists():
        raise CsmithMissing("csmith is not installed", hint="apt-get install csmith libcsmith-dev")
    words = ["csmith", "--seed", str(seed), "--concise", "--nomain", *(f"--no-{feature}" for feature in _WITHOUT)]
    for name, limit in _LIMITS.items():
        words += [f"--{name}", str(limit)]
    words += ["--float"] if floating else []
    with tempfile.TemporaryDirectory() as folder:  # csmith leaves a file where it runs
        text = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True).stdout
    return f"{text}\nvoid step(void) {{ (void)func_1(); }}\n"
