"""``chaincover verify``: a chain and the proof of its bound, checked by means of its own (docs/verify.md)."""

from __future__ import annotations

from chaincover.verify.document import Document, read_document
from chaincover.verify.limits import Limits
from chaincover.verify.report import Line, Verification
from chaincover.verify.verification import verify

__all__ = ["Document", "Limits", "Line", "Verification", "read_document", "verify"]
