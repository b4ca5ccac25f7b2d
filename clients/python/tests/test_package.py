"""What the package says of itself: its version, its types, its help, and what is missing."""

import json
import os
import pydoc
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rethread_client
from rethread_client import AsyncRethread, Rethread
from rethread_client._core.extras import extra

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def test_the_version_is_that_of_the_project():
    assert rethread_client.__version__ == PROJECT["version"]


def test_the_classifiers_have_the_versions_of_python():
    named = {c.rsplit(" ", 1)[-1] for c in PROJECT["classifiers"] if "Python :: 3." in c}
    assert {"3.11", "3.12", "3.13"} <= named
    assert PROJECT["requires-python"] == ">=3.11"


@pytest.mark.parametrize("name", sorted(PROJECT["optional-dependencies"]))
def test_a_missing_package_names_its_extra(name):
    with (
        pytest.raises(ModuleNotFoundError, match=rf'pip install "rethread-client\[{name}\]"') as raised,
        extra(name),
    ):
        raise ModuleNotFoundError("No module named 'absent'", name="absent")
    assert raised.value.name == "absent"


def test_each_extra_is_named_by_its_module():
    for name in PROJECT["optional-dependencies"]:
        module = Path(rethread_client.__file__).parent / name.replace("-", "_") / "__init__.py"
        assert f'with extra("{name}"):' in module.read_text()


def test_a_fault_of_the_package_is_not_a_missing_extra():
    with pytest.raises(ModuleNotFoundError, match="absent in rethread_client"), extra("adk"):
        raise ModuleNotFoundError("absent in rethread_client", name="rethread_client.absent")


@pytest.mark.parametrize("client", [Rethread, AsyncRethread])
def test_help_names_each_member(client):
    members = [name for name in vars(client("http://127.0.0.1:1", "t")) if not name.startswith("_")]
    text = pydoc.render_doc(client, renderer=pydoc.plaintext)
    assert len(members) >= 15
    for name in members:
        assert f"{name}: " in text


def test_types_are_complete(tmp_path):
    bin_folder = Path(sys.executable).parent
    found = subprocess.run(
        [bin_folder / "pyright", "--verifytypes", "rethread_client", "--ignoreexternal", "--outputjson"],
        cwd=tmp_path,
        env=os.environ
        | {"PATH": f"{bin_folder}:{os.environ['PATH']}", "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        capture_output=True,
        check=False,
    )
    types = json.loads(found.stdout)["typeCompleteness"]
    assert types["completenessScore"] > 0.99
    assert types["exportedSymbolCounts"]["withKnownType"] > 1000
