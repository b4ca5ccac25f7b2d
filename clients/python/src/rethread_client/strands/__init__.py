"""Sessions of Strands Agents that are kept in Rethread."""

from .._core.extras import extra

with extra("strands"):
    from .manager import RethreadSessionManager
    from .repository import RethreadSessionRepository

__all__ = ["RethreadSessionManager", "RethreadSessionRepository"]
