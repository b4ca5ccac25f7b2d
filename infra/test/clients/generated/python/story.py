"""What the stories of the generated Python clients share."""

import os
import time
from collections.abc import Callable
from typing import TypeVar

URL = os.environ["RETHREAD_URL"]
TOKEN = os.environ["RETHREAD_TOKEN"]

QUESTION = "/tool weather"
REMARK = "Thank you"
ARTIFACT = "report.bin"
TASK_ID = "task-1"
BYTES = b"\x00\x01rethread\xff"
UNKNOWN = "no-such-session"

T = TypeVar("T")

POLL_EVERY = 0.05
POLL_FOR = 20


def done(step: str) -> None:
    """Reports a step of the story to the program that runs it."""
    print(step, flush=True)


def equal(what: str, got: object, want: object) -> None:
    """Ends the story if the values differ."""
    if got != want:
        raise AssertionError(f"{what}: got {got!r}, want {want!r}")


def poll(read: Callable[[], T], ended: Callable[[T], bool]) -> T:
    """Reads until the value has reached its end."""
    deadline = time.monotonic() + POLL_FOR
    while not ended(value := read()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"not within {POLL_FOR} s: {value!r}")
        time.sleep(POLL_EVERY)
    return value
