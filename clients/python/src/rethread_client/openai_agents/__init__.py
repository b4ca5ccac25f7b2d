"""Sessions of the OpenAI Agents SDK that are kept in Rethread."""

from .session import RethreadSession

__all__ = ["RethreadSession"]
