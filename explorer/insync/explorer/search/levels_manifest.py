"""The manifest of a run directory of the local engine: what is searched, what is known of its levels, and their files.

It is one JSON object with a digest of itself, and it has the digest of each file that it counts. What it says of levels
is examined as well, so that nothing but a manifest is taken for one, whoever made its digest.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from insync.explorer.manifest_entries import as_dict, as_list, as_text, require
from insync.explorer.run_identity import Identity
from insync.explorer.search.explored import Space, space_entries, space_of
from insync.machine.stores.row_encoding import FORMS
from insync.machine.stores.whole_files import open_file, write_whole
from insync.model.checksums import DIGEST_BYTES, Damaged, json_with_digest, require_digest
from insync.model.errors import UserError

__all__ = ["MANIFEST", "LevelsManifest", "require_run"]

MANIFEST = "manifest.json"

_FORMAT = "insync-levels/4"
_OF_SPARK = "insync-run/"
_CHANGED = "this is not the manifest that was written. Search again in another --run-dir."
_LABEL = {"kind": "manifest", "format": _FORMAT}


@dataclass(frozen=True, slots=True)
class LevelsManifest:
    """What a manifest says.

    Attributes:
        identity: what is searched.
        run: a random name of the run, which its files carry.
        form: what the rows of its sorted files are; None where levels are as they were in memory.
        space: what was found, without its states.
        digests: of the file of each partition, level by level.
    """

    identity: Identity
    run: str
    form: str | None
    space: Space
    digests: Sequence[Sequence[bytes]]

    def write(self, folder: Path) -> None:
        """Write it in place of the one before, after all else that was written to the folder.

        Raises:
            OSError: it cannot be written.
        """
        entries = {
            "format": _FORMAT,
            **self.identity.entries(),
            "run": self.run,
            "sorted": self.form,
            "space": space_entries(self.space),
            "files": [" ".join(found.hex() for found in level) for level in self.digests],
        }
        write_whole(folder / MANIFEST, json_with_digest(_LABEL, entries).encode())

    @classmethod
    def read(cls, folder: Path) -> LevelsManifest:
        """Read the manifest of a run directory.

        Raises:
            UserError: there is none, or it is not what was written, or of another format.
        """
        path = folder / MANIFEST
        try:
            text = _content(path).decode("utf-8", "surrogateescape")
            require_digest(_LABEL, text)
            return _read(json.loads(text))
        except FileNotFoundError as error:
            raise _no_run(folder) from error
        except OSError as error:
            message = f"{path}: cannot be read ({error.strerror}). Give a directory that --run-dir wrote."
            raise UserError(message) from error
        except (Damaged, ValueError, RecursionError) as error:
            message = f"{path}: {_what_it_is(path)}"
            raise UserError(message) from error

    @staticmethod
    def damaged(folder: Path) -> UserError:
        """Return what is said of a manifest that was changed."""
        return UserError(f"{folder / MANIFEST}: {_CHANGED}")


def require_run(folder: Path) -> None:
    """Raise UserError if a folder has no manifest; whether it can be read is found out by reading it."""
    try:
        (folder / MANIFEST).stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise _no_run(folder) from error
    except OSError:
        return


def _no_run(folder: Path) -> UserError:
    return UserError(f"{folder}: there is no {MANIFEST}, so this is no run directory. Give one of --run-dir.")


def _content(path: Path) -> bytes:
    with os.fdopen(open_file(path), "rb") as file:
        return file.read()


def _what_it_is(path: Path) -> str:
    """Say of a manifest that was refused whether it is one of something else."""
    try:
        found = str(json.loads(_content(path))["format"])
    except (OSError, Damaged, ValueError, TypeError, KeyError, RecursionError):
        return "this is no manifest of a run. Search again in another --run-dir."
    if found.startswith(_OF_SPARK):
        return "this is a run on Spark; go on with it by --engine spark."
    if found != _FORMAT:
        return f"format is {found!r}, and this insync reads {_FORMAT!r}. Search again in another --run-dir."
    return _CHANGED


def _read(found: object) -> LevelsManifest:
    """Return what the entries of a manifest say; raise Damaged unless they fit together."""
    entries = as_dict(found)
    require(entries.get("format") == _FORMAT)
    identity, space = Identity.from_entries(entries), space_of(entries.get("space"))
    require(identity.symmetric or space.levels == space.visited)
    require(space.expanded == len(space.levels) - 1)  # the last one is expanded after it has been written
    digests = [[_digest(each) for each in as_text(level).split(" ")] for level in as_list(entries.get("files"))]
    require(len(digests) == len(space.levels) and len({len(level) for level in digests}) == 1)
    form = entries.get("sorted", "")
    require(form is None or form in [each.name for each in FORMS])
    return LevelsManifest(identity, as_text(entries.get("run")), form, space, digests)


def _digest(text: str) -> bytes:
    require(len(text) == 2 * DIGEST_BYTES and set(text) <= set("0123456789abcdef"))
    return bytes.fromhex(text)
