"""Compound literals outside of functions: objects that outlive the steps and have no name."""

from __future__ import annotations

from pathlib import Path

import pytest
from c_support import agreement, own_environment, read, refusal  # noqa: F401

ADDRESSES = (
    "int *p = (int[]){1, 2}; int get(void) { return p[1]; }",
    "int *p = &(int){2}; int get(void) { return *p; }",
    "struct s { int *p; } s = {&(int){2}}; int get(void) { return *s.p; }",
    "int *p[2] = {0, (int[]){1, 2}}; int get(void) { return p[1][1]; }",
    "int get(void) { static int *p = (int[]){1, 2}; return p[1]; }",
)


@pytest.mark.parametrize("text", ADDRESSES)
def test_addresses_are_refused(tmp_path: Path, text: str) -> None:
    """They were taken for objects that no source defines, with the value 0."""
    error = refusal(tmp_path, f"int r;\n{text}\nvoid step(int n) {{ r = get() + (n & 1); }}")
    assert "address of a compound literal in a static initialiser" in error.message
    assert error.where is not None
    assert error.where.line == 2
    assert "name" in error.hint


@pytest.mark.parametrize("text", ADDRESSES[:4])
def test_addresses_that_are_not_used_do_no_harm(tmp_path: Path, text: str) -> None:
    """Not even where a branch that is never taken names them."""
    model = read(tmp_path, f"int r;\n{text}\nvoid step(int n) {{ if (0) r = get(); r += n & 1; }}")
    assert not model.native.compilation.environment
    assert {"n", "r"} <= set(model.names)


@pytest.mark.needs_compiler
def test_values_are_read(tmp_path: Path) -> None:
    """The value of a literal initialises an object, as gcc has it."""
    text = """
    struct pair { int a; float b; };
    static struct pair one = (struct pair){7, 0.1};
    static struct pair table[2] = {(struct pair){1, 0.5f}, (struct pair){2, 0.3}};
    int r; float f;
    void step(unsigned char n) { one.a += n; r = one.a + table[n & 1].a; f = one.b + table[n & 1].b; }
    """
    found = agreement(read(tmp_path, text), pairs=100)
    assert found.steps > 50
    assert not found.differences
