"""The content of an artifact."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Artifact:
    """A version of an artifact."""

    content: bytes
    mime_type: str
