"""A small controller and project file, to be filled in by tests of the command line."""

from __future__ import annotations

HEAD = """\
#include <assert.h>
void __CPROVER_assume(int condition);
typedef struct { int a; _Bool b; } t_in;
typedef struct { int n; int m; } t_st;
void init(t_st *s) { s->n = 0; s->m = 0; }
"""
COUNTER = "if (i->b && s->n < 100) s->n++;"


def program(body: str = COUNTER, before: str = "", after: str = "", head: str = HEAD) -> str:
    """A controller: ``before`` is line 6, ``body`` line 8 from column 3, ``after`` line 10."""
    return f"{head}{before}\nvoid compute(t_in *i, t_st *s) {{\n  {body}\n}}\n{after}\n"


def project(more: str = "", sources: str = 'files = ["c.c"]') -> str:
    """A project file: ``more`` starts at line 4."""
    return f"[sources]\n{sources}\n\n{more}\n"


GOOD = program()
REACH = ("--property", "reach: cover(n == 2)")
