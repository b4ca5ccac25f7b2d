"""Runs the programs in the documents."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest
from google.adk.agents import LlmAgent

from guide import ScriptedModel, message, texts
from local import ROOT, LocalSystem

PAGE = ROOT / "docs" / "adk-python.md"


def python_of(document: Path) -> str:
    """The first Python program in a document that uses this package."""
    programs: list[str] = re.findall(r"```python\n(.*?)```", document.read_text(), re.DOTALL)
    return next(program for program in programs if "Rethread" in program)


def test_a_program_prints_the_lines_in_its_comments(
    system: LocalSystem, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = python_of(PAGE)
    said = re.findall(r"# (That is line .*|.* in the fork .*|.* again)$", program, re.MULTILINE)
    assert len(said) == 5

    monkeypatch.setenv("RETHREAD_URL", system.url)
    exec(compile(program, str(PAGE), "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out.splitlines() == said


# Completes the snippet of docs/agents.md to a program with a chat and a rewind.
PROGRAM = """
from google.adk.runners import Runner
from rethread_client.adk import AdkClient, RethreadArtifactService, RethreadSessionService

async def main():
{snippet}
    sessions = runner.session_service
    session = await sessions.create_session(app_name="trips", user_id=user)
    where = {{"user_id": user, "session_id": session.id}}
    for text in ("one", "two"):
        async for event in runner.run_async(**where, new_message=message(text)):
            turn = event.invocation_id
    await runner.rewind_async(**where, rewind_before_invocation_id=turn)
    session = await sessions.get_session(app_name="trips", **where)
    await runner.close()
    await client.aclose()
    return session.events
"""


async def test_the_snippet_of_docs_agents_runs(system: LocalSystem, user: str) -> None:
    snippet = python_of(ROOT / "docs" / "agents.md").replace("http://127.0.0.1:3000", system.url)
    guide = LlmAgent(name="guide", model=ScriptedModel(prompts=[]))
    names: dict[str, Any] = {"guide": guide, "message": message, "token": system.token, "user": user}
    exec(PROGRAM.format(snippet=textwrap.indent(snippet, "    ")), names)
    assert texts(await names["main"]()) == ["one", "You said: one"]
