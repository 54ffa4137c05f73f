"""The manifest of a run directory: what is searched, by which insync, and what is known of each level."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from insync.model import Model
from insync.model.catalogue import model_reference
from insync.model.errors import UserError
from insync.properties.class_names import names_within
from insync.spark_explore.driver.ledger import Ledger
from insync.spark_explore.wire.run_folder import RunFolder
from insync.spark_explore.wire.version import insync_version

__all__ = [
    "MANIFEST",
    "Identity",
    "Manifest",
    "identity_of",
    "read_manifest",
    "refuse_old_run",
    "require_same",
    "write_manifest",
]

MANIFEST = "manifest.json"
_FORMAT = "insync-run/2"
_MEANING = {
    "insync": "another version of insync",
    "model": "another model",
    "bounds": "other bounds",
    "properties": "other properties",
    "symmetric": "a search of another kind",
    "within": "a search that was confined otherwise",
    "code": "other rules, or another code generator",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """What a run searches: it goes on only where all of this is the same.

    Attributes:
        insync: the version that writes the files.
        model, bounds: what is searched.
        properties: what is checked.
        code: a hash of the transition relation and the properties, as they are traced.
        symmetric: whether its states stand for all that differ in who is who only.
        within: the invariants that it is confined to.
    """

    insync: str
    model: str
    bounds: Mapping[str, int | str]
    properties: tuple[str, ...]
    code: str
    symmetric: bool = False
    within: tuple[str, ...] = ()


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


def identity_of(model: Model, properties: tuple[str, ...], code: str, symmetric: bool = False) -> Identity:
    """Return what a run of this model and these properties searches."""
    within = names_within(model)
    return Identity(insync_version(), model_reference(model), model.identity, properties, code, symmetric, within)


def write_manifest(folder: RunFolder, manifest: Manifest) -> None:
    """Write it, in place of the one before."""
    identity = manifest.identity
    entries = {
        "format": _FORMAT,
        "insync": identity.insync,
        "model": identity.model,
        "bounds": dict(identity.bounds),
        "properties": list(identity.properties),
        "code": identity.code,
        "symmetric": identity.symmetric,
        "within": list(identity.within),
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
    identity = Identity(
        entries["insync"],
        entries["model"],
        entries["bounds"],
        tuple(entries["properties"]),
        entries["code"],
        entries["symmetric"],
        tuple(entries["within"]),
    )
    return Manifest(identity, entries["run"], entries["partitions"], Ledger.from_entries(entries))


def require_manifest(run_dir: str) -> None:
    """Raise UserError if a local path holds no run; a URI is not looked at."""
    if "://" not in run_dir and not (Path(run_dir) / MANIFEST).exists():
        raise _no_run(str(Path(run_dir).resolve()))


def _no_run(place: str) -> UserError:
    return UserError(f"{place}: there is no {MANIFEST}, so this is no run directory. Give one that --run-dir wrote.")


def require_same(folder: RunFolder, found: Identity, wanted: Identity) -> None:
    """Raise UserError unless a run directory belongs to the same search, naming the first difference."""
    for name, meaning in _MEANING.items():
        there, here = getattr(found, name), getattr(wanted, name)
        if there != here:
            message = (
                f"{folder.uri}: this run was made by {meaning}: {name} is {_shown(there)} there and {_shown(here)} "
                "here. Give the same, or search again in another --run-dir."
            )
            raise UserError(message)


def refuse_old_run(folder: RunFolder) -> None:
    """Raise UserError if a directory holds a run already, which must not be mixed with another."""
    if folder.has(MANIFEST):
        message = f"{folder.uri}: there is a run in this directory already. Go on with it by --resume, or name another."
        raise UserError(message)


def _shown(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {entry}" for name, entry in value.items())
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return str(value)
