"""Rethread for google-adk: sessions and artifacts that can be rewound, forked
and watched, behind the services that ADK's Runner asks for."""

from .artifacts import RethreadArtifactService
from .client import Rethread, TokenSource
from .errors import DeniedError, InvalidError, RethreadError, UnavailableError
from .retries import Retries
from .sessions import RethreadSessionService, Scope

__all__ = [
    "DeniedError",
    "InvalidError",
    "Rethread",
    "RethreadArtifactService",
    "RethreadError",
    "RethreadSessionService",
    "Retries",
    "Scope",
    "TokenSource",
    "UnavailableError",
]
