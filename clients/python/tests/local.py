"""The local system and other servers as child processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = ROOT / "build" / "rethread-local"

# The first start downloads the database.
_START_SECONDS = 300
_STOP_SECONDS = 30


class Server:
    """A program that prints its address when it is ready. `url` is that address."""

    def __init__(self, command: Sequence[str], greeting: str, cwd: Path, env: Mapping[str, str]) -> None:
        self._greeting = re.compile(greeting)
        self._said: list[str] = []
        self._ready = threading.Event()
        self.url = ""
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, **env},
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        if not self._ready.wait(_START_SECONDS) or not self.url:
            self.stop()
            raise AssertionError(f"{command[0]} did not start:\n{self.said}")

    def _read(self) -> None:
        """Reads all output, so that the process never blocks on a full pipe."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.append(line)
            if found := self._greeting.search(line):
                self.url = found[1]
                self._ready.set()
        self._ready.set()

    @property
    def said(self) -> str:
        """What the program has printed."""
        return "".join(self._said)

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()


class LocalSystem(Server):
    """Rethread on this machine, with data in memory and tokens for its users."""

    def __init__(self, **settings: str) -> None:
        assert _PROGRAM.exists(), f"{_PROGRAM} is missing: run `make build`"
        super().__init__(
            [str(_PROGRAM), "-root", str(ROOT), "-http", "127.0.0.1:0", "-ws", "127.0.0.1:0", "-data", ""],
            r"Rethread answers on (http://\S+)",
            ROOT,
            {"LOG_LEVEL": "error", "APP_STATE_WRITERS": "users", **settings},
        )

    def token(self, user_id: str, scope: str = "") -> str:
        answer = httpx.post(self.url + "/dev/token", json={"user_id": user_id, "scope": scope})
        answer.raise_for_status()
        token: str = answer.json()["token"]
        return token
