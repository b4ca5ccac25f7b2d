"""An agent with a scripted model, and a chat with it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.artifacts.base_artifact_service import BaseArtifactService
from google.adk.events.event import Event
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import Session
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.tools.tool_context import ToolContext
from google.genai import types

APP = "trips"


class ScriptedModel(BaseLlm):
    """Calls the tool for "book X", echoes anything else."""

    model: str = "scripted"
    prompts: list[list[str]]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        said = [part for content in llm_request.contents for part in content.parts or []]
        self.prompts.append([part.text for part in said if part.text])
        last = said[-1]
        if last.function_response is not None:
            yield _answer(types.Part(text=f"Done: {last.function_response.response}"))
        elif last.text and last.text.startswith("book "):
            city = last.text.removeprefix("book ")
            yield _answer(types.Part.from_function_call(name="book", args={"city": city}))
        else:
            if stream:
                yield _answer(types.Part(text="You"), partial=True)
            yield _answer(types.Part(text=f"You said: {last.text}"))


def _answer(part: types.Part, *, partial: bool | None = None) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=[part]), partial=partial)


async def book(city: str, tool_context: ToolContext) -> dict[str, Any]:
    """Books a trip and writes the ticket."""
    state = tool_context.state
    state["city"] = city
    state["trips"] = (state.get("trips") or 0) + 1
    state["user:last"] = city
    state["temp:thought"] = city
    version = await tool_context.save_artifact("ticket.txt", types.Part(text=f"To {city}"))
    if city == "Porto":
        await tool_context.save_artifact(
            "map.png", types.Part.from_bytes(data=b"\xfb\xff\xfe", mime_type="image/png")
        )
    return {"ticket": version}


class Chat:
    """A conversation with the agent in one session."""

    def __init__(
        self, sessions: BaseSessionService, artifacts: BaseArtifactService, user: str, session_id: str
    ) -> None:
        self.model = ScriptedModel(prompts=[])
        self.sessions, self.artifacts = sessions, artifacts
        self.user, self.session_id = user, session_id
        agent = LlmAgent(name="guide", model=self.model, tools=[book])
        self.runner = Runner(app_name=APP, agent=agent, session_service=sessions, artifact_service=artifacts)

    async def say(self, text: str, **options: Any) -> str:
        """Sends a message and returns the id of its invocation."""
        invocation = ""
        async for event in self.runner.run_async(
            user_id=self.user, session_id=self.session_id, new_message=message(text), **options
        ):
            invocation = event.invocation_id
        return invocation

    async def rewind(self, before: str) -> None:
        await self.runner.rewind_async(
            user_id=self.user, session_id=self.session_id, rewind_before_invocation_id=before
        )

    async def session(self) -> Session:
        session = await self.sessions.get_session(app_name=APP, user_id=self.user, session_id=self.session_id)
        assert session is not None
        return session

    async def artifact(self, name: str) -> types.Part | None:
        return await self.artifacts.load_artifact(
            app_name=APP, user_id=self.user, session_id=self.session_id, filename=name
        )


def message(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


def texts(events: list[Event]) -> list[str]:
    """The texts of the events, in order."""
    return [p.text for e in events if e.content for p in e.content.parts or [] if p.text]
