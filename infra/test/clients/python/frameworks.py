"""Uses the agents that docs/agents.md and docs/frameworks.md configure, and runs the clients that
docs/frameworks.md shows, and the A2A server of docs/adk-python.md."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import httpx
from a2a.client import A2ACardResolver, AgentCardResolutionError, ClientConfig, ClientFactory
from a2a.helpers import new_text_message
from a2a.types import Role, SendMessageRequest, Task

from called import Session
from checks import URL, check, end, part, token

ROOT = Path(__file__).parents[4]
AGENTS, FRAMEWORKS = ((ROOT / "docs" / name).read_text() for name in ("agents.md", "frameworks.md"))
NAMES = [
    name
    for shown in re.findall(r"AGENTS='(\{.*?\})'", AGENTS + FRAMEWORKS, re.DOTALL)
    for name in json.loads(shown)
]
SAID = "You said: hello"
TOLD = "You said: The conversation so far:\n\nuser: hello\n"


async def agent(name: str) -> None:
    """Runs an agent, rewinds and forks its session."""
    want = "success (no tool calls)" if name == "tester" else SAID
    session = await asyncio.to_thread(Session, name)
    first = await asyncio.to_thread(session.say, "hello")
    check(f"{name}: the answer", (first.status, first.text()) == ("completed", want), first.run, first.events)
    second = await asyncio.to_thread(session.say, "hello")
    check(f"{name}: the second answer", second.text() == want, second.run, second.events)
    session.rewind(second.id)
    fork = session.fork()
    for branch in (session, fork):
        turn = await asyncio.to_thread(branch.say, "hello")
        # an agent over A2A gets the history of a new context as a text before the message
        right = turn.text().startswith(TOLD) if name in ("remote", "server") else turn.text() == want
        check(f"{name}: the answer in a branch", right, turn.run, turn.events)
        said = [e for e in branch.events() if e["author"] == "user"]
        check(f"{name}: the history of a branch", len(said) == 2, branch.events())


def client_programs() -> list[tuple[str, str, str]]:
    """The language, the section and the text of each client."""
    sections = FRAMEWORKS.split("## Clients of the agents")[1].split("\n### ")[1:]
    return [
        (language, section.partition("\n")[0], text)
        for section in sections
        for language, text in re.findall(r"```(python|js|go)\n(.*?)```", section, re.DOTALL)
    ]


def command(language: str, file: Path) -> tuple[list[str], Path]:
    """How to run a program, and where."""
    match language:
        case "python":
            return [sys.executable, "-W", "ignore", str(file)], ROOT
        case "js":  # in the folder whose packages it imports
            return ["node", "--input-type=module", "--eval", file.read_text()], ROOT / "infra/test/clients/js"
        case _:
            return ["go", "run", str(file)], ROOT


def documented_token() -> str:
    """The token that the page's command gets."""
    shown = re.search(r"```\n(export TOKEN=.*?)```", FRAMEWORKS, re.DOTALL)
    assert shown
    script = shown[1].replace("http://127.0.0.1:3000", URL) + 'printf %s "$TOKEN"'
    return subprocess.run(["bash", "-euc", script], capture_output=True, text=True, check=True).stdout


async def client(documented: str, language: str, section: str, text: str) -> None:
    text = text.replace("http://127.0.0.1:3000", URL)
    with tempfile.TemporaryDirectory() as own:
        file = Path(own) / f"client.{language}"
        file.write_text(text)
        line, folder = command(language, file)
        environment = {**os.environ, "TOKEN": documented}
        run = partial(subprocess.run, line, cwd=folder, env=environment, capture_output=True, text=True)
        done = await asyncio.to_thread(run)
    check(f"{section}: it prints the answer", done.stdout == SAID + "\n", done.stdout, done.stderr)


def kept_files(folder: Path, port: int) -> dict[str, str]:
    """Writes the A2A server of docs/adk-python.md with its agent, and returns the
    environment that it needs."""
    package = ROOT / "clients" / "python"
    for text in (FRAMEWORKS, (ROOT / "docs" / "adk-python.md").read_text()):
        for name, program in re.findall(r"```python\n# (apps/guide/agent\.py|kept\.py)\n(.*?)```", text, re.DOTALL):
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(program.replace("http://127.0.0.1:3000", URL).replace("8080", str(port)))
    return {**os.environ, "PYTHONPATH": f"{package / 'src'}:{folder}"}


async def say(http: httpx.AsyncClient, server: str, text: str, context: str | None) -> Task:
    """Sends a message to an A2A server that may still be starting."""
    until = time.monotonic() + 30
    while True:
        try:
            card = await A2ACardResolver(http, server).get_agent_card()
            break
        except AgentCardResolutionError:
            if time.monotonic() > until:
                raise
            await asyncio.sleep(0.1)
    client = ClientFactory(ClientConfig(httpx_client=http, streaming=False)).create(card)
    request = SendMessageRequest(message=new_text_message(text, role=Role.ROLE_USER, context_id=context))
    (answer,) = [a async for a in client.send_message(request)]
    return answer.task


async def kept() -> None:
    """An A2A server of google-adk keeps its sessions in Rethread."""
    with socket.socket() as free, tempfile.TemporaryDirectory() as own:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        line = [sys.executable, "-m", "uvicorn", "kept:app", "--port", str(port)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        server = subprocess.Popen(line, cwd=own, env=kept_files(Path(own), port), **quiet)
        try:
            async with httpx.AsyncClient(timeout=30) as http:
                where = f"http://127.0.0.1:{port}"
                first = await say(http, where, "hello", None)
                second = await say(http, where, "again", first.context_id)
        finally:
            server.kill()
            server.wait()
    check("to_a2a: the answer", first.artifacts[0].parts[0].text == SAID, first)
    check("to_a2a: the second answer", second.artifacts[0].parts[0].text == "You said: again", second)
    headers = {"Authorization": "Bearer " + token("A2A_USER_" + first.context_id)}
    events = httpx.get(f"{URL}/api/v1/sessions/{first.context_id}/events", headers=headers).json()["data"]
    said = [p["text"] for e in events for p in (e.get("content") or {}).get("parts", [])]
    check("to_a2a: the session", said == ["hello", SAID, "again", "You said: again"], events)


def versions() -> None:
    """The versions that the page names for clients are those that run here."""
    modules = (ROOT / "go.mod").read_text()
    packages = json.loads((ROOT / "infra/test/clients/js/package.json").read_text())["devDependencies"]
    pinned = (ROOT / "infra/test/clients/python/requirements.txt").read_text().splitlines()
    clients = FRAMEWORKS.split("## Clients of the agents")[1]
    for name, version in re.findall(r"`go get (\S+)@(\S+)`", clients):
        check(f"the version of {name}", f"{name} {version}\n" in modules, version)
    for name, version in re.findall(r"`npm install (\S+)@(\S+)`", clients):
        check(f"the version of {name}", packages[name] == version, version)
    for name, version in re.findall(r'`pip install "([a-z0-9-]+)(?:\[.*?\])?==(\S+)"`', clients):
        check(f"the version of {name}", f"{name}=={version}" in pinned, version)


async def main() -> None:
    check("what the documents configure", len(NAMES) >= 8, NAMES)
    programs = client_programs()
    check("what the documents show", len(programs) >= 5, programs)
    versions()
    for name in NAMES:
        await part(name, partial(agent, name))
    documented = documented_token()
    for program in programs:
        await part(program[1], partial(client, documented, *program))
    await part("to_a2a", kept)
    end()


asyncio.run(main())
