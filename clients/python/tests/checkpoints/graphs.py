"""A graph with a tool that asks, a story with it, what LangGraph says about the story, and checkpoints."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Annotated, Any

from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, Checkpoint, CheckpointMetadata, empty_checkpoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from rethread_client.langgraph import AsyncRethreadSaver, RethreadSaver

# Each call makes a saver that knows nothing yet.
Savers = Callable[..., RethreadSaver]
AsyncSavers = Callable[..., AsyncRethreadSaver]

LOOP: CheckpointMetadata = {"source": "loop", "step": 1, "parents": {}}


def checkpoint(values: dict[str, Any], version: int = 1) -> Checkpoint:
    """Returns a new checkpoint with these values of channels."""
    made = empty_checkpoint()
    made["channel_values"] = values
    made["channel_versions"] = dict.fromkeys(values, version)
    return made


class State(MessagesState):
    log: Annotated[list[Any], operator.add]
    count: int


def ask(state: State) -> dict[str, Any]:
    messages = state["messages"]
    call = {"id": "c1", "name": "search", "args": {"for": 1}}
    return {
        "messages": [AIMessage(f"About {messages[-1].content}", id=f"a{len(messages)}", tool_calls=[call])]
    }


def tool(state: State) -> dict[str, Any]:
    allowed = interrupt({"question": "May I?"})
    result = ToolMessage(
        f"result {allowed}", tool_call_id="c1", name="search", id=f"t{len(state['messages'])}"
    )
    return {"messages": [result], "count": state.get("count", 0) + 1, "log": ["tool", {"count": [1, 0.5]}]}


def answer(state: State) -> dict[str, Any]:
    return {"messages": [AIMessage("Done.", id=f"f{len(state['messages'])}")], "log": [{"answer": 1}]}


def graph(saver: BaseCheckpointSaver[Any], nested: bool) -> Any:
    """Compiles the graph; nested, its tool is in a graph below."""
    inner = StateGraph(State).add_node(ask).add_node(tool).add_edge(START, "ask").add_edge("ask", "tool")
    if nested:
        outer = StateGraph(State).add_node("work", inner.compile()).add_edge(START, "work")
        outer.add_node(answer).add_edge("work", "answer")
    else:
        outer = inner.add_node(answer).add_edge("tool", "answer")
    return outer.compile(checkpointer=saver)


def question(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text, id=f"h-{text}")]}


def history(compiled: Any, config: RunnableConfig) -> str:
    """Returns all states of a thread, with numbers instead of ids and without times."""
    states = list(compiled.get_state_history(config))
    numbers = {state.config["configurable"]["checkpoint_id"]: at for at, state in enumerate(reversed(states))}
    seen = []
    for state in states:
        parent = (state.parent_config or {"configurable": {}})["configurable"].get("checkpoint_id")
        metadata = {name: value for name, value in state.metadata.items() if name != "parents"}
        tasks = [(t.name, [i.value for i in t.interrupts], t.result, t.error) for t in state.tasks]
        where = numbers[state.config["configurable"]["checkpoint_id"]], numbers.get(parent)
        seen.append((where, state.values, state.next, metadata, tasks))
    return text_of(seen)


def text_of(result: object) -> str:
    return re.sub(r"id='[0-9a-f]{32}'", "", repr(result))  # ids of interrupts are those of checkpoints


def story(compiled: Any, config: RunnableConfig, durability: str) -> list[str]:
    """Plays turns with interrupts, goes back to one of them twice, edits and removes a message."""
    told: list[object] = []

    def run(given: object, where: RunnableConfig = config) -> None:
        told.append(compiled.invoke(given, where, durability=durability))

    for turn in ("one", "two"):
        run(question(turn))
        run(Command(resume=f"yes {turn}"))
    told.append(history(compiled, config))
    asked = [s for s in compiled.get_state_history(config) if s.tasks and s.tasks[0].interrupts][-1]
    run(Command(resume="otherwise"), asked.config)
    told.append(history(compiled, config))
    edited = {"messages": [HumanMessage("one, edited", id="h-one")]}
    run(None, compiled.update_state(asked.config, edited))
    run(Command(resume="again"))
    compiled.update_state(config, {"messages": [RemoveMessage(id="h-one")], "count": 5})
    run(question("three"))
    told.append(history(compiled, config))
    return [result if isinstance(result, str) else text_of(result) for result in told]
