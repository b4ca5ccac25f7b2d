"""A story with the official client of the Model Context Protocol, over the caller's sessions."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from checks import URL, check, end, new_user, part, token

JSON = "application/json"
LARGEST = 3 << 20  # bytes of binary content in an answer


class User:
    """A user with a token, over REST and over MCP."""

    def __init__(self) -> None:
        self.id = new_user()
        self.token = token(self.id)

    def rest(self, method: str, path: str, body: Any = None, kind: str = JSON) -> Any:
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            URL + "/api/v1" + path,
            data,
            {"Authorization": "Bearer " + self.token, "Content-Type": kind},
            method=method,
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["data"]

    def session(self, turns: int, text: str = "turn") -> str:
        made = self.rest("POST", "/sessions", {"name": f"Trip {uuid.uuid4()}"})["id"]
        for first in range(0, turns, 100):
            events = [
                {
                    "invocation_id": f"i{n}",
                    "author": "user",
                    "content": {"parts": [{"text": f"{text} {n}"}]},
                }
                for n in range(first, min(first + 100, turns))
            ]
            self.rest("POST", f"/sessions/{made}/events", {"events": events})
        return str(made)

    @asynccontextmanager
    async def connect(self, mode: str) -> AsyncIterator[Client]:
        headers = {"Authorization": "Bearer " + self.token}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(URL + "/mcp", http_client=http), mode=mode) as client,  # type: ignore[arg-type]
        ):
            yield client


async def use(client: Client, tool: str, **arguments: Any) -> Any:
    got = await client.call_tool(tool, arguments)
    return got.structured_content


async def read(client: Client, session: str, **arguments: Any) -> tuple[list[str], int]:
    """Returns the texts of a session, and on how many pages they were."""
    texts: list[str] = []
    pages = 0
    while True:
        page = await use(client, "read_session", session_id=session, **arguments)
        texts += [e["content"]["parts"][0]["text"] for e in page["events"]]
        pages += 1
        if page["next_cursor"] is None:
            return texts, pages
        arguments["cursor"] = page["next_cursor"]


class Story:
    def __init__(self, mode: str) -> None:
        self.mode, self.alice, self.bob = mode, User(), User()

    def check(self, what: str, passed: bool, *shown: Any) -> None:
        check(f"{self.mode}: {what}", passed, *shown)

    async def play(self) -> None:
        for name in dir(self):
            if name.startswith("part_"):
                await part(f"{self.mode}: {name}", getattr(self, name))

    async def part_tools(self) -> None:
        async with self.alice.connect(self.mode) as client:
            tools = {t.name: t for t in (await client.list_tools()).tools}
            self.check("has its tools", len(tools) == 8, list(tools))
            rewind = tools["rewind_session"].annotations
            self.check("a rewind is destructive", bool(rewind and rewind.destructive_hint), rewind)
            reads = [t.name for t in tools.values() if t.annotations and t.annotations.read_only_hint]
            self.check("six tools read only", len(reads) == 6, reads)
            self.check("it has a name", client.server_info.name == "rethread", client.server_info)
            self.check("the version", client.protocol_version >= "2025-11-25", client.protocol_version)

    async def part_sessions(self) -> None:
        session = self.alice.session(3)
        async with self.alice.connect(self.mode) as client:
            listed = await use(client, "list_sessions", limit=1)
            self.check("lists the newest", listed["sessions"][0]["id"] == session, listed)
            name = listed["sessions"][0]["name"]
            found = await use(client, "search_sessions", query=name[5:].upper())
            self.check("finds by name", [s["id"] for s in found["sessions"]] == [session], found)
            one = await use(client, "get_session", session_id=session)
            self.check("has its head", one["session"]["head_seq"] == 3, one)

    async def part_read(self) -> None:
        session = self.alice.session(250, "words " * 100)
        async with self.alice.connect(self.mode) as client:
            texts, pages = await read(client, session)
            self.check("reads all", [t.split()[-1] for t in texts] == [str(n) for n in range(250)], len(texts))
            self.check("in pages", pages > 3, pages)
            texts, pages = await read(client, session, order="desc", max_bytes=8192, limit=100)
            self.check("backwards too", [t.split()[-1] for t in texts] == [str(n) for n in range(249, -1, -1)])
            self.check("in small pages", pages > 20, pages)

    async def part_rewind(self) -> None:
        session = self.alice.session(4)
        async with self.alice.connect(self.mode) as client:
            where: dict[str, Any] = {"session_id": session, "rewind_before_invocation_id": "i2"}
            preview = await use(client, "rewind_session", dry_run=True, **where)
            self.check("a preview", preview["dry_run"] and len((await read(client, session))[0]) == 4, preview)
            done = await use(client, "rewind_session", request_id="r1", **where)
            self.check("rewound", len((await read(client, session))[0]) == 2, done)
            again = await use(client, "rewind_session", request_id="r1", **where)
            self.check("a repeat changes nothing", again["session"]["epoch"] == done["session"]["epoch"], again)
            where["rewind_before_invocation_id"] = done["undo_before_invocation_id"]
            await use(client, "rewind_session", **where)
            self.check("undone", len((await read(client, session))[0]) == 4)
            fork = await use(client, "fork_session", session_id=session, rewind_before_invocation_id="i1")
            self.check("forked", (await read(client, fork["session"]["id"]))[0] == ["turn 0"], fork)

    async def part_cursor(self) -> None:
        session = self.alice.session(4)
        async with self.alice.connect(self.mode) as client:
            page = await use(client, "read_session", session_id=session, limit=1)
            await use(client, "rewind_session", session_id=session, rewind_before_invocation_id="i2")
            got = await client.call_tool(
                "read_session", {"session_id": session, "limit": 1, "cursor": page["next_cursor"]}
            )
            self.check("a rewind makes a cursor invalid", got.is_error is True, got)

    async def part_together(self) -> None:
        session = self.alice.session(4)
        async with self.alice.connect(self.mode) as one, self.alice.connect(self.mode) as other:
            both = await asyncio.gather(
                use(one, "rewind_session", session_id=session, rewind_before_invocation_id="i1"),
                use(other, "rewind_session", session_id=session, rewind_before_invocation_id="i2"),
            )
            epochs = sorted(r["session"]["epoch"] for r in both)
            self.check("two rewinds at once follow one another", epochs == [1, 2], both)

    async def part_access(self) -> None:
        session = self.alice.session(2)
        async with self.bob.connect(self.mode) as client:
            for tool in ("get_session", "read_session", "fork_session", "list_artifacts"):
                foreign = await client.call_tool(tool, {"session_id": session})
                unknown = await client.call_tool(tool, {"session_id": "never"})
                same = foreign.structured_content == unknown.structured_content
                self.check(f"{tool}: a foreign session does not exist", same and foreign.is_error is True, foreign)
            self.alice.rest("POST", f"/sessions/{session}/shares", {"access": "read", "user_id": self.bob.id})
            self.check("a reader reads", len((await read(client, session))[0]) == 2)
            shared = await use(client, "list_sessions", shared=True)
            self.check("lists what is shared", session in [s["id"] for s in shared["sessions"]], shared)
            refused = await client.call_tool(
                "rewind_session", {"session_id": session, "rewind_before_invocation_id": "i1"}
            )
            self.check("a reader does not rewind", (refused.structured_content or {})["status"] == 403, refused)

    async def part_artifacts(self) -> None:
        session = self.alice.session(1)
        path = f"/sessions/{session}/artifacts/"
        self.alice.rest("PUT", path + "note.txt", b"a note", "text/plain")
        self.alice.rest("PUT", path + "image.png", b"\x89PNG\xff", "image/png")
        self.alice.rest("PUT", path + "large", bytes(LARGEST + 1), "application/octet-stream")
        async with self.alice.connect(self.mode) as client:
            listed = await use(client, "list_artifacts", session_id=session)
            uris = {a["name"]: a["uri"] for a in listed["artifacts"]}
            self.check("lists artifacts", sorted(uris) == ["image.png", "large", "note.txt"], listed)
            resources = {r.uri for r in (await client.list_resources()).resources}
            self.check("as resources", set(uris.values()) <= resources, resources)
            templates = (await client.list_resource_templates()).resource_templates
            self.check("and a template", len(templates) == 1, templates)
            note: Any = (await client.read_resource(uris["note.txt"])).contents[0]
            self.check("text is text", note.text == "a note" and note.mime_type == "text/plain", note)
            image: Any = (await client.read_resource(uris["image.png"])).contents[0]
            self.check("bytes are base64", image.blob == "iVBOR/8=", image)
            for what, uri in {"large": uris["large"], "unknown": uris["note.txt"] + "x"}.items():
                try:
                    self.check(f"{what}: refused", False, await client.read_resource(uri))
                except MCPError as refused:
                    self.check(f"{what}: refused", "3 MiB" in str(refused) or "not found" in str(refused), refused)

    async def part_bad(self) -> None:
        session = self.alice.session(1)
        async with self.alice.connect(self.mode) as client:
            for what, tool, arguments in (
                ("a limit", "read_session", {"session_id": session, "limit": 0}),
                ("an argument", "read_session", {"session_id": session, "colour": "red"}),
                ("an invocation", "rewind_session", {"session_id": session, "rewind_before_invocation_id": "never"}),
                ("a boundary", "fork_session", {"session_id": session, "rewind_before_invocation_id": "never"}),
            ):
                got = await client.call_tool(tool, arguments)
                self.check(f"{what} is refused", got.is_error is True, got)


async def refused_token() -> None:
    request = urllib.request.Request(
        URL + "/mcp",
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}',
        {"Content-Type": JSON, "Accept": JSON + ", text/event-stream", "Authorization": "Bearer no.token.here"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            check("an invalid token is refused", False, answer.status)
    except urllib.error.HTTPError as refused:
        challenge = refused.headers.get("WWW-Authenticate", "")
        check("an invalid token is refused", refused.code == 401 and challenge.startswith("Bearer"), challenge)


async def main() -> None:
    for mode in ("auto", "legacy"):
        await Story(mode).play()
    await refused_token()


asyncio.run(main())
end()
