"""When what was run on two versions confirms what the model says to have changed between them."""

from __future__ import annotations

import itertools
import json

import pytest

from insync.conformance.catalogue.catalogue_record import RecordedRun
from insync.conformance.catalogue.claim_evidence import ClaimEvidence
from insync.conformance.catalogue.reached import claims
from insync.conformance.documents.claims import claim_rows, claims_json

CLAIM = claims()[0]


def run(verdict: str | None) -> RecordedRun | None:
    return None if verdict is None else RecordedRun("4.0.0", "classes", verdict, 3, "2026-01-02", "abc", predicted=True)


@pytest.mark.parametrize("of_old", [False, True])
def test_a_claim_is_confirmed_where_the_one_version_takes_the_trace_and_the_other_does_not(of_old: bool) -> None:
    verdicts = (None, "reproduced", "agrees", "diverges", "not_schedulable")
    for before, since in itertools.product(verdicts, repeat=2):
        taken, other = ({"reproduced", "agrees"}, {"diverges"}) if of_old else ({"diverges"}, {"reproduced", "agrees"})
        one = ClaimEvidence(CLAIM, "R-26", of_old, run(before), run(since))
        assert one.confirmed == (before in taken and since in other), (before, since)
        ((*_, said),) = claim_rows([one])
        ran = before is not None and since is not None
        assert said.startswith("confirmed: " if one.confirmed else "not confirmed: " if ran else "not run")
        (entry,) = json.loads(claims_json([one]))["claims"]
        assert entry["confirmed"] == one.confirmed
        assert [seen["verdict"] for seen in entry["runs"]] == [each for each in (before, since) if each is not None]
