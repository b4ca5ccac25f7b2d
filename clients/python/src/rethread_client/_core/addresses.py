"""The addresses of a deployment."""

from __future__ import annotations

from collections.abc import Mapping

from .arguments import address
from .calls import Base

_VERSION = "/api/v1"


def addresses(url: str, stream_url: str | None) -> Mapping[Base, str]:
    """Returns the addresses that paths are appended to; a version at their end is accepted.

    Raises:
      ValueError: one is not an address of HTTP.
    """
    root = _root(address("url", url))
    stream_root = _root(address("stream_url", stream_url)) if stream_url else root
    return {
        "root": root,
        "api": root + _VERSION,
        "stream": stream_root + _VERSION,
        "stream_root": stream_root,
    }


def _root(url: str) -> str:
    return url.rstrip("/").removesuffix(_VERSION)
