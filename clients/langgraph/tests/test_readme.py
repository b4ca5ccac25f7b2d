"""The program in the README."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

from local import LocalSystem

_README = Path(__file__).resolve().parents[1] / "README.md"


def test_the_example_prints_what_it_says(system: LocalSystem) -> None:
    found = re.search(r"```python\n(.*?)```", _README.read_text(), re.DOTALL)
    assert found
    env = {**os.environ, "RETHREAD_URL": system.url, "THREAD": str(uuid.uuid4())}
    done = subprocess.run(
        [sys.executable, "-c", found[1]], env=env, text=True, stdout=subprocess.PIPE, check=True
    )
    assert done.stdout == "That is line 3.\n"
