"""A run directory on an object store: moto plays S3 in this process, and the tasks run here, too."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from insync.explorer import CheckResult, Limits
from insync.explorer import check as check_locally
from insync.model.catalogue import find_model
from insync.runtime.errors import UserError
from insync.spark_explore import SparkOptions, check, export
from insync_played_spark import playing_spark

pytest.importorskip("pyarrow")
werkzeug_app: Any = pytest.importorskip("moto.moto_server.werkzeug_app", reason="needs moto[s3], flask, flask-cors")
pytestmark = pytest.mark.timeout(200)

DEFECT = find_model("truncate_to_high_watermark")(replicas=2, log_size=2, max_records=2, max_leader_epoch=2)


def facts(result: CheckResult) -> CheckResult:
    return replace(result, seconds={}, peak_memory_bytes=0, engine="")


@dataclass
class Store:
    """S3, with a server before it that can refuse requests.

    Attributes:
        options: of a URI with which pyarrow reaches it.
        refused: says of a request, by its method and path, the status and the code of the error; None answers it.
        asked: the requests that came.
    """

    answers: Any
    options: str = ""
    refused: Callable[[str, str], tuple[int, str] | None] = lambda method, path: None
    asked: list[tuple[str, str]] = field(default_factory=list)

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        request = (environ["REQUEST_METHOD"], environ["PATH_INFO"])
        self.asked.append(request)
        found = self.refused(*request)
        if found is None:
            return self.answers(environ, start)
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        status, code = found
        start(f"{status} {code}", [("Content-Type", "application/xml")])
        return [f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>no</Message></Error>".encode()]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store that has the bucket `bucket`."""
    from pyarrow.fs import FileSystem
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log(self, *given: object) -> None: ...

    for name, value in (
        ("AWS_ACCESS_KEY_ID", "key"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_EC2_METADATA_DISABLED", "true"),
    ):
        monkeypatch.setenv(name, value)
    made = Store(werkzeug_app.DomainDispatcherApplication(werkzeug_app.create_backend_app))
    server = make_server("127.0.0.1", 0, made, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    made.options = f"?scheme=http&region=us-east-1&endpoint_override=127.0.0.1:{server.port}"
    FileSystem.from_uri(f"s3://bucket{made.options}&allow_bucket_creation=true")[0].create_dir("bucket")
    yield made
    with closing(HTTPConnection("127.0.0.1", server.port)) as connection:  # what it has is kept in this process
        connection.request("POST", "/moto-api/reset")
        connection.getresponse().read()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def executor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    with playing_spark(monkeypatch, tmp_path / "executor"):
        yield tmp_path / "executor"


def test_a_run_on_a_store_goes_on_after_its_end_and_finds_what_the_local_engine_finds(
    tmp_path: Path, executor: Path, store: Store
) -> None:
    options = SparkOptions(partitions=2, warm_states=4, run_dir=f"s3://bucket/run{store.options}")
    begun = check(DEFECT, limits=Limits(depth=6), symmetry=False, options=options)
    assert begun.depth == 6
    found = check(DEFECT, symmetry=False, options=replace(options, resume=True))
    assert facts(found) == facts(check_locally(DEFECT, symmetry=False))
    states, _ = export(f"s3://bucket/run{store.options}", str(tmp_path / "tables"))
    assert states > found.distinct_states, "the levels that the last job found beyond the end are there, too"
    assert not any(executor.rglob("*"))
    written = [path for method, path in store.asked if method == "PUT" and "/states/" in path]
    assert len(written) == len(set(written)), "a file is one request"


def test_what_a_store_refuses_is_told_before_anything_is_searched(executor: Path, store: Store) -> None:
    """A bucket that is not there, a run that is not there, keys that are wrong, a permission that is lacking."""

    def refused(run: str, resume: bool = False) -> str:
        options = SparkOptions(partitions=2, run_dir=f"s3://{run}{store.options}", resume=resume)
        with pytest.raises(UserError) as error:
            check(DEFECT, options=options)
        assert "\n" not in str(error.value)
        return str(error.value)

    unwritable = r"^s3://\w+/run/driver\.json: the run directory cannot be written \(.*\)\. Set AWS_ACCESS_KEY_ID"
    assert re.match(unwritable, refused("none/run"))
    assert re.match(r"^s3://bucket/none: there is no manifest\.json", refused("bucket/none", resume=True))
    store.refused = lambda method, path: (403, "InvalidAccessKeyId")
    for resume in (True, False):
        assert re.match(
            r"^s3://bucket/run/manifest\.json: cannot be read \(.*\)\. Set AWS_", refused("bucket/run", resume)
        )
    store.refused = lambda method, path: (403, "AccessDenied") if method == "PUT" else None
    assert re.match(unwritable, refused("bucket/run"))


@pytest.mark.slow_for("403...")
@pytest.mark.parametrize(
    ("status", "code", "name"),
    [(403, "AccessDenied", "states/p00001/00006-00006"), (409, "InsufficientCapacity", "manifest.json")],
)
def test_a_store_that_becomes_full_or_takes_a_permission_back_leaves_the_last_complete_level(
    status: int, code: str, name: str, executor: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.spark_explore.driver.search._LONGEST", ((1 << 62, 1),))
    options = SparkOptions(partitions=2, warm_states=1, run_dir=f"s3://bucket/run{store.options}")
    made = list[str]()

    def refused(method: str, path: str) -> tuple[int, str] | None:
        made.extend([path] if method == "PUT" and path.endswith(name) else [])
        is_refused = made[-1:] == [path] and method == "PUT" and ("states" in name or len(made) > 4)
        return (status, code) if is_refused else None

    store.refused = refused
    sentence = rf"^s3://bucket/run/{name}: the run directory cannot be written \(.*\)\. Set AWS_ACCESS_KEY_ID[^\n]*$"
    with pytest.raises(UserError, match=sentence):
        check(DEFECT, symmetry=False, options=options)
    store.refused = lambda method, path: None
    again = check(DEFECT, symmetry=False, limits=Limits(depth=4), options=replace(options, resume=True))
    assert again.depth == 4
    found = check(DEFECT, symmetry=False, options=replace(options, resume=True))
    assert facts(found) == facts(check_locally(DEFECT, symmetry=False))
