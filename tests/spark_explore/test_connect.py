"""A Spark Connect server: another process, which gets plans and knows no driver of ours."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from insync.explorer import Limits
from insync.explorer import check as check_locally
from insync.explorer import simulate as simulate_locally
from insync.model.catalogue import find_model
from insync.runtime.errors import UserError
from insync.spark_explore import SparkOptions, check, simulate

pytestmark = [pytest.mark.slow, pytest.mark.timeout(200)]

SPACE = find_model("kip320")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)


@pytest.fixture(scope="module")
def server(needs_spark: None) -> Iterator[str]:
    pytest.importorskip("grpc_status", reason="needs pyspark[connect]")
    import pyspark

    home = Path(pyspark.__file__).parent
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    settings = [f"spark.connect.grpc.binding.port={port}", "spark.ui.enabled=false", "spark.driver.host=127.0.0.1"]
    name = "org.apache.spark.sql.connect.service.SparkConnectServer"
    process = subprocess.Popen(
        [str(home / "bin" / "spark-submit"), "--master", "local[2,4]", "--class", name]
        + [part for setting in settings for part in ("--conf", setting)]
        + ["spark-internal"],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 90
        while not _answers(port):
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def _answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_a_search_over_connect(server: str, tmp_path: Path) -> None:
    options = SparkOptions(remote=server, partitions=2, warm_states=100, run_dir=str(tmp_path))
    found = check(SPACE, options=options)
    assert "SPARK_CONNECT_MODE_ENABLED" not in os.environ, "this process can make other sessions, as it could before"
    assert replace(found, seconds={}, peak_memory_bytes=0, engine="local") == replace(
        check_locally(SPACE), seconds={}, peak_memory_bytes=0
    )


def test_a_damaged_file_that_a_task_finds_is_named(server: str, tmp_path: Path) -> None:
    options = SparkOptions(remote=server, partitions=2, warm_states=100, run_dir=str(tmp_path))
    check(SPACE, limits=Limits(depth=11), options=options)
    (path,) = tmp_path.glob("states/p00001/00011-*")
    whole = path.read_bytes()
    path.write_bytes(whole[:-8] + bytes([whole[-8] ^ 1 << 2]) + whole[-7:])
    with pytest.raises(UserError, match=rf"^{path}: this file is not what the run has written there"):
        check(SPACE, options=replace(options, resume=True))


def test_walks_over_connect(server: str) -> None:
    found = simulate(SPACE, walks=2000, options=SparkOptions(remote=server, partitions=2))
    assert found.actions == simulate_locally(SPACE, walks=2000).actions


def test_a_run_directory_is_needed(server: str) -> None:
    with pytest.raises(UserError, match="name a run directory"):
        check(SPACE, options=SparkOptions(remote=server))


def test_a_server_that_is_not_there(needs_spark: None) -> None:
    pytest.importorskip("grpc_status", reason="needs pyspark[connect]")
    with pytest.raises(UserError, match="no Spark Connect server answers there"):
        check(SPACE, options=SparkOptions(remote="sc://127.0.0.1:1", run_dir="/nonexistent"))
