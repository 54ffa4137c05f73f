"""The fixture `insync_tour` fails a test with an exception for each kind of failure."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from insync.explorer import Limits
from insync.explorer.testing import FailedTest, Settings, SuspiciousModel, UnexpectedVerdict
from insync.explorer.testing_systems import Disagreement, InsyncTour, SystemHung, SystemRaised, SystemUnstable
from insync.runtime.errors import UserError
from insync_suspicious import Nobody
from insync_systems import CopiesTwice, ReplicatedLog, example, system_of
from insync_toys import Clock

SUPPORT = Path(__file__).parents[2] / "support"


@pytest.fixture
def tours(tmp_path: Path) -> InsyncTour:
    return InsyncTour(Settings(), lambda: tmp_path)


def test_a_system_that_does_what_the_model_does_passes(tours: InsyncTour) -> None:
    result = tours(Clock, system_of(Clock()))
    assert (result.verdict, tours.result, tours.traces) == ("holds", result, [])


def test_a_difference_shows_the_grid_and_how_to_take_the_steps_again(tours: InsyncTour, tmp_path: Path) -> None:
    with pytest.raises(Disagreement) as caught:
        tours(ReplicatedLog, CopiesTwice, bounds={"records": 2}, outputs={"append": example.offset_appended})
    file = tmp_path / "replicated_log-agreement.json"
    said = str(caught.value)
    assert said.startswith("CopiesTwice and replicated_log disagree\n\nagreement fails after 4 steps ")
    given = "CopiesTwice, model=ReplicatedLog, outputs={'append': ...}"
    again = "from insync.explorer.hypothesis import replay_against; "
    again += f"replay_against({str(file)!r}, {given})"
    assert f"\nTrace: {file}\nAgain: {again}\nTour: " in said
    assert re.search(r"\nTour: [\d,]+ of [\d,]+ transitions in \d+ walks? of [\d,]+ steps$", said)
    assert (caught.value.file, tours.traces) == (file, [file])
    assert caught.value.trace is not None


def test_what_is_suspicious_in_a_model_is_said(tours: InsyncTour) -> None:
    with pytest.warns(SuspiciousModel) as caught:
        tours(Nobody, system_of(Nobody()))
    assert any("Python decides `s.owner is None`" in str(one.message) for one in caught)
    assert {one.filename for one in caught} == {__file__}


class Fails:
    """Fails in its twelfth hour, in the way of a subclass."""

    hour = 1

    def tick(self) -> None:
        self.hour += 1
        if self.hour == 12:
            self.fail()

    def fail(self) -> None:
        raise NotImplementedError

    def observe(self) -> dict[str, object]:
        return {"hour": self.hour}


class Hangs(Fails):
    def fail(self) -> None:
        import time

        time.sleep(1)


class Settles(Fails):
    shown = 0

    def observe(self) -> dict[str, object]:
        self.shown += 1
        return {"hour": self.hour if self.hour < 12 else 50 + self.shown}

    def fail(self) -> None: ...


@pytest.mark.parametrize(
    ("adapter", "kind", "said"),
    [
        (Fails, SystemRaised, "Fails raises an exception beside clock\n\n"),
        (Hangs, SystemHung, "Hangs hangs beside clock\n\n"),
        (Settles, SystemUnstable, "Settles contradicts itself beside clock\n\n"),
    ],
)
def test_what_is_no_difference_is_another_exception(
    tours: InsyncTour, adapter: type, kind: type[FailedTest], said: str
) -> None:
    with pytest.raises(kind) as caught:
        tours(Clock, adapter, step_seconds=0.1)
    assert type(caught.value) is kind
    assert str(caught.value).startswith(f"{said}agreement fails after 11 steps")
    assert isinstance(caught.value.__cause__, NotImplementedError) == (adapter is Fails)


def test_an_incomplete_tour_is_no_pass_unless_the_limit_is_meant(tours: InsyncTour) -> None:
    with pytest.raises(UnexpectedVerdict) as caught:
        tours(Clock, system_of(Clock()), limits=Limits(depth=4))
    assert "the tour is incomplete, stopped by depth after 3 of 3 transitions in 1 walk of 3 steps." in str(
        caught.value
    )
    assert tours(Clock, system_of(Clock()), limits=Limits(depth=4), stopped_by="depth").verdict == "incomplete"
    with pytest.raises(UserError, match=r"stopped_by='deth' is not a bound of a search\. Did you mean 'depth'"):
        tours(Clock, system_of(Clock()), stopped_by="deth")


def test_the_limit_of_the_command_line_is_the_default() -> None:
    with pytest.raises(UnexpectedVerdict, match="stopped by time"):
        InsyncTour(Settings(seconds=1e-9), Path)(Clock, system_of(Clock()))


SUITE = """
from insync.explorer import tour
from insync.model import Int, Model, State, action


class Door(Model):
    def declare(self, b):
        return State(steps=Int(0, 5))

    @action
    def push(self, s):
        s.steps = (s.steps + 1) % 6


class Driver:
    def __init__(self):
        self.steps = 0

    def push(self):
        self.steps = self.steps + 1 if self.steps < 5 else 0

    def observe(self):
        return {"steps": self.steps}


class Broken(Driver):
    def push(self):
        if self.steps == 3:
            raise ValueError("stuck")
        super().push()


def test_right(insync_tour):
    assert insync_tour(Door, Driver).taken == 6


def test_broken(insync_tour):
    insync_tour(Door, Broken)
"""


def test_the_fixture_of_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_suite.py").write_text(SUITE)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--basetemp", str(tmp_path / "tmp"), "-rA"]
    done = subprocess.run(
        [*command, "--junitxml", "junit.xml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        env=os.environ | {"NO_COLOR": "1"},
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert 'raise ValueError("stuck")' in done.stdout
    assert "insync.explorer.testing_systems.SystemRaised: Broken raises an exception beside door" in done.stdout
    assert "Broken.push raised ValueError in the last step: stuck." in done.stdout
    notes = (tmp_path / "junit.xml").read_text()
    assert "holds, 6 of 6 transitions in 1 walk of 6 steps" in notes
