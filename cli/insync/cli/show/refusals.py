"""Messages for errors of the operating system: memory, threads, open files, the current folder, access.

Their causes lie in the environment, so the user can remove them: a limit of the shell or of a container, or a folder
that was removed or is not accessible.
"""

from __future__ import annotations

import errno
import os
import re
import resource
from collections.abc import Iterator

__all__ = ["refusal_of_the_system"]

_MEMORY = re.compile(
    "failed to map segment|[Cc]annot allocate memory|cannot (apply additional memory|create shared object)|"
    "can't (start new thread|allocate (lock|read lock))"
)
_OF_FILES = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE)
_UNLOADED = re.compile(r"libz3\S* not found")
"""z3's message about its library, whether it is missing or there is too little memory to load it."""


def refusal_of_the_system(error: BaseException) -> str | None:
    """Return what the system refused and what to do, in a sentence or two; None for any other error.

    Args:
        error: the exception; its causes are examined too, as libraries wrap errors.
    """
    for one in _origins(error):
        number = one.errno if isinstance(one, OSError) else None
        if number in (errno.EMFILE, errno.ENFILE):
            most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
            return f"The system opens no more files: `ulimit -n` allows {most}. Allow more."
        if isinstance(one, MemoryError) or number == errno.ENOMEM or _MEMORY.search(str(one)):
            return _too_little()
        if _UNLOADED.search(str(one)) and resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
            return _too_little()
    if not _has_folder():
        return "The current folder does not exist any more. Change to another one (cd) first."
    if isinstance(error, OSError) and error.errno in _OF_FILES:
        what = "a file" if error.filename is None else os.fsdecode(error.filename)
        return f"The system refuses {what} ({error.strerror}). Allow it, or work in another folder."
    return None


def _origins(error: BaseException) -> Iterator[BaseException]:
    """Yield an error, its causes and its contexts."""
    seen: list[BaseException] = []
    left: list[BaseException | None] = [error]
    while left:
        one = left.pop()
        if one is not None and one not in seen:
            seen.append(one)
            yield one
            left += [one.__context__, one.__cause__]


def _too_little() -> str:
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return "The system gives this process no more memory. End other programs, or use smaller bounds."
    return (
        f"The system gives this process no more memory: `ulimit -v` allows {most >> 20} MiB of address space. Allow "
        "more, or use smaller bounds."
    )


def _has_folder() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True
