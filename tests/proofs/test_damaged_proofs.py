"""A proof file with anything else in any place is refused with that place, or claims what it says."""

from __future__ import annotations

import json
from pathlib import Path

from insync.proofs.proof_file import FORMAT, Proof, proof_text, read_proof
from insync.runtime.checksums import json_with_digest
from insync.runtime.errors import UserError
from insync_damaged import damaged

CLAIM = ("model", "bounds", "properties", "lemmas", "k", "within")
FULL = Proof(
    "kip320", {"replicas": 3, "mode": "slow"}, ("p", "q"), ("l",), 2, "z3 4.13", {"l": ("proved", 0.1)}, ("w",)
)


def test_anything_else_anywhere_is_refused_there_or_stays_what_it_is(tmp_path: Path) -> None:
    path, taken = tmp_path / "proof.json", 0
    whole = json.loads(proof_text(FULL))
    del whole["digest"], whole["solver"], whole["results"]  # what a file says of its own making is not looked at
    for key, changed in damaged(whole):
        path.write_text(json_with_digest({"kind": "proof", "format": FORMAT}, changed) if changed else "{}")
        try:
            proof = read_proof(path)
        except UserError as error:
            (message,) = error.args
            assert message.startswith(f"{path}: "), message
            assert key in message or key.isdigit(), (key, message)
        else:
            taken += 1
            assert _claims(json.loads(proof_text(proof))) == _claims(changed)
    assert taken


def _claims(file: dict[str, object]) -> str:
    """What a file claims, in which no lemmas and no such key are the same."""
    return json.dumps({name: file.get(name) or [] for name in CLAIM})


def test_a_proof_file_tells_all_that_was_asked_and_who_answered() -> None:
    written = json.loads(proof_text(FULL))
    assert written == {
        "digest": written["digest"],
        "format": "insync-proof/2",
        "model": "kip320",
        "bounds": {"replicas": 3, "mode": "slow"},
        "k": 2,
        "properties": ["p", "q"],
        "lemmas": ["l"],
        "within": ["w"],
        "solver": "z3 4.13",
        "results": {"l": {"verdict": "proved", "seconds": 0.1}},
    }
