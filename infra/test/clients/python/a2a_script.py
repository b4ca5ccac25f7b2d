"""What the agents behind the servers of A2A's SDKs do, in both versions of the SDK."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Protocol

# A message as its JSON, in either version.
Message = dict[str, Any]

cancelled = 0


class Speaker(Protocol):
    """How an agent answers."""

    async def text(self, text: str, chunk: int = 0, last: bool = True) -> None: ...
    async def parts(self, *parts: dict[str, Any]) -> None: ...
    async def work(self, text: str) -> None: ...
    async def ask(self, *parts: dict[str, Any]) -> None: ...
    async def complete(self) -> None: ...
    async def fail(self, text: str) -> None: ...
    async def reject(self, text: str) -> None: ...
    async def message(self, text: str) -> None: ...


CALL = {"id": "f1", "name": "confirm", "args": {"amount": 7}}
ASKED = {"adk_type": "function_call", "adk_is_long_running": True}


def described(part: dict[str, Any]) -> str:
    file = part.get("file") or part
    for bytes_, kind in (("raw", "mediaType"), ("bytes", "mimeType")):
        if bytes_ in file:
            return f"{file.get(kind)} {file[bytes_]}"
    for uri, kind in (("url", "mediaType"), ("uri", "mimeType")):
        if uri in file:
            return f"{file.get(kind)} {file[uri]}"
    return json.dumps(part["data"], sort_keys=True) if "data" in part else str(part.get("text"))


async def answer(speaker: Speaker, message: Message, waited: bool) -> None:
    parts = message.get("parts", [])
    responses = [p["data"] for p in parts if "data" in p and (p.get("metadata") or {}).get("adk_type")]
    texts = [str(p["text"]) for p in parts if "text" in p]
    word = texts[-1].split(" ")[0] if texts else ""
    if responses:
        await speaker.text("You decided: " + json.dumps(responses[0]["response"]))
    elif waited:
        await speaker.text(f"You chose: {texts[-1]}")
    elif word == "received":
        await speaker.text(json.dumps(message))
    elif word == "cancelled":
        await speaker.text(str(cancelled))
    elif word == "which":
        return await speaker.ask({"text": "Which one?"})
    elif word == "confirm":
        return await speaker.ask({"data": CALL, "metadata": ASKED})
    elif word == "see":
        await speaker.text("; ".join(described(p) for p in parts))
    elif word == "file":
        await speaker.parts(
            {"raw": "AQI=", "mediaType": "image/png", "filename": "dot.png"},
            {"url": "https://example.com/a.txt", "mediaType": "text/plain"},
            {"data": {"n": [1, 2]}},
        )
    elif word == "weather":
        await speaker.work("I look it up.")
        call = {"id": "w1", "name": "weather", "args": {"city": "Rome"}}
        await speaker.parts({"data": call, "metadata": {"adk_type": "function_call"}})
        response = {"id": "w1", "name": "weather", "response": {"degrees": 20}}
        await speaker.parts({"data": response, "metadata": {"adk_type": "function_response"}})
        await speaker.text("20 degrees.")
    elif word == "message":
        return await speaker.message("Only a message.")
    elif word == "fail":
        await speaker.text("This goes well, ")
        return await speaker.fail("I was asked to fail.")
    elif word == "reject":
        return await speaker.reject("I was asked to refuse.")
    elif word == "endless":
        for i in range(600):
            await speaker.text(f"word{i} ", i, last=False)
            await asyncio.sleep(0.1)
    else:
        chunks = ["You said: ", "; ".join(described(p) for p in parts), "."]
        for i, chunk in enumerate(chunks):
            await speaker.text(chunk, i, last=i == len(chunks) - 1)
    await speaker.complete()
