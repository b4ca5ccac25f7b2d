"""LangGraph's runner gets the same from this saver as from its own in memory."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import create_react_agent
from langgraph.types import Command

from graphs import AsyncSavers, Savers, graph, history, question, story


@pytest.mark.parametrize("durability", ["exit", "async", "sync"])
@pytest.mark.parametrize("nested", [False, True])
def test_a_story_with_interrupts_time_travel_and_edits(
    savers: Savers, config: RunnableConfig, nested: bool, durability: str
) -> None:
    expected = story(graph(InMemorySaver(), nested), config, durability)
    told = story(graph(savers(), nested), config, durability)
    assert told == expected
    assert history(graph(savers(), nested), config) == expected[-1], "as a new process reads it"


@pytest.mark.parametrize("durability", ["exit", "async"])
async def test_a_graph_that_runs_asynchronously(
    asavers: AsyncSavers, savers: Savers, config: RunnableConfig, durability: Any
) -> None:
    compiled = graph(asavers(), nested=True)
    await compiled.ainvoke(question("one"), config, durability=durability)
    done = await graph(asavers(), nested=True).ainvoke(Command(resume="yes"), config, durability=durability)
    assert [message.id for message in done["messages"]] == ["h-one", "a1", "t2", "f3"]
    states = [state async for state in compiled.aget_state_history(config, limit=2)]
    assert states[0].values == done
    known = await asyncio.to_thread(graph(savers(), nested=True).get_state, config)
    assert known.values == done, "as the synchronous saver reads it"


async def test_many_graphs_at_the_same_time(asavers: AsyncSavers) -> None:
    compiled = graph(asavers(), nested=False)

    async def one(number: int) -> int:
        config: RunnableConfig = {"configurable": {"thread_id": str(uuid.uuid4())}}
        await compiled.ainvoke(question(str(number)), config)
        done = await compiled.ainvoke(Command(resume=number), config)
        return len(done["messages"])

    assert await asyncio.gather(*(one(number) for number in range(10))) == [4] * 10


class Scripted(BaseChatModel):
    """A model that calls a tool once, and then answers."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        call = {"id": "c1", "name": "weather", "args": {"city": "Lisbon"}}
        usage = {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}
        said = (
            AIMessage("It is sunny.", usage_metadata=usage)
            if messages[-1].type == "tool"
            else AIMessage("", tool_calls=[call], response_metadata={"model": "scripted", "score": 0.25})
        )
        return ChatResult(generations=[ChatGeneration(message=said)])


@tool
def weather(city: str) -> str:
    """Returns the weather."""
    return f"sunny in {city}"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_prebuilt_agent(savers: Savers, config: RunnableConfig) -> None:
    agent = create_react_agent(Scripted(), [weather], checkpointer=savers())
    for turn in range(2):
        said = agent.invoke({"messages": [("user", f"Weather {turn}?")]}, config)["messages"]
    assert [message.type for message in said] == ["human", "ai", "tool", "ai"] * 2
    again = create_react_agent(Scripted(), [weather], checkpointer=savers())
    assert again.get_state(config).values["messages"] == said
