"""A story with agents that speak AG-UI, of Pydantic AI and LangGraph, which the system calls."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable
from typing import Any

import httpx

from called import TIMEOUT, Session, Turn
from checks import URL, check, end, new_user, part, token


def received(session: Session) -> dict[str, Any]:
    """What the agent of Pydantic AI gets with a run."""
    found: dict[str, Any] = json.loads(session.say("received").text())
    return found


def roles(asked: dict[str, Any]) -> list[str]:
    return [m["role"] for m in asked["input"]["messages"]]


def spoken(asked: dict[str, Any]) -> list[tuple[str, str]]:
    """The messages of a request; in a fork, those of the user have other ids."""
    return [(m["id"] if m["role"] == "assistant" else "", m["content"]) for m in asked["messages"]]


def answer() -> None:
    session = Session("pydantic-ai", state={"a": 9007199254740993, "user:name": "Ada"})
    first = session.say("hello")
    check("an answer", first.text() == "You said: hello.", first)
    asked = received(session)
    sent = asked["input"]
    ids = [m["id"] for m in sent["messages"]]
    events = session.events()
    said = [e["id"] for e in events if e["author"] == "user"]
    check("the whole conversation", roles(asked) == ["user", "assistant", "user"], asked)
    check("the user's messages with their ids", ids[::2] == said, ids, said)
    check("the agent's with its own", ids[1] == first.events[0]["ag_ui"]["messages"][0] != first.events[0]["id"], ids)
    check("the run", sent["runId"] == events[-1]["invocation_id"], sent)
    check("the version", sent["protocolVersion"] == "1.0", sent)
    check("the state", sent["state"] == {"a": 9007199254740993, "user:name": "Ada"}, sent)
    check("the tools", [t["name"] for t in sent["tools"]] == ["pick_color"], sent)
    props = sent["forwardedProps"]
    check("the forwarded props", props["mode"] == "test" and props["rethread"]["session_id"] == session.id, props)
    check("the key", asked["key"] == "Bearer a-key-of-the-tests")
    check("the same thread again", received(session)["input"]["threadId"] == sent["threadId"])


def thinking() -> None:
    session = Session("pydantic-ai")
    turn = session.say("think")
    check("thinking", turn.text(thought=True) == "Hm." and turn.text() == "Yes.", turn)
    messages = received(session)["input"]["messages"]
    check("goes back", [m["role"] for m in messages[1:3]] == ["reasoning", "assistant"], messages)
    check("with its signature", "signed" in messages[1].get("encryptedValue", ""), messages)


def tools() -> None:
    session = Session("pydantic-ai", state={"kept": 1, "old": 2, "user:name": "Ada"})
    turn = session.say("weather")
    check("ends", turn.status == "completed", turn)
    check("the calls", [(c["id"], c["args"]) for c in turn.parts("function_call")] == [("w1", {"city": "Rome"}), ("w2", {})], turn)
    results = {r["name"]: r["response"] for r in turn.parts("function_response")}
    check("the results", results == {"weather": {"city": "Rome", "degrees": 20}, "motto": {"result": "Be brief."}}, turn)
    check("the answer", turn.text().startswith("I look it up.The tool said "), turn)
    check("none is long-running", turn.long_running() == [], turn)
    custom = [c for e in turn.events for c in e["ag_ui"].get("custom", [])]
    check("the custom event", custom == [{"name": "looked", "value": {"at": "Rome"}}], turn)
    want = {"kept": 1, "city": "Rome", "large": 9007199254740993, "seen": ["Rome"], "user:name": "Ada"}
    check("the state", session.state() == want, session.state())
    asked = received(session)
    check("goes back", roles(asked) == ["user", "assistant", "tool", "tool", "assistant", "user"], asked)
    check("the state goes back", asked["input"]["state"] == want, asked)
    session.rewind(turn.id)
    check("a rewind restores the state", session.state() == {"kept": 1, "old": 2, "user:name": "Ada"}, session.state())


def approval() -> None:
    def ask() -> tuple[Session, Turn, str]:
        session = Session("pydantic-ai")
        turn = session.say("delete")
        return session, turn, turn.long_running()[0]

    session, turn, question = ask()
    call = turn.parts("function_call")[-1]
    check("a question", turn.status == "completed" and call["id"] == question, turn)
    check("what it is about", call["name"] == "ag_ui_interrupt" and call["args"]["toolCallId"] == "d1", call)
    check("is the only one", turn.long_running() == [question], turn)
    agreed = session.answer(question, call["name"], {"approved": True})
    check("agreed", agreed.parts("function_response")[0]["response"] == {"result": "deleted a.txt"}, agreed)
    check("goes on", agreed.text() == 'The tool said "deleted a.txt"', agreed)
    asked = received(session)
    check("goes back once", roles(asked) == ["user", "assistant", "tool", "assistant", "user"], asked)
    check("is answered once", "resume" not in asked["input"], asked)

    session, turn, question = ask()
    refused = session.answer(question, call["name"], {"approved": False, "reason": "Not mine."})
    check("refused", "Not mine." in refused.text() and refused.status == "completed", refused)

    session, turn, question = ask()
    left = session.say("hello")
    check("no answer cancels it", left.status == "completed" and "deleted" not in str(left), left)

    session, turn, question = ask()
    forked = session.fork()
    agreed = forked.answer(question, call["name"], {"approved": True})
    check("answered in a fork", "deleted a.txt" in agreed.text(), agreed)
    agreed = session.answer(question, call["name"], {"approved": True, "editedArgs": {"path": "b.txt"}})
    check("answered in the source, too, otherwise", "deleted b.txt" in agreed.text(), agreed)


def front_end() -> None:
    session = Session("pydantic-ai")
    turn = session.say("pick")
    check("a call of the front end", turn.long_running() == ["p1"] and turn.status == "completed", turn)
    check("its arguments", turn.parts("function_call")[0]["args"] == {"title": "Wall"}, turn)
    picked = session.answer("p1", "pick_color", {"color": "red"})
    check("its answer", "red" in picked.text() and picked.status == "completed", picked)
    session.say("pick")
    ignored = session.say("hello")
    check("goes on without one", ignored.text() == "You said: hello.", ignored)


def files() -> None:
    session = Session("pydantic-ai")
    turn = session.say(
        "see",
        {"inline_data": {"mime_type": "image/png", "display_name": "a.png", "data": "iVBORw0KGgo="}},
        {"inline_data": {"mime_type": "application/pdf", "data": "JVBERi0="}},
        {"file_data": {"mime_type": "image/jpeg", "file_uri": "https://example.com/a.jpg"}},
        {"file_data": {"mime_type": "audio/mpeg", "file_uri": "https://example.com/a.mp3"}},
    )
    want = "see, image/png of 8 bytes, application/pdf of 5 bytes, ImageUrl https://example.com/a.jpg, AudioUrl https://example.com/a.mp3"
    check("files", turn.text() == want, turn)


def failure() -> None:
    session = Session("pydantic-ai")
    turn = session.say("fail")
    check("fails", turn.status == "failed" and turn.error["message"] == "I was asked to fail.", turn)
    check("with a code", turn.error["code"] == "agent_failed", turn)
    kept = [e for e in session.call("GET", session.path("/events?view=all")) if e["invocation_id"] == turn.id]
    check("what came before", "This goes well, " in str(kept), kept)
    check("goes on", session.say("hello").text() == "You said: hello.")


def cancel() -> None:
    before = Session("pydantic-ai").say("cancelled").text()
    session = Session("pydantic-ai")
    run = session.start({"text": "endless"})
    until = time.monotonic() + TIMEOUT
    while "word1" not in str(session.events(run)) and time.monotonic() < until:
        time.sleep(0.05)
    check("streams", "word1" in str(session.events(run)))
    session.cancel(run)
    check("cancelled", session.wait(run)["status"] == "cancelled")
    counted = before
    while counted == before and time.monotonic() < until:
        counted = Session("pydantic-ai").say("cancelled").text()
    check("the agent stops", int(counted) == int(before) + 1, before, counted)
    check("goes on", session.say("hello").text() == "You said: hello.")


def branches() -> None:
    session = Session("pydantic-ai")
    session.say("one")
    second = session.say("two")
    source = received(session)["input"]
    forked = session.fork()
    there = received(forked)["input"]
    check("a fork is another thread", there["threadId"] != source["threadId"], there)
    count = len(source["messages"])
    check("with the same messages", spoken(there)[:count] == spoken(source), there, source)
    session.rewind(second.id)
    rewound = received(session)["input"]
    check("a rewind, too", rewound["threadId"] not in (source["threadId"], there["threadId"]), rewound)
    check("without what was taken back", [m.get("content") for m in rewound["messages"]] == ["one", "You said: one.", "received"], rewound)
    check("the fork keeps its own", received(forked)["input"]["threadId"] == there["threadId"])


def checkpoints() -> None:
    """LangGraph keeps each thread's messages, and is sent all of them again."""
    session = Session("langgraph")
    first = session.say("a")
    check("a stateful agent", first.text() == "Message 1: a", first)
    check("keeps its state", session.state() == {"turns": 1}, session.state())
    second = session.say("b")
    check("knows each message once", second.text() == "Message 3: a / b", second)
    forked = session.fork()
    check("a fork knows all", forked.say("c").text() == "Message 5: a / b / c", forked.events())
    session.rewind(second.id)
    check("a rewound session no more", session.say("d").text() == "Message 3: a / d", session.events())
    check("the state is of the branch", session.state() == {"turns": 2} and forked.state() == {"turns": 3}, forked.state())
    check("each goes on", forked.say("e").text() == "Message 7: a / b / c / e", forked.events())
    check("for itself", session.say("f").text() == "Message 5: a / d / f", session.events())
    plain = session.say("plain")
    check("an answer that does not stream", plain.text() == "Plainly." and len(plain.events) == 1, plain)
    check("is known", session.say("g").text() == "Message 9: a / d / f / plain / g", session.events())


def graph_files() -> None:
    """A message with a file is the same one in the checkpoint."""
    session = Session("langgraph")
    image = {"inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgo="}}
    first = session.say("see", image)
    check("a file", first.text().startswith("Message 1: ") and "iVBORw0KGgo=" in first.text(), first)
    check("once", session.say("a").text().startswith("Message 3: "), session.events())


def graph_state() -> None:
    """A graph is given state that its schema does not have."""
    session = Session("langgraph", state={"turns": 4, "x": 1, "user:name": "Ada"})
    turn = session.say("a")
    check("unknown keys do no harm", turn.text() == "Message 1: a", turn)
    check("known ones count", session.state()["turns"] == 5, session.state())
    check("shared ones stay", session.state()["user:name"] == "Ada", session.state())
    check("others stay", session.state()["x"] == 1, session.state())


def graph_asks() -> None:
    session = Session("langgraph")
    turn = session.say("ask")
    question = turn.long_running()[0]
    call = turn.parts("function_call")[0]
    check("a question of a graph", call["id"] == question and call["args"]["message"] == "Are you sure?", turn)
    decided = session.answer(question, call["name"], {"result": "yes"})
    check("its answer", decided.text() == "You decided: yes.", decided)
    check("goes on", session.say("a").text() == "Message 3: ask / a", session.events())
    session.say("ask")
    decided = session.say("perhaps")
    check("a text answers it, too", decided.text() == "You decided: perhaps.", decided)
    again = session.say("b")
    check("and is no message", again.text() == "Message 7: ask / a / ask / b", again)


def graph_asks_elsewhere() -> None:
    """A question of a thread is one of the messages in another one."""
    session = Session("langgraph")
    question = session.say("ask").long_running()[0]
    there = session.fork()
    turn = there.answer(question, "ag_ui_interrupt", {"result": "yes"})
    check("answered in a fork", turn.status == "completed" and turn.text() == "Message 3: ask", turn)
    check("goes on there", there.say("a").text() == "Message 5: ask / a", there.events())
    decided = session.answer(question, "ag_ui_interrupt", {"result": "yes"})
    check("answered in the source", decided.text() == "You decided: yes.", decided)
    session.rewind(decided.id)
    turn = session.say("a")
    check("left in a rewound session", turn.text() == "Message 4: ask / a", turn)


def over_a2a() -> None:
    """The questions of an AG-UI agent to a client of A2A."""
    with httpx.Client(
        base_url=URL, headers={"Authorization": "Bearer " + token(new_user())}, timeout=TIMEOUT
    ) as http:

        def send(part: dict[str, Any], **members: Any) -> dict[str, Any]:
            message = {"kind": "message", "messageId": str(uuid.uuid4()), "role": "user", "parts": [part], **members}
            body = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {"message": message}}
            found: dict[str, Any] = http.post("/a2a/pydantic-ai", json=body).json()["result"]
            return found

        def respond(task: dict[str, Any], call: dict[str, Any], response: Any) -> dict[str, Any]:
            data = {"id": call["id"], "name": call["name"], "response": response}
            part = {"kind": "data", "data": data, "metadata": {"adk_type": "function_response"}}
            return send(part, taskId=task["id"], contextId=task["contextId"])

        for word, name, response, want in (
            ("delete", "ag_ui_interrupt", {"approved": True}, "deleted a.txt"),
            ("pick", "pick_color", {"color": "red"}, "red"),
        ):
            task = send({"kind": "text", "text": word})
            state = task["status"]["state"]
            check(f"{name}: input required", state == "input-required", task)
            asked = task["status"]["message"]["parts"][0]
            check(f"{name}: what is asked", asked["data"]["name"] == name, asked)
            check(f"{name}: long-running", asked["metadata"]["adk_is_long_running"] is True, asked)
            done = respond(task, asked["data"], response)
            check(f"{name}: completed", done["status"]["state"] == "completed", done)
            check(f"{name}: answered", want in str(done["artifacts"][-1]), done)


async def main() -> None:
    async def play(story: Callable[[], None]) -> None:
        async def apart() -> None:
            await asyncio.to_thread(story)

        await part(story.__name__, apart)

    for story in (answer, branches, thinking, tools, approval, front_end, files, failure, cancel, checkpoints, graph_files, graph_state, graph_asks, graph_asks_elsewhere, over_a2a):
        await play(story)
    end()


asyncio.run(main())
