from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from insync.explorer import check

SCRIPT = dedent("""
    import json
    from insync.explorer import check
    from insync.model.catalogue import find_model
    model = find_model("kip320")(replicas=3, log_size=3, max_records=3, max_leader_epoch=3)
    result = check(model, symmetry=False)
    print(json.dumps([result.verdict, result.distinct_states, result.depth, result.peak_memory_bytes]))
""")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_largest_space_that_is_promised_fits() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    verdict, states, depth, peak = json.loads(done.stdout)
    assert (verdict, states, depth) == ("holds", 64_739_578, 37)
    assert peak < 0.8 * 2**30, "codes are kept in place of states"


EXAMPLES = Path(__file__).parents[2] / "examples"


def test_sixty_million_states_of_ten_members_that_are_alike() -> None:
    found = check(f"{EXAMPLES}/tlaplus/two_phase.py:TwoPhase", bounds={"managers": 10})
    assert (found.verdict, found.distinct_states, found.representatives) == ("holds", 61_515_776, 3_300)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_six_thousand_million_states_of_five_replicas_that_are_alike() -> None:
    bounds = {"replicas": 5, "log_size": 2, "max_records": 2, "max_leader_epoch": 2}
    found = check("kip320", bounds=bounds)
    assert (found.verdict, found.distinct_states, found.depth) == ("holds", 6_231_026_986, 42)
    assert found.representatives == 54_722_767


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_election_of_five_servers_that_are_alike(tmp_path: Path) -> None:
    """The example with `symmetric=True`, as its guide says to write it."""
    written = (EXAMPLES / "election.py").read_text()
    (tmp_path / "election.py").write_text(
        written.replace("class Server(Index):", "class Server(Index, symmetric=True):")
    )
    found = check(f"{tmp_path}/election.py:Durable", bounds={"servers": 5, "terms": 3})
    assert (found.verdict, found.distinct_states, found.representatives) == ("holds", 2_520_738_988, 21_585_588)
