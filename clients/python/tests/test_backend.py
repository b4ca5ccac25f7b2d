"""A backend with one service token and three users: threads of LangGraph, sessions of ADK, and an agent
with its own key and its own callers. None of the users reaches what the others have."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.cli.service_registry import get_service_registry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.genai import types
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph

from local import LocalSystem
from rethread_client import AsyncRethread, ForbiddenError, Rethread, View, adk
from rethread_client.adk import AdkClient, RethreadArtifactService, RethreadSessionService
from rethread_client.adk.errors import DeniedError
from rethread_client.langgraph import AsyncRethreadSaver, RethreadSaver

USERS = ("auth0|alice ä", "bob", "carol")
_PARAMETER = "/rethread/agents/finance"


class Finance(ThreadingHTTPServer):
    """An agent that answers whoever has its key, and notes the keys that it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.key, self.seen = "first", list[str]()
        threading.Thread(target=self.serve_forever).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Finance

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        sent = self.headers["Authorization"] or ""
        self.server.seen.append(sent)
        right = sent == f"Bearer {self.server.key}"
        answer: Any = {"author": "finance", "content": {"parts": [{"text": "You have 3 coins."}]}}
        answer["actions"] = {"state_delta": {"app:asked": len(self.server.seen)}}
        self.send_response(200 if right else 401)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        if right:
            self.wfile.write(
                f"event: event\ndata: {json.dumps(answer)}\n\nevent: done\ndata: {{}}\n\n".encode()
            )

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Parrot(BaseLlm):
    """A model that says how much of the conversation it has."""

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        yield LlmResponse(content=types.ModelContent(f"line {len(llm_request.contents)}"))


class Backend:
    """The system, the agent, and the token of the service."""

    def __init__(self, folder: Path) -> None:
        self.finance = Finance()
        self.secrets = folder / "secrets.json"
        self.keep("first")
        agent = {"type": "http", "url": self.finance.url, "api_key_parameter": _PARAMETER}
        self.system = LocalSystem(
            AGENTS=json.dumps({"finance": {**agent, "callers": {"scope": "finance"}}}),
            AGENT_SECRETS_FILE=str(self.secrets),
            APP_STATE_WRITERS="trusted",
        )
        self.url = self.system.url
        self.token = self.system.token("backend", "rethread:service finance")

    def keep(self, key: str) -> None:
        self.secrets.write_text(json.dumps({_PARAMETER: key}))

    def stop(self) -> None:
        self.system.stop()
        self.finance.shutdown()
        self.finance.server_close()


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    running = Backend(tmp_path_factory.mktemp("secrets"))
    yield running
    running.stop()


def chat(saver: Any) -> Any:
    def speak(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"message {len(state['messages'])}")]}

    return StateGraph(MessagesState).add_node(speak).add_edge(START, "speak").compile(checkpointer=saver)


def thread_of(user: str, thread: str | None = None) -> RunnableConfig:
    return {"configurable": {"user_id": user, "thread_id": thread or f"thread-of-{user[:5]}"}}


def refused(calls: dict[str, Callable[[], Any]], error: type[Exception] = ForbiddenError) -> int:
    """Makes calls that must be refused, and returns their number."""
    for name, call in calls.items():
        try:
            answer = call()
        except error:
            continue
        raise AssertionError(f"{name} was answered: {answer}")
    return len(calls)


def test_threads_of_langgraph(backend: Backend) -> None:
    with Rethread(backend.url, backend.token) as service:
        graph = chat(RethreadSaver(service, user_key="user_id"))
        for turn in range(2):
            for user in USERS:
                said = graph.invoke({"messages": [HumanMessage(f"I am {user}")]}, thread_of(user))["messages"]
                assert [m.content for m in said if m.type == "human"] == [f"I am {user}"] * (turn + 1)
        first = list(graph.get_state_history(thread_of("bob")))[-3].config
        assert first["configurable"]["user_id"] == "bob"
        graph.invoke({"messages": [HumanMessage("otherwise")]}, first)  # a rewind
        alices = str(thread_of(USERS[0])["configurable"]["thread_id"])
        tried = {
            "read": lambda: graph.get_state(thread_of("bob", alices)),
            "write": lambda: graph.invoke({"messages": [HumanMessage("mine")]}, thread_of("bob", alices)),
            "list": lambda: list(graph.get_state_history(thread_of("bob", alices))),
        }
        assert refused(tried) == 3
        with pytest.raises(ValueError, match="names no user"):
            graph.get_state({"configurable": {"thread_id": alices}})
        found = [known.config for known in graph.checkpointer.list({"configurable": {"user_id": "bob"}})]
        assert {config["configurable"]["thread_id"] for config in found} == {"thread-of-bob"}
        assert {config["configurable"]["user_id"] for config in found} == {"bob"}
    for user in USERS:
        with Rethread(backend.url, backend.system.token(user)) as own:
            assert [s["id"] for s in own.sessions.list(agent="langgraph")] == [f"thread-of-{user[:5]}"]
            shown = [
                e["content"]["parts"][0]["text"]
                for e in own.events.list(f"thread-of-{user[:5]}")
                if e["content"]
            ]
            asked = "otherwise" if user == "bob" else f"I am {user}"
            assert shown == [f"I am {user}", "message 1", asked, "message 3"]


async def test_threads_of_langgraph_awaited(backend: Backend) -> None:
    async with AsyncRethread(backend.url, backend.token) as service:
        graph = chat(AsyncRethreadSaver(service, user_key="user_id"))
        for user in USERS:
            config = thread_of(user, f"awaited-{user[:5]}")
            await graph.ainvoke({"messages": [HumanMessage("Hello")]}, config)
            state = await graph.aget_state(config)
            assert state.config["configurable"]["user_id"] == user
        with pytest.raises(ForbiddenError):
            await graph.aget_state(thread_of("carol", "awaited-bob"))


async def test_sessions_of_adk(backend: Backend) -> None:
    async with AdkClient(backend.url, service_token=backend.token) as service:
        sessions = RethreadSessionService(service)
        artifacts = RethreadArtifactService(service)
        runner = Runner(
            app_name="trips",
            agent=LlmAgent(name="guide", model=Parrot(model="parrot")),
            session_service=sessions,
            artifact_service=artifacts,
        )
        kept: dict[str, str] = {}
        for user in USERS:
            made = await sessions.create_session(
                app_name="trips", user_id=user, state={"user:name": user, "app:prices": "ours"}
            )
            kept[user] = made.id
            where = {"user_id": user, "session_id": made.id}
            async for _ in runner.run_async(**where, new_message=types.UserContent("Hello")):
                pass
            note = types.Part(text=f"of {user}")
            await artifacts.save_artifact(app_name="trips", filename="user:note", artifact=note, **where)
        for user in USERS:
            where = {"app_name": "trips", "user_id": user}
            listed = await sessions.list_sessions(**where)
            assert [session.id for session in listed.sessions] == [kept[user]]
            loaded = await sessions.get_session(**where, session_id=kept[user])
            assert loaded is not None
            assert (loaded.state["user:name"], loaded.state["app:prices"]) == (user, "ours")
            assert [event.author for event in loaded.events] == ["user", "guide"]
            note = await artifacts.load_artifact(filename="user:note", session_id=kept[user], **where)
            assert note is not None
            assert note.text == f"of {user}"
            for other in set(USERS) - {user}:
                with pytest.raises(DeniedError):
                    await sessions.get_session(**where, session_id=kept[other])


async def test_a_server_of_adk(backend: Backend) -> None:
    adk.register(service_token=backend.token)
    services = get_service_registry()
    sessions = services.create_session_service(backend.url.replace("http", "rethread+http"))
    assert sessions is not None
    made = await sessions.create_session(app_name="served", user_id="carol")
    with Rethread(backend.url, backend.system.token("carol")) as carol:
        assert carol.sessions.get(made.id)["user_id"] == "carol"
    await sessions._client.aclose()  # type: ignore[attr-defined]


def test_a_user_does_not_reach_what_others_have(backend: Backend) -> None:
    with (
        Rethread(backend.url, backend.token, user="bob") as service,
        Rethread(backend.url, backend.system.token("mallory")) as mallory,
    ):
        (theirs,) = (
            service.sessions.create({"app_name": "reach", "state": {"user:k": 1, "app:k": 1}})["id"],
        )
        begun = service.events.append(theirs, {"events": [{"author": "user", "invocation_id": "i"}]})
        service.artifacts.put(theirs, "note", "bob's")
        assert begun[0]["created_by"]["service"] == "backend"  # type: ignore[typeddict-item]
        mine = mallory.sessions.create({"app_name": "reach", "state": {"user:k": 2}})["id"]
        assert mallory.state.get(mine)["merged"]["app:k"] == 1
        event: Any = {"author": "user", "invocation_id": "x"}
        shared: Any = {**event, "actions": {"state_delta": {"app:k": 2}}}
        asked: Any = {"agent": "finance", "input": [{"content": {"parts": [{"text": "How much?"}]}}]}
        tried: dict[str, Callable[[], Any]] = {
            "get": lambda: mallory.sessions.get(theirs),
            "delete": lambda: mallory.sessions.delete(theirs),
            "events": lambda: mallory.events.list(theirs).all(),
            "append": lambda: mallory.events.append(theirs, {"events": [event]}),
            "state": lambda: mallory.state.get(theirs),
            "artifact": lambda: mallory.artifacts.get(theirs, "note"),
            "rewind": lambda: mallory.sessions.rewind(theirs, {"rewind_before_invocation_id": "i"}),
            "fork": lambda: mallory.sessions.fork(theirs, {}),
            "run": lambda: mallory.runs.start(theirs, asked),
            "export": lambda: list(mallory.sessions.export(theirs)),
            "watch": lambda: next(mallory.watch(theirs)),
            "as another user": lambda: mallory.with_user("bob").sessions.get(theirs),
            "as oneself": lambda: mallory.with_user("mallory").sessions.get(mine),
            "state of the app": lambda: mallory.events.append(mine, {"events": [shared]}),
            "the agent": lambda: mallory.runs.start(mine, asked),
            "the service as another": lambda: service.with_user("carol").sessions.get(theirs),
            "the service itself": lambda: service.with_user(None).sessions.get(theirs),
        }
        assert refused(tried) == 17
        assert mallory.state.get(mine)["merged"] == {"user:k": 2, "app:k": 1}
        assert service.state.get(theirs)["merged"] == {"user:k": 1, "app:k": 1}
        assert [event["id"] for event in service.events.list(theirs)][-1] == begun[0]["id"]


def test_the_agent_has_its_own_key_and_callers(backend: Backend) -> None:
    def ask(client: Rethread, session: str) -> Any:
        asked: Any = {"agent": "finance", "input": [{"content": {"parts": [{"text": "How much?"}]}}]}
        started = client.runs.start(session, asked)
        view = View()
        for message in client.watch(session):
            view.apply(message)
            if view.status != "in_progress":
                break
        return client.runs.get(session, started["run"]["id"])  # type: ignore[typeddict-item]

    with Rethread(backend.url, backend.token) as service:
        for user in USERS:
            client = service.with_user(user)
            session = client.sessions.create({"app_name": f"coins of {user[:5]}"})["id"]
            assert ask(client, session)["status"] == "completed"
            assert client.state.get(session)["merged"] == {"app:asked": len(backend.finance.seen)}
        assert backend.finance.seen == ["Bearer first"] * 3
        backend.finance.key = "second"
        failed = ask(client, session)
        assert failed["status"] == "failed"
        assert "first" not in json.dumps(failed), "nobody is told the key"
