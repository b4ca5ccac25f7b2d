"""An agent served by `adk web` or `adk api_server`, and its HTTP API."""

from __future__ import annotations

import os
import re
import sysconfig
from pathlib import Path
from typing import Any

import httpx

from guide import APP
from local import ROOT, LocalSystem, Server

HERE = Path(__file__).resolve().parent
_PAGE = ROOT / "docs" / "adk-python.md"
ADK = Path(sysconfig.get_path("scripts")) / "adk"

_AGENT = """
from google.adk.agents import LlmAgent

from guide import ScriptedModel, book

root_agent = LlmAgent(name="guide", model=ScriptedModel(prompts=[]), tools=[book])
"""


def agents_folder(folder: Path) -> Path:
    """Fills a folder as docs/adk-python.md says: an agent, and services.py."""
    text = _PAGE.read_text()
    services = re.search(r"```python\n# services.py\n(.*?)```", text, re.DOTALL)
    assert services is not None
    (folder / "services.py").write_text(services[1])
    (folder / APP).mkdir()
    (folder / APP / "__init__.py").touch()
    (folder / APP / "agent.py").write_text(_AGENT)
    return folder


class Served(Server):
    """ADK's server for one user's sessions of one app."""

    def __init__(self, program: str, folder: Path, system: LocalSystem, user: str) -> None:
        uri = system.url.replace("http://", "rethread://")
        super().__init__(
            [
                str(ADK),
                program,
                "--port=0",
                f"--session_service_uri={uri}",
                f"--artifact_service_uri={uri}",
                str(folder),
            ],
            r"Uvicorn running on (http://\S+)",
            folder,
            {"PYTHONPATH": f"{HERE}{os.pathsep}{HERE.parent}", "RETHREAD_TOKEN": system.token(user)},
        )
        self.user = user

    def sessions(
        self, method: str, where: str = "", *, user: str | None = None, body: Any = None
    ) -> httpx.Response:
        """Sends a request to a path below the user's sessions."""
        return self._send(method, f"/apps/{APP}/users/{user or self.user}/sessions{where}", body)

    def _send(self, method: str, where: str, body: Any) -> httpx.Response:
        """Sends a request over a connection of its own, because the server closes one
        after an error."""
        return httpx.request(method, self.url + where, json=body, timeout=60)

    def get(self, where: str = "") -> Any:
        response = self.sessions("GET", where)
        response.raise_for_status()
        return response.json()

    def run(self, session_id: str, text: str, *, stream: bool = False) -> httpx.Response:
        """Sends a message to the agent and waits for the end of its run."""
        body = {
            "app_name": APP,
            "user_id": self.user,
            "session_id": session_id,
            "new_message": {"role": "user", "parts": [{"text": text}]},
            "streaming": stream,
        }
        return self._send("POST", "/run_sse" if stream else "/run", body)

    def texts(self, session_id: str) -> list[str]:
        """The texts of a session's events, in order."""
        return [
            part["text"]
            for event in self.get("/" + session_id)["events"]
            for part in event.get("content", {}).get("parts", [])
            if "text" in part
        ]
