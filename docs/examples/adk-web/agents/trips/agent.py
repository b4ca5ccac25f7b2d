"""An agent that books trips: it writes a ticket, and counts the trips in the session's state."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.tool_context import ToolContext
from google.genai import types


class Clerk(BaseLlm):
    """Stands in for a model, so that no key is needed: books the city that the user names."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Calls the tool, then says what the tool has returned."""
        last = (llm_request.contents[-1].parts or [types.Part(text="")])[-1]
        if last.function_response is not None:
            part = types.Part(text=str((last.function_response.response or {})["said"]))
        else:
            part = types.Part.from_function_call(name="book", args={"city": last.text})
        yield LlmResponse(content=types.ModelContent(part))


async def book(city: str, tool_context: ToolContext) -> dict[str, Any]:
    """Books a trip to a city."""
    trips = tool_context.state.get("trips", 0) + 1
    tool_context.state["trips"] = trips
    await tool_context.save_artifact("ticket.txt", types.Part(text=f"To {city}"))
    return {"said": f"Trip {trips} goes to {city}."}


model = os.environ.get("MODEL") or Clerk(model="clerk")
root_agent = LlmAgent(name="guide", model=model, instruction="Book the trips that are asked for.", tools=[book])
