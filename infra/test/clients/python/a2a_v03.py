"""A story with a2a-sdk 0.3, over both bindings."""

from __future__ import annotations

import asyncio
import uuid
from functools import partial
from typing import Any

import httpx
from a2a.client import A2ACardResolver, A2AClientError, Client, ClientConfig, ClientFactory
from a2a.types import (
    AgentCard,
    DataPart,
    GetTaskPushNotificationConfigParams,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TaskState,
    TextPart,
)

from checks import AGENT, check, end, new_user, part, raises, token

TIMEOUT = 30


def message(text: str, **more: Any) -> Message:
    return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=[Part(root=TextPart(text=text))], **more)


def text_of(task: Task) -> str:
    return "".join(p.root.text for a in task.artifacts or [] for p in a.parts if isinstance(p.root, TextPart))


class Story:
    def __init__(self, http: httpx.AsyncClient, card: AgentCard, binding: str) -> None:
        self.name = f"0.3 over {binding}"

        def client(streaming: bool, polling: bool = False) -> Client:
            config = ClientConfig(
                httpx_client=http, streaming=streaming, polling=polling, supported_transports=[binding],
                use_client_preference=True,
            )
            return ClientFactory(config).create(card)

        self.streaming, self.plain, self.polling = client(True), client(False), client(False, polling=True)

    def check(self, what: str, passed: bool, *shown: Any) -> None:
        check(f"{self.name}: {what}", passed, *shown)

    async def task(self, of: Message, client: Client | None = None) -> Task:
        got = [e async for e in (client or self.plain).send_message(of)]
        self.check("one answer", len(got) == 1 and isinstance(got[0], tuple), got)
        task: Task = got[0][0]
        return task

    async def play(self) -> None:
        for name in ("send", "stream", "question", "cancel", "push", "errors"):
            await part(f"{self.name}: {name}", partial(getattr(self, name)))

    async def send(self) -> None:
        of = message("hello")
        task = await self.task(of)
        self.check("completed", task.status.state == TaskState.completed, task)
        self.check("an answer", text_of(task) == 'You said: "hello". That is all.', task)
        again = await self.plain.get_task(TaskQueryParams(id=task.id))
        self.check("the same task", text_of(again) == text_of(task) and again.history == task.history, again)
        repeated = await self.task(of)
        self.check("a repeat gets the same task", repeated.id == task.id, repeated)
        second = await self.task(message("again", context_id=task.context_id))
        self.check("the same context", second.context_id == task.context_id and second.id != task.id, second)
        got = [e async for e in self.plain.send_message(message("message"))]
        self.check("a message instead of a task", isinstance(got[0], Message), got)
        file = await self.task(message("file"))
        self.check("a file and data", [p.root.kind for p in file.artifacts[0].parts] == ["file", "data"], file)

    async def stream(self) -> None:
        last: Task | None = None
        closing = ""
        async for task, update in self.streaming.send_message(message("hello")):
            last = task
            if update is None and task.status.state == TaskState.completed:  # it had ended already
                closing = text_of(task)
            if isinstance(update, TaskArtifactUpdateEvent) and update.last_chunk and not update.append:
                closing = "".join(p.root.text for p in update.artifact.parts)
        assert last is not None
        self.check("ends completed", last.status.state == TaskState.completed, last)
        self.check("the client has assembled the answer", text_of(last) == 'You said: "hello". That is all.', last)
        self.check("the last update has everything", closing == text_of(last), closing)

    async def question(self) -> None:
        asked = await self.task(message("ask"))
        self.check("waits for input", asked.status.state == TaskState.input_required, asked)
        calls = [p.root for p in asked.status.message.parts if isinstance(p.root, DataPart)]
        self.check("a long-running call", [c.metadata.get("adk_is_long_running") for c in calls] == [True], asked)
        # Over HTTP+JSON the client itself reads numbers as doubles.
        exact = 9007199254740993 if self.name.endswith("JSONRPC") else 9007199254740992
        self.check("its large number", calls[0].data["args"]["amount"] == exact, calls)
        response = {"id": "call-1", "name": "confirm", "response": {"ok": True}}
        reply = message("", task_id=asked.id, context_id=asked.context_id)
        reply.parts = [Part(root=DataPart(data=response, metadata={"adk_type": "function_response"}))]
        done = await self.task(reply)
        self.check("the same task goes on", done.id == asked.id and done.status.state == TaskState.completed, done)

    async def cancel(self) -> None:
        task = await self.task(message("endless"), self.polling)
        self.check("at work", task.status.state == TaskState.working, task)
        states: list[TaskState] = []
        async for seen, _ in self.streaming.resubscribe(TaskIdParams(id=task.id)):
            if not states:
                cancelled = await self.plain.cancel_task(TaskIdParams(id=task.id))
                self.check("cancelled", cancelled.status.state == TaskState.canceled, cancelled)
            states.append(seen.status.state)
        self.check("the stream ends with that", states[-1:] == [TaskState.canceled], states)
        await raises(f"{self.name}: cancelling it again", A2AClientError, self.plain.cancel_task(TaskIdParams(id=task.id)))

    async def push(self) -> None:
        task = await self.task(message("hello"))
        config = PushNotificationConfig(id="mine", url="http://127.0.0.1:9/hook", token="t")
        made = await self.plain.set_task_callback(
            TaskPushNotificationConfig(task_id=task.id, push_notification_config=config)
        )
        self.check("a configuration", made.push_notification_config.url == config.url, made)
        got = await self.plain.get_task_callback(
            GetTaskPushNotificationConfigParams(id=task.id, push_notification_config_id="mine")
        )
        self.check("the same configuration", got.push_notification_config.id == "mine", got)

    async def errors(self) -> None:
        of = A2AClientError
        await raises(f"{self.name}: an unknown task", of, self.plain.get_task(TaskQueryParams(id="none")))
        await raises(f"{self.name}: cancelling it", of, self.plain.cancel_task(TaskIdParams(id="none")))
        await raises(f"{self.name}: subscribing to it", of, anext(self.streaming.resubscribe(TaskIdParams(id="none"))))
        nothing = message("x")
        nothing.parts = []
        for client in (self.plain, self.streaming):
            await raises(f"{self.name}: a message without parts", of, anext(client.send_message(nothing)))
        failed = await self.task(message("fail"))
        self.check("failed, with a reason", failed.status.message.parts[0].root.text == "I was asked to fail.", failed)


async def main() -> None:
    async with httpx.AsyncClient(timeout=TIMEOUT) as nobody:
        card = await A2ACardResolver(nobody, AGENT).get_agent_card()
    check("a bearer token", card.security_schemes["bearer"].root.scheme == "Bearer", card)
    check("the rewind extension", len(card.capabilities.extensions or []) == 1, card)
    http = httpx.AsyncClient(timeout=TIMEOUT, headers={"Authorization": "Bearer " + token(new_user())})
    extended = await ClientFactory(ClientConfig(httpx_client=http)).create(card).get_card()
    check("an extended card", any(s.id == "rewind" for s in extended.skills), extended)
    await asyncio.gather(*(Story(http, card, binding).play() for binding in ("JSONRPC", "HTTP+JSON")))
    end()


asyncio.run(main())
