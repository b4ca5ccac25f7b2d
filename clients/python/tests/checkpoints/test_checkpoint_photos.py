"""Photos as large as those of phones, in messages and in other channels."""

from __future__ import annotations

import base64
import random
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph

from graphs import Savers


class State(MessagesState):
    photo: bytes


@pytest.mark.parametrize("size", [1_000_000, 4_000_000], ids=["1 MB", "4 MB"])
@pytest.mark.parametrize("place", ["message", "channel"])
def test_photos(savers: Savers, config: RunnableConfig, size: int, place: str) -> None:
    photo = random.Random(size).randbytes(size)
    image = {"type": "image", "base64": base64.b64encode(photo).decode(), "mime_type": "image/jpeg"}
    given: Any = {"messages": [HumanMessage(content=[image], id="1")]}
    if place == "channel":
        given = {"messages": [HumanMessage("Where is this?", id="1")], "photo": photo}

    def speak(state: State) -> dict[str, Any]:
        return {"messages": [AIMessage("Lisbon", id="2")]}

    graph = StateGraph(State).add_node(speak).add_edge(START, "speak")
    told = graph.compile(checkpointer=savers()).invoke(given, config)
    assert told == {**given, "messages": [*given["messages"], AIMessage("Lisbon", id="2")]}
    assert graph.compile(checkpointer=savers()).get_state(config).values == told
