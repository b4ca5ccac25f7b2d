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

from rethread_client import Rethread
from rethread_client.langgraph import RethreadSaver

URL = os.environ.get("RETHREAD_URL", "http://127.0.0.1:3000")  # make run


def token(rejected: str | None) -> str:
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


def rewind(client: Rethread, thread_id: str, text: str) -> None:
    """Rewinds the session to before a question, as its user can in the console."""
    for event in client.events.list(thread_id):
        content = event["content"] or {}
        if event["author"] == "user" and content.get("parts") == [{"text": text}]:
            client.sessions.rewind(thread_id, {"rewind_before_invocation_id": event["invocation_id"]})
            return
    sys.exit(f"nobody has said {text!r}")


def main(command: str, thread_id: str, text: str = "") -> None:
    """Executes a command."""
    thread: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    with Rethread(URL, token) as client:
        compiled = agent(RethreadSaver(client))
        # "sync": a step begins when the one before it is stored.
        if command == "say":
            compiled.invoke({"messages": [HumanMessage(text)]}, thread, durability="sync")
        elif command == "resume":
            compiled.invoke(None, thread, durability="sync")
        elif command == "rewind":
            rewind(client, thread_id, text)
        show(compiled, thread)


if __name__ == "__main__":
    main(*sys.argv[1:])
