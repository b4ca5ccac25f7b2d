"""A story with OpenAI's Agents SDK, whose Responses model is an agent of Rethread."""

from __future__ import annotations

import asyncio
import json

from agents import Agent, OpenAIResponsesModel, RunConfig, Runner, function_tool
from openai import AsyncOpenAI

from checks import URL, check, end, new_user, part, token

called: list[str] = []


@function_tool
def get_weather(location: str) -> str:
    """The weather at a place."""
    called.append(location)
    return "64 degrees"


async def play(name: str) -> None:
    client = AsyncOpenAI(base_url=URL + "/v1", api_key=token(new_user()))
    model = OpenAIResponsesModel(model=name, openai_client=client)
    agent = Agent(name="helper", instructions="Be short.", model=model, tools=[get_weather])
    quiet = RunConfig(tracing_disabled=True)

    got = json.loads((await Runner.run(agent, "report", run_config=quiet)).final_output)
    check(f"{name}: instructions", "Be short." in "\n".join(got["system"]), got["system"])
    check(f"{name}: tools", got["tools"] == ["configured", "get_weather"], got["tools"])

    before = len(called)
    result = await Runner.run(agent, "What is the weather?", run_config=quiet)
    check(f"{name}: the tool was called", called[before:] == ["San Francisco, CA"], called)
    check(f"{name}: its result", "64 degrees" in result.final_output, result.final_output)

    streamed = Runner.run_streamed(agent, "What is the weather?", run_config=quiet)
    kinds = [e.data.type async for e in streamed.stream_events() if e.type == "raw_response_event"]
    check(f"{name}: a stream", "64 degrees" in str(streamed.final_output), streamed.final_output)
    check(f"{name}: its events", kinds.count("response.completed") == 2, kinds)

    first = await Runner.run(agent, "code papaya", run_config=quiet)
    by_history = await Runner.run(agent, [*first.to_input_list(), {"role": "user", "content": "recall code"}], run_config=quiet)
    check(f"{name}: the SDK's own history", by_history.final_output == "papaya", by_history.final_output)
    by_id = await Runner.run(agent, "recall code", run_config=quiet, previous_response_id=first.last_response_id)
    check(f"{name}: the history of a response", by_id.final_output == "papaya", by_id.final_output)
    conversation = await client.conversations.create()
    for text in ("code mango", "recall code"):
        last = await Runner.run(agent, text, run_config=quiet, conversation_id=conversation.id)
    check(f"{name}: a conversation", last.final_output == "mango", last.final_output)


async def main() -> None:
    for name in ("model-chat", "model-responses"):
        await part(name, lambda: play(name))  # noqa: B023, it is awaited at once
    end()


asyncio.run(main())
