from __future__ import annotations

import json
import subprocess
import sys
from textwrap import dedent

import pytest

SCRIPT = dedent("""
    import json
    from insync.explorer import check
    from insync.model.catalogue import find_model
    model = find_model("kip320")(replicas=3, log_size=3, max_records=3, max_leader_epoch=3)
    result = check(model)
    print(json.dumps([result.verdict, result.distinct_states, result.depth, result.peak_memory_bytes]))
""")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_largest_space_that_is_promised_fits() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    verdict, states, depth, peak = json.loads(done.stdout)
    assert (verdict, states, depth) == ("holds", 64_739_578, 37)
    assert peak < 3.5 * 2**30
