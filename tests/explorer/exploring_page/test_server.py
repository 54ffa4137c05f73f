"""The server answers its own page alone: by its address, its secret, and where the browser says that it comes from."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from insync.explorer import Exploration
from insync.explorer.exploring_page.server import PageServer
from insync.model import Bool, Model, State, StateView, UserError, action
from insync_toys import DieHard


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


class Served:
    """A server at work, and a client that sends what it is told to."""

    def __init__(self, model: Model) -> None:
        import uvicorn

        self.made = PageServer(Exploration(model).again)
        self.port = int(self.made.address.split(":")[2].split("/")[0])
        self.path = "/" + self.made.address.split("/", 3)[3]
        config = uvicorn.Config(self.made.application(), log_level="critical", lifespan="off")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=lambda: self.server.run(sockets=[self.made._socket]), daemon=True)
        self.thread.start()

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def close(self) -> None:
        self.server.should_exit = True
        self.thread.join(30)
        self.made.close()

    def do(self, **asked: object) -> Answer:
        return self.ask("POST", self.path + "do", json.dumps(asked).encode(), Content_Type="application/json")


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    made = Served(DieHard())
    yield made
    made.close()


def test_the_page_and_its_files_are_served_with_a_policy_that_lets_nothing_else_in(served: Served) -> None:
    for name, kind in (("", "text/html"), ("page.js", "text/javascript"), ("page.css", "text/css")):
        status, headers, body = served.ask("GET", served.path + name)
        assert (status, headers["content-type"]) == (200, f"{kind}; charset=utf-8")
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer"
        assert b"http://" not in body.replace(b"http://www.w3.org/", b"")
        assert b"https://" not in body


class Half(Model):
    """Its step is called by half a character: a lone surrogate, which Python and JSON may have and UTF-8 has not."""

    def declare(self, b: object) -> State:
        return State(on=Bool)

    @action(label="\ud83d")
    def turn(self, s: StateView) -> None:
        s.on = True


def test_an_answer_that_utf_8_cannot_have_is_an_answer_all_the_same() -> None:
    served = Served(Half())
    try:
        status, _, body = served.do(command="open")
        assert (status, "\\ud83d" in body.decode()) == (200, True)
        assert json.loads(body)["depth"] == 0
    finally:
        served.close()


def test_a_command_is_answered(served: Served) -> None:
    status, _, body = served.do(command="open")
    told = json.loads(body)
    assert (status, told["depth"]) == (200, 0)
    after = json.loads(served.do(command="take", tab=told["tab"], number=0).body)
    assert after["depth"] == 1


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "[::1]:PORT", "0.0.0.0:PORT"]
)
def test_another_host_is_refused(served: Served, host: str) -> None:
    status, _, body = served.ask("GET", served.path, Host=host.replace("PORT", str(served.port)))
    assert (status, body) == (403, b"This server answers to its own address alone.")


@pytest.mark.parametrize("origin", ["null", "https://evil.example", "http://127.0.0.1:1", "http://localhost"])
def test_another_origin_is_refused(served: Served, origin: str) -> None:
    status, _, body = served.ask("POST", served.path + "do", b"{}", Origin=origin, Content_Type="application/json")
    assert (status, body) == (403, b"This server answers to its own page alone.")


def test_a_request_that_another_site_makes_is_refused(served: Served) -> None:
    assert served.ask("GET", served.path, Sec_Fetch_Site="cross-site").status == 403
    assert served.ask("GET", served.path, Sec_Fetch_Site="same-origin").status == 200
    assert served.ask("GET", served.path, Host=f"localhost:{served.port}").status == 200


@pytest.mark.parametrize(
    "path", ["/", "/do", "/wrong/", "/wrong/do", "/wrong/page.js", "SECRET/../page.py", "SECRET/server.py"]
)
def test_without_the_secret_there_is_nothing(served: Served, path: str) -> None:
    path = path.replace("SECRET/", served.path)
    assert served.ask("GET", path).status in (404, 405)
    assert served.ask("POST", path, b"{}", Content_Type="application/json").status in (404, 405)


def test_a_body_that_a_form_could_send_is_refused(served: Served) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert served.ask("POST", served.path + "do", b'{"command": "open"}', Content_Type=kind).status == 415
    assert served.ask("POST", served.path + "do", b"{", Content_Type="application/json").status == 400
    assert served.ask("POST", served.path + "do", b"[" * 100_000, Content_Type="application/json").status == 400


def test_a_body_that_is_too_large_is_refused(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.explorer.exploring_page.server._MOST_BYTES", 100)
    assert served.ask("POST", served.path + "do", b" " * 200, Content_Type="application/json").status == 413


def test_a_model_that_fails_is_told_of_in_a_sentence(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: object, state: object) -> Any:
        raise ZeroDivisionError("in the grid")

    monkeypatch.setattr(DieHard, "grid", fails)
    status, _, body = served.do(command="open")
    assert status == 200
    assert "ZeroDivisionError('in the grid')" in json.loads(body)["error"]


def test_it_listens_on_this_machine_alone(served: Served) -> None:
    assert served.made._socket.getsockname()[0] == "127.0.0.1"
    assert len(served.path) > 20


def test_small_answers_leave_at_once(served: Served) -> None:
    assert served.made._socket.proto == socket.IPPROTO_TCP, "asyncio sets TCP_NODELAY for this alone"


def test_each_server_has_a_secret_of_its_own() -> None:
    made = [PageServer(Exploration(DieHard()).again) for _ in range(2)]
    secrets = {one.address.split("/")[3] for one in made}
    for one in made:
        one.close()
    assert len(secrets) == 2


def test_a_port_that_is_taken_is_a_mistake_of_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"Port {port} cannot be had"):
            PageServer(Exploration(DieHard()).again, port)
