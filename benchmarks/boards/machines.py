"""The emulated boards: how programs are compiled for each, and how it is started."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.boards.build import HERE, Built, compiled

GC = ("-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections")
"""Functions of the program that only verification tools call are left out."""


@dataclass(frozen=True)
class Board:
    """A board: ``target`` is its word sizes in a project, ``packages`` are Debian's by the programs or files needed.

    ``options`` are those of the compiler that a project names, where its layout is another than the target's.
    ``compiler`` and ``link`` are how a program is made of exported files, of main.c (to drive it) or flash.c (for a
    chain in its flash) in ``folder``, and of ``start``; ``size`` is the program that tells sizes.
    """

    name: str
    target: str
    options: Sequence[str]
    packages: Mapping[str, str]
    compiler: Sequence[str]
    link: Sequence[str]
    folder: Path
    start: Sequence[Path]
    size: str

    @property
    def machine(self) -> list[str]:
        """The word sizes and the options."""
        return [self.target, *self.options]

    @property
    def missing(self) -> list[str]:
        """The packages that are not installed."""
        found = {
            package
            for need, package in self.packages.items()
            if not (Path(need).exists() if need.startswith("/") else shutil.which(need))
        }
        return sorted(found)

    def program(self, model: Built, own: str, *options: str) -> Path:
        """The program of a model's exported files and of ``own``, main.c or flash.c, with further ``options``."""
        compiler = [*self.compiler, f"-I{self.folder}", *options]
        files = [self.folder / own, *self.start]
        return compiled(compiler, model, model.exported / "board.elf", files, self.link)

    def sizes(self, program: Path) -> tuple[int, int]:
        """The bytes of flash and of RAM that a program takes, its stack left aside."""
        done = subprocess.run([self.size, program], capture_output=True, text=True, check=True)
        text, data, bss = map(int, done.stdout.splitlines()[1].split()[:3])
        return text + data, data + bss


AVR = Board(
    "ATmega328P (simavr)",
    "ip16",
    ["-fpack-struct=1"],  # it aligns nothing
    {
        "avr-gcc": "gcc-avr",
        "/usr/lib/avr/include/avr/io.h": "avr-libc",
        "/usr/include/simavr/sim_avr.h": "libsimavr-dev",
        "gcc": "gcc",
    },
    ["avr-gcc", "-mmcu=atmega328p", *GC],
    [],
    HERE / "avr",
    [],
    "avr-size",
)
ARM = Board(
    "Cortex-M3 (QEMU mps2-an385)",
    "ilp32",
    ["-malign-double"],  # long long and double lie at multiples of 8
    {
        "arm-none-eabi-gcc": "gcc-arm-none-eabi",
        "/usr/lib/arm-none-eabi/include/stdio.h": "libnewlib-arm-none-eabi",
        "qemu-system-arm": "qemu-system-arm",
    },
    [
        *("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-fno-short-enums", "-fsigned-char"),
        *("-Dputchar=board_putchar", *GC),
    ],
    ["-nostartfiles", "--specs=nosys.specs", f"-T{HERE / 'arm' / 'board.ld'}"],
    HERE / "arm",
    [HERE / "arm" / "start.c"],
    "arm-none-eabi-size",
)
BOARDS = {"avr": AVR, "arm": ARM}


def runner(folder: Path) -> Path:
    """The program that runs an ATmega328P, built on this machine."""
    place = folder / "runner"
    if not place.exists():
        source = HERE / "avr" / "runner.c"
        command = ["gcc", "-O2", "-o", str(place), str(source), "-lsimavr", "-lutil"]
        subprocess.run(command, check=True)
    return place


QEMU = ("qemu-system-arm", "-M", "mps2-an385", "-display", "none", "-monitor", "none", "-semihosting")


@contextmanager
def started(board: Board, program: Path, folder: Path) -> Iterator[str]:
    """The board while it runs ``program``: the port that a driver opens."""
    number = _free_port()
    line = f"socket,id=u,host=127.0.0.1,port={number},server=on,wait=on"
    if board is AVR:
        command, ready, port = [str(runner(folder)), str(program), "terminal"], r"/dev/\S+", ""
    else:
        command = [*QEMU, "-chardev", line, "-serial", "chardev:u", "-kernel", str(program)]
        ready, port = "waiting for connection", f"socket://127.0.0.1:{number}"
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        found = next((match for line in process.stdout if (match := re.search(ready, line))), None)
        if found is None:
            raise SystemExit(f"{board.name} does not start: {command[0]} has ended with {process.wait()}")
        yield port or found[0]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def said(board: Board, program: Path, folder: Path) -> tuple[int, str, str]:
    """What the board sends while it runs ``program`` to its end: its exit code, that, and what the emulator says."""
    if board is AVR:
        command = [str(runner(folder)), str(program)]
    else:
        command = [*QEMU, "-serial", "stdio", "-kernel", str(program)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        found: int = one.getsockname()[1]
        return found
