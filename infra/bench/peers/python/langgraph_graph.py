"""A graph of one agent in LangGraph, invoked once a turn, with any saver."""

import uuid
from typing import Any

from bench import Peer
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import START, MessagesState, StateGraph


def config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


class LangGraph(Peer):
    """Turns use one saver; what reads a thread uses a new one, which remembers nothing."""

    def __init__(self, durability: str | None) -> None:
        self.options: Any = {"durability": durability} if durability else {}
        self.answer = ""
        self.graph = self.compiled()

    def saver(self) -> BaseCheckpointSaver[Any]:
        raise NotImplementedError

    def compiled(self) -> Any:
        graph = StateGraph(MessagesState)
        graph.add_node("agent", lambda state: {"messages": [AIMessage(self.answer)]})
        graph.add_edge(START, "agent")
        return graph.compile(checkpointer=self.saver())

    def turn(self, thread: str, question: str, answer: str) -> None:
        self.answer = answer
        self.graph.invoke({"messages": [HumanMessage(question)]}, config(thread), **self.options)

    def load(self, thread: str) -> list[str]:
        return [str(m.content) for m in self.compiled().get_state(config(thread)).values["messages"]]

    def before_newest(self, graph: Any, thread: str) -> Any:
        """Returns the newest state that does not have the newest turn, and waits for none."""
        whole = None
        for state in graph.get_state_history(config(thread)):
            messages = len(state.values.get("messages", []))
            whole = whole or messages
            if messages == whole - 2 and not state.next:
                return state
        raise LookupError("no checkpoint is older than the newest turn")

    def rewind(self, thread: str) -> None:
        graph = self.compiled()
        graph.update_state(self.before_newest(graph, thread).config, None)

    def fork(self, thread: str, into: str) -> None:
        graph = self.compiled()
        values = self.before_newest(graph, thread).values
        graph.update_state(config(into), values, as_node="agent")

    def stream(self, thread: str, question: str, parts: list[str]) -> None:
        self.graph.update_state(config(thread), {"messages": [HumanMessage(question)]}, as_node="agent")
        item, text = str(uuid.uuid4()), ""
        for part in parts:
            text += part
            self.graph.update_state(config(thread), {"messages": [AIMessage(text, id=item)]}, as_node="agent")
