"""Agents whose model is a script, so that they need no network."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

from fastapi.openapi.models import APIKey, APIKeyIn
from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.auth.auth_credential import AuthCredential, AuthCredentialTypes
from google.adk.auth.auth_tool import AuthConfig
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from google.genai import types

CREDENTIAL = AuthConfig(
    auth_scheme=APIKey.model_validate({"in": APIKeyIn.header, "name": "X-Key"}),
    raw_auth_credential=AuthCredential(auth_type=AuthCredentialTypes.API_KEY),
)
stopped = 0  # answers whose reader left


def response(*parts: types.Part, partial: bool | None = None) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=list(parts)), partial=partial)


def call(name: str, **args: Any) -> LlmResponse:
    return response(types.Part(function_call=types.FunctionCall(name=name, args=args)))


class Scripted(BaseLlm):
    """Answers the last message by its first word."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        last = llm_request.contents[-1].parts or []
        results = [p.function_response.response for p in last if p.function_response]
        text = " ".join(p.text for p in last if p.text)
        if results:
            text = f"result {json.dumps(results[-1])}"
        async for part in self.answer(text, text.split(" ")[0], stream):
            yield part

    async def answer(self, text: str, word: str, stream: bool) -> AsyncGenerator[LlmResponse, None]:
        match word:
            case "weather" | "drop" | "boss" | "save" | "secret":
                yield call(word, **({"city": "Rome", "large": 9007199254740993} if word == "weather" else {}))
            case "transfer":
                yield call("transfer_to_agent", agent_name="expert")
            case "picture":
                blob = types.Blob(mime_type="image/png", data=b"\xfb\xff\xfe")
                yield response(types.Part(text="Look:"), types.Part(inline_data=blob))
            case "crash":
                yield response(types.Part(text="This goes well, "), partial=True)
                raise ValueError("a secret path")
            case "unsafe":
                yield LlmResponse(error_code="SAFETY", error_message="no")
            case "endless":
                async for part in endless():
                    yield part
            case _:
                pieces = [types.Part(text="Hm.", thought=True), *(types.Part(text=t) for t in ("You said: ", text, "."))]
                if stream:
                    for piece in pieces:
                        yield response(piece, partial=True)
                yield response(pieces[0], types.Part(text=f"You said: {text}."))


async def endless() -> AsyncGenerator[LlmResponse, None]:
    global stopped
    try:
        for i in range(600):
            yield response(types.Part(text=f"word{i} "), partial=True)
            await asyncio.sleep(0.1)
    except (asyncio.CancelledError, GeneratorExit):
        stopped += 1
        raise


async def received(callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
    """Answers "received" with what the model and the agent get."""
    context = callback_context._invocation_context
    last = llm_request.contents[-1].parts or []
    if not last or last[-1].text != "received":
        return None
    listed = await context.session_service.list_sessions(app_name=context.app_name, user_id=context.user_id)
    found = {
        "contents": [c.model_dump(mode="json", exclude_none=True) for c in llm_request.contents],
        "events": [e.id for e in context.session.events],
        "state": callback_context.state.to_dict(),
        "user": context.user_id,
        "sessions": len(listed.sessions),
        "stopped": stopped,
    }
    return response(types.Part(text=json.dumps(found)))


def weather(city: str, large: int, tool_context: ToolContext) -> dict[str, Any]:
    tool_context.state["city"] = {"cityName": city, "large": large}
    tool_context.state["user:visited"] = [city]
    tool_context.state["temp:secret"] = 1
    tool_context.state["old"] = None
    return {"cityName": city, "degrees": 20}


def drop() -> dict[str, Any]:
    return {"dropped": True}


def boss() -> None:
    """Asks somebody; the answer comes later."""


async def save(tool_context: ToolContext) -> dict[str, Any]:
    part = types.Part.from_bytes(data=b"\xfb\xff\xfe", mime_type="text/csv")
    return {"version": await tool_context.save_artifact("out/table.csv", part)}


def secret(tool_context: ToolContext) -> dict[str, Any]:
    got = tool_context.get_auth_response(CREDENTIAL)
    if got is None:
        tool_context.request_credential(CREDENTIAL)
        return {"pending": True}
    return {"key": got.api_key}


root_agent = LlmAgent(
    name="helper",
    model=Scripted(model="scripted"),
    before_model_callback=received,
    tools=[weather, FunctionTool(drop, require_confirmation=True), LongRunningFunctionTool(boss), save, secret],
    sub_agents=[LlmAgent(name="expert", description="Knows.", model=Scripted(model="scripted"), before_model_callback=received)],
)
