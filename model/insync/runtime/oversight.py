"""Oversight of an author's Python, which may not return: it says where that is, and ends it at a limit.

While a model is read, its own code runs between two looks at the limits. An endless loop in it never looks. So a thread
looks at the watch in its place; when there is a reason to stop it raises an exception in the thread that reads, as
Python's debuggers do. Python drops an exception in some places, such as the callback of a weak reference, so it is
raised again until the code has ended. Where insync's own code runs alone nothing is raised: it looks at the limits.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cache
from types import FrameType, TracebackType

from insync.runtime.errors import UserError
from insync.runtime.watch import Stopped, StopReason, Watch

__all__ = ["Oversight", "place_in_traceback", "read_within", "tells_of_place"]

_LOOK_SECONDS = 0.25
_TELL_SECONDS = 3.0
_PATIENCE_SECONDS = 1.0
_SHARE = 4  # the place is told again after this fraction, 1/4, of the time so far


tells_of_place: ContextVar[Callable[[str], object] | None] = ContextVar("tells_of_place", default=None)
"""The function that an `Oversight` calls with the place of hanging code if it is given none."""


class _Overdue(BaseException):
    """Ends code that does not return; `except Exception` in it does not catch this."""


class Oversight:
    """A context in which an author's code runs; on its end Stopped is raised if it was ended.

    Args:
        watch: the limits of the work.
        tell: called in another thread with the place of code that has not returned for long, at growing intervals, and
            when it is ended; None is that of `tells_of_place`.
    """

    def __init__(self, watch: Watch, tell: Callable[[str], object] | None = None) -> None:
        self._watch, self._tell = watch, tell or tells_of_place.get()
        self._over = threading.Event()
        self._reason: StopReason | None = None
        self._place = ""

    def __enter__(self) -> None:
        self._around, self._reader = _frame_around(), threading.get_ident()
        self._thread = threading.Thread(target=self._oversee, name="insync-oversight", daemon=True)
        self._thread.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        while True:
            try:
                self._over.set()
                self._thread.join()  # until then it may raise
                for _ in range(2):
                    pass  # Python raises a pending exception at the turn of a loop at the latest
                break
            except _Overdue:
                kind = _Overdue
        if kind is not None and issubclass(kind, _Overdue):
            assert self._reason is not None, "there was one"
            raise Stopped(self._reason, self._place) from None

    def _oversee(self) -> None:
        began = ended = time.perf_counter()
        due = began + _TELL_SECONDS
        while not self._over.wait(_LOOK_SECONDS):
            now = time.perf_counter()
            reason, looked = self._watch.exceeded(), max(began, self._watch.looked)
            overdue = reason is not None and now - max(ended, looked) >= _PATIENCE_SECONDS
            hangs = now >= due and now - looked >= _TELL_SECONDS
            if not (overdue or hangs) or not (place := self._present_place()):
                continue
            if overdue:
                self._reason, self._place, ended = reason, place, now
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._reader), ctypes.py_object(_Overdue))
            due = now + (now - began) / _SHARE
            if self._tell is not None:
                self._tell(place)

    def _present_place(self) -> str:
        """Return the place in the author's code; empty where insync's own runs alone."""
        frame = sys._current_frames().get(self._reader)
        while frame is not None and frame is not self._around:
            if _is_author(frame):
                return _place(frame, frame.f_lineno)
            frame = frame.f_back
        return ""


@contextlib.contextmanager
def read_within(watch: Watch, given: object, tell: Callable[[str], object] | None = None) -> Iterator[None]:
    """Read a model's file within the block, and no longer than a watch allows.

    Args:
        watch: the limits.
        given: the model as it was given, for the message.
        tell: see `Oversight`.

    Raises:
        UserError: reading it took longer, or was interrupted.
    """
    try:
        with Oversight(watch, tell):
            yield
    except Stopped as ended:
        at = f", at {ended.place}" if ended.place else ""
        why = "was interrupted" if ended.reason is StopReason.INTERRUPT else "took longer than the limit on time"
        message = f"{given}: reading the model {why}{at}. A model file must come to its end by itself."
        raise UserError(message) from None


def place_in_traceback(trace: TracebackType | None) -> str:
    """Return the innermost place in an author's code; empty if there is none."""
    place = ""
    while trace is not None:
        if _is_author(trace.tb_frame):
            place = _place(trace.tb_frame, trace.tb_lineno)
        trace = trace.tb_next
    return place


def _frame_around() -> FrameType:
    """Return the frame of the function that has the block; frames of context managers lie between."""
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename in (__file__, contextlib.__file__):
        frame = frame.f_back
    return frame


def _is_author(frame: FrameType) -> bool:
    module = frame.f_globals.get("__name__", "")
    file = frame.f_code.co_filename
    return not f"{module}.".startswith("insync.") and not file.startswith((*_libraries(), "<frozen ", "<string>"))


@cache
def _libraries() -> tuple[str, ...]:
    """Return the folders of installed code. They are found when a place is looked for, as few runs look for one."""
    return tuple(f"{sysconfig.get_path(name)}{os.sep}" for name in ("stdlib", "purelib", "platlib"))


def _place(frame: FrameType, line: int) -> str:
    name, file = frame.f_code.co_name, os.path.basename(frame.f_code.co_filename)
    return f"{file}:{line}" if name == "<module>" else f"{name}, {file}:{line}"
