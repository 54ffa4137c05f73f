"""The processes of a cluster, by way of the guardian that ends them with this one."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from insync.conformance.live.nodes import guardian
from insync.model.errors import InternalError

__all__ = ["Processes"]

_PATIENCE = 30


class Processes:
    """Starts processes, sends them signals, and knows which have ended.

    Args:
        folder: their folder, which is removed when they are over.
        lock: the open file that says that the folder is in use.
    """

    def __init__(self, folder: Path, lock: IO[str]) -> None:
        self._folder, self._lock = folder, lock
        self._guardian = subprocess.Popen(  # noqa: S603
            [sys.executable, "-I", "-S", guardian.__file__, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for us, who end it in order
            pass_fds=[lock.fileno()],
        )

    @property
    def guardian_id(self) -> int:
        """The id of the process between."""
        return self._guardian.pid

    def start(self, node: int, command: Sequence[str], output: Path) -> int:
        """Start a node, and return the id of its process."""
        told = self._ask(
            do="start", node=str(node), command=list(command), output=str(output), folder=str(self._folder)
        )
        return int(told["process"])

    def signal(self, node: int, number: signal.Signals) -> bool:
        """Send a signal to a node, and return whether it runs."""
        return bool(self._ask(do="signal", node=str(node), signal=int(number))["sent"])

    def ended(self) -> dict[int, int]:
        """Return the exit codes of those that have ended; a signal is a negative one."""
        return {int(node): code for node, code in self._ask(do="status")["ended"].items()}

    def close(self) -> None:
        """Kill all of them, and remove their folder."""
        assert self._guardian.stdin is not None
        assert self._guardian.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._guardian.stdin.close()
        try:
            self._guardian.wait(_PATIENCE)
        except subprocess.TimeoutExpired:  # the system ends its nodes with it
            self._guardian.kill()
            self._guardian.wait()
        finally:
            self._guardian.stdout.close()
            self._lock.close()

    def _ask(self, **command: Any) -> dict[str, Any]:
        assert self._guardian.stdin is not None
        assert self._guardian.stdout is not None
        try:
            self._guardian.stdin.write(json.dumps(command) + "\n")
            self._guardian.stdin.flush()
            line = self._guardian.stdout.readline()
        except BrokenPipeError:
            line = ""
        answer: dict[str, Any] = json.loads(line) if line else {"fault": "it has ended"}
        if "fault" in answer:
            message = f"The process that guards the nodes of the cluster cannot {command['do']}: {answer['fault']}."
            raise InternalError(message)
        return answer
