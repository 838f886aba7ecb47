"""What the compiled original can do to the machine that runs it (docs/how-to/security.md)."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from native_programs import counter, needs_compiler, numbers, writer

from bmc.native.build import compiler_words
from bmc.native.original import UNCONFINED, compiled
from bmc.native.worker import ALLOWED, CONDITIONED, MACHINES, filter_of
from bmc.system.original import NativeInterface

pytestmark = needs_compiler

BEGIN = """
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
int n;
"""

CONNECTS = """
static int reached(int family, const void *place, unsigned size) {
  return connect(socket(family, SOCK_STREAM, 0), place, size) == 0;
}
"""

OUTSIDE = {
    "a new file": 'open("OUTSIDE/a", O_CREAT | O_WRONLY, 0600) >= 0',
    "a new file without a right to write": 'open("OUTSIDE/a", O_CREAT | O_RDONLY, 0600) >= 0',
    "a new file, the old call": 'creat("OUTSIDE/a", 0600) >= 0',
    "a new file, the new call": 'syscall(437, AT_FDCWD, "OUTSIDE/a", (long[]){O_CREAT | O_WRONLY, 0600, 0}, 24) >= 0',
    "a file without name": 'open("OUTSIDE", O_TMPFILE | O_RDWR, 0600) >= 0',
    "an old file": 'open("OUTSIDE/kept", O_WRONLY) >= 0',
    "an old file that is emptied": 'open("OUTSIDE/kept", O_RDONLY | O_TRUNC) >= 0 || truncate("OUTSIDE/kept", 0) == 0',
    "rights and times": 'chmod("OUTSIDE/kept", 0777) == 0 || utimes("OUTSIDE/kept", 0) == 0',
    "attributes": 'setxattr("OUTSIDE/kept", "user.a", "", 0, 0) == 0',
    "an old file with another name": 'rename("OUTSIDE/kept", "OUTSIDE/moved") == 0',
    "an old file with one more name": 'link("OUTSIDE/kept", "OUTSIDE/b") == 0 || symlink("x", "OUTSIDE/b") == 0',
    "a folder": 'mkdir("OUTSIDE/c", 0700) == 0 || rmdir("OUTSIDE/empty") == 0',
    "a FIFO": 'open("OUTSIDE/fifo", O_RDWR | O_NONBLOCK) >= 0',
    "a device": 'open("/dev/null", O_WRONLY) >= 0 || open("/dev/full", O_RDWR) >= 0',
    "a new FIFO or device": 'mkfifo("OUTSIDE/d", 0600) == 0 || mknod("OUTSIDE/e", S_IFCHR | 0600, 0x103) == 0',
    "a name removed": 'unlink("OUTSIDE/kept") == 0 || unlink("OUTSIDE/fifo") == 0',
    "shared memory": 'syscall(SYS_memfd_create, "a", 0) >= 0',
    "a file system": 'mount(0, "/", 0, MS_REMOUNT | MS_BIND, 0) == 0 || unshare(CLONE_NEWUSER) == 0',
    "calls by another queue": "syscall(425, 4, (char[120]){0}) >= 0",
}
"""Expressions that are true where a program reaches what it should not."""

PROCESSES = {
    "a process of another session": "begun(fork())",
    "a process, the old call": "begun(vfork()) || begun(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0))",
    "a process, the new call": "begun(syscall(435, (long[8]){0, 0, 0, 0, SIGCHLD}, 64))",
    "a thread": "pthread_create(&(pthread_t){0}, 0, (void *(*)(void *))abs, 0) == 0",
    "another program": 'system("exit 7") >> 8 == 7 || execl("/bin/sh", "sh", "-c", "exit 7", (char *)0) == 0',
    "a signal to another": "kill(getppid(), 0) == 0 || kill(-1, 0) == 0 || kill(0, 0) == 0",
    "a signal by a file": "fcntl(2, F_SETOWN, getppid()) == 0 || fcntl(2, F_SETSIG, 9) == 0",
    "another traced": "ptrace(PTRACE_SEIZE, getppid(), 0, 0) == 0",
    "another's limits": "prlimit(getppid(), RLIMIT_CPU, 0, &(struct rlimit){0}) == 0",
    "life after the end of what started it": "syscall(SYS_prctl, 1, 0, 0, 0, 0) == 0",
    "limits raised": "setrlimit(RLIMIT_AS, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}) == 0",
    "a call like another machine's": "begun(strange())",
}

BEGUN = """
static int begun(long child) {
  if (child == 0) { setsid(); _exit(0); }
  return child > 0;
}
static long strange(void) {
#ifdef __x86_64__
  int got = syscall(0x40000000 | SYS_fork);  /* x32 */
  if (got < 0) asm volatile("int $0x80" : "=a"(got) : "a"(2) : "memory");  /* fork of 32 bits */
  return got;
#endif
  return -1;
}
"""

ALLOWED_TO_ALL = """
static volatile int caught;
static void on(int number) { caught = number; }
void step(void) {
  char text[64] = "", *more = malloc(1 << 22);
  FILE *file = fopen("SOURCE", "r");
  struct timespec now;
  n = file && fgets(text, sizeof text, file) && !fclose(file);
  n += 2 * (more && (more = realloc(more, 1 << 25)) != 0);
  free(more);
  n += 4 * (time(0) > 0 && clock() != (clock_t)-1 && localtime(&(time_t){0}) && !clock_gettime(CLOCK_MONOTONIC, &now));
  n += 8 * (printf("%f\\n", cos(n)) > 0 && !fflush(stdout) && fprintf(stderr, "said\\n") > 0);
  n += 16 * (signal(SIGUSR1, on) != SIG_ERR && !raise(SIGUSR1) && !kill(getpid(), SIGUSR1) && caught == SIGUSR1);
  n += 32 * (!usleep(1) && sysconf(_SC_OPEN_MAX) > 0 && !getrlimit(RLIMIT_AS, &(struct rlimit){0}));
}
"""


Build = Callable[[str], NativeInterface]


@pytest.fixture(params=["", pytest.param("ilp32", marks=pytest.mark.needs_narrow)])
def build(tmp_path: Path, request: pytest.FixtureRequest) -> Build:
    """A text as a program with the variable ``n``, for this machine's word sizes and for 32 bits."""

    def built(text: str) -> NativeInterface:
        native = counter(writer(tmp_path)(a=text))
        return replace(native, compilation=replace(native.compilation, word_sizes=request.param))

    return built


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    (folder / "empty").mkdir(parents=True)
    (folder / "kept").write_text("a result of yours")
    os.mkfifo(folder / "fifo")
    return folder


def last(build: Build, text: str) -> int | None:
    """``n`` after a step of the program ``text``; None where this system confines nothing, which is then told."""
    with compiled(build(text)) as program:
        states = program.run([{}])
        assert program.notes == (() if program.confined else (UNCONFINED,))
        assert program.confined or sys.platform != "linux" or os.uname().machine not in MACHINES
        return states[-1]["n"] if program.confined else None


def reached(build: Build, attempts: dict[str, str], before: str = "") -> list[str]:
    """Which of the ``attempts`` come through, when the library is loaded or in a step."""
    tests = "".join(f"  if ({attempt}) got |= 1 << {k};\n" for k, attempt in enumerate(attempts.values()))
    tries = f"static int tried(void) {{\n  int got = 0;\n{tests}  return got;\n}}\n"
    loads = "static int first;\n__attribute__((constructor)) static void loaded(void) { first = tried(); }\n"
    got = last(build, f"{BEGIN}{before}{tries}{loads}void step(void) {{ n = first | tried(); }}")
    return [name for k, name in enumerate(attempts) if got and got >> k & 1]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines")
def test_nothing_is_changed_outside(build: Build, outside: Path) -> None:
    attempts = {name: text.replace("OUTSIDE", str(outside)) for name, text in OUTSIDE.items()}
    assert reached(build, attempts) == []
    assert sorted(path.name for path in outside.iterdir()) == ["empty", "fifo", "kept"]
    assert (outside / "kept").read_text() == "a result of yours"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines")
def test_no_terminal_is_made(build: Build) -> None:
    """To open /dev/ptmx, if only for reading, makes a device in /dev/pts; the other devices can be read."""
    made = 'open("/dev/ptmx", O_RDONLY | O_NOCTTY) >= 0 || open("/dev/pts/ptmx", O_RDONLY | O_NOCTTY) >= 0'
    around = 'open("/dev/../dev/./ptmx", O_RDONLY | O_NOCTTY) >= 0 || openat(open("/dev", O_PATH), "ptmx", 0) >= 0'
    has_landlock = ctypes.CDLL(None).syscall(444, None, 0, 1) > 0
    tried = {"a terminal": made, "by another path": around} if has_landlock else {}
    null = 'open("/dev/null", O_RDONLY) >= 0 && open("/dev/urandom", O_RDONLY) >= 0'
    assert reached(build, {**tried, "other devices": null}) in (["other devices"], [])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines")
def test_there_is_no_further_process_and_no_way_to_another(build: Build) -> None:
    assert reached(build, PROCESSES, BEGUN) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines")
def test_there_is_no_network_and_no_other_socket(build: Build, outside: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(outside / "s"))
        local.listen()
        port = server.getsockname()[1]
        internet = f"(struct sockaddr_in){{AF_INET, htons({port}), {{htonl(INADDR_LOOPBACK)}}}}"
        path = f'(struct sockaddr_un){{AF_UNIX, "{outside}/s"}}'
        attempts = {
            "the machine itself": f"reached(AF_INET, &{internet}, sizeof(struct sockaddr_in))",
            "a local socket": f"reached(AF_UNIX, &{path}, sizeof(struct sockaddr_un))",
            "a pair": "socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0}) == 0",
        }
        assert reached(build, attempts, CONNECTS) == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux confines")
def test_a_disk_is_not_filled_by_many_files(build: Build) -> None:
    text = """
    void step(void) {
      char name[20];
      for (int k = 0; k < 1000; k++) {
        sprintf(name, "many%d", k);
        n += open(name, O_CREAT | O_WRONLY, 0600) >= 0;
      }
    }
    """
    assert last(build, BEGIN + text) in (0, None)


def test_what_a_controller_may_call_works(build: Build, tmp_path: Path) -> None:
    assert last(build, BEGIN + ALLOWED_TO_ALL.replace("SOURCE", str(tmp_path / "a.c"))) in (63, None)


def test_memory_without_end_is_not_given(build: Build) -> None:
    text = """
    #include <stdlib.h>
    #include <sys/resource.h>
    int n; static void *p;
    void step(void) {
      setrlimit(RLIMIT_AS, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY});
      while (n < 1000 && (p = malloc(1 << 27))) n++;
    }
    """
    assert numbers(build(text), 1)[-1] < 32


def numbers_of(header: str) -> dict[str, int]:
    """The system calls in a header of the kernel, as far as they are not for words of 32 bits."""
    command = [*compiler_words(), "-E", "-dM", "-x", "c", "-"]
    wanted = f"#define __ARCH_WANT_NEW_STAT\n#define __ARCH_WANT_SET_GET_RLIMIT\n#include <{header}>\n"
    text = subprocess.run(command, input=wanted, capture_output=True, text=True, check=True).stdout
    known: dict[str, str] = dict(re.findall(r"^#define (__NR\w+) (\w+)$", text, re.M))
    calls = {name.removeprefix("__NR_"): known.get(value) or value for name, value in known.items() if "__NR_" in name}
    return {name: int(value) for name, value in calls.items() if name not in ("syscalls", "arch_specific_syscall")}


HEADERS = {"x86_64": "asm/unistd_64.h", "aarch64": "asm-generic/unistd.h", "i386": "asm/unistd_32.h"}


@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="needs both kernel headers")
@pytest.mark.parametrize("machine", MACHINES)
def test_the_filter_grants_the_calls_that_are_named_and_no_others(machine: str) -> None:
    column, architecture = MACHINES[machine]
    numbers, code = numbers_of(HEADERS[machine]), filter_of(machine, 77)
    right = {"open": (0, 0o100000), "openat": (0, 0, 0o2000000), "fcntl": (0, 3)}
    right |= dict.fromkeys(("kill", "tkill", "tgkill"), (77,)) | {"prlimit64": (0,)}
    wrong = {"open": (0, 0o1001), "openat": (0, 0, 0o1000), "fcntl": (0, 8)}
    wrong |= dict.fromkeys(("kill", "tkill", "tgkill", "prlimit64"), (78,))
    right["fcntl64"], wrong["fcntl64"] = right["fcntl"], wrong["fcntl"]
    rows = [each.split() for each in ALLOWED.split(",")], [each.split() for each in CONDITIONED.split(",")]
    named, conditioned = ({row[0] for row in each if row[1 + column] != "-"} for each in rows)
    assert {row[0] for row in rows[1]} == set(right) == set(wrong)
    assert len(numbers) > 300
    for name, number in numbers.items():
        answer = answered(code, number, architecture, right.get(name, ()))
        assert (answer == 0x7FFF0000) == (name in named | conditioned), name
        refused = {"open": errno.EACCES, "openat": errno.EACCES}.get(name, errno.ENOSYS)
        assert name in named or answered(code, number, architecture, wrong.get(name, ())) == 0x50000 | refused
        other = 0x40000003 if machine != "i386" else 0xC000003E
        assert answered(code, number, other, right.get(name, ())) == 0x50000 | errno.ENOSYS
        assert answered(code, number | 0x40000000, architecture, right.get(name, ())) == 0x50000 | errno.ENOSYS


def answered(code: bytes, number: int, architecture: int, arguments: Sequence[int]) -> int:
    """What a filter answers, computed as the kernel does (classic BPF)."""
    data = struct.pack("=iIQ6Q", number, architecture, 0, *arguments, *[0] * (6 - len(arguments)))
    at = word = 0
    while True:
        kind, yes, no, value = struct.unpack_from("=HBBI", code, 8 * at)
        if kind == 0x06:
            return int(value)
        if kind == 0x20:
            word = struct.unpack_from("=I", data, value)[0]
            at += 1
        else:
            holds = {0x15: word == value, 0x25: word > value, 0x45: word & value != 0}[kind]
            at += 1 + (yes if holds else no)
