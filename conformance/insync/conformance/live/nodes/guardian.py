"""The process between insync and the nodes of a cluster: it starts them, and ends them when insync ends, however.

It reads commands as lines of JSON and answers each with one. When nobody can send another, because insync has closed
the pipe or was killed, it kills the nodes and removes their folder. Should it be killed itself, the system kills them.
It is run as a file, with the standard library alone: python guardian.py FOLDER.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
from typing import Any

__all__: list[str] = []

_PR_SET_PDEATHSIG = 1
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _begin() -> None:
    """In the new process: hear signals again, and end when the guardian ends."""
    for number in _IGNORED:
        signal.signal(number, signal.SIG_DFL)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _answer(command: dict[str, Any], nodes: dict[str, subprocess.Popen[bytes]]) -> dict[str, Any]:
    name = command.get("node", "")
    if command["do"] == "start":
        with open(command["output"], "ab") as output:
            nodes[name] = subprocess.Popen(  # noqa: S603
                command["command"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=command["folder"],
                preexec_fn=_begin,
            )
        return {"process": nodes[name].pid}
    if command["do"] == "signal":
        running = nodes[name].poll() is None
        if running:
            os.kill(nodes[name].pid, command["signal"])
        return {"sent": running}
    return {"ended": {name: node.returncode for name, node in nodes.items() if node.poll() is not None}}


def _guard(folder: str) -> None:
    nodes: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for line in sys.stdin:
            try:
                answer = _answer(json.loads(line), nodes)
            except OSError as error:
                answer = {"fault": str(error)}
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()
    except BrokenPipeError:
        pass
    finally:
        for node in nodes.values():
            with contextlib.suppress(ProcessLookupError):
                node.kill()
        for node in nodes.values():
            node.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    for ignored in _IGNORED:
        signal.signal(ignored, signal.SIG_IGN)
    _guard(sys.argv[1])
