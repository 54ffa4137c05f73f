"""What is said of scenarios and of their runs."""

from __future__ import annotations

import json
import re

import pytest

from insync.cli.commands.kafka_cluster import scenario_command as command
from insync.conformance.documents.cluster import ScenarioRun, describe_run, describe_runs, runs_json
from insync.conformance.live.scenarios.known import QUORUM_SCENARIOS, SCENARIOS
from insync.conformance.live.scenarios.quorum_scenario import QuorumOutcome
from insync.conformance.live.scenarios.scenario import Outcome

ENDED = ScenarioRun(QuorumOutcome(1, 1, "it was surprised", led=False), None, 17.0)
RUNS = ScenarioRun(QuorumOutcome(1, None, "", led=True), None, 18.0)
BOTH_LEAD = ScenarioRun(QuorumOutcome(1, None, "", led=True, leaders=(1, 2)), None, 19.0)
TITLE = QUORUM_SCENARIOS["q-7"].title


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (ENDED, "controller 1 has ended with exit code 1: it was surprised; nobody leads without it (17.0 s)"),
        (RUNS, "controller 1 runs, and one leads (18.0 s)"),
        (BOTH_LEAD, "controllers 1 and 2 lead one epoch (19.0 s)"),
        (ScenarioRun(None, "Nobody leads.", 9.0), "not brought about: Nobody leads."),
    ],
)
def test_what_became_of_a_controller(run: ScenarioRun, said: str) -> None:
    assert describe_run(run) == said


def test_a_controller_that_has_ended_in_one_run_is_enough() -> None:
    scenario = QUORUM_SCENARIOS["q-7"]
    assert describe_runs(scenario, "4.3.1", [ENDED, RUNS]) == f"reproduced on Kafka 4.3.1: {TITLE}; in 1 of 2 runs"
    assert describe_runs(scenario, "4.3.1", [RUNS]) == f"not reproduced on Kafka 4.3.1: {TITLE}"
    told = json.loads(runs_json(scenario, "4.3.1", [ENDED, RUNS]))
    assert (told["verdict"], told["reproduced"]) == ("reproduced", 1)
    assert told["runs"][0]["outcome"] == {
        "controller": 1,
        "code": 1,
        "said": "it was surprised",
        "led": False,
        "leaders": [],
    }


def test_a_reassignment_that_went_wrong_is_reproduced_and_one_that_did_not_is_not() -> None:
    def made(unlike: str) -> ScenarioRun:
        return ScenarioRun(Outcome(("r0",), (), None, "b1", ("b1",), {"b1": ["r0"]}, unlike), None, 1.0)

    stuck = made("still reassigning, adding: b3, removing: b3")
    assert stuck.reproduced
    assert "; still reassigning, adding: b3, removing: b3. b1 leads" in describe_run(stuck)
    assert not made("").reproduced


@pytest.mark.parametrize("name", [*SCENARIOS, *QUORUM_SCENARIOS])
def test_the_help_names_every_scenario(name: str) -> None:
    assert command.help is not None
    assert re.search(rf"^ *{name} ", command.help, re.MULTILINE)
