"""A travel agent that survives a kill, and whose conversation can be rewound.

    python agent.py say trip "Lisbon in May"   # asks for a payment: kill it there, kill -9 included
    python agent.py resume trip                # another process goes on where it was
    python agent.py rewind trip "Lisbon in May"  # as if that had never been said
    python agent.py show trip
"""

from __future__ import annotations

import os
import sys
from typing import Any

import httpx
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph

from rethread_langgraph import RethreadSaver

URL = os.environ.get("RETHREAD_URL", "http://127.0.0.1:3000")  # make run


def development_token() -> str:
    """Gets a token from your identity provider; this one is for development."""
    user = os.environ.get("RETHREAD_USER", "alice")
    return str(httpx.post(f"{URL}/dev/token", json={"user_id": user}).json()["token"])


def search(state: MessagesState) -> dict[str, Any]:
    """Your model and its tools go here."""
    print("searching", flush=True)
    return {"messages": [AIMessage(f"Found a flight: {state['messages'][-1].content}.")]}


def pay(state: MessagesState) -> dict[str, Any]:
    """A step that takes long. Nothing before it is done twice, however often it is interrupted."""
    print("Pay 120 euros? ", end="", flush=True)
    answer = sys.stdin.readline().strip()
    return {"messages": [AIMessage("Booked." if answer == "yes" else "Not booked.")]}


def agent(saver: RethreadSaver) -> Any:
    """Compiles the graph."""
    graph = StateGraph(MessagesState).add_node(search).add_node(pay)
    return graph.add_edge(START, "search").add_edge("search", "pay").compile(checkpointer=saver)


def show(compiled: Any, thread: RunnableConfig) -> None:
    """Prints the conversation."""
    for message in compiled.get_state(thread).values.get("messages", []):
        print(f"{message.type}: {message.content}")


def rewind(token: str, thread_id: str, text: str) -> None:
    """Rewinds the session to before a question, as its user can in the console."""
    with httpx.Client(base_url=f"{URL}/api/v1/sessions/{thread_id}") as session:
        session.headers["Authorization"] = f"Bearer {token}"
        for event in session.get("/events").raise_for_status().json()["data"]:
            said = (event["content"] or {}).get("parts", [])
            if event["author"] == "user" and said == [{"text": text}]:
                body = {"rewind_before_invocation_id": event["invocation_id"]}
                session.post("/rewind", json=body).raise_for_status()
                return
    sys.exit(f"nobody has said {text!r}")


def main(command: str, thread_id: str, text: str = "") -> None:
    """Executes a command."""
    token = development_token()
    saver = RethreadSaver(URL, lambda: token)
    compiled = agent(saver)
    thread: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    # "sync": a step begins when the one before it is stored.
    if command == "say":
        compiled.invoke({"messages": [HumanMessage(text)]}, thread, durability="sync")
    elif command == "resume":
        compiled.invoke(None, thread, durability="sync")
    elif command == "rewind":
        rewind(token, thread_id, text)
    show(compiled, thread)
    saver.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
