"""Ports: free ones are found, and one that is taken is said."""

from __future__ import annotations

import socket

import pytest

from insync.conformance.live.nodes.ports import LOOPBACK, free_ports
from insync.runtime.errors import UserError


def test_free_ports_are_in_a_row_below_those_of_connections_that_go_out() -> None:
    ports = free_ports(13)
    assert ports == list(range(ports[0], ports[0] + 13))
    assert ports[0] >= 20000
    assert ports[-1] < 32768


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server((LOOPBACK, 0)) as server:
        taken = server.getsockname()[1]
        with pytest.raises(UserError, match=rf"^Port {taken} of this machine is taken, and the cluster needs"):
            free_ports(3, taken - 1)


@pytest.mark.parametrize(("first", "last"), [(1024, 1026), (65533, 65535)])
def test_the_lowest_and_the_highest_ports_that_there_are_can_be_asked_for(
    first: int, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("insync.conformance.live.nodes.ports._is_free", lambda port: True)
    assert free_ports(3, first) == list(range(first, last + 1))


@pytest.mark.parametrize("first", [80, 1023, 65524, 65530])
def test_a_port_out_of_range_is_refused(first: int) -> None:
    with pytest.raises(UserError, match=rf"^--port {first} is out of range: give a number from 1024 to 655"):
        free_ports(13, first)
