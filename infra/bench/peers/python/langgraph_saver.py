"""LangGraph with DynamoDBSaver: a graph of one agent, invoked once a turn."""

import sys
import uuid
from typing import Any

from bench import ENDPOINT, REGION, Peer, create_table, serve
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from langgraph_checkpoint_aws import DynamoDBSaver

BEST = "best" in sys.argv
TABLE = "langgraph-best" if BEST else "langgraph"


def config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}


class LangGraph(Peer):
    def __init__(self, durability: str | None, compressed: bool) -> None:
        self.options: Any = {"durability": durability} if durability else {}
        self.saver = DynamoDBSaver(
            table_name=TABLE,
            endpoint_url=ENDPOINT,
            region_name=REGION,
            enable_checkpoint_compression=compressed,
        )
        graph = StateGraph(MessagesState)
        graph.add_node("agent", lambda state: {"messages": [AIMessage(self.answer)]})
        graph.add_edge(START, "agent")
        self.graph = graph.compile(checkpointer=self.saver)
        self.answer = ""

    def turn(self, thread: str, question: str, answer: str) -> None:
        self.answer = answer
        self.graph.invoke({"messages": [HumanMessage(question)]}, config(thread), **self.options)

    def load(self, thread: str) -> list[str]:
        return [str(m.content) for m in self.graph.get_state(config(thread)).values["messages"]]

    def before_newest(self, thread: str) -> Any:
        """Returns the newest state that does not have the newest turn, and waits for none."""
        whole = None
        for state in self.graph.get_state_history(config(thread)):
            messages = len(state.values.get("messages", []))
            whole = whole or messages
            if messages == whole - 2 and not state.next:
                return state
        raise LookupError("no checkpoint is older than the newest turn")

    def rewind(self, thread: str) -> None:
        self.graph.update_state(self.before_newest(thread).config, None)

    def fork(self, thread: str, into: str) -> None:
        values = self.before_newest(thread).values
        self.graph.update_state(config(into), values, as_node="agent")

    def stream(self, thread: str, question: str, parts: list[str]) -> None:
        self.graph.update_state(config(thread), {"messages": [HumanMessage(question)]}, as_node="agent")
        item, text = str(uuid.uuid4()), ""
        for part in parts:
            text += part
            self.graph.update_state(config(thread), {"messages": [AIMessage(text, id=item)]}, as_node="agent")


if __name__ == "__main__":
    create_table(TABLE, PK="HASH", SK="RANGE")
    serve(LangGraph("exit", True) if BEST else LangGraph(None, False))
