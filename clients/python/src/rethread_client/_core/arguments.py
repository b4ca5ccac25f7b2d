"""What requests are made of. What could never be sent, or would name something else, is refused
before any request, by its name and without its value, which may be secret."""

from __future__ import annotations

from urllib.parse import quote

import httpx


def segment(param: str) -> str:
    """Returns one segment of a path. URLs drop empty and dotted ones, also escaped, so that they would
    name another resource.

    Raises:
      ValueError: a path cannot have it.
    """
    if param in ("", ".", "..") or not is_text(param):
        raise ValueError(f"{param!r} is not an id")
    return quote(param, safe="")


def token(value: str) -> str:
    """Returns a bearer token.

    Raises:
      ValueError: no header can have it, such as one with the line feed of its file.
    """
    _check("token", value)
    return value


def user(user_id: str) -> str:
    """Returns the header that names the user whom a service acts for.

    Raises:
      ValueError: it is not an id.
    """
    if not user_id or not is_text(user_id):
        raise ValueError("user: it is not an id")
    return quote(user_id, safe="")


def header(name: str, value: str) -> str:
    """Returns the value of a header.

    Raises:
      ValueError: no header can have it.
    """
    _check(f"header {name}", value)
    return value


def address(name: str, url: str) -> str:
    """Returns the address of an API.

    Raises:
      ValueError: it is not one of HTTP.
    """
    try:
        parsed = httpx.URL(url)
        usable = parsed.scheme in ("http", "https") and parsed.host and (parsed.port or 0) < 1 << 16
        usable = usable and not (parsed.query or parsed.fragment)
    except httpx.InvalidURL:
        usable = False
    if not usable or url != url.strip():
        raise ValueError(f"{name}: it is not an address such as https://api.example, without a query")
    return url


def is_text(value: str) -> bool:
    """Whether a text has no halves of surrogate pairs, which UTF-8 cannot express."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check(name: str, value: str) -> None:
    """Checks that a value consists of the visible characters of ASCII, with spaces only between them."""
    last = len(value) - 1
    for at, c in enumerate(value):
        if not " " <= c <= "~" or (c == " " and at in (0, last)):
            raise ValueError(f"{name}: U+{ord(c):04X} at {'its end' if at == last else at} cannot be sent")
