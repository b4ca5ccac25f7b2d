"""LangGraph with RethreadSaver, through HTTP; `best` stores one checkpoint a turn.

RETHREAD_URL is the system's address, and RETHREAD_TOKEN the token of the user.
"""

import os
import sys
from typing import Any

import httpx
from bench import serve
from langgraph_graph import LangGraph
from rethread_langgraph import RethreadSaver
from rethread_langgraph.ids import session_of

URL = os.environ["RETHREAD_URL"]
TOKEN = os.environ["RETHREAD_TOKEN"]
TIMEOUT = 60  # seconds


class WithRethread(LangGraph):
    def __init__(self, durability: str | None) -> None:
        super().__init__(durability)
        self.api = httpx.Client(
            base_url=f"{URL}/api/v1", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=TIMEOUT
        )
        self.forks: dict[str, str] = {}  # the threads that forks have become

    def saver(self) -> RethreadSaver:
        return RethreadSaver(URL, lambda: TOKEN)

    def request(self, method: str, path: str, **options: Any) -> Any:
        return self.api.request(method, path, **options).raise_for_status().json()["data"]

    def load(self, thread: str) -> list[str]:
        return super().load(self.forks.get(thread, thread))

    def fork(self, thread: str, into: str) -> None:
        session = f"/sessions/{session_of(thread)}"
        newest = self.request("GET", f"{session}/thread", params={"order": "desc", "limit": 1})["items"][0]
        before = {"rewind_before_invocation_id": newest["invocation_id"]}
        self.forks[into] = self.request("POST", f"{session}/fork", json=before)["id"]


if __name__ == "__main__":
    serve(WithRethread("exit" if "best" in sys.argv else None))
