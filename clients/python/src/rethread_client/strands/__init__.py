"""Sessions of Strands Agents that are kept in Rethread."""

from .manager import RethreadSessionManager
from .repository import RethreadSessionRepository

__all__ = ["RethreadSessionManager", "RethreadSessionRepository"]
