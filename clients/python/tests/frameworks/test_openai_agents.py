"""The Agents SDK's Runner with a session of Rethread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from agents.memory import Session, SessionSettings
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from rethread_client import AsyncRethread, ConflictError, RethreadError
from rethread_client.openai_agents import RethreadSession

QUIET = RunConfig(tracing_disabled=True)

# Names of sessions that are no ids, or look like escaped ones.
NAMES = ["{}/a?b", "{}\n", "{}%2F", "{}/..", "{}" + "/x" * 80, "{}\ud83d", "{} 50%"]


class Echo(Model):
    """Calls the tool for "book X", and echoes anything else."""

    def __init__(self) -> None:
        self.inputs: list[list[Any]] = []

    async def get_response(
        self, system_instructions: Any, input: Any, *rest: Any, **named: Any
    ) -> ModelResponse:
        items = [{"role": "user", "content": input}] if isinstance(input, str) else list(input)
        self.inputs.append(items)
        last, n = items[-1], len(items)
        output: Any
        if last.get("type") == "function_call_output":
            output = message(n, f"Done: {last['output']}")
        elif str(last["content"]).startswith("book "):
            city = last["content"].removeprefix("book ")
            output = ResponseFunctionToolCall(
                type="function_call", name="book", call_id=f"c{n}", arguments=f'{{"city": "{city}"}}'
            )
        else:
            output = message(n, f"You said: {last['content']}")
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **named: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def message(n: int, text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id=f"m{n}", type="message", role="assistant", status="completed", content=[part]
    )


@function_tool
def book(city: str) -> str:
    """Books a trip."""
    return f"ticket to {city}"


def guide(model: Echo) -> Agent[Any]:
    return Agent(name="guide", model=model, tools=[book])


def texts(items: list[Any]) -> list[str]:
    return [str(i.get("content") or i.get("output") or i.get("arguments")) for i in map(flat, items)]


def flat(item: Any) -> dict[str, Any]:
    content = item.get("content")
    text = "".join(part["text"] for part in content) if isinstance(content, list) else content
    return {**item, "content": text}


async def say(name: str, client: AsyncRethread, model: Echo, text: str) -> str:
    """Runs the agent with a session object of its own, as another process would."""
    session = RethreadSession(name, client, app_name="trips")
    result = await Runner.run(guide(model), text, session=session, run_config=QUIET)
    return str(result.final_output)


async def test_an_agent_remembers_its_conversation(asynchronous: AsyncRethread, name: str) -> None:
    model = Echo()
    assert isinstance(RethreadSession(name, asynchronous), Session)
    assert await say(name, asynchronous, model, "book Porto") == "Done: ticket to Porto"
    assert await say(name, asynchronous, model, "thanks") == "You said: thanks"
    expected = ["book Porto", '{"city": "Porto"}', "ticket to Porto", "Done: ticket to Porto", "thanks"]
    assert texts(model.inputs[-1]) == expected

    session = RethreadSession(name, asynchronous)
    items = await session.get_items()
    assert texts(items) == [*expected, "You said: thanks"]
    assert texts(await session.get_items(limit=2)) == ["thanks", "You said: thanks"]
    assert await session.get_items(limit=0) == []
    short = RethreadSession(name, asynchronous, session_settings=SessionSettings(limit=1))
    assert texts(await short.get_items()) == ["You said: thanks"]

    events = await asynchronous.events.list(name).all()
    assert len({event["invocation_id"] for event in events}) == 2
    shown = [(e["author"], e["content"]["parts"][0]["text"]) for e in events if e["content"]]
    assert shown[:2] == [("user", "book Porto"), ("assistant", 'book({"city": "Porto"})')]


async def test_a_rewind_and_a_fork_are_what_the_agent_sees(asynchronous: AsyncRethread, name: str) -> None:
    model = Echo()
    for text in ("one", "two"):
        await say(name, asynchronous, model, text)
    events = await asynchronous.events.list(name).all()
    second = events[-1]["invocation_id"]
    fork = await asynchronous.sessions.fork(name)
    await asynchronous.sessions.rewind(name, {"rewind_before_invocation_id": second})
    await say(name, asynchronous, model, "three")
    assert texts(model.inputs[-1]) == ["one", "You said: one", "three"]
    await say(fork["id"], asynchronous, model, "four")
    assert texts(model.inputs[-1]) == ["one", "You said: one", "two", "You said: two", "four"]


async def test_messages_of_other_clients_are_items(asynchronous: AsyncRethread, name: str) -> None:
    await asynchronous.sessions.create({"id": name, "state": {"a": 1}})
    for author in ("user", "guide"):
        event: Any = {"invocation_id": "i", "author": author, "content": {"parts": [{"text": author}]}}
        await asynchronous.events.append(name, {"events": [event]})
    items = await RethreadSession(name, asynchronous).get_items()
    assert items == [{"role": "user", "content": "user"}, {"role": "assistant", "content": "guide"}]


async def test_pop_item_removes_one_item_at_a_time(asynchronous: AsyncRethread, name: str) -> None:
    session = RethreadSession(name, asynchronous)
    assert await session.pop_item() is None
    await session.add_items([user("one"), assistant("1"), user("two"), assistant("2"), assistant("3")])
    for expected in ("3", "2", "two", "1", "one"):
        left = texts(await session.get_items())
        popped: Any = await session.pop_item()
        assert popped["content"] == expected
        assert texts(await session.get_items()) == left[:-1]
        assert [e["seq"] for e in await asynchronous.events.list(name, view="all").all()][-1] > 0
    assert await session.pop_item() is None
    await session.add_items([user("again")])
    assert texts(await session.get_items()) == ["again"]


async def test_pop_item_keeps_what_others_append_meanwhile(asynchronous: AsyncRethread, name: str) -> None:
    session = RethreadSession(name, asynchronous)
    await session.add_items([user("one"), assistant("1")])
    rewind = asynchronous.sessions.rewind
    others = [assistant("late")]

    async def late(*args: Any, **options: Any) -> Any:
        if others:
            await RethreadSession(name, asynchronous).add_items([others.pop()])
        return await rewind(*args, **options)

    asynchronous.sessions.rewind = late  # type: ignore[method-assign]
    popped: Any = await session.pop_item()
    assert popped["content"] == "late"
    assert texts(await session.get_items()) == ["one", "1"]


async def test_pops_and_adds_at_once_lose_nothing(asynchronous: AsyncRethread, name: str) -> None:
    session = RethreadSession(name, asynchronous)
    begun = [user("u"), *(assistant(str(n)) for n in range(3))]
    await session.add_items(begun)
    added = [assistant(f"added {n}") for n in range(6)]
    outcomes = await asyncio.gather(
        *(RethreadSession(name, asynchronous).pop_item() for _ in range(3)),
        *(RethreadSession(name, asynchronous).add_items([item]) for item in added),
        return_exceptions=True,
    )
    assert all(item is None or isinstance(item, (dict, ConflictError)) for item in outcomes)
    popped = [flat(item) for item in outcomes if isinstance(item, dict)]
    left = [flat(item) for item in await session.get_items()]
    assert sorted(texts(left + popped)) == sorted(texts(begun + added))


async def test_what_others_append_while_a_rewind_is_undone_stays(
    asynchronous: AsyncRethread, name: str
) -> None:
    await interleaved(asynchronous, name)
    session = RethreadSession(name, asynchronous)
    rewind = asynchronous.sessions.rewind
    made: list[Any] = []

    async def late(session_id: str, request: Any) -> Any:
        made.append(request)
        if len(made) == 2:
            await RethreadSession(name, asynchronous).add_items([assistant("late")])
        return await rewind(session_id, request)

    asynchronous.sessions.rewind = late  # type: ignore[method-assign]
    with pytest.raises(ConflictError):
        await session.pop_item()
    assert texts(await session.get_items()) == ["a", "b", "a", "late"]
    assert all(request["expected_seq"] > 0 for request in made)
    assert len(made) == 3


async def test_clear_session_names_the_head_that_it_has_seen(asynchronous: AsyncRethread, name: str) -> None:
    session = RethreadSession(name, asynchronous)
    await session.add_items([user("one")])
    rewind = asynchronous.sessions.rewind
    made: list[Any] = []

    async def late(session_id: str, request: Any) -> Any:
        made.append(request["expected_seq"])
        if len(made) == 1:
            await RethreadSession(name, asynchronous).add_items([user("late")])
        return await rewind(session_id, request)

    asynchronous.sessions.rewind = late  # type: ignore[method-assign]
    await session.clear_session()
    assert len(made) == 2
    assert await session.get_items() == []


@pytest.mark.parametrize("form", NAMES)
async def test_a_session_may_have_any_name(asynchronous: AsyncRethread, name: str, form: str) -> None:
    session = RethreadSession(form.format(name), asynchronous)
    await session.add_items([user("one"), assistant("1")])
    assert texts(await RethreadSession(form.format(name), asynchronous).get_items()) == ["one", "1"]
    assert await RethreadSession(name, asynchronous).get_items() == []
    popped: Any = await session.pop_item()
    assert popped["content"] == "1"
    await session.clear_session()
    assert await session.get_items() == []


async def test_a_result_that_json_cannot_express_is_stored(asynchronous: AsyncRethread, name: str) -> None:
    session = RethreadSession(name, asynchronous)
    output: Any = {"type": "function_call_output", "call_id": "c", "output": "half \ud83d of it"}
    numbers: Any = {"role": "user", "content": "n", "values": [float("nan"), float("-inf"), 0.5]}
    await session.add_items([output, numbers])
    stored: list[Any] = await session.get_items()
    assert stored[0]["output"] == "half \ufffd of it"
    assert stored[1]["values"] == ["NaN", "-Infinity", 0.5]


async def test_pop_item_changes_nothing_in_an_interleaved_invocation(
    asynchronous: AsyncRethread, name: str
) -> None:
    await interleaved(asynchronous, name)
    session = RethreadSession(name, asynchronous)
    with pytest.raises(ConflictError):
        await session.pop_item()
    assert texts(await session.get_items()) == ["a", "b", "a"]


async def test_clear_session_hides_all_items(asynchronous: AsyncRethread, name: str) -> None:
    session = RethreadSession(name, asynchronous)
    await session.clear_session()
    await session.add_items([user("one"), assistant("1")])
    await session.clear_session()
    await session.clear_session()
    assert await session.get_items() == []
    await session.add_items([user("two")])
    assert texts(await session.get_items()) == ["two"]
    assert len(await asynchronous.events.list(name, view="all").all()) >= 4


async def test_two_processes_may_begin_a_session(asynchronous: AsyncRethread, name: str) -> None:
    sessions = [RethreadSession(name, asynchronous) for _ in range(4)]
    await asyncio.gather(*(s.add_items([user(str(n)), assistant(str(n))]) for n, s in enumerate(sessions)))
    items = texts(await sessions[0].get_items())
    assert sorted(items) == ["0", "0", "1", "1", "2", "2", "3", "3"]
    assert items[::2] == items[1::2]


async def test_many_items_are_appended_in_order(asynchronous: AsyncRethread, name: str) -> None:
    session = RethreadSession(name, asynchronous)
    await session.add_items([assistant(str(n)) for n in range(150)])
    assert texts(await session.get_items()) == [str(n) for n in range(150)]
    assert texts(await session.get_items(limit=120)) == [str(n) for n in range(30, 150)]


async def test_a_session_of_somebody_else_is_refused(
    asynchronous: AsyncRethread, system: Any, name: str
) -> None:
    await RethreadSession(name, asynchronous).add_items([user("mine")])
    async with AsyncRethread(system.url, system.token("mallory")) as other:
        for call in (
            RethreadSession(name, other).get_items(),
            RethreadSession(name, other).add_items([user("x")]),
        ):
            with pytest.raises(RethreadError) as caught:
                await call
            assert caught.value.status in (403, 404, 409)
    assert texts(await RethreadSession(name, asynchronous).get_items()) == ["mine"]


async def interleaved(client: AsyncRethread, name: str) -> None:
    """A session with an event of another invocation between those of one."""
    await client.sessions.create({"id": name})
    for invocation in ("a", "b", "a"):
        event: Any = {
            "invocation_id": invocation,
            "author": "user",
            "content": {"parts": [{"text": invocation}]},
        }
        await client.events.append(name, {"events": [event]})


def user(text: str) -> Any:
    return {"role": "user", "content": text}


def assistant(text: str) -> Any:
    return {"role": "assistant", "content": text}
