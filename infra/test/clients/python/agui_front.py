"""A story with ag-ui-validate, which judges the streams of Rethread's AG-UI server."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

import httpx
from ag_ui.core.version import PROTOCOL_VERSION
from ag_ui_validate import create_validator

from checks import URL, check, end, new_user, part, token

BASE = URL + "/agui/scripted"


def calls(event: dict[str, Any]) -> set[str]:
    """The tool calls that an event begins, or that a snapshot holds: a slow reader gets them so."""
    if event["type"] == "TOOL_CALL_START":
        return {event["toolCallId"]}
    return {c["id"] for m in event.get("messages", []) for c in m.get("toolCalls") or []}


class FrontEnd:
    """A thread as a front end that sends only what is new."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http, self.thread = http, str(uuid.uuid4())
        self.calls: set[str] = set()  # the tool calls of earlier streams

    async def run(self, name: str, text: str | None, **more: Any) -> list[dict[str, Any]]:
        messages = [] if text is None else [{"id": str(uuid.uuid4()), "role": "user", "content": text}]
        asked = {"threadId": self.thread, "runId": str(uuid.uuid4()), "messages": messages, **more}
        asked["protocolVersion"] = PROTOCOL_VERSION
        async with self.http.stream("POST", BASE, json=asked) as answer:
            return await self.judge(name, answer)

    async def join(self, name: str) -> list[dict[str, Any]]:
        async with self.http.stream("GET", f"{BASE}/threads/{self.thread}") as answer:
            return await self.judge(name, answer)

    async def judge(self, name: str, answer: httpx.Response) -> list[dict[str, Any]]:
        check(f"{name}: a stream", answer.headers["content-type"] == "text/event-stream", answer.status_code)
        events: list[dict[str, Any]] = []
        validator = create_validator()
        async for line in answer.aiter_lines():
            if line.startswith("data: "):
                events.append(json.loads(line.removeprefix("data: ")))
                validator.feed(events[-1])
        validator.finalize()
        found = [d for d in validator.report().diagnostics if d.severity != "info" and not self.answers_earlier(d, events)]
        self.calls.update(*map(calls, events))
        check(f"{name}: valid", not found, found)
        check(f"{name}: the last event", events[-1]["type"] in ("RUN_FINISHED", "RUN_ERROR"), events[-1])
        return events

    def answers_earlier(self, found: Any, events: list[dict[str, Any]]) -> bool:
        """The validator knows one stream; a resume answers a call of the one before."""
        return found.rule == "AGUI207" and events[found.event_index]["toolCallId"] in self.calls


async def story() -> None:
    headers = {"Authorization": f"Bearer {token(new_user())}"}
    async with httpx.AsyncClient(headers=headers, timeout=60) as http:
        front = FrontEnd(http)
        for text in ("hello", "think", "file", "fail", "reject", "hello again"):
            await front.run(text, text, state={"said": text})
        await front.join("join")
        events = await front.run("ask", "ask")
        outcome = events[-1]["outcome"]
        check("ask: an interrupt", outcome["type"] == "interrupt", outcome)
        await front.join("join with a question")
        answer = {"interruptId": outcome["interrupts"][0]["id"], "status": "resolved", "payload": "yes"}
        events = await front.run("resume", None, resume=[answer])
        check("resume: is answered", events[-1]["outcome"]["type"] == "success", events[-1])


async def main() -> None:
    await part("AG-UI", story)
    end()


asyncio.run(main())
