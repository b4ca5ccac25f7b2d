"""An A2A server: that of a2a-sdk 0.3, with a scripted agent."""

from __future__ import annotations

import os
import uuid
from typing import Any

import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.apps import A2AStarletteApplication
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentSkill, Message, Part, TaskState
from a2a.utils import new_task

import a2a_script

PORT = int(os.environ["PORT"])


def part(members: dict[str, Any]) -> Part:
    """A part of version 0.3 from one of 1.0."""
    out: dict[str, Any] = {"metadata": members.get("metadata")}
    if "text" in members:
        out |= {"kind": "text", "text": members["text"]}
    elif "data" in members:
        out |= {"kind": "data", "data": members["data"]}
    else:
        file = {"mimeType": members["mediaType"], "name": members.get("filename")}
        out |= {"kind": "file", "file": file}
        file["bytes" if "raw" in members else "uri"] = members.get("raw") or members["url"]
    return Part.model_validate(out)


class Speaker:
    def __init__(self, queue: EventQueue, updater: TaskUpdater) -> None:
        self.queue, self.updater, self.artifact = queue, updater, ""

    async def text(self, text: str, chunk: int = 0, last: bool = True) -> None:
        if chunk == 0:
            self.artifact = str(uuid.uuid4())
        await self.updater.add_artifact([part({"text": text})], self.artifact, append=chunk > 0, last_chunk=last)

    async def parts(self, *parts: dict[str, Any]) -> None:
        await self.updater.add_artifact([part(p) for p in parts], last_chunk=True)

    def _message(self, *parts: dict[str, Any]) -> Message:
        return self.updater.new_agent_message([part(p) for p in parts])

    async def work(self, text: str) -> None:
        await self.updater.start_work(self._message({"text": text}))

    async def ask(self, *parts: dict[str, Any]) -> None:
        await self.updater.requires_input(self._message(*parts), final=True)

    async def complete(self) -> None:
        await self.updater.complete()

    async def fail(self, text: str) -> None:
        await self.updater.failed(self._message({"text": text}))

    async def reject(self, text: str) -> None:
        await self.updater.reject(self._message({"text": text}))

    async def message(self, text: str) -> None:
        await self.queue.enqueue_event(self._message({"text": text}))


class Executor(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message and context.task_id and context.context_id
        task = context.current_task
        message = context.message.model_dump(mode="json", by_alias=True, exclude_none=True)
        waited = task is not None and task.status.state == TaskState.input_required
        if task is None and "message" not in [p.get("text") for p in message["parts"]]:
            await event_queue.enqueue_event(new_task(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await a2a_script.answer(Speaker(event_queue, updater), message, waited)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id and context.context_id
        a2a_script.cancelled += 1
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


card = AgentCard(
    name="scripted",
    description="Follows a script.",
    version="1",
    url=f"http://127.0.0.1:{PORT}/",
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="chat", name="Chat", description="Chats.", tags=["chat"])],
)
handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore())
uvicorn.run(A2AStarletteApplication(card, handler).build(), port=PORT, log_level="info")
