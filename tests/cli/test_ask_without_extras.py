"""`insync ask` where the extras are not installed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_HIDDEN = """
import sys
for name in {hidden!r}:
    sys.modules[name] = None  # type: ignore[assignment]
sys.argv = ["insync", "ask", *sys.argv[1:]]
from insync.cli.start import main
main()
"""
BROKER = ("--quiet", "--release", "4.1", "--acks", "1", "--against", "broker")


def ask_without(hidden: Sequence[str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `insync ask` in a process that cannot import some modules."""
    program = _HIDDEN.format(hidden=tuple(hidden))
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, timeout=120
    )


def test_annotations_of_an_answer_need_no_extra(tmp_path: Path) -> None:
    file = tmp_path / "found.sarif"
    done = ask_without(["z3", "numpy", "scipy", "pyarrow"], *BROKER, "--github", "--sarif", str(file))
    assert done.returncode == 1, done.stderr
    assert "::error " in done.stdout
    assert json.loads(file.read_text())["version"] == "2.1.0"


def test_without_the_extra_graph_all_but_the_endings_is_answered() -> None:
    done = ask_without(["numpy", "scipy"], *BROKER, "--finishes")
    said = " ".join(done.stdout.split())
    assert done.returncode == 1, done.stderr
    assert "warning: --finishes is left out, as it needs the extra `graph` (numpy is missing)" in said
    assert "pip install 'insync[graph]'." in said
    assert "AT RISK" in said
    assert said.index("--finishes is left out") < said.index("AT RISK"), "it is told before anything is searched"
