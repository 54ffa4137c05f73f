"""Checksums of files that are read back: each covers the content of a file and a label of what the file is.

A label has the kind and format of a file, the run or cache key that it belongs to, its level and partition. The digest
covers label and content, so a file is refused if it was damaged, and also if it was put in the place of another one.
The digest is BLAKE2b (RFC 7693) with 128 bits. It finds damage and mistakes. It is not a signature: a program that
may write to a folder can also write a digest.

A file of bytes is framed:   a line that names this scheme, the digest, the content
A JSON file has an entry:    its first line, which has the digest of all lines after it
A large file has blocks:     each with a checksum of its own (`zlib.crc32`), and one digest over the list of these
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TypeAlias

__all__ = ["DIGEST_BYTES", "Damaged", "Label", "digest", "framed", "json_with_digest", "require_digest", "unframed"]

Label: TypeAlias = Mapping[str, int | str]
"""The label of a file, such as {"kind": "trace", "format": "insync-trace/1"}."""

DIGEST_BYTES = 16

_MAGIC = b"insync-framed/1\n"


class Damaged(Exception):
    """A file is not what was written: its content changed, or it is another file."""


def digest(label: Label, *parts: bytes | bytearray | memoryview) -> bytes:
    """Compute the digest of a label and of the parts of a content, in this order.

    Args:
        label: what the content is.
        parts: buffers; the digest depends on the bytes alone, not on where one part ends.

    Returns:
        `DIGEST_BYTES` bytes.
    """
    taken = hashlib.blake2b(digest_size=DIGEST_BYTES)
    taken.update(json.dumps(label, sort_keys=True).encode() + b"\n")
    for part in parts:
        taken.update(part)
    return taken.digest()


def framed(label: Label, content: bytes) -> bytes:
    """Put the digest of a label and a content before that content."""
    return _MAGIC + digest(label, content) + content


def unframed(label: Label, file: bytes) -> bytes:
    """Check a file that `framed` made, and return its content.

    Raises:
        Damaged: the file was changed, or has another label.
    """
    head = len(_MAGIC) + DIGEST_BYTES
    content = file[head:]
    if file[:head] != _MAGIC + digest(label, content):
        raise Damaged
    return content


def json_with_digest(label: Label, entries: Mapping[str, object]) -> str:
    """Write entries as a JSON object whose first entry, `digest`, covers the label and all lines after its own.

    Args:
        label: what the file is.
        entries: at least one, none of them called `digest`.
    """
    rest = json.dumps(entries, indent=1)[2:] + "\n"  # without the opening brace and its end of line
    return _digest_line(label, rest) + rest


def require_digest(label: Label, text: str) -> None:
    """Check a text that `json_with_digest` made.

    Raises:
        Damaged: the text was changed, or has another label.
    """
    end = text.find("\n", len("{\n")) + 1  # of the second line, which has the digest
    if text[:end] != _digest_line(label, text[end:]):
        raise Damaged


def _digest_line(label: Label, rest: str) -> str:
    covered = digest(label, rest.encode("utf-8", "surrogatepass"))
    return f'{{\n "digest": "{covered.hex()}",\n'
