"""LangGraph's checkpoints in Rethread: threads that every client can show, rewind and fork."""

from .requests import RethreadError
from .saver import RethreadSaver

__all__ = ["RethreadError", "RethreadSaver"]
