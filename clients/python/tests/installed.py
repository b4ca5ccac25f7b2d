"""A program that uses the installed package, without anything else: python installed.py URL TOKEN."""

import asyncio
import sys
from importlib.metadata import files, version

from rethread_client import AsyncRethread, Rethread


def main(url: str, token: str) -> None:
    assert any(str(file) == "rethread_client/py.typed" for file in files("rethread-client") or [])
    with Rethread(url, token) as client:
        session = client.sessions.create({"app_name": "installed"})
        client.events.append(
            session["id"], {"events": [{"id": "t.1", "invocation_id": "t", "author": "user"}]}
        )
    authors = asyncio.run(authors_of(url, token, session["id"]))
    assert authors == ["user"], authors
    print(version("rethread-client"))


async def authors_of(url: str, token: str, session_id: str) -> list[str]:
    async with AsyncRethread(url, token) as client:
        async for message in client.watch(session_id, cursor="0.0.0"):
            return [message.get("item", {})["author"]]
    return []


main(*sys.argv[1:])
