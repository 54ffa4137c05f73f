"""The manifest of a run directory: what is searched, by which insync, and what is known of each level."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from insync.explorer.run_identity import Identity
from insync.model.errors import UserError
from insync.spark_explore.driver.ledger import Ledger
from insync.spark_explore.wire.run_folder import RunFolder

__all__ = [
    "MANIFEST",
    "Manifest",
    "read_manifest",
    "refuse_old_run",
    "write_manifest",
]

MANIFEST = "manifest.json"
_FORMAT = "insync-run/3"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the run directory says of the run.

    Attributes:
        identity: what it searches.
        run: its id.
        partitions: how many parts the states are in.
        ledger: its levels.
    """

    identity: Identity
    run: str
    partitions: int
    ledger: Ledger


def write_manifest(folder: RunFolder, manifest: Manifest) -> None:
    """Write it, in place of the one before."""
    entries = {
        "format": _FORMAT,
        **manifest.identity.entries(),
        "run": manifest.run,
        "partitions": manifest.partitions,
        **manifest.ledger.entries(),
    }
    folder.write(MANIFEST, json.dumps(entries, indent=1).encode())


def read_manifest(folder: RunFolder) -> Manifest:
    """Return the manifest of a run directory.

    Raises:
        UserError: there is none, or it is of another format.
    """
    try:
        entries: dict[str, Any] = json.loads(folder.read(MANIFEST))
    except FileNotFoundError as error:
        raise _no_run(folder.uri) from error
    except ValueError as error:
        message = f"{folder.uri}/{MANIFEST}: this is not JSON ({error}). Search again with --run-dir."
        raise UserError(message) from error
    if entries.get("format") != _FORMAT:
        found = entries.get("format")
        message = f"{folder.uri}/{MANIFEST}: format is {found!r}, and this insync reads {_FORMAT!r}. Search again."
        raise UserError(message)
    return Manifest(Identity.from_entries(entries), entries["run"], entries["partitions"], Ledger.from_entries(entries))


def require_manifest(run_dir: str) -> None:
    """Raise UserError if a local path holds no run; a URI is not looked at."""
    if "://" not in run_dir and not (Path(run_dir) / MANIFEST).exists():
        raise _no_run(str(Path(run_dir).resolve()))


def _no_run(place: str) -> UserError:
    return UserError(f"{place}: there is no {MANIFEST}, so this is no run directory. Give one that --run-dir wrote.")


def refuse_old_run(folder: RunFolder) -> None:
    """Raise UserError if a directory holds a run already, which must not be mixed with another."""
    if folder.has(MANIFEST):
        message = f"{folder.uri}: there is a run in this directory already. Go on with it by --resume, or name another."
        raise UserError(message)
