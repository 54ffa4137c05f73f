"""The server answers its own page alone: by its address, its secret, and where the browser says that it comes from."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
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
        self.made = PageServer(Exploration(model).again)
        self.port = int(self.made.address.split(":")[2].split("/")[0])
        self.path = "/" + self.made.address.split("/", 3)[3]
        self.server = self.made.server()
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


@pytest.fixture
def waiting(served: Served) -> Iterator[Callable[..., list[socket.socket]]]:
    """Open connections that send the beginning of a request and no more."""
    opened: list[socket.socket] = []

    def open_some(number: int, begun: bytes = b"") -> list[socket.socket]:
        made = [socket.create_connection(("127.0.0.1", served.port), timeout=30) for _ in range(number)]
        opened.extend(made)
        for one in made:
            one.sendall(begun)
        return made

    yield open_some
    for one in opened:
        one.close()


def closed(one: socket.socket) -> bool:
    """Return whether the other end closes a connection, within half a minute."""
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True


HEADERS = "Host: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n"
BEGUN = {"nothing": "", "a line": "GET / HTTP/1.1\r\n", "headers": "POST {1}do HTTP/1.1\r\n" + HEADERS.format("{0}")}


@pytest.mark.parametrize("begun", BEGUN.values(), ids=BEGUN.keys())
def test_requests_that_never_end_keep_nobody_out(
    served: Served, waiting: Callable[..., list[socket.socket]], begun: str
) -> None:
    waiting(100, begun.format(served.port, served.path).encode())
    for _ in range(3):
        assert served.do(command="open").status == 200


def test_where_too_many_wait_the_oldest_gives_way(
    served: Served, waiting: Callable[..., list[socket.socket]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served.made._half_open, "_most", 8)
    first = waiting(1, b"GET / HTTP/1.1\r\n")[0]
    waiting(8, b"GET / HTTP/1.1\r\n")
    assert closed(first)
    assert served.do(command="open").status == 200


def test_headers_have_a_time_to_arrive_in_however_slowly_they_come(
    served: Served, waiting: Callable[..., list[socket.socket]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served.made._half_open, "_seconds", 0.3)
    (one,) = waiting(1, b"GET / HTTP/1.1\r\n")
    began = time.monotonic()
    with suppress(OSError):  # it is closed
        for _ in range(1000):
            one.sendall(b"a")
            time.sleep(0.02)
    assert 0.2 < time.monotonic() - began < 15


def slowly(answer: Callable[[object], object]) -> Callable[[object], object]:
    def answers(asked: object) -> object:
        time.sleep(0.6)
        return answer(asked)

    return answers


def test_a_request_that_takes_long_is_not_one_that_waits(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served.made._half_open, "_seconds", 0.2)
    monkeypatch.setattr(served.made._tabs, "answer", slowly(served.made._tabs.answer))
    assert served.do(command="open").status == 200


def test_a_body_has_a_time_to_arrive_in(
    served: Served, waiting: Callable[..., list[socket.socket]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.explorer.exploring_page.server._BODY_SECONDS", 0.2)
    (one,) = waiting(1, f"{BEGUN['headers'].format(served.port, served.path)}\r\n{{".encode())
    assert one.recv(200).startswith(b"HTTP/1.1 408 ")


def test_who_is_refused_is_not_kept(served: Served, waiting: Callable[..., list[socket.socket]]) -> None:
    (one,) = waiting(1, f"GET /wrong/ HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n\r\n".encode())
    answer = b""
    while part := one.recv(1000):
        answer += part
    assert b"\r\nconnection: close\r\n" in answer.lower()


def test_a_header_does_not_say_whose_request_it_is(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served.made._half_open, "_seconds", 0.2)
    monkeypatch.setattr(served.made._tabs, "answer", slowly(served.made._tabs.answer))
    sent = {"Content_Type": "application/json", "X_Forwarded_For": "192.0.2.1"}
    assert served.ask("POST", served.path + "do", b'{"command": "open"}', **sent).status == 200


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
        with pytest.raises(UserError, match=f"Port {port} is not available"):
            PageServer(Exploration(DieHard()).again, port)
