"""Registers Rethread's services with ADK's command line, for URIs such as
`rethread://rethread.example.com`."""

from __future__ import annotations

import base64
import ipaddress
import json
import os
from typing import Any
from urllib.parse import urlsplit

from .artifacts import RethreadArtifactService
from .client import AdkClient, ServiceToken, TokenSource
from .errors import DeniedError
from .sessions import RethreadSessionService

# The scheme of a URI, and the scheme of the API's address: https, except that a
# loopback address has http if the URI leaves it open.
_SCHEMES = {"rethread": "", "rethread+http": "http", "rethread+https": "https"}

_VARIABLE = "RETHREAD_TOKEN"


def register(token: TokenSource | None = None, *, service_token: ServiceToken | None = None) -> None:
    """Registers session and artifact services for the schemes `rethread`,
    `rethread+http` and `rethread+https`. Call it in the `services.py` of the folder
    that `adk web` or `adk api_server` serves.

    Args:
      token: returns the token of a user; by default the environment's
        RETHREAD_TOKEN, for its own user alone.
      service_token: a service's token, or a function that returns it, instead of `token`.
    """
    # Here, because the command line's package is slow to import.
    from google.adk.cli.service_registry import get_service_registry

    source = environment_token if token is None and service_token is None else token
    clients: dict[str, AdkClient] = {}  # by address, so that both services share one

    def client(uri: str) -> AdkClient:
        url = address(uri)
        if url not in clients:
            clients[url] = AdkClient(url, source, service_token=service_token)
        return clients[url]

    def sessions(uri: str, **_: Any) -> RethreadSessionService:
        return RethreadSessionService(client(uri))

    def artifacts(uri: str, **_: Any) -> RethreadArtifactService:
        return RethreadArtifactService(client(uri))

    registry = get_service_registry()
    for scheme in _SCHEMES:
        registry.register_session_service(scheme, sessions)
        registry.register_artifact_service(scheme, artifacts)


def address(uri: str) -> str:
    """Returns the API's address that a URI names.

    Raises:
      ValueError: the URI has no host, or has more than a host, a port and a
        path. Tokens do not belong in it, because command lines are public.
    """
    parsed = urlsplit(uri)
    host = parsed.hostname
    if parsed.scheme not in _SCHEMES or not host:
        raise ValueError("The URI of Rethread's services is rethread://host, rethread://host:port/path, …")
    if parsed.query or parsed.fragment or "@" in parsed.netloc:
        raise ValueError(f"The URI of Rethread's services has no credentials, query or fragment: {host}")
    scheme = _SCHEMES[parsed.scheme] or ("http" if _is_loopback(host) else "https")
    return f"{scheme}://{parsed.netloc}{parsed.path}".rstrip("/")


def environment_token(user_id: str) -> str:
    """Returns the environment's RETHREAD_TOKEN. An empty id stands for its user.

    Raises:
      DeniedError: the variable is empty, or its token belongs to another user.
    """
    token = os.environ.get(_VARIABLE, "").strip()
    if not token:
        raise DeniedError(f"{_VARIABLE} is not set")
    owner = _subject(token)
    if user_id and owner is not None and owner != user_id:
        raise DeniedError(f"{_VARIABLE} belongs to {owner!r}, not to {user_id!r}")
    return token


def _subject(token: str) -> str | None:
    """Returns the `sub` of a JWT, unverified; None if it cannot be read. The server
    decides about the token; this is for a better error."""
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return str(claims["sub"])
    except (IndexError, KeyError, TypeError, ValueError):
        return None


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
