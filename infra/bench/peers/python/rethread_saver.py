"""LangGraph with RethreadSaver, through HTTP; `best` stores one checkpoint a turn.

RETHREAD_URL is the system's address, and RETHREAD_TOKEN the token of the user.
"""

import os
import sys

from bench import serve
from langgraph_graph import LangGraph
from rethread_client import Rethread
from rethread_client.langgraph import RethreadSaver
from rethread_client.langgraph.ids import session_of

URL = os.environ["RETHREAD_URL"]
TOKEN = os.environ["RETHREAD_TOKEN"]


class WithRethread(LangGraph):
    def __init__(self, durability: str | None) -> None:
        self.client = Rethread(URL, TOKEN)
        self.forks: dict[str, str] = {}  # the threads that forks have become
        super().__init__(durability)

    def saver(self) -> RethreadSaver:
        return RethreadSaver(self.client)

    def load(self, thread: str) -> list[str]:
        return super().load(self.forks.get(thread, thread))

    def fork(self, thread: str, into: str) -> None:
        session = session_of(thread)
        newest = self.client.thread.get(session, order="desc", limit=1)["items"][0]
        before = newest["invocation_id"]
        self.forks[into] = self.client.sessions.fork(session, {"rewind_before_invocation_id": before})["id"]


if __name__ == "__main__":
    serve(WithRethread("exit" if "best" in sys.argv else None))
