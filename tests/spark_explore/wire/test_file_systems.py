"""A run directory that cannot be reached is the user's news: one sentence says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from insync.runtime.errors import UserError
from insync.spark_explore.wire.file_systems import full_name, reason_of, shown_name
from insync.spark_explore.wire.run_folder import run_folder

pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("runs/one", "{here}/runs/one"),
        ("../one", "{above}/one"),
        ("/runs/one/", "/runs/one"),
        ("run:1", "{here}/run:1"),
        ("file:/runs/one", "/runs/one"),
        ("file:///runs/one%20two", "/runs/one two"),
        ("file://localhost/runs/one", "/runs/one"),
        ("s3://bucket/one", "s3://bucket/one"),
        ("hdfs:///one", "hdfs:///one"),
    ],
)
def test_a_name_is_a_path_of_this_machine_or_a_uri(
    name: str, path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert full_name(name) == path.format(here=tmp_path, above=tmp_path.parent)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "The name of the run directory is empty. Give a path, or a URI such as s3://BUCKET/DIR."),
        ("dbfs:/runs/one", "dbfs:/runs/one: executors reach Databricks' files by a path. Name /dbfs/runs/one, or a"),
        ("dbfs:///runs/one", "dbfs:///runs/one: executors reach Databricks' files by a path. Name /dbfs/runs/one, or"),
        ("s3a://b/one", "s3a://b/one: this file system is called s3 here. Name s3://b/one."),
        ("s3n://k:secret@b/one", "s3n://k:***@b/one: this file system is called s3 here. Name s3://k:***@b/one."),
        (
            "wasbs://c@a.blob.core.windows.net/one",
            "wasbs://c@a.blob.core.windows.net/one: this file system is called abfss here. Name abfss://c@a.dfs.core.w",
        ),
        ("file:one", "file:one: this is not a path of this machine. Name one as /DIR or file:///DIR."),
        ("file://other/one", "file://other/one: this is not a path of this machine. Name one as /DIR or file:///DIR."),
        ("gopher://nowhere/x", "gopher://nowhere/x: no file system is called gopher here. Give a path, or a URI with"),
        ("s3:bucket/x", "s3:bucket/x: a URI of this file system begins with s3://. Give s3://BUCKET/DIR."),
        ("S3://bucket/x", "S3://bucket/x: a URI of this file system begins with s3://. Give s3://BUCKET/DIR."),
        ("hdfs:/x", "hdfs:/x: a URI of this file system begins with hdfs://. Give hdfs://HOST/DIR."),
        ("s3://", "s3://: this names no bucket. Give one, and a directory in it: s3://BUCKET/DIR."),
        ("gs:///x", "gs:///x: this names no bucket. Give one, and a directory in it: gs://BUCKET/DIR."),
    ],
)
def test_a_name_that_is_neither_is_refused(name: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        full_name(name)
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("name", "said", "cure"),
    [
        ("abfs://container/one", "abfs://container/one: this run directory cannot be reached (", "AZURE_CLIENT_ID"),
        ("abfss://c@a.dfs.core.windows.net/x?y=1", "Unexpected query parameter", "AZURE_CLIENT_ID"),
        ("s3://bucket/one?region=r&y=1", "Unexpected query parameter in S3 URI: 'y'", "endpoint_override=HOST:PORT"),
    ],
)
def test_a_store_that_cannot_be_reached(name: str, said: str, cure: str) -> None:
    with pytest.raises(UserError) as refused:
        run_folder(name)
    text = str(refused.value)
    assert said in text
    assert cure in text
    assert "\n" not in text


def test_a_hadoop_whose_libraries_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pyarrow says in thirty lines where it has looked."""
    tried = "\n".join(f"dlopen(/usr/lib/{number}/libjvm.so) failed" for number in range(30))

    class Played:
        @staticmethod
        def from_uri(uri: str) -> object:
            raise OSError(f"Unable to load libjvm\n{tried}")

    monkeypatch.setattr("pyarrow.fs.FileSystem", Played)
    with pytest.raises(UserError) as refused:
        run_folder("hdfs://host:9000/runs/one")
    assert str(refused.value).startswith(
        "hdfs://host:9000/runs/one: this run directory cannot be reached (Unable to load libjvm). Set JAVA_HOME, HADOOP"
    )


def test_a_store_that_answers_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Google's client would try for a quarter of an hour."""
    asked: list[str] = []

    class Played:
        @staticmethod
        def from_uri(uri: str) -> tuple[object, str]:
            asked.append(uri)
            return object(), "bucket/one/"

    monkeypatch.setattr("pyarrow.fs.FileSystem", Played)
    for name in ("gs://bucket/one", "gs://bucket/one?project_id=p", "gs://bucket/one?retry_limit_seconds=5"):
        assert vars(run_folder(name))["_root"] == "bucket/one"
    assert asked[0] == "gs://bucket/one?retry_limit_seconds=30"
    assert asked[1] == "gs://bucket/one?project_id=p&retry_limit_seconds=30"
    assert asked[2] == "gs://bucket/one?retry_limit_seconds=5"


def test_reasons_are_one_line_without_what_only_authors_of_libraries_can_use() -> None:
    google = OSError("google::cloud::Status(UNAVAILABLE: no token error_info={reason=, domain=})")
    assert reason_of(google) == "google::cloud::Status(UNAVAILABLE: no token"
    assert reason_of(OSError("\n  first line. \nsecond")) == "first line"
    assert reason_of(OSError(28, "whatever a library says")) == "No space left on device"
    assert reason_of(OSError("x" * 999)) == "x" * 300 + "..."
    assert reason_of(OSError()) == "OSError"
    assert shown_name("s3://key:secret/with@bucket/x") == "s3://key:secret/with@bucket/x"
    assert shown_name("s3://key:secret@bucket/x?region=r") == "s3://key:***@bucket/x"
    assert shown_name("/a?b") == "/a?b"
