"""The README's program does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from local import LocalSystem

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_program_prints_what_its_comments_say(
    system: LocalSystem, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert found is not None
    said = re.findall(r"# (That is line .*|.* in the fork .*|.* again)$", found[1], re.MULTILINE)
    assert len(said) == 5

    monkeypatch.setenv("RETHREAD_URL", system.url)
    exec(compile(found[1], str(README), "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out.splitlines() == said
