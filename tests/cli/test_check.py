from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from insync.cli.progress import search_progress
from insync.explorer.run_lock import RunLock

Insync = Callable[..., Any]

SUPPORT = Path(__file__).parent.parent / "support"


def test_a_proof(insync: Insync) -> None:
    code, out, err = insync("check", "kip320", "--replicas", 2, "--max-leader-epoch", 1, "--quiet")
    assert (code, err) == (0, "")
    assert out.startswith("kip320   replicas 2, max_leader_epoch 1\nholds: weak_isr, strong_isr in all ")


def test_bounds_may_stand_before_the_model(insync: Insync) -> None:
    code, out, _ = insync("check", "--replicas=2", "--max-leader-epoch", 0, "--json", "kip320")
    assert code == 0
    assert json.loads(out)["bounds"] == {"replicas": 2, "log_size": 2, "max_records": 2, "max_leader_epoch": 0}


def test_the_object_for_scripts(insync: Insync) -> None:
    code, out, err = insync("check", "kip320", "--replicas", 2, "--property", "strong_isr", "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert out.count("\n") == 1
    assert list(result) == [
        "model",
        "bounds",
        "engine",
        "storage",
        "kept",
        "verdict",
        "stopped_by",
        "distinct_states",
        "representatives",
        "transitions",
        "depth",
        "levels",
        "frontier",
        "properties",
        "violations",
        "actions",
        "never_enabled",
        "not_enabled_yet",
        "impossible",
        "deadlocks",
        "within",
        "outside",
        "warnings",
        "seconds",
        "peak_memory_bytes",
    ]
    assert result["distinct_states"] == sum(result["levels"])
    assert result["depth"] == len(result["levels"])
    assert result["transitions"] == sum(result["actions"].values())
    assert result["properties"] == [{"name": "strong_isr", "verdict": "holds"}]


def test_a_violation_of_a_model_of_the_users_own(insync: Insync, lamp: str) -> None:
    code, out, err = insync("check", lamp, "--switches", 1)
    assert (code, err) == (1, "")
    assert "violated: never_on (trace of 2 states)" in out
    assert " 1  s1 is pressed  ON" in out


def test_an_assignment_outside_its_domain_is_a_violation_of_type_ok(insync: Insync, lamp: str, tmp_path: Path) -> None:
    code, out, _ = insync("check", lamp, "--property", "none", "--trace", tmp_path / "t.json")
    assert code == 1
    assert "type_ok fails after 2 steps" in out
    assert "is pressed (refused)" in out
    assert "the value assigned to count is not a whole number from 0 to 2." in out.replace("\n", " ")
    assert insync("replay", tmp_path / "t.json", "--model", lamp).code == 0


def test_a_trace_file_replays_to_itself(insync: Insync, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    code, out, _ = insync("check", "kip101", "--replicas", 2, "--property", "strong_isr", "--trace", path)
    assert code == 1
    grid = out[out.index("strong_isr fails") :]
    assert grid.endswith(f"\nReplay: insync replay {path}\n")
    assert insync("replay", path) == (0, grid.replace(f"Replay: insync replay {path}\n", ""), "")
    assert insync("replay", path, "--format", "json") == (0, path.read_text(), "")
    assert json.loads(insync("replay", path, "--format", "itf").out)["#meta"]["format"] == "ITF"


def test_the_suffix_chooses_itf_and_each_violation_has_a_file(insync: Insync, tmp_path: Path) -> None:
    code, out, _ = insync("check", "kip101", "--replicas", 2, "--trace", tmp_path / "t.itf.json", "--json")
    assert code == 1
    files = [violation["trace"] for violation in json.loads(out)["violations"]]
    assert files[0] == str(tmp_path / "t.itf.json")
    assert sorted(map(str, tmp_path.iterdir())) == sorted(files)
    assert all(json.loads(Path(file).read_text())["#meta"]["format"] == "ITF" for file in files)


def test_a_proof_leaves_no_trace_file(insync: Insync, tmp_path: Path) -> None:
    assert insync("check", "kip320", "--replicas", 1, "--trace", tmp_path / "t.json").code == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow_for("limit3-memory")
@pytest.mark.parametrize(
    ("limit", "stopped_by"),
    [
        (("--max-depth", 3), "depth"),
        (("--max-states", 100), "states"),
        (("--max-seconds", 0.000001), "time"),
        (("--memory", "1M"), "memory"),
    ],
)
def test_a_limit_makes_it_incomplete(
    insync: Insync, monkeypatch: pytest.MonkeyPatch, limit: tuple[object, ...], stopped_by: str
) -> None:
    monkeypatch.setattr("insync.runtime.watch.Watch.require_room", lambda *_: None)  # else 1M is refused
    code, out, _ = insync("check", "kip320", *limit, "--json")
    result = json.loads(out)
    assert (code, result["verdict"], result["stopped_by"]) == (3, "incomplete", stopped_by)
    assert {entry["verdict"] for entry in result["properties"]} == {"incomplete"}
    code, out, _ = insync("check", "kip320", *limit)
    assert code == 3
    assert f"({limit[0]})" in out
    assert "holds" not in out


def test_less_memory_than_is_taken_already_is_a_mistake(insync: Insync) -> None:
    code, out, err = insync("check", "kip320", "--memory", "1M")
    assert (code, out) == (2, "")
    sentence = r"A limit of 1 MiB on the memory is too little, as insync takes \d+ MiB before the search begins"
    needs = r"and needs \d+ MiB for the first states with threads=\d+ and partitions=\d+"
    assert re.fullmatch(rf"Error: {sentence} {needs}; give \d+M \(memory_bytes=\d+\) or more\.\n", err), err


def test_keep_going_counts_the_whole_space(insync: Insync) -> None:
    first, whole, unchecked = (
        json.loads(insync("check", "kip101", "--replicas", 2, "--json", *more).out)
        for more in ((), ("--keep-going",), ("--property", "none"))
    )
    assert first["distinct_states"] < whole["distinct_states"] == unchecked["distinct_states"]
    assert first["violations"] == whole["violations"]


def test_what_a_refused_step_ends_is_not_known_of_the_rest(insync: Insync) -> None:
    late = f"{SUPPORT / 'insync_corners.py'}:Late"
    code, out, _ = insync("check", late, "--json")
    ended = json.loads(out)
    assert code == 1
    assert ended["properties"] == [{"name": "ok", "verdict": "incomplete"}, {"name": "type_ok", "verdict": "violated"}]
    assert (ended["frontier"], ended["never_enabled"], ended["not_enabled_yet"]) == (1, [], ["late"])
    whole = json.loads(insync("check", late, "--json", "--keep-going").out)
    assert {entry["verdict"] for entry in whole["properties"]} == {"violated"}
    assert (whole["frontier"], whole["never_enabled"], whole["not_enabled_yet"]) == (0, [], [])
    text = insync("check", late).out
    assert "no violation of ok up to there" in text
    assert "not enabled so far: late" in text
    assert "never enabled" not in text


@pytest.mark.slow
def test_threads_and_partitions_change_nothing(insync: Insync) -> None:
    results = []
    for more in (("--threads", 1), ("--threads", 2), ("--threads", 2, "--partitions", 5)):
        result = json.loads(insync("check", "kip101", "--replicas", 2, "--json", *more).out)
        results.append({key: value for key, value in result.items() if key not in ("seconds", "peak_memory_bytes")})
    assert results[0] == results[1] == results[2]


def test_quiet_means_no_progress() -> None:
    with search_progress(quiet=True) as reporter:
        assert reporter is None
    with search_progress(quiet=False) as reporter:
        assert reporter is not None


def test_a_bound_with_the_name_of_an_option(insync: Insync, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from insync.model import Bound, Bounds, Int, Model, State, StateView, action\n"
        "class Mine(Model):\n"
        "    bounds = Bounds(threads=Bound(2, 1, 4, 'threads of the modelled program'))\n"
        "    def declare(self, b): return State(x=Int(0, b.threads))\n"
        "    @action\n"
        "    def step(self, s: StateView) -> None: s.x = 1\n"
    )
    code, out, _ = insync("check", f"{path}:Mine", "--bound-threads", 4, "--threads", 1, "--json")
    assert code == 0
    assert json.loads(out)["bounds"] == {"threads": 4}


def test_a_device_takes_the_traces_of_all_properties(insync: Insync, tmp_path: Path) -> None:
    path = tmp_path / "two.py"
    path.write_text(
        """
from insync.model import Int, Model, State, action, invariant

class Two(Model):
    headline = ("first", "second")

    def declare(self, b):
        return State(n=Int(0, 1))

    @action
    def go(self, s):
        s.n = 1

    @invariant
    def first(self, s):
        return s.n == 0

    @invariant
    def second(self, s):
        return s.n < 1
"""
    )
    code, out, _ = insync("check", f"{path}:Two", "--trace", "/dev/null", "--json", "--quiet")
    assert (code, [found["trace"] for found in json.loads(out)["violations"]]) == (1, ["/dev/null", "/dev/null"])


def test_who_asks_for_symmetry_is_told_why_there_is_none(insync: Insync) -> None:
    small = ("check", "async_isr", "--replicas", 2, "--max-offset", 1, "--max-version", 1, "--quiet")
    said = "No sort of async_isr is symmetric: the first replica is the leader. Every state was visited."
    code, out, _ = insync(*small, "--symmetry")
    assert (code, said in " ".join(out.split())) == (0, True)
    assert said not in " ".join(insync(*small)[1].split())
    assert said in json.loads(insync(*small, "--symmetry", "--json")[1])["warnings"]
    assert "declared symmetric" not in insync("check", "kip320", "--replicas", 2, "--symmetry", "--quiet")[1]


def test_who_has_kept_a_run_is_told_how_to_go_on(insync: Insync, tmp_path: Path) -> None:
    """But not where the time was up before there was a level, nor at its end."""
    run, given = tmp_path / "a run", ("check", "kip320", "--replicas", 2, "--max-leader-epoch", 1, "--quiet")
    _, out, _ = insync(*given, "--run-dir", run, "--max-seconds", 0.0001)
    assert "--resume" not in out
    code, out, _ = insync(*given, "--run-dir", run, "--max-depth", 3)
    assert code == 3
    again = f"the same command with --resume '{run}' in place of --run-dir and a larger --max-depth goes on.\n"
    assert out.endswith(f"\n\nIts complete levels are in {run}: {again}")
    code, out, _ = insync(*given, "--resume", run, "--max-depth", 4)
    assert out.endswith(f"the same command with --resume '{run}' and a larger --max-depth goes on.\n")
    code, out, _ = insync(*given, "--resume", run)
    assert code == 0
    assert "--resume" not in out


def test_a_damaged_or_used_run_directory_ends_in_one_sentence(insync: Insync, tmp_path: Path) -> None:
    run, given = tmp_path / "run", ("check", "kip320", "--replicas", 2, "--max-leader-epoch", 1, "--quiet")
    insync(*given, "--run-dir", run)
    with RunLock(run):
        used = insync(*given, "--resume", run)
    level = run / "states/p00000/00002-00002"
    level.write_bytes(level.read_bytes()[:-1])
    assert used[::2] == (
        2,
        f"Error: {run}: another search is using this run directory. Wait until it has ended, or name another.\n",
    )
    code, out, err = insync(*given, "--resume", run)
    assert (code, out) == (2, "")
    assert err.startswith(f"Error: {level}: this file is not what the run has written there. ")
