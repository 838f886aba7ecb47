"""Goals: what a chain must exercise. They are read from text, C functions and code, and judged on runs."""

import bmc  # noqa: F401 (before pysmt: see there)
