"""LangChain's chat history, kept in Rethread."""

from __future__ import annotations

from .._core.extras import extra

with extra("langchain"):
    from .history import RethreadChatMessageHistory

__all__ = ["RethreadChatMessageHistory"]
