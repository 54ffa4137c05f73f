"""Proof files with other entries, as `insync prove` would have written them: with the digest of what they say."""

from __future__ import annotations

import json
from collections.abc import Mapping

from insync.proofs.proof_file import FORMAT
from insync.runtime.checksums import json_with_digest

__all__ = ["proof_with"]


def proof_with(text: str, changes: Mapping[str, object]) -> str:
    """Return the text of a proof with some entries changed."""
    entries = {**json.loads(text), **changes}
    del entries["digest"]
    return json_with_digest({"kind": "proof", "format": FORMAT}, entries)
