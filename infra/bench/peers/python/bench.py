"""Carries out the commands of the benchmark, one JSON object a line, with a peer's library.

A peer is a class with the methods of Peer.
"""

import json
import sys
import traceback
from typing import Any


class Peer:
    """What a conversation store is asked for. Texts are questions and answers in turn."""

    def turn(self, thread: str, question: str, answer: str) -> None:
        raise NotImplementedError

    def load(self, thread: str) -> list[str]:
        """Reads a thread as a new process does, with nothing kept in memory."""
        raise NotImplementedError

    def rewind(self, thread: str) -> None:
        """Takes back the newest turn."""
        raise NotImplementedError

    def fork(self, thread: str, into: str) -> None:
        """Makes a thread of all turns before the newest one."""
        raise NotImplementedError

    def stream(self, thread: str, question: str, parts: list[str]) -> None:
        """Stores a question, and an answer so that every part is stored when it has come."""
        raise NotImplementedError


def serve(peer: Peer) -> None:
    """Answers each command on the output, to which libraries cannot print meanwhile."""
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        command: dict[str, Any] = json.loads(line)
        action = getattr(peer, command.pop("do"))
        try:
            answer = {"texts": action(**command) or []}
        except Exception as e:  # the benchmark reports what fails
            traceback.print_exc()
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), file=answers, flush=True)
