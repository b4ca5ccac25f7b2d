"""Runs the programs of docs/clients.md."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from agents import set_tracing_disabled
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langgraph.graph import MessagesState

import test_openai_agents
import test_strands
from local import ROOT, LocalSystem


def program(name: str, system: LocalSystem, user: str) -> Any:
    """Returns the function `main` of a program, with a session of its own."""
    text = (ROOT / "docs" / "clients.md").read_text()
    (source,) = re.findall(rf"```python\n# {name}\n(.*?)```", text, re.DOTALL)
    source = source.replace("http://127.0.0.1:3000", system.url)
    source = re.sub(r'"trip-\d"', repr(f"trip-{uuid.uuid4()}"), source)
    names: dict[str, Any] = {"token": system.token(user)}
    exec(compile(source, name, "exec", dont_inherit=True), names)
    return names["main"]


async def test_the_program_for_the_agents_sdk(
    system: LocalSystem, user: str, capsys: pytest.CaptureFixture[str]
) -> None:
    set_tracing_disabled(True)
    main = program("openai_agents", system, user)
    await main(test_openai_agents.guide(test_openai_agents.Echo()))
    assert capsys.readouterr().out.splitlines() == ["You said: Lisbon in May?", "You said: And Porto?", "3"]


def test_the_program_for_langchain(
    system: LocalSystem, user: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = (AIMessage(content=text) for text in ("one", "two"))
    program("langchain", system, user)(GenericFakeChatModel(messages=answers))
    assert capsys.readouterr().out.splitlines() == ["one", "two"]


def test_the_program_for_langgraph(
    system: LocalSystem, user: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def speak(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage(f"You said: {state['messages'][-1].content}")]}

    program("langgraph", system, user)(speak)
    shown = [line for text in ("Lisbon in May?", "And Faro?") for line in (text, f"You said: {text}")]
    assert capsys.readouterr().out.splitlines() == shown


def test_the_program_for_strands(system: LocalSystem, user: str, capsys: pytest.CaptureFixture[str]) -> None:
    program("strands", system, user)(test_strands.Echo())
    assert "You said: Lisbon in May?" in capsys.readouterr().out
