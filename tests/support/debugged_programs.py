"""C programs whose debug information has something particular, compiled as the tests ask for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bmc.native.build import compiler_words
from bmc.system.original import Call, Compilation, MemoryObject, NativeInterface

HEADER = """
typedef unsigned char byte; typedef const volatile byte *port; enum level { low, high = 1000 };
struct pair { int first : 3; unsigned second : 7; double third; }; union any { int i; float f[4]; };
extern int shared; extern struct pair pairs[3];
static int in_header = 4;
static inline int helper(int a) { static int calls; static int calls_[2]; return (calls += a) + calls_[0] + in_header; }
int next(int); float mixed(float, double, long double, byte, port, struct pair, struct pair *, enum level, int *[2]);
"""

FIRST = """
#include "header.h"
int shared = 3; struct pair pairs[3]; int common_one; static int same; _Thread_local int of_thread = 1;
static const int constant = 7; volatile byte bits; int unused_here; __attribute__((weak)) int weak_one = 2;
static void nothing(void) { static int calls; calls++; }
int step(const int a, byte *b, void *c, void (*d)(int), struct pair e, double *const f) {
  static int local; static int local_array[5]; int automatic = a;
  if (a) { static int local; local += automatic; { static int local; static byte deep; local += deep++; } }
  for (int i = 0; i < a; i++) { static int local; local += i; }
  nothing(); same++; of_thread++;
  return helper(a) + local + local_array[1] + constant + (c != 0) + (d != 0) + e.first + (int)*f + *b + next(a);
}
"""

SECOND = """
#include "header.h"
int common_one; static int same = 5; static float ratio = 0.5f;
int next(int a) { static int local = 1; static int other; other++; same += a; ratio *= 2; return helper(local++); }
float mixed(float a, double b, long double c, byte d, port e, struct pair f, struct pair *g, enum level h, int *i[2]) {
  static float local; local += a + b + c + d + *e + f.third + g->first + h + *i[0]; return local;
}
__attribute__((weak)) int main(void) { return mixed(1, 2, 3, 4, 0, pairs[0], pairs, high, 0); }
void init(void) { shared = same = 0; }
__attribute__((always_inline)) static inline int always(int a) { static int inlined; return inlined += a; }
typedef int number; typedef number count; struct node { struct node *next; int **values; };
#ifndef __SIZEOF_INT128__
#define __int128 long long
#endif
struct node *list(struct node **at, count *const *restrict volatile n, _Bool yes, _Complex float z, __int128 wide) {
  static struct node nodes[4]; (void)z; (void)wide; return at && yes && **n ? *at : nodes + always(1); }
"""

NAMES = ["shared", "pairs", "in_header", "common_one", "same", "of_thread", "constant", "bits", "unused_here"]
NAMES += ["weak_one", "ratio", "absent"]
LOCALS = ["calls", "calls_", "local", "local_array", "deep", "other", "inlined", "nodes", "automatic"]
FUNCTIONS = ["step", "next", "mixed", "main", "init", "list", "helper", "nothing", "always", "absent"]


def written(folder: Path) -> tuple[str, str]:
    """The two source files, which share a header."""
    (folder / "header.h").write_text(HEADER, encoding="utf-8")
    for name, text in (("first", FIRST), ("second", SECOND)):
        (folder / f"{name}.c").write_text(text, encoding="utf-8")
    return str(folder / "first.c"), str(folder / "second.c")


def library(folder: Path, *options: str) -> Path | None:
    """The two files as a library in ``folder``; None where the compiler does not take the options."""
    made = folder / "library.so"
    linked = ["-shared", "-fPIC", "-w", "-fcommon", "-nostdlib", "-fno-builtin"]
    command = [*compiler_words(), *linked, *options, *written(folder), "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return None if done.returncode else made


def asked(folder: Path) -> list[NativeInterface]:
    """Interfaces that ask for all variables, of either file and of none, once and as often as blocks have them."""
    files = [str(folder / "first.c"), str(folder / "second.c"), str(folder / "header.h"), ""]
    step, init = Call("step"), tuple(Call(name) for name in FUNCTIONS)
    interfaces = []
    for times in (1, 2, 3, 4):
        objects = [
            MemoryObject(
                f"{name} {function} {file} {number}", "local" if function else "global", 4, name, function, file
            )
            for file in files
            for function, names in (("", [*NAMES, *LOCALS]), *((function, LOCALS) for function in FUNCTIONS))
            for name in names
            for number in range(times)
        ]
        interfaces.append(NativeInterface(Compilation((), (), ()), tuple(objects), (), init, step))
    return interfaces
