"""Requests to Rethread: authentication, retries, paging."""

from __future__ import annotations

import gzip
import json
import random
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import httpx

_ATTEMPTS = 6
_LONGEST = 8.0  # seconds between two attempts
_COMPRESS_FROM = 1 << 20  # bytes
_PAGE = 1000
_TEMPORARY = frozenset({429, 502, 503, 504})


class RethreadError(Exception):
    """An unsuccessful answer, or none at all.

    Attributes:
      status: the HTTP status; 0 if no answer arrived.
      problem: the answer's problem (RFC 9457), empty if it had none.
    """

    def __init__(self, detail: str, status: int = 0, problem: dict[str, Any] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.problem = problem or {}


class Http:
    """One user's requests. Threads may share it.

    Args:
      url: the API's address, without `/api/v1`.
      token: returns the user's token; it is called before each attempt.
      transport: replaces the HTTP transport, for proxies and tests.
    """

    def __init__(
        self, url: str, token: Callable[[], str], transport: httpx.BaseTransport | None = None
    ) -> None:
        self._base = url.rstrip("/").removesuffix("/api/v1") + "/api/v1"
        self._token = token
        self._client = httpx.Client(timeout=30, transport=transport)

    def request(
        self,
        method: str,
        path: tuple[str, ...],
        body: object = None,
        *,
        params: dict[str, str] | None = None,
        repeat: bool = False,
    ) -> Any:
        """Sends a request, with retries, and returns the answer's JSON.

        Args:
          path: the segments below /api/v1.
          repeat: whether an Idempotency-Key makes the request safe to repeat.

        Raises:
          RethreadError: the request failed, or no answer arrived.
        """
        headers = {"Idempotency-Key": str(uuid.uuid4())} if repeat else {}
        content = None
        if body is not None:
            content = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
            headers["Content-Type"] = "application/json"
            if len(content) >= _COMPRESS_FROM:
                content, headers["Content-Encoding"] = gzip.compress(content, 6), "gzip"
        url = self._base + "".join("/" + quote(segment, safe="") for segment in path)
        for attempt in range(1, _ATTEMPTS + 1):
            headers["Authorization"] = f"Bearer {self._token()}"
            try:
                answer = self._client.request(method, url, params=params, content=content, headers=headers)
            except httpx.TransportError as lost:
                if attempt == _ATTEMPTS:
                    raise RethreadError(f"{method} {url}: {lost or type(lost).__name__}") from lost
                asked = None
            else:
                if answer.is_success:
                    return answer.json() if answer.content else None
                asked = _retry_after(answer)
                executing = answer.status_code == 409 and asked is not None
                if attempt == _ATTEMPTS or not (executing or answer.status_code in _TEMPORARY):
                    raise _error_of(answer)
            backoff = random.random() * min(_LONGEST, 0.2 * 2.0 ** (attempt - 1))  # noqa: S311
            time.sleep(max(asked or 0.0, backoff))
        raise AssertionError("unreachable")

    def pages(self, path: tuple[str, ...], params: dict[str, str] | None = None) -> Iterator[dict[str, Any]]:
        """Iterates over the items of a list; pages are requested as needed."""
        query = {**(params or {}), "limit": str(_PAGE)}
        while True:
            page = self.request("GET", path, params=query)
            yield from page["data"]
            cursor = page["meta"]["next_cursor"]
            if cursor is None:
                return
            query["cursor"] = cursor

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()


def _retry_after(answer: httpx.Response) -> float | None:
    """Returns seconds. Rethread and its gateways never send a date."""
    try:
        return max(0.0, float(answer.headers["Retry-After"]))
    except (KeyError, ValueError):
        return None


def _error_of(answer: httpx.Response) -> RethreadError:
    try:
        body = answer.json()
    except ValueError:  # an answer of the gateway itself
        body = None
    problem = body if isinstance(body, dict) else {}
    detail = problem.get("detail") or problem.get("message") or answer.reason_phrase
    for violation in problem.get("errors") or []:
        detail += f"; {violation.get('pointer', '')} {violation.get('detail', '')}"
    return RethreadError(f"{answer.status_code}: {detail}", answer.status_code, problem)
