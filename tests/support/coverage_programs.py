"""Programs whose decisions and conditions are marked, so that the compiled program logs what it evaluates.

``COND(k, e)`` marks the k-th atomic condition of the one decision on its line, ``DEC(e)`` the decision, and
``SWITCH(e)`` the value that a switch looks at. Without ``-DLOG`` the marks are nothing but parentheses.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence

HEAD = r"""
#ifdef LOG
#include <stdio.h>
static int log_(int line, int k, long long value) { printf("%d %d %lld ", line, k, value); return (int)value; }
#define COND(k, e) log_(__LINE__, k, (e) != 0)
#define DEC(e) log_(__LINE__, 0, (e) != 0)
#define SWITCH(e) log_(__LINE__, -1, (e))
#else
#define COND(k, e) (e)
#define DEC(e) (e)
#define SWITCH(e) (e)
#endif
typedef struct { signed char a, b, c, d; } t_in;
typedef struct { int n; unsigned char m; signed char last[3]; } t_st;
void init(t_st *s) { s->n = s->m = s->last[0] = s->last[1] = s->last[2] = 0; }
"""
MAIN = r"""
#ifdef LOG
int main(void) {
  int v[9];
  while (scanf("%d %d %d %d %d %d %d %d %d", v, v+1, v+2, v+3, v+4, v+5, v+6, v+7, v+8) == 9) {
    t_st s = { v[0], v[1], { v[2], v[3], v[4] } };
    t_in i = { v[5], v[6], v[7], v[8] };
    step(&i, &s);
    printf("\n");
  }
  return 0;
}
#endif
"""
STATE = ("s->n", "s->m", "s->last[0]", "s->last[1]", "s->last[2]")
INPUTS = ("i->a", "i->b", "i->c", "i->d")

PROGRAMS = {
    "branches": """\
void step(t_in *i, t_st *s) {
  if (DEC(COND(1, i->a > 0))) {
    if (DEC(COND(1, i->b) && COND(2, i->c))) s->n = 1;
    else if (DEC(COND(1, s->n == 1) || !COND(2, i->d))) s->n = 2;
    else return;
  } else
    s->n = DEC(COND(1, i->c < i->d)) ? 3
         : DEC(!COND(1, s->m)) ? 4 : 5;
  if (DEC(!(COND(1, s->n > 2) || COND(2, i->a == 1)) && (COND(3, i->b) || COND(4, i->c) || COND(5, i->d)))) s->m++;
}
""",
    "switch with fallthrough": """\
void step(t_in *i, t_st *s) {
  switch (SWITCH(s->m & 7)) {
  case 0:
    if (DEC(COND(1, i->a))) break;
  case 1:
  case 2:
    s->n = i->b;
    if (DEC(COND(1, i->b == i->c))) s->m = 3;
  default:
    s->m++;
    break;
  case 4:
    switch (SWITCH(i->c)) { case -1: s->m = 0; break; case 1: return; }
  }
  s->m += DEC(COND(1, s->n > 0) && COND(2, i->d > 0));
}
""",
    "loops": """\
void step(t_in *i, t_st *s) {
  int k, sum = 0;
  for (k = 0; DEC(COND(1, k < 3)); k++) {
    if (DEC(COND(1, s->last[k] < 0))) continue;
    if (DEC(COND(1, s->last[k] == i->a) && COND(2, k > 0))) break;
    sum += s->last[k] > 1;
  }
  while (DEC(COND(1, k > 0) && !COND(2, s->last[k - 1] == i->b))) k--;
  do { sum--; } while (DEC(COND(1, sum > i->c) && COND(2, sum > -2) && COND(3, sum != 1)));
  do s->last[s->n & 1] = i->d; while (0);
  while (1) { s->n = sum; break; }
  for (;;) {
    if (DEC(COND(1, k++ >= 2))) break;
    s->last[2] = i->a;
  }
}
""",
    "calls with side effects": """\
static int calls;
static int bump(int by) {
  if (DEC(COND(1, by < 0))) return 0;
  calls += by;
  return DEC(COND(1, calls > 2) || COND(2, by == 2)) ? 1 : 0;
}
static void twice(t_st *s, int v) {
  if (DEC(COND(1, bump(v)) && COND(2, bump(v - 1)))) s->m = 1;
}
static int unused(int x) { if (x) return 1; return 2; }
void step(t_in *i, t_st *s) {
  calls = 0;
  if (DEC(COND(1, i->a > 0) || (COND(2, s->m++ & 1) && COND(3, bump(i->b))))) twice(s, i->c);
  twice(s, i->d);
  int both = DEC(COND(1, bump(i->a)) && (COND(2, i->b) || COND(3, bump(1))));
  s->n = both * calls;
}
""",
    "dead code": """\
static int unused(int x) { if (x) return 1; return 2; }
static void set(t_st *s, int on, int v) {
  if (DEC(COND(1, on)))
    if (DEC(COND(1, v > 0) && COND(2, s->m))) s->n = v;
}
void step(t_in *i, t_st *s) {
  set(s, 0, i->a);
  if (DEC(COND(1, i->b) && COND(2, sizeof(int) == 2))) s->n = unused(i->c);
  if (DEC(COND(1, 1) || COND(2, i->c))) s->m++;
}
""",
}

Boolean = Callable[[Mapping[int, int]], bool]


def boolean_function(row: str) -> tuple[Boolean, list[int]]:
    """The decision of a source line as a Python function of its conditions, and their numbers."""
    result, position = "", row.index("DEC(") + 3
    depth = 0
    while depth or not result:
        mark = re.match(r"COND\((\d+), ", row[position:])
        if mark:
            result += f" c[{mark[1]}] "
            position = _end_of_parentheses(row, position + 4)
            continue
        depth += {"(": 1, ")": -1}.get(row[position], 0)
        result += row[position]
        position += 1
    python = result.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
    function: Boolean = eval(f"lambda c: bool({python})")
    return function, [int(number) for number in re.findall(r"c\[(\d+)\]", result)]


def _end_of_parentheses(row: str, start: int) -> int:
    """The position after the parenthesis that closes the one at ``start``."""
    depth = 0
    for position in range(start, len(row)):
        depth += {"(": 1, ")": -1}.get(row[position], 0)
        if depth == 0:
            return position + 1
    raise AssertionError(f"no closing parenthesis in {row}")


def decides(function: Boolean, numbers: Sequence[int], seen: Mapping[int, int], k: int) -> bool:
    """By brute force: for some values of what was not evaluated, the other value of k changes the outcome."""
    free = [n for n in numbers if n not in seen]
    for values in itertools.product((0, 1), repeat=len(free)):
        full = {**seen, **dict(zip(free, values, strict=True))}
        if function(full) != function({**full, k: 1 - full[k]}):
            return True
    return False
