"""An A2A server: an agent of google-adk, served by its to_a2a, whose model follows a script."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator

import uvicorn
from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.tools import LongRunningFunctionTool
from google.genai import types

PORT = int(os.environ["PORT"])


def weather(city: str) -> dict[str, object]:
    """Returns the weather of a city."""
    return {"city": city, "degrees": 20}


def confirm(amount: int) -> None:
    """Asks the user to confirm an amount."""


def said(content: types.Content) -> str:
    return " / ".join(p.text for p in content.parts or [] if p.text)


class Scripted(BaseLlm):
    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        def whole(*parts: types.Part, partial: bool = False) -> LlmResponse:
            return LlmResponse(content=types.Content(role="model", parts=list(parts)), partial=partial)

        last = llm_request.contents[-1]
        responses = [p.function_response for p in last.parts or [] if p.function_response]
        texts = [p.text for p in last.parts or [] if p.text]
        word = texts[-1].split(" ")[0] if texts else ""
        if responses:
            yield whole(types.Part(text=f"{responses[0].name} said {responses[0].response}"))
        elif word == "weather":
            yield whole(types.Part.from_function_call(name="weather", args={"city": "Rome"}))
        elif word == "confirm":
            yield whole(types.Part.from_function_call(name="confirm", args={"amount": 7}))
        elif word == "think":
            yield whole(types.Part(text="Hm.", thought=True), types.Part(text="Yes."))
        elif word == "file":
            yield whole(types.Part.from_bytes(data=b"\1\2", mime_type="image/png"))
        elif word == "see":
            files = [p.inline_data for p in last.parts or [] if p.inline_data]
            yield whole(types.Part(text=f"{files[0].mime_type} {len(files[0].data or b'')}"))
        elif word == "fail":
            raise RuntimeError("I was asked to fail.")
        else:
            text = " | ".join(said(c) for c in llm_request.contents if c.role == "user")
            yield whole(types.Part(text="Heard: "), partial=True)
            yield whole(types.Part(text=text), partial=True)
            yield whole(types.Part(text="Heard: " + text))


agent = LlmAgent(
    name="helper",
    model=Scripted(model="scripted"),
    description="Follows a script.",
    tools=[weather, LongRunningFunctionTool(func=confirm)],
)
uvicorn.run(to_a2a(agent, host="127.0.0.1", port=PORT), port=PORT, log_level="info")
