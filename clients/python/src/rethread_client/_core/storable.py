"""What the API cannot store of a framework's values, and what is stored instead.

The API takes JSON in UTF-8, in which there are no halves of surrogate pairs, no NaN and no infinity.
A half becomes U+FFFD, the replacement character, and these numbers the strings of their JSON form in
Protocol Buffers, from which `float` makes them again. So a turn is stored that has them.
"""

from __future__ import annotations

import hashlib
import math
import unicodedata
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote, unquote

from .arguments import is_text

# The longest id that Rethread accepts, in characters.
_LONGEST = 128

_HASHED = "thread%-"


def text(value: str) -> str:
    """Returns a text with U+FFFD for each half of a surrogate pair that is alone."""
    if is_text(value):
        return value
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def storable(value: Any) -> Any:
    """Returns a copy of a value that is to become JSON, with what is stored of its texts and numbers."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        members = cast("Mapping[Any, Any]", value)
        return {storable(name): storable(member) for name, member in members.items()}
    if isinstance(value, (list, tuple)):
        return [storable(entry) for entry in cast("list[Any]", value)]
    return value


def session_id_of(name: str) -> str:
    """Returns the id of the session for a framework's name of it: the name itself if it can be one and
    does not look like another one's escaped form."""
    usable = is_text(name) and len(name) <= _LONGEST and not any(map(_refused, name))
    same = usable and name not in ("", ".", "..") and not name.startswith(_HASHED)
    return name if same and unquote(name) == name else escaped(name)


def escaped(name: str) -> str:
    """Returns a name with `/`, `?`, `%` and control characters escaped as in URLs.

    If that is empty, `.`, `..`, longer than 128 characters or has half characters, it is `thread%-` and
    the SHA-256 of the name.
    """
    known = name if is_text(name) else ""
    result = "".join(quote(c, safe="") if c == "%" or _refused(c) else c for c in known)
    if result in ("", ".", "..") or len(result) > _LONGEST:
        return _HASHED + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return result


def unescaped(session_id: str) -> str | None:
    """Returns the name that was escaped; None if it was hashed."""
    return None if session_id.startswith(_HASHED) else unquote(session_id)


def _refused(character: str) -> bool:
    return character in "/?" or unicodedata.category(character) == "Cc"
