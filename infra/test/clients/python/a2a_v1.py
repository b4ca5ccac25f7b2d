"""A story with a2a-sdk 1.x, over each interface that the agent's card offers."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.client import Client
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import (
    A2AError,
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from google.protobuf.json_format import MessageToDict

from checks import AGENT, check, end, new_user, part, play_snippet, raises, token

# How long a call may take: the longest waits for an answer of five words.
TIMEOUT = 30


def message(text: str, **more: Any) -> pb.SendMessageRequest:
    return pb.SendMessageRequest(
        message=pb.Message(
            message_id=str(uuid.uuid4()), role=pb.ROLE_USER, parts=[pb.Part(text=text)], **more
        )
    )


class Story:
    def __init__(self, http: httpx.AsyncClient, card: pb.AgentCard, binding: str, version: str) -> None:
        self.name = f"{version} over {binding}"
        self.version, self.binding = version, binding
        only = pb.AgentCard()
        only.CopyFrom(card)
        del only.supported_interfaces[:]
        only.supported_interfaces.extend(
            i
            for i in card.supported_interfaces
            if (i.protocol_binding, i.protocol_version) == (binding, version)
        )
        self.card = only

        def client(streaming: bool) -> Client:
            http.headers["A2A-Version"] = version
            config = ClientConfig(
                httpx_client=http, streaming=streaming, supported_protocol_bindings=[binding]
            )
            return ClientFactory(config).create(only)

        self.streaming, self.plain = client(True), client(False)

    def check(self, what: str, passed: bool, *shown: Any) -> None:
        check(f"{self.name}: {what}", passed, *shown)

    async def task(self, request: pb.SendMessageRequest) -> pb.Task:
        """Sends without streaming and returns the task."""
        got = [e async for e in self.plain.send_message(request)]
        self.check("one answer", len(got) == 1 and got[0].HasField("task"), got)
        return got[0].task

    async def play(self) -> None:
        for name in ("send", "stream", "question", "cancel", "push", "errors", "kinds", "page"):
            await part(f"{self.name}: {name}", partial(getattr(self, name)))

    async def send(self) -> None:
        task = await self.task(message("hello"))
        self.check("completed", task.status.state == pb.TASK_STATE_COMPLETED, task)
        self.check("an answer", task.artifacts[0].parts[0].text == 'You said: "hello". That is all.', task)
        again = await self.plain.get_task(pb.GetTaskRequest(id=task.id))
        self.check("the same task", again == task, again, task)
        short = await self.plain.get_task(pb.GetTaskRequest(id=task.id, history_length=1))
        self.check("one message of the history", len(short.history) == 1, short)
        second = await self.task(message("again", context_id=task.context_id))
        self.check("the same context", second.context_id == task.context_id and second.id != task.id, second)
        if self.version == "0.3":
            return  # this client has no list of tasks for 0.3
        page = await self.plain.list_tasks(pb.ListTasksRequest(context_id=task.context_id, page_size=1))
        rest = await self.plain.list_tasks(
            pb.ListTasksRequest(context_id=task.context_id, page_size=1, page_token=page.next_page_token)
        )
        self.check("a list", [t.id for t in (*page.tasks, *rest.tasks)] == [second.id, task.id], page, rest)
        self.check("the end of the list", rest.next_page_token == "", rest)

    async def stream(self) -> None:
        texts: dict[str, str] = {}
        closing: dict[str, str] = {}
        first, last = None, None
        async for event in self.streaming.send_message(message("hello")):
            if event.HasField("task"):
                first, last = first or event.task, event.task.status.state
                for a in event.task.artifacts:  # it may have ended already
                    texts[a.artifact_id] = "".join(p.text for p in a.parts)
                if last == pb.TASK_STATE_COMPLETED:
                    closing = dict(texts)
            elif event.HasField("artifact_update"):
                update = event.artifact_update
                said = "".join(p.text for p in update.artifact.parts)
                before = texts.get(update.artifact.artifact_id, "") if update.append else ""
                texts[update.artifact.artifact_id] = before + said
                if update.last_chunk:
                    closing[update.artifact.artifact_id] = "" if update.append else said
            elif event.HasField("status_update"):
                last = event.status_update.status.state
        assert first is not None
        self.check("ends completed", last == pb.TASK_STATE_COMPLETED, last)
        task = await self.plain.get_task(pb.GetTaskRequest(id=first.id))
        want = {a.artifact_id: "".join(p.text for p in a.parts) for a in task.artifacts}
        self.check("the stream adds up to the task", texts == want, texts, want)
        self.check("the last update has everything", closing == want, closing, want)

    async def question(self) -> None:
        asked = await self.task(message("ask"))
        self.check("waits for input", asked.status.state == pb.TASK_STATE_INPUT_REQUIRED, asked)
        calls = [p for p in asked.status.message.parts if p.HasField("data")]
        self.check("a call", len(calls) == 1 and calls[0].data.struct_value["name"] == "confirm", asked)
        marks = MessageToDict(calls[0].metadata)
        self.check(
            "marked as long-running",
            marks.get("adk_is_long_running") is True and marks.get("kagent_is_long_running") is True,
            marks,
        )
        reply = message("", task_id=asked.id, context_id=asked.context_id)
        answer = pb.Part()
        answer.data.struct_value.update({"id": "call-1", "name": "confirm", "response": {"ok": True}})
        answer.metadata.update({"adk_type": "function_response"})
        del reply.message.parts[:]
        reply.message.parts.append(answer)
        done = await self.task(reply)
        self.check("the same task", done.id == asked.id, done)
        self.check("goes on", done.artifacts[-1].parts[0].text == 'You decided: {"ok":true}', done)

    async def cancel(self) -> None:
        request = message("endless")
        request.configuration.return_immediately = True
        task = await self.task(request)
        self.check("at work", task.status.state == pb.TASK_STATE_WORKING, task)
        events = self.streaming.subscribe(pb.SubscribeToTaskRequest(id=task.id))
        first = await anext(events)
        self.check("the stream begins with the task", first.task.id == task.id, first)
        cancelled = await self.plain.cancel_task(pb.CancelTaskRequest(id=task.id))
        self.check("cancelled", cancelled.status.state == pb.TASK_STATE_CANCELED, cancelled)
        states = [e.status_update.status.state async for e in events if e.HasField("status_update")]
        self.check("the stream ends with that", states[-1:] == [pb.TASK_STATE_CANCELED], states)
        await raises(
            f"{self.name}: cancelling it again",
            TaskNotCancelableError,
            self.plain.cancel_task(pb.CancelTaskRequest(id=task.id)),
        )

    async def push(self) -> None:
        task = await self.task(message("hello"))
        client = self.plain
        await self.configs(task.id, [])
        made = await client.create_task_push_notification_config(
            pb.TaskPushNotificationConfig(
                task_id=task.id, id="mine", url="http://127.0.0.1:9/hook", token="t"
            )
        )
        self.check("a configuration", (made.id, made.url) == ("mine", "http://127.0.0.1:9/hook"), made)
        got = await client.get_task_push_notification_config(
            pb.GetTaskPushNotificationConfigRequest(task_id=task.id, id="mine")
        )
        self.check("the same configuration", got.url == made.url, got)
        await self.configs(task.id, ["mine"])
        if (self.binding, self.version) == ("HTTP+JSON", "0.3"):
            return  # this client can neither list nor delete there
        for _ in range(2):
            await client.delete_task_push_notification_config(
                pb.DeleteTaskPushNotificationConfigRequest(task_id=task.id, id="mine")
            )
        await self.configs(task.id, [])

    async def configs(self, task_id: str, want: list[str]) -> None:
        if (self.binding, self.version) == ("HTTP+JSON", "0.3"):
            return  # this client can neither list nor delete there
        listed = await self.plain.list_task_push_notification_configs(
            pb.ListTaskPushNotificationConfigsRequest(task_id=task_id)
        )
        self.check(f"the configurations {want}", [c.id for c in listed.configs] == want, listed)

    async def errors(self) -> None:
        client = self.plain
        missing = (TaskNotFoundError,)
        await raises(
            f"{self.name}: getting an unknown task", missing, client.get_task(pb.GetTaskRequest(id="none"))
        )
        await raises(
            f"{self.name}: cancelling an unknown task",
            missing,
            client.cancel_task(pb.CancelTaskRequest(id="none")),
        )
        events = self.streaming.subscribe(pb.SubscribeToTaskRequest(id="none"))
        await raises(f"{self.name}: subscribing to an unknown task", missing, _first(events))
        over = await self.task(message("hello"))
        again = self.streaming.subscribe(pb.SubscribeToTaskRequest(id=over.id))
        await raises(
            f"{self.name}: subscribing to a task that is over", UnsupportedOperationError, _first(again)
        )
        nothing = message("x")
        del nothing.message.parts[:]
        for client in (self.plain, self.streaming):
            await raises(
                f"{self.name}: a message without parts",
                (InvalidParamsError, A2AError),
                _first(client.send_message(nothing)),
            )
        failed = await self.task(message("fail"))
        self.check("failed", failed.status.state == pb.TASK_STATE_FAILED, failed)
        self.check("a reason", failed.status.message.parts[0].text == "I was asked to fail.", failed)
        refused = await self.task(message("reject"))
        self.check("rejected", refused.status.state == pb.TASK_STATE_REJECTED, refused)

    async def kinds(self) -> None:
        task = await self.task(message("file"))
        parts = task.artifacts[0].parts
        self.check("a file", (parts[0].filename, parts[0].media_type) == ("dot.png", "image/png"), task)
        self.check("its bytes", parts[0].raw[:4] == b"\x89PNG", task)
        self.check("data", MessageToDict(parts[1].data) == {"n": 1}, task)
        got = [e async for e in self.plain.send_message(message("message"))]
        self.check("a message instead of a task", got[0].message.parts[0].text == "Only a message.", got)

    async def page(self) -> None:
        """docs/a2a-rewind.md, from a second message back to the first."""
        first = await self.task(message("one"))
        second = await self.task(message("two", context_id=first.context_id))
        shown: list[Any] = []
        names = {"client": self.plain, "task": second, "show": shown.append, "uuid4": uuid.uuid4}
        for name in ("SendMessageRequest", "Message", "Role", "Part"):
            names[name] = getattr(pb, name)
        await play_snippet("a2a-rewind.md", names)
        texts = [p.text for history in shown for m in history for p in m.parts]
        self.check("the page's rewind", texts == ["one", 'You said: "one". That is all.'], shown)


async def _first(events: AsyncIterator[Any]) -> Any:
    return await anext(events)


async def main() -> None:
    headers = {"Authorization": "Bearer " + token(new_user())}
    async with httpx.AsyncClient(timeout=TIMEOUT) as nobody:
        card = await A2ACardResolver(nobody, AGENT).get_agent_card()
    check("four interfaces", len(card.supported_interfaces) == 4, card)
    check(
        "a bearer token", card.security_schemes["bearer"].http_auth_security_scheme.scheme == "Bearer", card
    )
    stories = []
    for interface in card.supported_interfaces:
        http = httpx.AsyncClient(timeout=TIMEOUT, headers=headers)
        stories.append(Story(http, card, interface.protocol_binding, interface.protocol_version).play())
    await asyncio.gather(*stories)
    async with httpx.AsyncClient(timeout=TIMEOUT) as nobody:
        refused = await nobody.post(AGENT, json={})
        check(
            "a challenge",
            refused.status_code == 401 and "Bearer" in refused.headers.get("WWW-Authenticate", ""),
            refused.headers,
        )
    end()


asyncio.run(main())
