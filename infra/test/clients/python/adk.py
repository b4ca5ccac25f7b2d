"""A story with google-adk's RemoteA2aAgent, with streams and without, over each interface of the card."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import Any

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.client import Client
from a2a.types import a2a_pb2 as pb
from google.adk.a2a.agent.config import A2aRemoteAgentConfig
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.events import Event
from google.adk.runners import InMemoryRunner
from google.genai import types

from checks import AGENT, check, end, new_user, part, token

TIMEOUT = 30
APP, USER = "clients", "someone"
SAID = 'You said: "hello". That is all.'


def text_of(events: list[Event]) -> str:
    """The text of events, thoughts included: what is written twice shows twice."""
    return "".join(p.text or "" for e in events if e.content for p in e.content.parts or [])


def calls_of(events: list[Event]) -> list[types.FunctionCall]:
    return [call for e in events for call in e.get_function_calls()]


def shown(events: list[Event]) -> list[str]:
    """What matters of events, to print."""
    return [
        f"partial={e.partial} text={text_of([e])!r} calls={[c.name for c in calls_of([e])]} "
        f"long={e.long_running_tool_ids} error={e.error_code}/{e.error_message}"
        for e in events
    ]


class Story:
    def __init__(
        self,
        http: httpx.AsyncClient,
        other: httpx.AsyncClient,
        card: pb.AgentCard,
        interface: pb.AgentInterface,
        streaming: bool,
    ) -> None:
        mode = "stream" if streaming else "no stream"
        self.name = f"{interface.protocol_version} over {interface.protocol_binding}, {mode}"
        self.streaming = streaming
        only = pb.AgentCard()
        only.CopyFrom(card)
        del only.supported_interfaces[:]
        only.supported_interfaces.append(interface)
        http.headers["A2A-Version"] = interface.protocol_version
        factory = ClientFactory(
            ClientConfig(
                httpx_client=http,
                streaming=streaming,
                supported_protocol_bindings=[interface.protocol_binding],
            )
        )
        self.other: Client = ClientFactory(ClientConfig(httpx_client=other)).create(card)
        self.runner = InMemoryRunner(
            app_name=APP,
            agent=RemoteA2aAgent(
                name="remote",
                agent_card=only,
                a2a_client_factory=factory,
                config=A2aRemoteAgentConfig(forward_session_id_as_context_id=True),
            ),
        )

    def check(self, what: str, passed: bool, *shown: Any) -> None:
        check(f"{self.name}: {what}", passed, *shown)

    async def play(self) -> None:
        for play in (self.answer, self.question, self.failure, self.cancel):
            await part(f"{self.name}: {play.__name__}", play)
        await self.runner.close()

    async def session(self) -> str:
        return (await self.runner.session_service.create_session(app_name=APP, user_id=USER)).id

    async def say(self, session: str, *parts: types.Part) -> list[Event]:
        message = types.Content(role="user", parts=list(parts))
        return [
            e async for e in self.runner.run_async(user_id=USER, session_id=session, new_message=message)
        ]

    async def kept(self, session: str) -> list[Event]:
        """The agent's events that the session keeps."""
        found = await self.runner.session_service.get_session(app_name=APP, user_id=USER, session_id=session)
        assert found is not None
        return [e for e in found.events if e.author != "user"]

    async def answer(self) -> None:
        session = await self.session()
        events = await self.say(session, types.Part(text="hello"))
        self.check("no error", not any(e.error_message or e.error_code for e in events), shown(events))
        self.check("the answer", text_of([e for e in events if not e.partial]) == SAID, shown(events))
        pieces = [e for e in events if e.partial]
        if pieces:
            self.check("in pieces", SAID.startswith(text_of(pieces)), shown(pieces))
        kept = await self.kept(session)
        self.check("kept once", text_of(kept) == SAID, shown(kept))
        await self.say(session, types.Part(text="again"))
        want = SAID + 'You said: "again". That is all.'
        kept = await self.kept(session)
        self.check("the next answer", text_of(kept) == want, shown(kept))

    async def question(self) -> None:
        session = await self.session()
        events = await self.say(session, types.Part(text="ask"))
        ids = {i for e in events for i in e.long_running_tool_ids or []}
        self.check("a long-running call", ids == {"call-1"}, shown(events))
        self.check("no other call", {c.name for c in calls_of(events)} == {"confirm"}, shown(events))
        kept = await self.kept(session)
        self.check("no text", text_of(kept) == "", shown(kept))
        self.check("the last event has the call", kept[-1].long_running_tool_ids == {"call-1"}, shown(kept))
        response = types.FunctionResponse(id="call-1", name="confirm", response={"ok": True})
        await self.say(session, types.Part(function_response=response))
        kept = await self.kept(session)
        self.check("goes on", text_of(kept).endswith('You decided: {"ok":true}'), shown(kept))

    async def failure(self) -> None:
        session = await self.session()
        events = await self.say(session, types.Part(text="fail"))
        self.check("an error", events[-1].error_code == "scripted", shown(events))
        kept = await self.kept(session)
        self.check("what came before", text_of(kept).startswith("This goes well, "), shown(kept))
        await self.say(session, types.Part(text="hello"))
        kept = await self.kept(session)
        self.check("goes on", text_of(kept).endswith(SAID), shown(kept))

    async def cancel(self) -> None:
        session = await self.session()
        running = asyncio.create_task(self.say(session, types.Part(text="endless")))
        await self.cancel_task_of(session)
        events = await asyncio.wait_for(running, TIMEOUT)
        response = (events[-1].custom_metadata or {}).get("a2a:response", {})
        self.check("cancelled", "CANCEL" in str(response.get("status", {}).get("state")).upper(), shown(events[-1:]))
        words = text_of(await self.kept(session)).split()
        self.check("what came before", words == [f"word{i}" for i in range(len(words))], words)


    async def cancel_task_of(self, session: str) -> None:
        """Cancels the task of a session once it is at work, as another client would."""
        async with asyncio.timeout(TIMEOUT):
            while True:
                listed = await self.other.list_tasks(pb.ListTasksRequest(context_id=session))
                if listed.tasks:
                    break
                await asyncio.sleep(0.05)
        await self.other.cancel_task(pb.CancelTaskRequest(id=listed.tasks[0].id))


async def plainly(http: httpx.AsyncClient) -> None:
    """The agent as its documentation shows it: with the address of a card."""
    address = AGENT + "/.well-known/agent-card.json"
    remote = RemoteA2aAgent(name="remote", agent_card=address, httpx_client=http)
    runner = InMemoryRunner(app_name=APP, agent=remote)
    session = await runner.session_service.create_session(app_name=APP, user_id=USER)
    message = types.Content(role="user", parts=[types.Part(text="hello")])
    events = [
        e async for e in runner.run_async(user_id=USER, session_id=session.id, new_message=message)
    ]
    check("by the card's address", text_of([e for e in events if not e.partial]) == SAID, shown(events))
    await runner.close()


async def main() -> None:
    logging.disable(logging.WARNING)  # what google-adk says of its own experiments
    headers = {"Authorization": "Bearer " + token(new_user())}
    async with httpx.AsyncClient(timeout=TIMEOUT, headers=headers) as http:
        card = await A2ACardResolver(http, AGENT).get_agent_card()
        await part("plainly", partial(plainly, http))
    stories = []
    for interface in card.supported_interfaces:
        for streaming in (True, False):
            http = httpx.AsyncClient(timeout=TIMEOUT, headers=headers)
            other = httpx.AsyncClient(timeout=TIMEOUT, headers=headers)
            stories.append(Story(http, other, card, interface, streaming).play())
    await asyncio.gather(*stories)
    end()


asyncio.run(main())
