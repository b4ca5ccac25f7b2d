"""A story with agents that have an A2A server, which the system calls."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx

from called import TIMEOUT, Session, Turn
from checks import URL, check, end, part, token

# The agents behind servers of a2a-sdk, by their names in the configuration.
SDK = ("a2a-both", "a2a-old", "a2a-polled", "a2a-0.3")


def record(turn: Turn) -> dict[str, Any]:
    found: dict[str, Any] = turn.events[-1]["a2a"]
    return found


def received(session: Session) -> dict[str, Any]:
    """The message that the agent gets with a run."""
    found: dict[str, Any] = json.loads(session.say("received").text())
    return found


def begun(session: Session, run: str) -> float:
    """Waits until a run has said something; returns when to give up waiting."""
    until = time.monotonic() + TIMEOUT
    while not session.events(run) and time.monotonic() < until:
        time.sleep(0.05)
    return until


def settled(state: str) -> bool:
    """Whether the newest task of the user as whom the system calls itself gets a state."""
    headers = {"Authorization": "Bearer " + token("self"), "A2A-Version": "1.0"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {"pageSize": 1}}
    until = time.monotonic() + TIMEOUT
    while time.monotonic() < until:
        answer = httpx.post(URL + "/a2a/scripted", json=body, headers=headers, timeout=TIMEOUT).json()
        if answer["result"]["tasks"][0]["status"]["state"] == state:
            return True
        time.sleep(0.1)
    return False


def texts(message: dict[str, Any]) -> list[str]:
    return [p["text"] for p in message["parts"] if "text" in p]


def answer(agent: str) -> None:
    session = Session(agent)
    first = session.say("hello")
    check(f"{agent}: an answer", first.status == "completed" and first.text() == "You said: hello.", first)
    check(f"{agent}: in one event", len(first.events) == 1, first)
    again = received(session)
    check(f"{agent}: the context goes on", again["contextId"] == record(first)["context_id"], again)
    check(f"{agent}: only what is new", texts(again) == ["received"], again)
    session.call("POST", session.path("/events"), {"events": [
        {"invocation_id": "note", "author": "clerk", "content": {"role": "model", "parts": [{"text": "A note."}]}}
    ]})
    told = texts(received(session))
    check(f"{agent}: what others said", told == ["Said since then:\n\nclerk: A note.", "received"], told)


def branches(agent: str) -> None:
    session = Session(agent)
    context = record(session.say("hello"))["context_id"]
    second = session.say("more")
    session.rewind(second.id)
    rewound = received(session)
    history = "The conversation so far:\n\nuser: hello\n\n" + agent + ": You said: hello."
    check(f"{agent}: a rewind begins a context", rewound["contextId"] != context, rewound, context)
    check(f"{agent}: with the history", texts(rewound) == [history, "received"], rewound)
    next = received(session)
    check(f"{agent}: which goes on", next["contextId"] == rewound["contextId"] and texts(next) == ["received"], next)
    forked = received(session.fork())
    check(f"{agent}: a fork begins a context", forked["contextId"] not in (context, rewound["contextId"]), forked)
    check(f"{agent}: with the whole history", texts(forked)[0].startswith(history), forked)
    again = received(session)
    check(f"{agent}: not the source", again["contextId"] == rewound["contextId"], again)


def questions(agent: str) -> None:
    session = Session(agent)
    asked = session.say("which")
    check(f"{agent}: a question", asked.status == "completed" and asked.text() == "Which one?", asked)
    chosen = session.say("the red one")
    check(f"{agent}: its answer", chosen.text() == "You chose: the red one", chosen)
    check(f"{agent}: to the same task", record(chosen)["task_id"] == record(asked)["task_id"], asked, chosen)
    check(f"{agent}: goes on", session.say("hello").text() == "You said: hello.", session.events())
    asked = session.say("confirm")
    check(f"{agent}: a long-running call", asked.long_running() == ["f1"], asked)
    call = asked.parts("function_call")
    check(f"{agent}: once", len(call) == 1 and call[0]["args"]["amount"] == 7, asked)
    decided = session.answer("f1", "confirm", {"ok": True})
    check(f"{agent}: its response", decided.text() == 'You decided: {"ok": true}', decided)
    session.rewind(decided.id)
    turn = session.answer("f1", "confirm", {"ok": False})
    check(f"{agent}: answered after a rewind", turn.text() == 'You decided: {"ok": false}', turn)
    check(f"{agent}: in another task", record(turn)["task_id"] != record(asked)["task_id"], turn)


def tools(agent: str) -> None:
    turn = Session(agent).say("weather")
    check(f"{agent}: calls", [c["args"] for c in turn.parts("function_call")] == [{"city": "Rome"}], turn)
    responses = [r["response"] for r in turn.parts("function_response")]
    check(f"{agent}: results", responses == [{"degrees": 20}], turn)
    check(f"{agent}: progress", turn.text() == "I look it up.20 degrees.", turn)
    check(f"{agent}: nothing waits", turn.long_running() == [], turn)


def files(agent: str) -> None:
    session = Session(agent)
    turn = session.say("file")
    check(f"{agent}: a file", [f["data"] for f in turn.parts("inline_data")] == ["AQI="], turn)
    check(f"{agent}: its name", turn.parts("inline_data")[0]["display_name"] == "dot.png", turn)
    check(f"{agent}: an address", turn.parts("file_data")[0]["file_uri"] == "https://example.com/a.txt", turn)
    check(f"{agent}: data", turn.parts("data") == [{"n": [1, 2]}], turn)
    seen = session.say(
        "see",
        {"inline_data": {"mime_type": "image/png", "data": "AQI="}},
        {"file_data": {"mime_type": "text/plain", "file_uri": "https://example.com/b.txt"}},
        {"text": "{}", "data": {"m": "x"}},
    ).text()
    check(f"{agent}: files of the user", seen == 'see; image/png AQI=; text/plain https://example.com/b.txt; {"m": "x"}', seen)


def message(agent: str) -> None:
    turn = Session(agent).say("message")
    check(f"{agent}: only a message", turn.text() == "Only a message." and turn.status == "completed", turn)


def failure(agent: str) -> None:
    session = Session(agent)
    context = record(session.say("hello"))["context_id"]
    turn = session.say("fail")
    check(f"{agent}: failed", turn.status == "failed" and turn.error["code"] == "agent_failed", turn)
    check(f"{agent}: the reason", turn.error["message"] == "I was asked to fail.", turn)
    check(f"{agent}: what came before", turn.text() == "This goes well, ", turn)
    turn = session.say("reject")
    check(f"{agent}: rejected", turn.error["code"] == "rejected", turn)
    after = received(session)
    check(f"{agent}: a discarded run is not in the next context", after["contextId"] != context, after)
    check(f"{agent}: nor in its history", "fail" not in texts(after)[0], after)


def cancel(agent: str) -> None:
    session = Session(agent)
    before = int(session.say("cancelled").text())
    run = session.start({"text": "endless"})
    until = begun(session, run)
    session.cancel(run)
    check(f"{agent}: cancelled", session.wait(run)["status"] == "cancelled", run)
    kept = Turn(session.wait(run), session.events(run)).text()
    check(f"{agent}: what came before", kept.startswith("word0 "), kept)
    while int(Session(agent).say("cancelled").text()) == before and time.monotonic() < until:
        time.sleep(0.1)
    after = int(Session(agent).say("cancelled").text())
    check(f"{agent}: the agent is told", after == before + 1, before, after)
    check(f"{agent}: goes on", session.say("hello").text() != "", session.events())


def adk() -> None:
    session = Session("a2a-adk")
    first = session.say("hello")
    check("google-adk: an answer", first.text() == "Heard: hello" and len(first.events) == 1, first)
    second = session.say("again")
    check("google-adk: it remembers", second.text() == "Heard: hello | again", second)
    session.rewind(second.id)
    turn = session.say("anew")
    want = "Heard: The conversation so far:\n\nuser: hello\n\na2a-adk: Heard: hello / anew"
    check("google-adk: after a rewind", turn.text() == want, turn)
    turn = session.fork().say("there")
    check("google-adk: in a fork", turn.text().startswith("Heard: The conversation so far:"), turn)
    turn = session.say("think")
    check("google-adk: thinking", turn.text(thought=True) == "Hm." and turn.text() == "Yes.", turn)
    turn = session.say("weather")
    check("google-adk: a tool's call", [c["args"] for c in turn.parts("function_call")] == [{"city": "Rome"}], turn)
    check("google-adk: its result", turn.parts("function_response")[0]["response"]["city"] == "Rome", turn)
    check("google-adk: and the answer", turn.text().startswith("weather said "), turn)
    asked = session.say("confirm")
    ids = asked.long_running()
    check("google-adk: a long-running call", len(ids) == 1 and asked.parts("function_call")[0]["id"] == ids[0], asked)
    done = session.answer(ids[0], "confirm", {"ok": True})
    check("google-adk: its response", "'ok': True" in done.text(), done)
    check("google-adk: the same task", record(done)["task_id"] == record(asked)["task_id"], asked, done)
    turn = session.say("file")
    check("google-adk: a file", [f["data"] for f in turn.parts("inline_data")] == ["AQI="], turn)
    turn = session.say("see", {"inline_data": {"mime_type": "image/png", "data": "AQI="}})
    check("google-adk: a file of the user", turn.text() == "image/png 2", turn)
    turn = session.say("fail")
    check("google-adk: a failure", turn.status == "failed" and "asked to fail" in turn.error["message"], turn)


def ourselves() -> None:
    """The system's own server, called for a session by another one."""
    session = Session("a2a-self")
    said = 'You said: "hello". That is all.'
    first = session.say("hello")
    check("itself: an answer", first.text() == said and len(first.events) == 1, first)
    second = session.say("hello")
    check("itself: the same context", record(second)["context_id"] == record(first)["context_id"], first, second)
    session.rewind(second.id)
    third = session.say("hello")
    check("itself: another after a rewind", record(third)["context_id"] != record(first)["context_id"], third)
    turn = session.say("think")
    check("itself: thinking", turn.text(thought=True) == "Hm." and turn.text() == "Yes.", turn)
    asked = session.say("ask")
    check("itself: a question", asked.long_running() == ["call-1"] and len(asked.parts("function_call")) == 1, asked)
    check("itself: its large number", asked.parts("function_call")[0]["args"] == {"amount": 9007199254740993}, asked)
    check("itself: not the text that it replaces", asked.text() == "", asked)
    decided = session.answer("call-1", "confirm", {"ok": True})
    check("itself: its response", decided.text() == 'You decided: {"ok":true}', decided)
    check("itself: the same task", record(decided)["task_id"] == record(asked)["task_id"], decided)
    turn = session.say("file")
    check("itself: a file", [f["data"] for f in turn.parts("inline_data")] == ["iVBORw0KGgo="], turn)
    check("itself: data", turn.parts("data") == [{"n": 1}], turn)
    turn = session.say("message")
    check("itself: a message", turn.text() == "Only a message.", turn)
    turn = session.say("fail")
    check("itself: the code of a failure", turn.error.get("code") == "scripted", turn)
    session = Session("a2a-self")
    run = session.start({"text": "endless"})
    begun(session, run)
    session.cancel(run)
    check("itself: cancelled", session.wait(run)["status"] == "cancelled", session.events(run))
    check("itself: the other session, too", settled("TASK_STATE_CANCELED"), session.events(run))
    turn = Session("a2a-loop").say("hello")
    check("a loop is refused", turn.status == "failed" and turn.error.get("code") == "agent_loop", turn)


async def main() -> None:
    async def play(name: str, story: Callable[[], None]) -> None:
        async def apart() -> None:
            await asyncio.to_thread(story)

        await part(name, apart)

    async def play_all(agent: str) -> None:
        for story in (answer, branches, questions, tools, files, message, failure, cancel):
            await play(f"{agent}: {story.__name__}", partial(story, agent))

    await asyncio.gather(
        *(play_all(agent) for agent in SDK), play("google-adk", adk), play("itself", ourselves)
    )
    end()


asyncio.run(main())
