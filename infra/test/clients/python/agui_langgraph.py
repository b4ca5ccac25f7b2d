"""An AG-UI server: a graph of LangGraph that keeps a checkpoint for each thread."""

from __future__ import annotations

import os
from typing import Any

import uvicorn
from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from fastapi import FastAPI
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import interrupt


class State(MessagesState, total=False):
    turns: int


async def speak(state: State, config: RunnableConfig) -> dict[str, Any]:
    """Says how much it knows: what is in the checkpoint twice shows."""
    known = state["messages"]
    said = str(known[-1].content)
    turns = state.get("turns", 0) + 1
    if said == "plain":  # without a model, so nothing streams
        return {"messages": [AIMessage(content="Plainly.")], "turns": turns}
    if said == "ask":
        decided = interrupt({"message": "Are you sure?", "reason": "consent"})
        text = f"You decided: {decided}."
    else:
        text = f"Message {len(known)}: {' / '.join(str(m.content) for m in known if m.type == 'human')}"
    model = GenericFakeChatModel(messages=iter([AIMessage(content=text)]))
    return {"messages": [await model.ainvoke(known, config)], "turns": turns}


graph = StateGraph(State)
graph.add_node("speak", speak)
graph.add_edge(START, "speak")
graph.add_edge("speak", END)

app = FastAPI()
agent = LangGraphAgent(
    name="scripted",
    graph=graph.compile(checkpointer=MemorySaver()),
    emit_interrupt_outcome=True,
)
add_langgraph_fastapi_endpoint(app, agent, "/")
uvicorn.run(app, port=int(os.environ["PORT"]), log_level="info")
