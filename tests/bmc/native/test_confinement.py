"""What the compiled original can do to the machine that runs it (docs/how-to/security.md)."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from native_programs import Write, counter, needs_compiler, numbers, writer

from bmc.native.original import UNCONFINED, compiled

pytestmark = needs_compiler

WRITES = """
#include <fcntl.h>
#include <unistd.h>
#include <sys/stat.h>
#include <stdio.h>
#include <stdlib.h>
int n;
__attribute__((constructor)) static void loaded(void) {{ n = open("{outside}/a", O_CREAT | O_WRONLY, 0600) >= 0; }}
void step(void) {{
  n += 10 * (open("{outside}/b", O_CREAT | O_WRONLY, 0600) >= 0);
  n += 100 * (mkdir("{outside}/c", 0700) == 0) + 1000 * (rename("{outside}/kept", "{outside}/moved") == 0);
  n += 10000 * (open("{outside}/kept", O_WRONLY | O_TRUNC) >= 0);
  n += 100000 * (open("inside", O_CREAT | O_WRONLY, 0600) >= 0);
}}
"""

CONNECTS = """
#include <arpa/inet.h>
#include <sys/socket.h>
int n;
void step(void) {{
  struct sockaddr_in to = {{.sin_family = AF_INET, .sin_port = htons({port})}};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  n = connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&to, sizeof to) == 0;
}}
"""

TAKES_BACK = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
int n;
void step(void) {{
  n = mount(0, "/", 0, MS_REMOUNT | MS_BIND, 0) == 0;
  unshare(CLONE_NEWUSER | CLONE_NEWNS);
  n += 10 * (mount(0, "/", 0, MS_REMOUNT | MS_BIND, 0) == 0) + 100 * (umount2("/", MNT_DETACH) == 0);
  n += 1000 * (open("{outside}/a", O_CREAT | O_WRONLY, 0600) >= 0);
}}
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "kept").write_text("a result of yours")
    return folder


def last(write: Write, text: str) -> int | None:
    """``n`` after a step of the program ``text``; None where this system confines nothing, which is then told."""
    with compiled(counter(write(a=text))) as program:
        states = program.run([{}])
        assert program.notes == (() if program.confined else (UNCONFINED,))
        return states[-1]["n"] if program.confined else None


def test_files_are_written_in_its_own_folder_only(write: Write, outside: Path) -> None:
    if last(write, WRITES.format(outside=outside)) is not None:
        assert last(write, WRITES.format(outside=outside)) == 100000
        assert [path.name for path in outside.iterdir()] == ["kept"]
        assert (outside / "kept").read_text() == "a result of yours"


def test_there_is_no_network(write: Write) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert last(write, CONNECTS.format(port=server.getsockname()[1])) in (0, None)


def test_nothing_that_was_given_up_is_taken_back(write: Write, outside: Path) -> None:
    assert last(write, TAKES_BACK.format(outside=outside)) in (0, None)
    assert not (outside / "a").exists()


def test_files_do_not_grow_without_end(write: Write) -> None:
    text = """
    #include <fcntl.h>
    #include <unistd.h>
    int n; static char block[1 << 20];
    void step(void) {
      int file = open("endless", O_CREAT | O_WRONLY, 0600);
      while (n < 1000 && write(file, block, sizeof block) > 0) n++;
    }
    """
    assert numbers(counter(write(a=text)), 1)[-1] in range(1, 20)


def test_memory_without_end_is_not_given(write: Write) -> None:
    text = """
    #include <stdlib.h>
    int n; static void *p;
    void step(void) { while (n < 1000 && (p = malloc(1 << 27))) n++; }
    """
    assert numbers(counter(write(a=text)), 1)[-1] < 32
