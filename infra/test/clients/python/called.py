"""A session whose agent the system calls, for stories about the kinds of agents."""

from __future__ import annotations

import time
from typing import Any

import httpx

from checks import URL, new_user, token

TIMEOUT = 30


class Failed(Exception):
    """The system refused a request."""


class Session:
    """A session of a new user, or another one of the same user."""

    def __init__(self, agent: str, http: httpx.Client | None = None, id: str = "", **members: Any) -> None:
        self.http = http or httpx.Client(
            base_url=URL + "/api/v1",
            headers={"Authorization": "Bearer " + token(new_user())},
            timeout=TIMEOUT,
        )
        self.agent = agent
        self.id = id or self.call("POST", "/sessions", {"agent": agent, **members})["id"]

    def call(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.http.request(method, path, json=body)
        if answer.is_error:
            raise Failed(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()["data"] if answer.content else None

    def path(self, rest: str = "") -> str:
        return f"/sessions/{self.id}{rest}"

    def start(self, *parts: dict[str, Any]) -> str:
        """Starts a run whose input has these parts, and returns its id."""
        body = {"input": [{"content": {"role": "user", "parts": list(parts)}}]}
        self.call("POST", self.path("/runs"), body)
        # the run may have ended, so the answer need not name it
        inputs = [e["invocation_id"] for e in self.events() if e["author"] == "user"]
        run: str = inputs[-1]
        return run

    def wait(self, run: str) -> dict[str, Any]:
        """Waits for the end of a run and returns the run."""
        until = time.monotonic() + TIMEOUT
        while True:
            found: dict[str, Any] = self.call("GET", self.path(f"/runs/{run}"))
            if found["status"] != "in_progress":
                return found
            if time.monotonic() > until:
                raise Failed(f"run {run} does not end")
            time.sleep(0.05)

    def say(self, *parts: dict[str, Any] | str) -> Turn:
        """Runs the agent with an input, of texts or other parts, to the end."""
        run = self.start(*({"text": p} if isinstance(p, str) else p for p in parts))
        return Turn(self.wait(run), self.events(run))

    def answer(self, id: str, name: str, response: Any) -> Turn:
        """Answers a long-running call."""
        return self.say({"function_response": {"id": id, "name": name, "response": response}})

    def events(self, run: str = "") -> list[dict[str, Any]]:
        """The effective events, or those of the agent in a run."""
        found = self.call("GET", self.path("/events?limit=200"))
        if not run:
            return list(found)
        return [e for e in found if e["invocation_id"] == run and e["author"] not in ("user", "system")]

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = self.call("GET", self.path("/state"))["merged"]
        return found

    def rewind(self, run: str) -> None:
        self.call("POST", self.path("/rewind"), {"rewind_before_invocation_id": run})

    def fork(self) -> Session:
        forked = self.call("POST", self.path("/fork"), {})
        return Session(self.agent, self.http, forked.get("id") or forked["session"]["id"])

    def cancel(self, run: str) -> None:
        self.call("POST", self.path(f"/runs/{run}/cancel"))


class Turn:
    """A run and the agent's events in it."""

    def __init__(self, run: dict[str, Any], events: list[dict[str, Any]]) -> None:
        self.run, self.events = run, events
        self.id: str = run["id"]
        self.status: str = run["status"]
        self.error: dict[str, Any] = run["error"] or {}

    def parts(self, kind: str = "") -> list[dict[str, Any]]:
        every = [p for e in self.events for p in (e.get("content") or {}).get("parts", [])]
        return [p[kind] for p in every if kind in p] if kind else every

    def text(self, thought: bool = False) -> str:
        return "".join(p["text"] for p in self.parts() if "text" in p and p.get("thought", False) == thought)

    def long_running(self) -> list[str]:
        return [id for e in self.events for id in e.get("long_running_tool_ids") or []]

    def __repr__(self) -> str:
        return f"{self.run} {self.events}"
