"""Tests of `adk web` and `adk api_server` with Rethread's services, over HTTP."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from guide import APP
from local import LocalSystem
from rethread_client.adk import DeniedError
from rethread_client.adk.registry import address, environment_token
from served import ADK, HERE, Served, agents_folder


@contextmanager
def served(program: str, folder: Path, system: LocalSystem, user: str) -> Iterator[Served]:
    server = Served(program, folder, system, user)
    try:
        yield server
    finally:
        server.stop()


def rethread(system: LocalSystem, user: str, method: str, where: str, body: Any = None) -> Any:
    """Sends a request to Rethread itself and returns the response's data."""
    response = httpx.request(
        method,
        f"{system.url}/api/v1/sessions/{where}".rstrip("/"),
        json=body,
        headers={"Authorization": f"Bearer {system.token(user)}"},
    )
    assert response.is_success, response.text
    return response.json()["data"]


def test_a_session_of_adk_web_is_rewound_by_the_api_and_continued_by_adk_api_server(
    system: LocalSystem, user: str, tmp_path: Path
) -> None:
    folder = agents_folder(tmp_path)
    with served("web", folder, system, user) as web:
        made = web.sessions("POST", body={"state": {"currency": "EUR"}}).json()
        assert (made["userId"], made["state"], made["events"]) == (user, {"currency": "EUR"}, [])
        session = made["id"]
        assert web.run(session, "book Lisbon").status_code == 200
        porto = web.run(session, "book Porto", stream=True)
        events = [json.loads(line[6:]) for line in porto.text.splitlines() if line.startswith("data: ")]
        assert web.texts(session) == [
            "book Lisbon",
            "Done: {'ticket': 0}",
            "book Porto",
            "Done: {'ticket': 1}",
        ]
        assert web.get(f"/{session}/artifacts") == ["map.png", "ticket.txt"]
        assert web.get(f"/{session}/artifacts/ticket.txt") == {"text": "To Porto"}
        assert web.get(f"/{session}/artifacts/ticket.txt/versions") == [0, 1]

        rewind = {"rewind_before_invocation_id": events[-1]["invocationId"]}
        rethread(system, user, "POST", f"{session}/rewind", rewind)
        now = web.get(f"/{session}")
        assert web.texts(session) == ["book Lisbon", "Done: {'ticket': 0}"]
        assert now["state"] == {"currency": "EUR", "city": "Lisbon", "trips": 1, "user:last": "Lisbon"}
        assert web.get(f"/{session}/artifacts") == ["ticket.txt"]
        assert web.get(f"/{session}/artifacts/ticket.txt") == {"text": "To Lisbon"}

    with served("api_server", folder, system, user) as api:
        assert api.get(f"/{session}") == now
        changed = api.sessions("PATCH", f"/{session}", body={"stateDelta": {"currency": "CHF"}}).json()
        assert changed["state"]["currency"] == "CHF"
        assert api.run(session, "book Faro").status_code == 200
        state = {"currency": "CHF", "city": "Faro", "trips": 2, "user:last": "Faro"}
        assert api.get(f"/{session}")["state"] == state
        assert rethread(system, user, "GET", f"{session}/state")["merged"] == state
        note = {"filename": "note.txt", "artifact": {"text": "ü"}}
        assert api.sessions("POST", f"/{session}/artifacts", body=note).json()["version"] == 0
        assert api.get(f"/{session}/artifacts/note.txt") == {"text": "ü"}

        assert [s["id"] for s in api.get()] == [session]
        assert api.sessions("DELETE", f"/{session}").status_code == 200
        assert api.sessions("GET", f"/{session}").status_code == 404
        assert api.get() == []


def test_adk_run_keeps_its_session(system: LocalSystem, tmp_path: Path) -> None:
    folder = agents_folder(tmp_path)
    (folder / "services.py").rename(folder / APP / "services.py")
    uri = system.url.replace("http://", "rethread://")
    done = subprocess.run(
        [ADK, "run", f"--session_service_uri={uri}", f"--artifact_service_uri={uri}", str(folder / APP)],
        input="book Lisbon\nhello\nexit\n",
        env={**os.environ, "PYTHONPATH": str(HERE), "RETHREAD_TOKEN": system.token("test_user")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "You said: hello" in done.stdout
    (made,) = rethread(system, "test_user", "GET", "")
    events = rethread(system, "test_user", "GET", f"{made['id']}/events")
    said = [p["text"] for e in events for p in (e.get("content") or {}).get("parts", []) if "text" in p]
    assert said == ["book Lisbon", "Done: {'ticket': 0}", "hello", "You said: hello"]
    artifacts = rethread(system, "test_user", "GET", f"{made['id']}/artifacts")
    assert [a["name"] for a in artifacts] == ["ticket.txt"]


# How often two servers run the agent in one session at the same time.
ROUNDS = 30


def test_runs_of_two_servers_in_one_session_lose_nothing(
    system: LocalSystem, user: str, tmp_path: Path
) -> None:
    """The run that falls behind fails with ADK's StaleSessionError. What was said to
    and by the agent is in the log exactly if no error says otherwise."""
    folder = agents_folder(tmp_path)
    with (
        served("api_server", folder, system, user) as one,
        served("api_server", folder, system, user) as two,
        ThreadPoolExecutor(2) as both,
    ):
        session = one.sessions("POST").json()["id"]
        won: list[str] = []
        for n in range(ROUNDS):
            said = [f"one {n}", f"two {n}"]
            runs = list(both.map(lambda s, text: s.run(session, text), (one, two), said))
            assert {r.status_code for r in runs} <= {200, 500}
            won += [text for text, run in zip(said, runs, strict=True) if run.status_code == 200]
        stored = one.texts(session)
        assert two.texts(session) == stored
        assert one.run(session, "the end").status_code == 200
        printed = one.said + two.said

    lost = 2 * ROUNDS - len(won)
    print(f"{ROUNDS} rounds of two runs: {len(won)} succeeded, {lost} were stale")
    assert len(re.findall(r"^\S+\.StaleSessionError: ", printed, re.MULTILINE)) == lost > 0
    assert len(won) >= ROUNDS
    assert len(stored) == len(set(stored)), "an event is stored twice"
    for text in won:
        assert stored.count(text) == stored.count(f"You said: {text}") == 1
    for text in stored:
        # The end of a run that fell behind is missing, and never its beginning alone.
        assert text.removeprefix("You said: ") in stored


def test_another_user_than_the_tokens_is_refused(system: LocalSystem, user: str, tmp_path: Path) -> None:
    with served("api_server", agents_folder(tmp_path), system, user) as api:
        session = api.sessions("POST").json()["id"]
        made = api.sessions("POST", user="somebody-else")
        for method, where in (("GET", ""), ("GET", f"/{session}"), ("DELETE", f"/{session}")):
            assert api.sessions(method, where, user="somebody-else").status_code == 500
        assert [s["id"] for s in api.get()] == [session]

    assert made.status_code == 500
    assert made.json()["detail"] == f"RETHREAD_TOKEN belongs to '{user}', not to 'somebody-else'"


@pytest.mark.parametrize(
    ("uri", "want"),
    [
        ("rethread://rethread.example.com", "https://rethread.example.com"),
        ("rethread://api.example.com:8443/prod/", "https://api.example.com:8443/prod"),
        ("rethread://127.0.0.1:3000", "http://127.0.0.1:3000"),
        ("rethread://[::1]:3000", "http://[::1]:3000"),
        ("rethread://localhost:3000/", "http://localhost:3000"),
        ("rethread://127.0.0.1.example.com", "https://127.0.0.1.example.com"),
        ("rethread+http://rethread:3000", "http://rethread:3000"),
        ("rethread+https://localhost", "https://localhost"),
    ],
)
def test_a_uri_names_the_api(uri: str, want: str) -> None:
    assert address(uri) == want


@pytest.mark.parametrize(
    "uri",
    [
        "rethread:host",
        "rethread://",
        "https://host",
        "rethread://user:secret@host",
        "rethread://host?token=secret",
        "rethread://host#secret",
    ],
)
def test_a_uri_with_more_or_less_than_an_address_is_refused(uri: str) -> None:
    with pytest.raises(ValueError, match="The URI of Rethread's services") as refused:
        address(uri)
    assert "secret" not in str(refused.value)


def test_the_environments_token_is_for_its_user_alone(
    system: LocalSystem, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RETHREAD_TOKEN", raising=False)
    with pytest.raises(DeniedError, match="RETHREAD_TOKEN is not set"):
        environment_token(user)

    token = system.token(user)
    monkeypatch.setenv("RETHREAD_TOKEN", token)
    assert environment_token(user) == environment_token("") == token
    with pytest.raises(DeniedError, match="not to 'somebody-else'"):
        environment_token("somebody-else")

    monkeypatch.setenv("RETHREAD_TOKEN", "opaque")
    assert environment_token(user) == "opaque"
