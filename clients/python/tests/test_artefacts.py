"""The wheel and the sdist work in an environment with nothing else."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from local import LocalSystem

PACKAGE = Path(__file__).resolve().parents[1]
PROGRAM = Path(__file__).with_name("installed.py")
BUILD = "import sys; from flit_core import buildapi; print(buildapi.{}(sys.argv[1]))"


@pytest.mark.parametrize("form", ["build_wheel", "build_sdist"])
def test_an_artefact_works_in_an_empty_environment(
    form: str, system: LocalSystem, user: str, tmp_path: Path
) -> None:
    built = run(sys.executable, "-c", BUILD.format(form), str(tmp_path), cwd=PACKAGE)
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / "bin" / "python")
    run(python, "-m", "pip", "install", "--quiet", str(tmp_path / built), cwd=tmp_path)
    said = run(python, str(PROGRAM), system.url, system.token(user), cwd=tmp_path)
    assert said == tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["version"]


def run(*command: str, cwd: Path) -> str:
    """Runs a command, and returns the last line that it prints."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return (done.stdout.strip().splitlines() or [""])[-1]
