"""The manifest of a run directory: the identity of the search, who works on it, and the counts and files of each level.

manifest.json          this
lock, or driver.json   the process that works on it: `run_lock`, and on a store `spark_explore.driver.lease`
states/, merged/       the states of the partitions: `insync.machine.stores.run_files`

It is the same for a search on this machine and on Spark. A manifest has a digest of itself and of each file that it
counts. Its entries are examined as well, as a valid digest does not make them a manifest. The directory has no code.
"""

from __future__ import annotations

import json
import re
import uuid
from dataclasses import dataclass, replace
from typing import Any

from insync.explorer.manifest_entries import as_dict, as_numbers, as_text, require
from insync.explorer.run_identity import Identity, require_same
from insync.explorer.search.run_levels import RunLevels, SpaceShape
from insync.machine.stores.row_encoding import FORMS
from insync.machine.stores.run_folder import RunFolder
from insync.runtime.checksums import Damaged, Label, json_with_digest, require_digest
from insync.runtime.errors import UserError

__all__ = ["MANIFEST", "Manifest", "new_id", "read_manifest", "refuse_old_run", "resumed", "write_manifest"]

MANIFEST = "manifest.json"
_FORMAT = "insync-run/5"
_FORMATS = re.compile(r"insync-(run|levels)/\d+")
_LABEL: Label = {"kind": "manifest", "format": _FORMAT}
_RUN = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a manifest.

    Attributes:
        identity: of the search: model, bounds, properties, code.
        run: the id of the run.
        driver: the id of the process that works on it.
        epoch: how many processes have worked on it, this one included; see `lease`.
        partitions: how many partitions the states are divided into, by a hash of all their words.
        encoding: of the rows of its files; see `row_encoding`.
        on_disk: whether memory was full in a search on one machine, which goes on with its sorted files then.
        levels: the levels, with the digests of their files.
    """

    identity: Identity
    run: str
    driver: str
    epoch: int
    partitions: int
    levels: RunLevels
    encoding: str = "states"
    on_disk: bool = False


def new_id() -> str:
    """Return a random id of a run or of a driver."""
    return uuid.uuid4().hex[:16]


def resumed(folder: RunFolder, identity: Identity, shape: SpaceShape) -> Manifest:
    """Return the manifest of a run that this process takes over; it has to be written before anything else is.

    Raises:
        UserError: there is no such run, or it is of another search.
    """
    found = read_manifest(folder)
    require_same(folder.shown, found.identity, identity)
    if not found.levels.fits(shape):
        raise folder.damaged(MANIFEST)
    return replace(found, driver=new_id(), epoch=found.epoch + 1)


def write_manifest(folder: RunFolder, manifest: Manifest) -> None:
    """Replace the manifest of a run directory, after all files that it counts were written.

    Raises:
        UserError: another process has taken over the run, or the manifest cannot be written.
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
        "encoding": manifest.encoding,
        "on_disk": manifest.on_disk,
        **manifest.levels.entries(),
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
        raise _refused(folder, content) from error


def _manifest_of(found: object) -> Manifest:
    """Return the manifest with these entries; raise Damaged unless they are consistent."""
    entries = as_dict(found)
    identity, run = Identity.from_entries(entries), as_text(entries.get("run"))
    partitions, epoch = as_numbers([entries.get("partitions"), entries.get("epoch")], least=1)
    levels, encoding = RunLevels.from_entries(entries, partitions), as_text(entries.get("encoding"))
    require(_RUN.fullmatch(run) is not None and encoding in [each.name for each in FORMS])
    require(identity.symmetric or all(level.states == level.visited for level in levels.levels.values()))
    on_disk: Any = entries.get("on_disk")
    require(entries.get("format") == _FORMAT and type(on_disk) is bool and (on_disk or encoding == "states"))
    return Manifest(identity, run, as_text(entries.get("driver")), epoch, partitions, levels, encoding, on_disk)


def _refused(folder: RunFolder, content: bytes) -> UserError:
    """Return the error for a manifest that cannot be read: it has another format, or is damaged."""
    try:
        found = json.loads(content)["format"]
    except (LookupError, TypeError, ValueError, RecursionError):
        found = None
    if isinstance(found, str) and _FORMATS.fullmatch(found) and found != _FORMAT:
        place = f"{folder.shown}/{MANIFEST}"
        return UserError(
            f"{place}: format is {found!r}, and this insync reads {_FORMAT!r}. Search again in another --run-dir."
        )
    return folder.damaged(MANIFEST)


def refuse_old_run(folder: RunFolder) -> None:
    """Raise UserError if a directory holds a run already: two runs must not be mixed."""
    if folder.has(MANIFEST):
        message = (
            f"{folder.shown}: there is a run in this directory already. Go on with it by --resume, or name another."
        )
        raise UserError(message)
