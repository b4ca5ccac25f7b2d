"""What a thread is in Rethread: what it stores, shows, and how rewinds and forks affect it."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from graphs import Savers, graph, history, question, text_of
from rethread_client import ForbiddenError, Rethread
from rethread_client.langgraph import RethreadSaver
from rethread_client.langgraph.ids import session_of, thread_in
from rethread_client.types import ForkRequest


def chat(saver: RethreadSaver) -> Any:
    def speak(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"You said: {state['messages'][-1].content}")]}

    return StateGraph(MessagesState).add_node(speak).add_edge(START, "speak").compile(checkpointer=saver)


def events(api: Rethread, config: RunnableConfig, view: Any = "effective") -> list[Any]:
    return api.events.list(session_of(config["configurable"]["thread_id"]), view=view).all()


def shown(api: Rethread, config: RunnableConfig) -> list[tuple[str, Any]]:
    return [(e["author"], e["content"]["parts"]) for e in events(api, config) if e["content"]]


def texts(api: Rethread, config: RunnableConfig) -> list[str]:
    return [parts[0]["text"] for _, parts in shown(api, config)]


def say(compiled: Any, config: RunnableConfig, text: str, **options: Any) -> list[str]:
    done = compiled.invoke({"messages": [HumanMessage(text)]}, config, **options)
    return [message.content for message in done["messages"]]


def test_the_conversation_is_shown(api: Rethread, saver: RethreadSaver, config: RunnableConfig) -> None:
    compiled = graph(saver, nested=False)
    compiled.invoke(question("one"), config)
    compiled.invoke(Command(resume="yes"), config)
    call = {"id": "c1", "name": "search", "args": {"for": 1}}
    result = {"id": "c1", "name": "search", "response": {"result": "result yes"}}
    assert shown(api, config) == [
        ("user", [{"text": "one"}]),
        ("langgraph", [{"text": "About one"}, {"function_call": call}]),
        ("langgraph", [{"function_response": result}]),
        ("langgraph", [{"text": "Done."}]),
    ]
    assert len({event["invocation_id"] for event in events(api, config)}) == 1, "one turn, one invocation"


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("durability", ["exit", "async"])
def test_a_turn_stores_as_much_however_long_the_thread(
    api: Rethread, saver: RethreadSaver, config: RunnableConfig, nested: bool, durability: str
) -> None:
    compiled = graph(saver, nested)
    sizes: list[int] = []
    for turn in range(12):
        compiled.invoke(question(f"{turn:03} " + "words " * 50), config, durability=durability)
        compiled.invoke(Command(resume="yes"), config, durability=durability)
        sizes.append(len(json.dumps(events(api, config, "all"))))
    added = [after - before for before, after in itertools.pairwise(sizes)]
    assert max(added[5:]) < 1.1 * max(added[:5])


@pytest.mark.parametrize("durability", ["exit", "async"])
def test_a_rewind_by_another_client_is_followed(
    api: Rethread, savers: Savers, config: RunnableConfig, durability: str
) -> None:
    compiled = chat(savers())
    for text in ("one", "two", "three"):
        say(compiled, config, text, durability=durability)
    second = next(
        e for e in events(api, config) if e["content"] and e["content"]["parts"][0]["text"] == "two"
    )
    session = session_of(config["configurable"]["thread_id"])
    api.sessions.rewind(session, {"rewind_before_invocation_id": second["invocation_id"]})
    assert say(compiled, config, "four", durability=durability) == [
        "one",
        "You said: one",
        "four",
        "You said: four",
    ]
    assert texts(api, config) == ["one", "You said: one", "four", "You said: four"]
    everything = [
        s.values["messages"][-1].content
        for s in chat(savers()).get_state_history(config)
        if s.values.get("messages")
    ]
    assert "You said: three" in everything, "checkpoints that were rewound are still listed"


def test_time_travel_is_a_rewind(api: Rethread, saver: RethreadSaver, config: RunnableConfig) -> None:
    compiled = chat(saver)
    say(compiled, config, "one")
    first = compiled.get_state(config).config
    say(compiled, config, "two")
    assert say(compiled, first, "other") == ["one", "You said: one", "other", "You said: other"]
    assert texts(api, config) == ["one", "You said: one", "other", "You said: other"]
    markers = [
        e for e in events(api, config, "all") if (e["actions"] or {}).get("rewind_before_invocation_id")
    ]
    assert len(markers) == 1


def test_a_fork_of_the_session_is_a_thread(api: Rethread, savers: Savers, config: RunnableConfig) -> None:
    compiled = chat(savers())
    say(compiled, config, "one")
    first = compiled.get_state(config).config
    say(compiled, config, "two")
    say(compiled, first, "other")
    last = events(api, config)[-1]["invocation_id"]
    session = session_of(config["configurable"]["thread_id"])
    everything: ForkRequest = {}
    before: ForkRequest = {"rewind_before_invocation_id": last}
    for request, known in ((everything, 4), (before, 2)):
        fork = api.sessions.fork(session, request)["id"]
        where: RunnableConfig = {"configurable": {"thread_id": fork}}
        said = say(chat(savers()), where, "mine")
        assert said[known:] == ["mine", "You said: mine"]
        assert said[:known] == ["one", "You said: one", "other", "You said: other"][:known]


def test_an_encrypting_serializer_leaves_nothing_readable(
    api: Rethread, savers: Savers, config: RunnableConfig
) -> None:
    def saver() -> RethreadSaver:
        return savers(serde=EncryptedSerializer.from_pycryptodome_aes(key=b"0123456789abcdef"))

    say(chat(saver()), config, "the secret")
    said = say(chat(saver()), config, "and more")
    assert said == ["the secret", "You said: the secret", "and more", "You said: and more"]
    assert "secret" not in json.dumps(events(api, config, "all"))
    assert shown(api, config) == []


def test_a_deleted_thread_can_begin_again(savers: Savers, config: RunnableConfig) -> None:
    one, other = savers(), savers()
    say(chat(one), config, "one")
    other.delete_thread(config["configurable"]["thread_id"])
    assert chat(one).get_state(config).values == {}
    assert say(chat(one), config, "two") == ["two", "You said: two"]


def test_another_users_thread_is_refused(savers: Savers, system: Any, config: RunnableConfig) -> None:
    say(chat(savers()), config, "one")
    with Rethread(system.url, system.token("somebody-else")) as stranger, pytest.raises(ForbiddenError):
        chat(RethreadSaver(stranger)).get_state(config)


@pytest.mark.parametrize("thread", ["a/b?c%d", "..", "", "x" * 200, "line\nbreak", "ünï ☕"])
def test_any_thread_id_can_be_stored(saver: RethreadSaver, thread: str) -> None:
    config: RunnableConfig = {"configurable": {"thread_id": thread + "🧵" if thread == "ünï ☕" else thread}}
    saver.delete_thread(config["configurable"]["thread_id"])
    say(chat(saver), config, "one")
    found = {known.config["configurable"]["thread_id"] for known in saver.list(None)}
    assert found == {config["configurable"]["thread_id"]}
    saver.delete_thread(config["configurable"]["thread_id"])


def test_ids_that_rethread_accepts_are_kept() -> None:
    assert session_of("8f6f1a9e-thread 1") == "8f6f1a9e-thread 1"
    assert thread_in(session_of("a/b?c%d"), {}) == "a/b?c%d"
    assert session_of("a%2Fb") != session_of("a/b")


def copy(source: Any, target: RethreadSaver, config: RunnableConfig) -> None:
    """Copies a thread with what a program of another saver has: its list."""
    for known in reversed(list(source.list(config))):
        start: RunnableConfig = {"configurable": {**config["configurable"], "checkpoint_ns": ""}}
        versions = known.checkpoint["channel_versions"]
        where = target.put(known.parent_config or start, known.checkpoint, known.metadata, versions)
        for task, writes in itertools.groupby(known.pending_writes or [], key=lambda write: write[0]):
            target.put_writes(where, [(channel, value) for _, channel, value in writes], task)


def test_a_thread_of_another_saver_is_continued(saver: RethreadSaver, config: RunnableConfig) -> None:
    other = InMemorySaver()
    before = graph(other, nested=False)
    before.invoke(question("one"), config)
    copy(other, saver, config)
    after = graph(saver, nested=False)
    assert history(after, config) == history(before, config)
    for given in (Command(resume="yes"), question("two"), Command(resume="again")):
        assert text_of(after.invoke(given, config)) == text_of(before.invoke(given, config))
    assert history(after, config) == history(before, config)
    versions = saver.get_tuple(config).checkpoint["channel_versions"].values()  # type: ignore[union-attr]
    assert versions
    assert {(type(version), len(version.split(".")[0])) for version in versions} == {(str, 32)}
