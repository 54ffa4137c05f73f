"""Walks in a process of Python's own, with a Kafka of its own: threads of one Python share its lock."""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from ctypes import c_longlong
from dataclasses import dataclass
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import RawArray
from types import TracebackType
from typing import Any

from insync.conformance.classes.harness import Harness
from insync.conformance.comparing.coverage import Coverage
from insync.conformance.comparing.walks import Divergence, KafkaWalks
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.steps.forbidden import forbidden_of
from insync.conformance.steps.pair import Pair
from insync.explorer.stepping.machine_stepper import MachineStepper
from insync.kafka.cluster.model import Cluster
from insync.runtime.child_processes import modules_of_python
from insync.runtime.errors import InternalError
from insync.runtime.watch import Stopped, StopReason, Watch

__all__ = ["AskedWalks", "WalkingProcess"]

_LOOK_SECONDS = 0.05
_PATIENCE = 3.0
_OPENED, _STEPS, _STOP = range(3)
"""The places of what both sides see at once: clusters made, steps taken, and whether to stop."""


@dataclass(frozen=True, slots=True)
class AskedWalks:
    """Which walks are asked for.

    Attributes:
        identity: of the model.
        seed: of all walks.
        depth: most steps of a walk.
        forbidden: whether Kafka is also asked for what the model forbids.
    """

    identity: dict[str, int | str]
    seed: int
    depth: int
    forbidden: bool


class WalkingProcess:
    """A process that takes walks; as a context manager it ends with its block, and it ends with its parent.

    Args:
        jars: the jars of Kafka.
    """

    def __init__(self, jars: JarSet) -> None:
        context = get_context("spawn")
        self._shared = RawArray(c_longlong, 3)
        self._connection, its = context.Pipe()
        self._process = context.Process(target=_serve, args=(jars, its, self._shared), daemon=True)
        with modules_of_python():
            self._start()
        its.close()

    def _start(self) -> None:
        resource_tracker.ensure_running()  # else `start` does it, and lets signals in
        was = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # Ctrl-C is for us, who end it in order
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, was)

    @property
    def opened(self) -> int:
        """How often it has made a cluster for the walks that were asked for last."""
        return int(self._shared[_OPENED])

    @property
    def steps(self) -> int:
        """How many steps it has taken of the walks that were asked for last."""
        return int(self._shared[_STEPS])

    @property
    def process_id(self) -> int:
        """The id of the process."""
        return self._process.pid or 0

    def begin(self, asked: AskedWalks) -> None:
        """Say which walks are asked for from now on."""
        self._shared[:] = [0, 0, 0]
        self._send("begin", asked)

    def take(self, number: int, stopped: Callable[[], StopReason | None]) -> Divergence | None:
        """Take a walk, and return the difference to which it comes.

        Args:
            number: of the walk.
            stopped: asked now and then whether to give up.

        Raises:
            Stopped: `stopped` gave a reason.
            InternalError: the process has ended.
        """
        self._send("take", number)
        while not self._connection.poll(_LOOK_SECONDS):
            if reason := stopped():
                self._give_up()
                raise Stopped(reason)
        found: Divergence | None = self._received()
        return found

    def coverage(self) -> Coverage | None:
        """Return what was compared in the walks that were asked for last; None where it had to be killed."""
        self._process.join(0)
        if not self._process.is_alive():
            return None
        self._send("count", None)
        counted: Coverage = self._received()
        return counted

    def close(self) -> None:
        """End the process, and its Kafka with it."""
        self._connection.close()
        self._process.join(_PATIENCE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def __enter__(self) -> WalkingProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:  # a walk may still be under way
            self._process.kill()
        self.close()

    def _give_up(self) -> None:
        """Let it give up its walk; where that takes too long, as Kafka hangs, it is killed."""
        self._shared[_STOP] = 1
        if self._connection.poll(_PATIENCE):
            with suppress(Stopped):
                self._received()
            self._shared[_STOP] = 0
        else:
            self._process.kill()
            self._process.join()

    def _send(self, what: str, given: object) -> None:
        try:
            self._connection.send((what, given))
        except OSError as error:
            raise _has_ended() from error

    def _received(self) -> Any:
        try:
            answer = self._connection.recv()
        except (EOFError, OSError) as error:
            raise _has_ended() from error
        if isinstance(answer, Exception):
            raise answer
        return answer


def _has_ended() -> InternalError:
    message = "A process that takes walks beside Kafka has ended."
    return InternalError(message)


# ------------------------------------------------------------------------------------------------------ in the process


def _serve(jars: JarSet, connection: Connection, shared: Any) -> None:
    """Take the requested walks until the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with ExitStack() as opened, suppress(EOFError, OSError):
        served = _Served(opened.enter_context(Harness(jars)), shared)
        opened.callback(served.close)
        while True:
            what, given = connection.recv()
            try:
                answer = served.answer(what, given)
            except Exception as error:  # noqa: BLE001 -- it is raised again on the other side
                connection.send(_sendable(error))
            else:
                if what != "begin":
                    connection.send(answer)


def _sendable(error: Exception) -> Exception:
    """Return an error as it can be sent: itself, or one that says the same."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 -- what was written a moment ago
    except Exception:  # noqa: BLE001 -- whatever it is that cannot be sent
        return InternalError(f"{type(error).__name__}: {error}")
    return error


class _SharedWatch(Watch):
    """A watch over work that the other process stops."""

    def __init__(self, shared: Any) -> None:
        super().__init__()
        self._shared = shared

    def reason(self, grows: bool = False) -> StopReason | None:
        return StopReason.INTERRUPT if self._shared[_STOP] else None


class _Served:
    """The state of a process: Kafka, and the requested walks.

    Args:
        harness: who takes the commands.
        shared: what both sides see.
    """

    def __init__(self, harness: Harness, shared: Any) -> None:
        self._harness, self._shared = harness, shared
        self._asked: AskedWalks
        self._walks: KafkaWalks[Pair] | None = None
        self._opened = ExitStack()

    def answer(self, what: str, given: Any) -> object:
        """Return the answer to a request."""
        if what == "begin":
            self.close()
            self._asked = given
            return None
        if what == "take":
            return self._taking().random(self._asked.seed, given, self._stopped)
        return self._taking().coverage

    def close(self) -> None:
        """Give back what the walks need."""
        self._opened.close()
        self._walks = None

    def _taking(self) -> KafkaWalks[Pair]:
        if self._walks is None:
            model = Cluster(**self._asked.identity)
            stepper = self._opened.enter_context(closing(MachineStepper(model, _SharedWatch(self._shared))))
            asked = forbidden_of(model) if self._asked.forbidden else []
            coverage = Coverage.of(stepper)
            self._walks = KafkaWalks(stepper, lambda: Pair(stepper, self._harness), coverage, self._asked.depth, asked)
        return self._walks

    def _stopped(self) -> StopReason | None:
        if self._walks is not None:
            self._shared[_OPENED], self._shared[_STEPS] = self._walks.coverage.opened, self._walks.coverage.steps
        return StopReason.INTERRUPT if self._shared[_STOP] else None
