"""SHA-256 of sources and libraries, from Python's own implementation where it has one.

``hashlib`` loads OpenSSL, which takes longer than to hash all that a short run hashes; ``random`` of the standard
library goes the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha2 import sha256  # since Python 3.12
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256

__all__ = ["sha256"]
