"""An AG-UI server: an agent of Pydantic AI whose model follows a script."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from typing import Any

import uvicorn
from ag_ui.core import CustomEvent, EventType, RunAgentInput, StateDeltaEvent, StateSnapshotEvent
from pydantic_ai import Agent, BinaryContent, DeferredToolRequests, RunContext, ToolReturn
from pydantic_ai.messages import FileUrl, ModelMessage, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

received: dict[str, Any] = {}
cancelled = 0


def prompt(message: ModelMessage) -> list[Any]:
    """What the user has said last, as a list of texts and files."""
    said: list[Any] = []
    for part in message.parts:
        if isinstance(part, UserPromptPart):
            said += [part.content] if isinstance(part.content, str) else part.content
    return said


def described(item: Any) -> str:
    if isinstance(item, BinaryContent):
        return f"{item.media_type} of {len(item.data)} bytes"
    if isinstance(item, FileUrl):
        return f"{type(item).__name__} {item.url}"
    return str(item)


async def endless() -> AsyncIterator[str]:
    global cancelled
    try:
        for i in range(600):
            yield f"word{i} "
            await asyncio.sleep(0.1)
    except BaseException:
        cancelled += 1
        raise


async def script(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
    answers = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
    said = prompt(messages[-1])
    word = str(said[0]).split(" ")[0] if said else ""
    if answers and not said:
        yield "The tool said "
        yield "; ".join(json.dumps(part.content) for part in answers)
    elif word == "received":
        yield json.dumps(received)
    elif word == "cancelled":
        yield str(cancelled)
    elif word == "think":
        yield {0: DeltaThinkingPart(content="Hm.", signature="signed")}
        yield "Yes."
    elif word == "weather":
        yield "I look it up."
        yield {0: DeltaToolCall(name="weather", json_args='{"city":', tool_call_id="w1")}
        yield {0: DeltaToolCall(json_args='"Rome"}', tool_call_id="w1")}
        yield {1: DeltaToolCall(name="motto", json_args="{}", tool_call_id="w2")}
    elif word == "delete":
        yield {0: DeltaToolCall(name="delete_file", json_args='{"path":"a.txt"}', tool_call_id="d1")}
    elif word == "pick":
        yield {0: DeltaToolCall(name="pick_color", json_args='{"title":"Wall"}', tool_call_id="p1")}
    elif word == "see":
        yield ", ".join(described(item) for item in said)
    elif word == "fail":
        yield "This goes well, "
        raise RuntimeError("I was asked to fail.")
    elif word == "endless":
        async for text in endless():
            yield text
    else:
        for text in ("You said: ", ", ".join(described(item) for item in said), "."):
            yield text


agent = Agent(FunctionModel(stream_function=script), output_type=[str, DeferredToolRequests], deps_type=RunAgentInput)


@agent.tool
def weather(ctx: RunContext[RunAgentInput], city: str) -> ToolReturn:
    return ToolReturn(
        return_value={"city": city, "degrees": 20},
        metadata=[
            StateSnapshotEvent(snapshot={**(ctx.deps.state or {}), "city": city, "large": 9007199254740993}),
            StateDeltaEvent(delta=[{"op": "add", "path": "/seen", "value": ["Rome"]}, {"op": "remove", "path": "/old"}]),
            CustomEvent(type=EventType.CUSTOM, name="looked", value={"at": city}),
        ],
    )


@agent.tool_plain
def motto() -> str:
    return "Be brief."


@agent.tool_plain(requires_approval=True)
def delete_file(path: str) -> str:
    return f"deleted {path}"


async def answer(request: Request) -> Response:
    global received
    body = await request.body()
    received = {"input": json.loads(body), "key": request.headers.get("authorization")}
    return await AGUIAdapter.dispatch_request(
        request, agent=agent, deps=RunAgentInput.model_validate_json(body)
    )


uvicorn.run(Starlette(routes=[Route("/", answer, methods=["POST"])]), port=int(os.environ["PORT"]), log_level="info")
