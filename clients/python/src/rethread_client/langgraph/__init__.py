"""LangGraph's checkpoints in Rethread: threads that every client can show, rewind and fork."""

from .._core.extras import extra

with extra("langgraph"):
    from ._async.saver import AsyncRethreadSaver
    from ._sync.saver import RethreadSaver

__all__ = ["AsyncRethreadSaver", "RethreadSaver"]
