"""Runs the program in the README."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from local import LocalSystem

README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_program_prints_what_its_comment_says(
    system: LocalSystem, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    programs: list[str] = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (said,) = re.findall(r"print\(.*\)  # (.*)", programs[0])
    monkeypatch.setenv("RETHREAD_URL", system.url)
    exec(compile(programs[0], str(README), "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out == said + "\n"
