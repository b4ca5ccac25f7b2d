"""LangChain's chat history, kept in Rethread."""

from __future__ import annotations

from .history import RethreadChatMessageHistory

__all__ = ["RethreadChatMessageHistory"]
