"""A run directory on an object store: moto plays S3 in this process, and the tasks run here, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from insync.explorer import CheckResult, Limits
from insync.explorer import check as check_locally
from insync.model.catalogue import find_model
from insync.runtime.errors import UserError
from insync.spark_explore import SparkOptions, check, export
from insync.spark_explore.wire.run_folder import RunFolder
from insync_played_spark import playing_spark

pytest.importorskip("pyarrow")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(200)]
moto = pytest.importorskip("moto.server", reason="needs moto[server], which `make env` does not install")

DEFECT = find_model("truncate_to_high_watermark")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The options of a URI with which pyarrow reaches a store that has the bucket `bucket`."""
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ):
        monkeypatch.setenv(name, value)
    server = moto.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    reached = f"?scheme=http&region=us-east-1&endpoint_override={host}:{port}"
    RunFolder(f"s3://bucket/made{reached}&allow_bucket_creation=true").write("made", b"")
    yield reached
    server.stop()


def test_a_run_on_a_store_goes_on_after_its_end_and_finds_what_the_local_engine_finds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: str
) -> None:
    options = SparkOptions(partitions=2, warm_states=4, run_dir=f"s3://bucket/run{store}")
    with playing_spark(monkeypatch, tmp_path / "executor"):
        begun = check(DEFECT, limits=Limits(depth=6), symmetry=False, options=options)
        assert begun.depth == 6
        found = check(DEFECT, symmetry=False, options=replace(options, resume=True))
        assert facts(found) == facts(check_locally(DEFECT, symmetry=False))
        states, _ = export(f"s3://bucket/run{store}", str(tmp_path / "tables"))
        assert states > found.distinct_states, "the levels that the last job found beyond the end are there, too"
    assert not any((tmp_path / "executor").rglob("*"))


def test_a_bucket_that_is_not_there_and_keys_that_are_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: str
) -> None:
    options = SparkOptions(partitions=2, run_dir=f"s3://none/run{store}")
    with playing_spark(monkeypatch, tmp_path / "executor"):
        with pytest.raises(
            UserError, match=r"^s3://none/run/driver\.json: the run directory cannot be written \("
        ) as no:
            check(DEFECT, options=options)
        assert "Set AWS_ACCESS_KEY_ID" in str(no.value)
        with pytest.raises(UserError, match=r"^s3://bucket/none: there is no manifest\.json"):
            check(DEFECT, options=replace(options, run_dir=f"s3://bucket/none{store}", resume=True))
