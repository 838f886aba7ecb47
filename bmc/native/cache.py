"""Built libraries kept for later runs, in a folder that is its owner's alone (docs/reference/results.md, ADR 11).

Whoever can write a library there can run code as its user. So the folder must belong to the user, and nobody else may
read or write it; it is opened once, and all files are opened relative to it, so that it cannot be exchanged meanwhile.
A file starts with the SHA-256 sum of what follows: a line of facts as JSON, and the library. One whose sum is another
is removed. The library is copied from what was summed, not read again.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

VARIABLE = "CHAINCOVER_CACHE"
"""Environment variable that names the folder; ``off`` or nothing: there is none."""

MOST_FILES = 256
"""Files kept; of more, those that were not used for longest are removed."""

TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Cache:
    """The files of an open folder; without one nothing is found, and nothing is kept. ``note``: why it is not used."""

    def __init__(self, folder: int | None = None, note: str = "") -> None:
        self._folder, self.note = folder, note

    @property
    def usable(self) -> bool:
        """Whether anything can be found or kept."""
        return self._folder is not None

    def get(self, key: str) -> tuple[Any, bytes] | None:
        """The facts and the library kept for ``key``, None without them."""
        if self._folder is None:
            return None
        try:
            with open(key, "rb", opener=self._opener) as file:
                facts = os.fstat(file.fileno())
                if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & TO_OTHERS:
                    return None
                digest, _, kept = file.read().partition(b"\n")
                if sha256(kept).hexdigest().encode() != digest:
                    os.unlink(key, dir_fd=self._folder)
                    return None
                os.utime(key, dir_fd=self._folder)
        except OSError:
            return None
        line, _, library = kept.partition(b"\n")
        return json.loads(line), library

    def put(self, key: str, facts: Any, library: bytes) -> None:
        """Keep ``facts`` and ``library`` for ``key``, whole or not at all; a full disk keeps nothing."""
        if self._folder is None:
            return
        kept = json.dumps(facts).encode() + b"\n" + library
        making = f"{key}.{os.getpid()}"
        try:
            try:
                with open(making, "xb", opener=self._opener) as file:
                    file.write(sha256(kept).hexdigest().encode() + b"\n" + kept)
                os.replace(making, key, src_dir_fd=self._folder, dst_dir_fd=self._folder)
            except OSError:
                os.unlink(making, dir_fd=self._folder)
            self._forget_oldest()
        except OSError:
            return

    def _forget_oldest(self) -> None:
        names = os.listdir(self._folder)
        if len(names) > MOST_FILES:
            used = {name: os.stat(name, dir_fd=self._folder, follow_symlinks=False).st_mtime for name in names}
            for name in sorted(names, key=lambda each: used[each])[: len(names) - MOST_FILES // 2]:
                os.unlink(name, dir_fd=self._folder)

    def _opener(self, name: str, flags: int) -> int:
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=self._folder)


@contextmanager
def open_cache(wanted: bool = True) -> Iterator[Cache]:
    """The cache of this user while it is needed; that of ``built_anew``, or an empty one, where it is not ``wanted``
    or cannot be used."""
    own = _own.get()
    folder = cache_folder() if wanted else None if own is None else own()
    if folder is None:
        yield Cache()
        return
    opened, note = _opened(folder)
    try:
        yield Cache(opened, note)
    finally:
        if opened is not None:
            os.close(opened)


_own: ContextVar[Callable[[], Path] | None] = ContextVar("own", default=None)
"""Makes the folder of ``built_anew`` when it is first needed."""


@contextmanager
def built_anew() -> Iterator[None]:
    """A program that is not to come from an earlier run is built once within the block, however often it is opened
    there: what was built lies in a folder of the block's own, which is removed with it."""
    if _own.get() is not None or not hasattr(os, "geteuid"):
        yield
        return
    with ExitStack() as stack:

        @cache
        def folder() -> Path:
            made = tempfile.TemporaryDirectory(prefix="chaincover-", ignore_cleanup_errors=True)
            return Path(stack.enter_context(made))

        before = _own.set(folder)
        try:
            yield
        finally:
            _own.reset(before)


def cache_folder() -> Path | None:
    """``CHAINCOVER_CACHE``, else ``chaincover`` in the user's folder for caches; None where there is to be none."""
    if not hasattr(os, "geteuid"):
        return None
    chosen = os.environ.get(VARIABLE)
    if chosen is not None:
        return None if chosen in ("", "off") else Path(chosen)
    caches = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(caches) if os.path.isabs(caches) else Path(os.path.expanduser("~"), ".cache")
    return base / "chaincover" if base.is_absolute() else None


def _opened(folder: Path) -> tuple[int | None, str]:
    """The open folder, made where there is none; None, and why, where it is not this user's alone."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if VARIABLE not in os.environ and not os.path.lexists(folder):
            return None, ""  # a home where nothing can be written is nothing to tell of in each run
        return None, f"the folder for built programs, {folder}, is not used: {error.strerror}; {VARIABLE} names another"
    facts = os.fstat(opened)
    if facts.st_uid == os.geteuid() and not facts.st_mode & TO_OTHERS:
        return opened, ""
    os.close(opened)
    whose = "it belongs to somebody else" if facts.st_uid != os.geteuid() else "others may read or write it"
    return None, (
        f"the folder for built programs, {folder}, is not used: {whose}; "
        f"make it yours alone (chmod 700), or name another one by {VARIABLE}"
    )
