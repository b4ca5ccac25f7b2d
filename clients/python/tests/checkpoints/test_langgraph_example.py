"""The example in the documents: an agent that is killed, resumed and rewound."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid

from local import ROOT, LocalSystem

_PROGRAM = ROOT / "docs" / "examples" / "langgraph" / "agent.py"
_SECONDS = 120


def test_an_agent_survives_a_kill_and_is_rewound(system: LocalSystem) -> None:
    thread = str(uuid.uuid4())
    env = {**os.environ, "RETHREAD_URL": system.url, "RETHREAD_USER": f"user-{thread}"}

    def start(*words: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(_PROGRAM), words[0], thread, *words[1:]]
        return subprocess.Popen(command, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(*words: str, answer: str = "") -> str:
        said, _ = start(*words).communicate(answer, _SECONDS)
        return said

    with start("say", "Lisbon in May") as killed:
        assert killed.stdout is not None
        seen = ""
        while not seen.endswith("Pay 120 euros? "):
            character = killed.stdout.read(1)
            assert character, f"the agent has ended: {seen}"
            seen += character
        killed.send_signal(signal.SIGKILL)
    assert seen == "searching\nPay 120 euros? "

    found = "human: Lisbon in May\nai: Found a flight: Lisbon in May.\n"
    assert run("show") == found
    assert run("resume", answer="yes\n") == f"Pay 120 euros? {found}ai: Booked.\n"
    more = run("say", "And Porto", answer="no\n")
    assert more.endswith("human: And Porto\nai: Found a flight: And Porto.\nai: Not booked.\n")
    assert run("rewind", "And Porto") == f"{found}ai: Booked.\n"
    assert run("rewind", "Lisbon in May") == ""
    assert run("show") == ""
