"""Session and artifact services for google-adk that store data in Rethread, with
rewind and fork."""

from .._core.extras import extra

with extra("adk"):
    from .artifacts import RethreadArtifactService
    from .client import AdkClient, TokenSource
    from .errors import DeniedError, InvalidError, RethreadError, UnavailableError
    from .registry import register
    from .retries import Retries
    from .sessions import RethreadSessionService, Scope

__all__ = [
    "AdkClient",
    "DeniedError",
    "InvalidError",
    "RethreadArtifactService",
    "RethreadError",
    "RethreadSessionService",
    "Retries",
    "Scope",
    "TokenSource",
    "UnavailableError",
    "register",
]
