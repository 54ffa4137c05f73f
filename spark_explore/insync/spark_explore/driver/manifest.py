"""The manifest of a run directory: the identity of the search, its driver, and the figures of each level."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from insync.explorer.manifest_entries import as_dict, as_numbers, as_text, require
from insync.explorer.run_identity import Identity
from insync.runtime.checksums import DIGEST_BYTES, Damaged, Label, json_with_digest, require_digest
from insync.runtime.errors import UserError
from insync.spark_explore.driver.ledger import Ledger
from insync.spark_explore.wire.run_folder import RunFolder

__all__ = ["MANIFEST", "Manifest", "damaged", "read_manifest", "refuse_old_run", "write_manifest"]

MANIFEST = "manifest.json"
_FORMAT = "insync-run/4"
_LABEL: Label = {"kind": "manifest of a run on Spark", "format": _FORMAT}
_OF_LOCAL = "insync-levels/"
_RUN = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a manifest.

    Attributes:
        identity: of the search: model, bounds, properties, code.
        run: the id of the run.
        driver: the id of the driver that works on it.
        epoch: how many drivers have worked on it, this one included; see `lease`.
        partitions: how many partitions the states are divided into.
        ledger: the levels, with the digests of their files.
    """

    identity: Identity
    run: str
    driver: str
    epoch: int
    partitions: int
    ledger: Ledger


def write_manifest(folder: RunFolder, manifest: Manifest) -> None:
    """Replace the manifest of a run directory.

    Raises:
        UserError: another driver has taken over the run, or the manifest cannot be written.
    """
    before = read_manifest(folder) if folder.has(MANIFEST) else manifest
    is_ours = before.driver == manifest.driver or before.epoch < manifest.epoch
    if before.run != manifest.run or not is_ours:
        message = (
            f"{folder.shown}: another driver has taken over this run directory (it is number {before.epoch}, and this "
            f"one is number {manifest.epoch}), so nothing more is written here. Resume when it has ended."
        )
        raise UserError(message)
    entries = {
        "format": _FORMAT,
        **manifest.identity.entries(),
        "run": manifest.run,
        "driver": manifest.driver,
        "epoch": manifest.epoch,
        "partitions": manifest.partitions,
        **manifest.ledger.entries(),
    }
    folder.write(MANIFEST, json_with_digest(_LABEL, entries).encode())


def read_manifest(folder: RunFolder) -> Manifest:
    """Return the manifest of a run directory.

    Raises:
        UserError: there is no manifest, or it is damaged, or has another format.
    """
    content = folder.read(MANIFEST)
    if content is None:
        message = f"{folder.shown}: there is no {MANIFEST}, so this is no run directory. Give one that --run-dir wrote."
        raise UserError(message)
    try:
        text = content.decode()
        require_digest(_LABEL, text)
        return _manifest_of(json.loads(text))
    except (Damaged, RecursionError, ValueError) as error:
        raise _unreadable(folder, content) from error


def _manifest_of(found: object) -> Manifest:
    """Return the manifest with these entries; raise Damaged unless they are consistent."""
    entries = as_dict(found)
    ledger, run = Ledger.from_entries(entries), as_text(entries.get("run"))
    partitions, epoch = as_numbers([entries.get("partitions"), entries.get("epoch")], least=1)
    require(_RUN.fullmatch(run) is not None and len(ledger.start_files) == DIGEST_BYTES * partitions)
    return Manifest(Identity.from_entries(entries), run, as_text(entries.get("driver")), epoch, partitions, ledger)


def _unreadable(folder: RunFolder, content: bytes) -> UserError:
    """Return the error for a manifest that cannot be read: it has another format, or is damaged."""
    place, found = f"{folder.shown}/{MANIFEST}", None
    try:
        found = json.loads(content)["format"]
    except (LookupError, TypeError, ValueError, RecursionError):
        found = None
    if isinstance(found, str) and found.startswith(_OF_LOCAL):
        return UserError(f"{place}: this is a run of the local engine; go on with it by --engine local.")
    if isinstance(found, str) and re.fullmatch(r"insync-run/\d+", found) and found != _FORMAT:
        return UserError(f"{place}: format is {found!r}, and this insync reads {_FORMAT!r}. Search again.")
    return damaged(folder)


def damaged(folder: RunFolder) -> UserError:
    """Return the error for a manifest that has changed."""
    return UserError(
        f"{folder.shown}/{MANIFEST}: this file is not what the run has written there. "
        "The run directory is damaged; search again in another --run-dir."
    )


def refuse_old_run(folder: RunFolder) -> None:
    """Raise UserError if a directory holds a run already: two runs must not be mixed."""
    if folder.has(MANIFEST):
        message = (
            f"{folder.shown}: there is a run in this directory already. Go on with it by --resume, or name another."
        )
        raise UserError(message)
