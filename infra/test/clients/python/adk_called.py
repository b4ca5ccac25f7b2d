"""A story with an agent served by `adk api_server`, which the system calls."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

from called import TIMEOUT, Session, Turn
from checks import check, end, part

ANSWER = "You said: hello."
PIXEL = "+//+"  # in URL-safe base64, as ADK writes it, this has other characters


def received(session: Session) -> dict[str, Any]:
    """What the agent gets with a run."""
    found: dict[str, Any] = json.loads(session.say("received").text())
    return found


def spoken(asked: dict[str, Any]) -> list[str]:
    """The texts of a request, without what was thought."""
    return [p["text"] for c in asked["contents"] for p in c["parts"] if p.get("text") and not p.get("thought")]


def answer() -> None:
    session = Session("adk", state={"a": 9007199254740993, "user:name": "Ada"})
    turn = session.say("hello")
    check("an answer", turn.text() == ANSWER and turn.text(thought=True) == "Hm.", turn)
    check("in one event", len(turn.events) == 1 and turn.events[0]["author"] == "helper", turn)
    check("in pieces", turn.events[0].get("partial") is None and "timestamp" in turn.events[0], turn)
    asked = received(session)
    check("the history", spoken(asked) == ["hello", ANSWER, "received"], asked)
    check("the events with their ids", asked["events"][:2] == [e["id"] for e in session.events() if e.get("content")][:2], asked)
    check("the state", asked["state"] == {"a": 9007199254740993, "user:name": "Ada"}, asked)
    check("only this session", asked["sessions"] == 1, asked)


def tools() -> None:
    session = Session("adk", state={"kept": 1, "old": 2})
    turn = session.say("weather")
    check("ends", turn.status == "completed", turn)
    check("the call", [c["args"] for c in turn.parts("function_call")] == [{"city": "Rome", "large": 9007199254740993}], turn)
    check("the result", [r["response"] for r in turn.parts("function_response")] == [{"cityName": "Rome", "degrees": 20}], turn)
    check("the answer", turn.text() == 'You said: result {"cityName": "Rome", "degrees": 20}.', turn)
    check("none is long-running", turn.long_running() == [], turn)
    want = {"kept": 1, "city": {"cityName": "Rome", "large": 9007199254740993}, "user:visited": ["Rome"]}
    check("the state", session.state() == want, session.state())
    asked = received(session)
    check("the state goes back", asked["state"] == want, asked)
    kinds = [k for c in asked["contents"] for p in c["parts"] for k in p if k.startswith("function")]
    check("call and result go back", kinds == ["function_call", "function_response"], asked)


def transfer() -> None:
    session = Session("adk")
    turn = session.say("transfer")
    check("another agent answers", turn.events[-1]["author"] == "expert", turn)
    actions = [e["actions"].get("transfer_to_agent") for e in turn.events]
    check("the transfer", "expert" in actions, turn)
    check("and the next message too", session.say("hello").events[-1]["author"] == "expert")


def files() -> None:
    session = Session("adk")
    turn = session.say("picture")
    check("a file of the agent's", turn.parts("inline_data") == [{"mime_type": "image/png", "data": PIXEL}], turn)
    turn = session.say("save")
    made = turn.parts("inline_data")
    check("an artifact", made == [{"mime_type": "text/csv", "display_name": "out/table.csv", "data": PIXEL}], turn)
    check("its name", [e["adk"]["artifact"] for e in turn.events if "adk" in e] == [{"name": "out/table.csv", "version": 0}], turn)
    check("no versions of ADK's", not any((e["actions"] or {}).get("artifact_delta") for e in turn.events), turn)
    session.say(
        "see",
        {"inline_data": {"mime_type": "image/png", "display_name": "dot.png", "data": PIXEL}},
        {"file_data": {"mime_type": "text/plain", "file_uri": "https://example.com/a.txt"}},
    )
    asked = received(session)
    sent = [p for c in asked["contents"] if c["role"] == "user" for p in c["parts"]]
    data = [p["inline_data"]["data"].replace("-", "+").replace("_", "/") for p in sent if "inline_data" in p]
    check("a file of the user's", data == [PIXEL], asked)
    uris = [p["file_data"]["file_uri"] for p in sent if "file_data" in p]
    check("and its address", uris == ["https://example.com/a.txt"], asked)
    check("not the artifact, as in ADK", json.dumps(asked).count("csv") == 0, asked)


def confirmation_of(turn: Turn) -> dict[str, Any]:
    found: dict[str, Any] = next(c for c in turn.parts("function_call") if c["name"] == "adk_request_confirmation")
    return found


def confirmation() -> None:
    for confirmed in (True, False):
        session = Session("adk", state={"a": 1})
        turn = session.say("drop")
        asks = confirmation_of(turn)
        check("a question", turn.long_running() == [asks["id"]] and turn.status == "completed", turn)
        check("about the call", asks["args"]["originalFunctionCall"]["name"] == "drop", asks)
        changed = {"author": "user", "invocation_id": "change", "actions": {"state_delta": {"a": 2, "b": 3}}}
        session.call("POST", session.path("/events"), {"events": [changed]})
        done = session.answer(asks["id"], asks["name"], {"confirmed": confirmed})
        results = [r["response"] for r in done.parts("function_response")]
        check("carried out or not", ({"dropped": True} in results) == confirmed, done)
        asked = received(session)
        check("the state of then", asked["state"] == {"a": 2, "b": 3}, asked)
        check("nothing is left there", asked["sessions"] == 1, asked)


def confirmation_elsewhere() -> None:
    """An answer that cannot reach the session that asked carries nothing out."""
    session = Session("adk")
    asks = confirmation_of(session.say("drop"))
    forked = session.fork()
    turn = forked.answer(asks["id"], asks["name"], {"confirmed": True})
    check("in a fork it is words", "adk_request_confirmation" in turn.text(), turn)
    check("nothing is carried out", not turn.parts("function_response"), turn)
    done = session.answer(asks["id"], asks["name"], {"confirmed": True})
    check("the original is answered", {"dropped": True} in [r["response"] for r in done.parts("function_response")], done)
    session.rewind(done.id)
    again = session.answer(asks["id"], asks["name"], {"confirmed": True})
    check("after a rewind it is words", "adk_request_confirmation" in again.text() and not again.parts("function_response"), again)
    other = Session("adk")
    other.say("drop")
    check("no answer: the session there is deleted", received(other)["sessions"] == 2 and received(other)["sessions"] == 1)


def long_running() -> None:
    session = Session("adk")
    turn = session.say("boss")
    (asks,) = turn.parts("function_call")
    check("a long-running call", turn.long_running() == [asks["id"]], turn)
    forked = session.fork()
    for each in (session, forked):
        done = each.answer(asks["id"], "boss", {"ok": True})
        check("its response", done.text() == 'You said: result {"ok": true}.', done)


def credential() -> None:
    session = Session("adk")
    turn = session.say("secret")
    asks = next(c for c in turn.parts("function_call") if c["name"] == "adk_request_credential")
    check("a credential is asked for", turn.long_running() == [asks["id"]], turn)
    config = asks["args"]["authConfig"]
    config["exchangedAuthCredential"] = {"authType": "apiKey", "apiKey": "k-1"}
    done = session.answer(asks["id"], asks["name"], config)
    check("it is given", {"key": "k-1"} in [r["response"] for r in done.parts("function_response")], done)


def failure() -> None:
    session = Session("adk")
    turn = session.say("crash")
    check("fails", turn.status == "failed" and turn.error["code"] == "ValueError", turn)
    check("without the exception's words", "secret" not in json.dumps(turn.error), turn)
    check("what came before", turn.text() == "This goes well, ", turn)
    turn = session.say("unsafe")
    check("an error of the model's", turn.status == "failed" and turn.error["code"] == "SAFETY", turn)
    check("goes on", session.say("hello").text() == ANSWER)
    asked = received(session)
    check("without what failed", spoken(asked) == ["hello", ANSWER, "received"] and asked["sessions"] == 1, asked)


def cancel() -> None:
    session = Session("adk")
    before = received(session)["stopped"]
    run = session.start({"text": "endless"})
    until = time.monotonic() + TIMEOUT
    while not session.events(run) and time.monotonic() < until:
        time.sleep(0.05)
    session.cancel(run)
    check("cancelled", session.wait(run)["status"] == "cancelled")
    turn = Turn({"id": run, "status": "cancelled", "error": None}, session.events(run))
    words = turn.text().split()
    check("what came before", words == [f"word{i}" for i in range(len(words))] and words, words)
    while received(session)["stopped"] == before and time.monotonic() < until:
        time.sleep(0.05)
    asked = received(session)
    check("the agent stops", asked["stopped"] > before, asked)
    check("nothing is left there", asked["sessions"] == 1, asked)


def branches() -> None:
    session = Session("adk", state={"a": 1})
    session.say("one")
    second = session.say("two")
    forked = session.fork()
    session.rewind(second.id)
    session.say("three")
    check("a rewind", spoken(received(session)) == ["one", "You said: one.", "three", "You said: three.", "received"])
    check("a fork", spoken(received(forked)) == ["one", "You said: one.", "two", "You said: two.", "received"])


async def main() -> None:
    plays = (
        answer, tools, transfer, files, confirmation, confirmation_elsewhere, long_running, credential, failure, cancel, branches,
    )
    for play in plays:

        async def run() -> None:
            await asyncio.to_thread(play)

        await part(play.__name__, run)
    end()


asyncio.run(main())
