"""Requests as data, and their form on the wire."""

from __future__ import annotations

import gzip
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict
from urllib.parse import urlencode

import httpx

from .arguments import header, segment

# Bodies above this size in bytes are compressed: Lambda accepts 6 MB, and base64
# makes binary ones a third larger.
_PLAIN = 1 << 20

# Which requests can be sent again. `safe`: any. `key`: any, because the server
# recognises the idempotency key. `delete`: any, and a repeat that finds nothing was
# successful. `refused`: only those that the server has refused with 429, which
# changes nothing.
Repeat = Literal["safe", "key", "delete", "refused"]

# `api` and `stream`, where answers are streamed, have the version's path, the others none.
Base = Literal["api", "root", "stream", "stream_root"]

Param = str | int | bool | None


class CallOptions(TypedDict, total=False):
    """Options of each call.

    timeout: seconds for the call with all its attempts.
    on_response: called with the successful response, for its headers.
    """

    timeout: float
    on_response: Callable[[httpx.Response], None]


class WriteOptions(CallOptions, total=False):
    """Options of a write that the server recognises when it is repeated.

    idempotency_key: 1 to 255 visible characters that identify the write for 24 hours;
      by default a new UUID for each call. Pass a stored key to repeat a write after
      the process has ended.
    """

    idempotency_key: str


class ChangeOptions(CallOptions, total=False):
    """Options of a change.

    if_match: the ETag of the version to change; another version is a
      PreconditionFailedError.
    """

    if_match: str


class AnyOptions(WriteOptions, ChangeOptions, total=False):
    """The options of all calls."""


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request to the API. `path` has `{}` for each of `params`."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] = "GET"
    path: str
    params: tuple[str | int, ...] = ()
    query: Mapping[str, Param] = field(default_factory=dict[str, Param])
    json: object = None
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    repeat: Repeat = "safe"
    base: Base = "api"
    public: bool = False  # needs no token


@dataclass(frozen=True)
class Wire:
    """A request without the token."""

    method: str
    url: str
    headers: dict[str, str]
    content: bytes | None
    public: bool = False

    def below(self, base: str) -> Wire:
        """Returns the request below an address."""
        return replace(self, url=base + self.url)

    def compressible(self) -> bool:
        """Whether the body is large enough to be compressed, which takes a while."""
        return self.content is not None and len(self.content) > _PLAIN

    def compressed(self) -> Wire:
        """Returns the request with its body compressed."""
        content = gzip.compress(self.content or b"", 6)
        return replace(self, headers={**self.headers, "Content-Encoding": "gzip"}, content=content)


def wire(call: Call, options: AnyOptions) -> Wire:
    """Returns the form on the wire, without an address. Each call of it makes a new idempotency key.

    Raises:
      ValueError: a parameter of the path is no id, or a header cannot have its value.
    """
    headers = dict(call.headers)
    content = call.content
    if call.json is not None:
        headers["Content-Type"] = "application/json"
        content = json.dumps(call.json, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    if call.repeat == "key":
        headers["Idempotency-Key"] = options.get("idempotency_key") or str(uuid.uuid4())
    if "if_match" in options:
        headers["If-Match"] = options["if_match"]
    headers = {name: header(name, value) for name, value in headers.items()}
    return Wire(call.method, _url(call), headers, content, call.public)


def path(template: str, *params: str | int) -> str:
    """Returns a path with its `{}` filled in."""
    return template.format(*(segment(str(param)) for param in params))


def _url(call: Call) -> str:
    given = {name: _text(value) for name, value in call.query.items() if value is not None and value != ""}
    return path(call.path, *call.params) + ("?" + urlencode(given) if given else "")


def _text(value: Param) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def body_of(response: httpx.Response) -> Any:
    """Returns a JSON body.

    Raises:
      ValueError: the body is not JSON.
    """
    return json.loads(response.content)
