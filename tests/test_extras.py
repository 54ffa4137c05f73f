"""Where an extra is not installed, whatever needs it says so in one sentence, with the command that installs it."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

SMALL = ["kip320", "--replicas", "2", "--log-size", "1", "--max-records", "1", "--quiet"]
COMMANDS = {
    "prove": ["prove", *SMALL, "--bmc", "2"],
    "graph": ["liveness", *SMALL],
    "graph, of a file": ["export", *SMALL, "--to", "graphml", "--output", "kip320.graphml"],
    "page": ["explore", *SMALL],
    "spark": ["check", *SMALL, "--engine", "spark"],
}
CODE = {
    "tables": "from insync.explorer import check; check('kip320', bounds={'replicas': 2, 'log_size': 1}).to_pandas()",
    "test": "import insync.explorer.hypothesis",
    "test, of a fixture": "import _insync_pytestplugin as p; next(p.insync_kafka.__wrapped__(None))",
}

SCRIPT = """
import contextlib, importlib.metadata, io, json, sys

MODULES = "hypothesis networkx numpy pandas pyarrow pyspark scipy starlette uvicorn z3".split()
for name in MODULES:
    sys.modules[name] = None

def version(name, known=importlib.metadata.version):
    if name in MODULES:
        raise importlib.metadata.PackageNotFoundError(name)
    return known(name)

importlib.metadata.version = version
from insync.cli.main import run

said = {}
commands, code = json.loads(sys.argv[1])
for name, command in commands.items():
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        ended = run(command)
    said[name] = [int(ended), out.getvalue(), err.getvalue()]
for name, text in code.items():
    try:
        exec(text)
    except Exception as error:
        said[name] = [2, "", f"Error: {error}"]
print(json.dumps(said))
"""


@cache
def said() -> dict[str, tuple[int, str, str]]:
    """Return what each says in one process without any extra."""
    command = [sys.executable, "-c", SCRIPT, json.dumps([COMMANDS, CODE])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    found: dict[str, tuple[int, str, str]] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", [*COMMANDS, *CODE])
def test_without_its_extra_a_sentence_says_what_to_install(name: str) -> None:
    code, out, err = said()[name]
    assert (code, out) == (2, "")
    assert err.startswith("Error: ")
    assert f"pip install 'insync[{name.partition(',')[0]}]'" in " ".join(err.split())


def test_every_extra_is_asked_for_here() -> None:
    assert {name.partition(",")[0] for name in (*COMMANDS, *CODE)} == set(EXTRAS) - {"all"}
