"""Sessions of the OpenAI Agents SDK that are kept in Rethread."""

from .._core.extras import extra

with extra("openai-agents"):
    from .session import RethreadSession

__all__ = ["RethreadSession"]
