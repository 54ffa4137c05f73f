"""File systems of run directories: the local one for a path, or one of pyarrow's for a URI; and messages about them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from insync.runtime.errors import UserError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

__all__ = ["cure_for", "filesystem_of", "full_name", "reason_of", "shown_name"]

_URI = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://|(?P<known>file|dbfs|s3|s3a|s3n|gs|abfs|abfss|hdfs):")
_REACHED = ("s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs", "file")
_OTHER_NAMES = {"s3a": "s3", "s3n": "s3", "wasb": "abfs", "wasbs": "abfss"}
_GS_SECONDS = 30  # by default Google's client retries for a quarter of an hour
_LOCAL = "Name a directory with room, that all executors may write to. A run that is there already goes on by --resume."
_LOCAL_READING = "Name a directory that --run-dir wrote, and that all executors may read."
_SECRET = re.compile(r"(://[^/@:]*):[^/@]*@")
_MOST_SHOWN = 300

_CURES = {
    "s3": (
        "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for driver and executors, and name the region, or the "
        "endpoint of a store that is not Amazon's: s3://BUCKET/DIR?region=R&endpoint_override=HOST:PORT."
    ),
    "gcs": "Set GOOGLE_APPLICATION_CREDENTIALS for driver and executors, and name a bucket that they reach.",
    "abfs": (
        "Set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET for driver and executors, and name a container "
        "that they reach."
    ),
    "hdfs": (
        "Set JAVA_HOME, HADOOP_HOME and CLASSPATH (`hadoop classpath --glob`) for driver and executors, as pyarrow "
        "loads libjvm and libhdfs from there, and name a cluster that they reach."
    ),
}
"""What to do when a file system fails, by its type name in pyarrow."""


def full_name(name: str) -> str:
    """Return the name of a run directory for executors: a URI, or an absolute path.

    Raises:
        UserError: the name is empty, or a URI of a file system that is not supported.
    """
    if not name:
        message = "The name of the run directory is empty. Give a path, or a URI such as s3://BUCKET/DIR."
        raise UserError(message)
    found = _URI.match(name)
    if found is None:
        try:
            return str(Path(name).resolve())
        except OSError as error:
            message = f"{name}: this run directory cannot be found from here ({reason_of(error)}). Give a whole path."
            raise UserError(message) from error
    scheme = found["scheme"] or found["known"]
    if scheme == "file":
        return _local_path(name)
    if scheme == "dbfs":
        path = "/dbfs/" + name.partition(":")[2].lstrip("/")
        message = f"{name}: executors reach Databricks' files by a path. Name {path}, or a volume: /Volumes/..."
        raise UserError(message)
    if scheme in _OTHER_NAMES:
        message = f"{shown_name(name)}: this file system is called {_OTHER_NAMES[scheme]} here. "
        instead = _OTHER_NAMES[scheme] + shown_name(name).removeprefix(scheme)
        raise UserError(message + f"Name {instead.replace('.blob.core.', '.dfs.core.')}.")
    if (lower := scheme.lower()) in _REACHED and not name.startswith(f"{lower}://"):
        message = f"{shown_name(name)}: a URI of this file system begins with {lower}://. Give {lower}://BUCKET/DIR."
        raise UserError(message.replace("BUCKET", "HOST" if lower in ("hdfs", "viewfs") else "BUCKET"))
    if scheme not in _REACHED:
        known = ", ".join(f"{each}://" for each in ("s3", "gs", "abfs", "hdfs"))
        message = f"{shown_name(name)}: no file system is called {scheme} here. Give a path, or a URI with {known}."
        raise UserError(message)
    if not urlsplit(name).netloc and scheme not in ("hdfs", "viewfs"):
        message = f"{name}: this names no bucket. Give one, and a directory in it: {scheme}://BUCKET/DIR."
        raise UserError(message)
    return name


def filesystem_of(name: str) -> tuple[FileSystem, str]:
    """Return the file system of a name from `full_name`, and the path in it.

    Raises:
        UserError: the file system cannot be reached.
    """
    from pyarrow import ArrowException
    from pyarrow.fs import FileSystem, LocalFileSystem

    if name.startswith("/"):
        return LocalFileSystem(), name
    given, scheme = name, name.partition(":")[0]
    if scheme in ("gs", "gcs") and "retry_limit_seconds" not in name:
        given += f"{'&' if '?' in name else '?'}retry_limit_seconds={_GS_SECONDS}"
    try:
        found: tuple[FileSystem, str] = FileSystem.from_uri(given)
    except (ArrowException, OSError, ValueError) as error:
        kind = {"gs": "gcs", "abfss": "abfs", "viewfs": "hdfs"}.get(scheme, scheme)
        message = f"{shown_name(name)}: this run directory cannot be reached ({reason_of(error)}). {_CURES[kind]}"
        raise UserError(message) from error
    return found[0], found[1].rstrip("/")


def cure_for(kind: str, reading: bool = False) -> str:
    """Return the sentence that says what to do when a file system fails, by its type name in pyarrow."""
    return _CURES.get(kind, _LOCAL_READING if reading else _LOCAL)


def reason_of(error: BaseException) -> str:
    """Return the first line of a library's error message, without details that help only the library's authors."""
    if isinstance(error, OSError) and error.strerror and error.errno is not None:
        return os.strerror(error.errno)
    line = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
    line = re.sub(r"\s*error_info=.*|\s*Detail: \[errno.*", "", line).rstrip(" .:")
    return line if len(line) <= _MOST_SHOWN else line[:_MOST_SHOWN] + "..."


def shown_name(name: str) -> str:
    """Return the name of a run directory for messages: without a secret key, and without options."""
    return _SECRET.sub(r"\1:***@", name.partition("?")[0] if "://" in name else name)


def _local_path(name: str) -> str:
    parts = urlsplit(name)
    if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
        message = f"{name}: this is not a path of this machine. Name one as /DIR or file:///DIR."
        raise UserError(message)
    return str(Path(unquote(parts.path)).resolve())
