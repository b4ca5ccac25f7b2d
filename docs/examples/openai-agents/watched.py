"""An agent of the OpenAI Agents SDK that two people watch while it answers one of them.

    OPENAI_API_KEY=… python watched.py "Lisbon in May?" "And Porto?"

Alice asks, and Bob watches the session that she shares with him. Both see each item as soon as
it is stored, and at the end the rewind with which Alice takes her last question back.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from typing import Any

import httpx
from agents import Agent, Runner

from rethread_client import AsyncRethread, View
from rethread_client.openai_agents import RethreadSession

URL = os.environ.get("RETHREAD_URL", "http://127.0.0.1:3000")  # make run


def token(user_id: str) -> str:
    """Gets a token from your identity provider; this one is for development."""
    answer = httpx.post(f"{URL}/dev/token", json={"user_id": user_id})
    return str(answer.raise_for_status().json()["token"])


class Watcher:
    """A person who watches a session."""

    def __init__(self, name: str, client: AsyncRethread, session_id: str) -> None:
        self._name = name
        self._messages = client.watch(session_id)
        self._view = View()
        self.began = asyncio.Event()

    async def watch(self, last: str) -> None:
        """Prints what is shown, until the item with this text has appeared and was taken back."""
        seen = False
        async for message in self._messages:
            self._view.apply(message)
            self.began.set()
            shown = [text_of(item) for item in self._view.items]
            seen = seen or last in shown
            if message["type"] == "item.snapshot":
                print(f"{self._name} sees: {text_of(message.get('item', {}))}")
            elif message["type"] == "thread.rewound":
                print(f"{self._name} sees a rewind")
            if seen and last not in shown:
                await self._messages.aclose()
                return


def text_of(item: Any) -> str:
    """Returns the text of an item."""
    return "".join(part.get("text", "") for part in (item.get("content") or {}).get("parts", []))


async def main(agent: Agent, questions: Sequence[str], alice: str = "alice", bob: str = "bob") -> None:
    """Asks the questions, and takes the last one back."""
    async with AsyncRethread(URL, token(alice)) as hers, AsyncRethread(URL, token(bob)) as his:
        stored = await hers.sessions.create({"app_name": "trips"})
        await hers.shares.create(stored["id"], {"access": "read", "user_id": bob})
        watchers = [Watcher("Alice", hers, stored["id"]), Watcher("Bob", his, stored["id"])]
        async with asyncio.TaskGroup() as group:
            for watcher in watchers:
                group.create_task(watcher.watch(questions[-1]))
                await watcher.began.wait()
            session = RethreadSession(stored["id"], hers)
            for question in questions:
                await Runner.run(agent, question, session=session)
            async for event in hers.events.list(stored["id"], order="desc"):
                if text_of(event) == questions[-1]:
                    before = event["invocation_id"]
                    break
            await hers.sessions.rewind(stored["id"], {"rewind_before_invocation_id": before})


if __name__ == "__main__":
    asyncio.run(main(Agent(name="guide", instructions="Answer in one sentence."), sys.argv[1:]))
