"""Checks that are counted, and what every story needs of the system."""

from __future__ import annotations

import json
import os
import sys
import textwrap
import traceback
import urllib.request
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

URL = os.environ["RETHREAD_URL"]
AGENT = URL + "/a2a/scripted"

_made = 0
_failed: list[str] = []


def check(what: str, passed: bool, *shown: Any) -> None:
    """Counts one check; a failed one is printed at the end with what is shown."""
    global _made
    _made += 1
    if not passed:
        _failed.append(f"{what}: {' '.join(map(repr, shown))}")


def new_user() -> str:
    return f"user-{uuid.uuid4()}"


def token(user: str) -> str:
    request = urllib.request.Request(
        URL + "/dev/token", json.dumps({"user_id": user}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        found: str = json.load(answer)["token"]
    return found


async def raises(
    what: str, of: type[BaseException] | tuple[type[BaseException], ...], call: Awaitable[Any]
) -> None:
    try:
        got = await call
    except of:
        check(what, True)
    except Exception as other:
        check(what, False, other)
    else:
        check(what, False, "no error, but", got)


async def part(name: str, play: Callable[[], Awaitable[None]]) -> None:
    """Plays a part of a story; an exception fails it and the next part begins."""
    try:
        await play()
    except Exception:
        _failed.append(f"{name}:\n{traceback.format_exc(limit=2, chain=False)}")


async def play_snippet(page: str, names: dict[str, Any]) -> None:
    """Runs the Python code of a page of docs, which finds these names."""
    text = (Path(__file__).parents[4] / "docs" / page).read_text()
    code = text.split("```python\n")[1].split("```")[0]
    exec("async def snippet():\n" + textwrap.indent(code, "    "), names)
    await names["snippet"]()


def end() -> None:
    for failure in _failed:
        print("FAIL", failure)
    print(f"checks: {_made}")
    sys.exit(1 if _failed else 0)
