"""What requirements can do is told in one line, and what is proved of a length in brackets."""

from __future__ import annotations

import io

from bmc.errors import NAMED
from chaincover.chain import UNDECIDED, Bounds, Ruling
from chaincover.report.console import Console, proof_told
from chaincover.report.console_requirements import show_rulings


def test_more_open_requirements_than_are_named_are_counted() -> None:
    out = Console(io.StringIO(), 200)
    show_rulings(out, [Ruling(f"r{number}", UNDECIDED, "") for number in range(NAMED + 3)], ())
    assert "requirements: all 11 undecided (r0, r1, r2, r3, r4, r5, r6, r7 and 3 more)" in out.file.getvalue()  # type: ignore[attr-defined]


def test_no_bound_is_not_told_as_one() -> None:
    assert [proof_told(Bounds(lower, 5, "")) for lower in (0, 3, 5)] == [
        "no lower bound yet",
        "none shorter than 3",
        "minimal",
    ]
