"""An A2A server: that of a2a-sdk 1.x, in the versions 1.0 and 0.3, with a scripted agent."""

from __future__ import annotations

import os
import uuid
from typing import Any

import uvicorn
from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events.event_queue import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import a2a_pb2 as pb
from google.protobuf.json_format import MessageToDict, ParseDict
from starlette.applications import Starlette
from starlette.routing import Mount

import a2a_script

PORT = int(os.environ["PORT"])


def part(members: dict[str, Any]) -> pb.Part:
    return ParseDict(members, pb.Part())


class Speaker:
    def __init__(self, queue: EventQueue, updater: TaskUpdater) -> None:
        self.queue, self.updater, self.artifact = queue, updater, ""

    async def text(self, text: str, chunk: int = 0, last: bool = True) -> None:
        if chunk == 0:
            self.artifact = str(uuid.uuid4())
        await self.updater.add_artifact([part({"text": text})], self.artifact, append=chunk > 0, last_chunk=last)

    async def parts(self, *parts: dict[str, Any]) -> None:
        await self.updater.add_artifact([part(p) for p in parts], last_chunk=True)

    def _message(self, *parts: dict[str, Any]) -> pb.Message:
        return self.updater.new_agent_message([part(p) for p in parts])

    async def work(self, text: str) -> None:
        await self.updater.start_work(self._message({"text": text}))

    async def ask(self, *parts: dict[str, Any]) -> None:
        await self.updater.requires_input(self._message(*parts))

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
        task, message = context.current_task, MessageToDict(context.message)
        waited = task is not None and task.status.state == pb.TASK_STATE_INPUT_REQUIRED
        if task is None and "message" not in [p.get("text") for p in message["parts"]]:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await a2a_script.answer(Speaker(event_queue, updater), message, waited)

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id and context.context_id
        a2a_script.cancelled += 1
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def serve(path: str, versions: list[str], streaming: bool) -> Mount:
    url = f"http://127.0.0.1:{PORT}{path}/"
    card = pb.AgentCard(
        name="scripted",
        description="Follows a script.",
        version="1",
        supported_interfaces=[
            pb.AgentInterface(url=url, protocol_binding="JSONRPC", protocol_version=v) for v in versions
        ],
        capabilities=pb.AgentCapabilities(streaming=streaming),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[pb.AgentSkill(id="chat", name="Chat", description="Chats.", tags=["chat"])],
    )
    handler = DefaultRequestHandler(
        agent_executor=Executor(), task_store=InMemoryTaskStore(), agent_card=card
    )
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True)]
    return Mount(path, routes=routes)


app = Starlette(
    routes=[
        serve("/both", ["0.3", "1.0"], streaming=True),
        serve("/old", ["0.3"], streaming=True),
        serve("/polled", ["1.0"], streaming=False),
    ]
)
uvicorn.run(app, port=PORT, log_level="info")
