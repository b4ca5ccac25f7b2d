"""Runs the programs in docs/examples, which have less than 150 lines."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest
from agents import set_tracing_disabled

from local import ROOT, LocalSystem
from rethread_client import Rethread
from served import Served
from test_openai_agents import Echo, guide

EXAMPLES = ROOT / "docs" / "examples"


def test_the_examples_are_short_and_known() -> None:
    programs = list(EXAMPLES.rglob("*.py"))
    # that of LangGraph runs in checkpoints/test_langgraph_example.py, the others run below
    folders = {path.relative_to(EXAMPLES).parts[0] for path in programs}
    assert folders == {"adk-web", "langgraph", "openai-agents"}
    for program in programs:
        assert len(program.read_text().splitlines()) < 150, program


async def test_two_people_watch_an_agent_of_the_agents_sdk(
    system: LocalSystem, user: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_tracing_disabled(True)
    monkeypatch.setenv("RETHREAD_URL", system.url)
    spec = importlib.util.spec_from_file_location("watched", EXAMPLES / "openai-agents" / "watched.py")
    assert spec is not None
    assert spec.loader is not None
    watched = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(watched)
    await watched.main(guide(Echo()), ["one", "book Porto"], alice=user, bob=f"{user}-bob")
    said = capsys.readouterr().out.splitlines()
    shown = [
        "one",
        "You said: one",
        "book Porto",
        'book({"city": "Porto"})',
        "ticket to Porto",
        "Done: ticket to Porto",
    ]
    for name in ("Alice", "Bob"):
        expected = [*(f"{name} sees: {text}" for text in shown), f"{name} sees a rewind"]
        assert [line for line in said if line.startswith(name)] == expected


def test_an_agent_in_adk_web(system: LocalSystem, user: str, client: Rethread, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(EXAMPLES / "adk-web" / "agents", tmp_path / "agents"))
    web = Served("web", folder, system, user)
    try:
        session = web.sessions("POST", body={}).json()["id"]
        for city in ("Lisbon", "Porto"):
            assert web.run(session, city).status_code == 200
        before = next(
            event["invocation_id"]
            for event in client.events.list(session)
            if (event["content"] or {}).get("parts") == [{"text": "Porto"}]
        )
        client.sessions.rewind(session, {"rewind_before_invocation_id": before})
        assert web.texts(session) == ["Lisbon", "Trip 1 goes to Lisbon."]
        assert web.get(f"/{session}")["state"] == {"trips": 1}
        assert web.get(f"/{session}/artifacts/ticket.txt") == {"text": "To Lisbon"}
    finally:
        web.stop()
