"""The reports on a running cluster, and on the scenarios that were run on one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from insync.conformance.live.live_cluster import LiveCluster
from insync.conformance.live.scenarios.quorum_scenario import QuorumOutcome, QuorumScenario
from insync.conformance.live.scenarios.scenario import Outcome, Scenario
from insync.explorer.documents.text import plural, seconds

if TYPE_CHECKING:
    from insync.conformance.documents.json_types import ClusterObject, ScenarioObject

__all__ = ["ScenarioRun", "cluster_json", "describe_cluster", "describe_run", "describe_runs", "runs_json"]


@dataclass(frozen=True, slots=True)
class ScenarioRun:
    """A run of a scenario: what came of it, or why nothing did, and the seconds that it took."""

    outcome: Outcome | QuorumOutcome | None
    fault: str | None
    seconds: float

    @property
    def reproduced(self) -> bool:
        """Whether what the scenario is about has happened, such as a lost record or a controller that has ended."""
        return self.outcome is not None and bool(self.outcome.shown)


def describe_cluster(cluster: LiveCluster) -> str:
    """Return where a cluster is to be had."""
    brokers = ",".join(f"127.0.0.1:{cluster.port(broker)}" for broker in cluster.plan.numbers)
    return (
        f"Kafka {cluster.version} is ready: {plural(cluster.plan.brokers, 'broker')} and a controller.\n"
        f"bootstrap.servers={brokers}\nIts files are in {cluster.folder} until Ctrl-C."
    )


def cluster_json(cluster: LiveCluster) -> str:
    """Return the object that says where a cluster is to be had."""
    brokers = {f"b{broker}": f"127.0.0.1:{cluster.port(broker)}" for broker in cluster.plan.numbers}
    told: ClusterObject = {"kafka": cluster.version, "brokers": brokers, "folder": str(cluster.folder)}
    return json.dumps(told)


def describe_run(run: ScenarioRun) -> str:
    """Return what came of a run."""
    made = run.outcome
    if made is None:
        return f"not brought about: {run.fault}"
    if isinstance(made, QuorumOutcome):
        return f"{_ending(made)} ({seconds(run.seconds)})"
    kept = ", ".join(f"{broker}: {' '.join(log) or 'nothing'}" for broker, log in made.logs.items())
    lost = f"lost: {' '.join(made.lost)}" if made.lost else "nothing is lost"
    if made.unread is not None:
        lost += f"; not given to consumers: {' '.join(made.unread) or 'none'}"
    if made.unlike:
        lost += f"; {made.unlike}"
    held = f"{made.leader} leads, ISR {' '.join(made.isr) or 'none'}; {kept}"
    return f"acknowledged: {' '.join(made.acknowledged)}; {lost}. {held} ({seconds(run.seconds)})"


def _ending(made: QuorumOutcome) -> str:
    """What became of the controller that a scenario is about, and of the others without it."""
    if made.leaders:
        return f"controllers {' and '.join(map(str, made.leaders))} lead one epoch"
    if made.code is None:
        return f"controller {made.controller} runs, and {'one' if made.led else 'none'} leads"
    led = "another one leads without it" if made.led else "nobody leads without it"
    return f"controller {made.controller} has ended with exit code {made.code}: {made.said}; {led}"


def describe_runs(scenario: Scenario | QuorumScenario, version: str, runs: Sequence[ScenarioRun]) -> str:
    """Return what came of all runs."""
    count = sum(run.reproduced for run in runs)
    verdict = "reproduced" if count else "not reproduced"
    said = f"{verdict} on Kafka {version}: {scenario.title}"
    return said if len(runs) == 1 else f"{said}; in {count} of {plural(len(runs), 'run')}"


def runs_json(scenario: Scenario | QuorumScenario, version: str, runs: Sequence[ScenarioRun]) -> str:
    """Return the object that says what came of all runs."""
    told: ScenarioObject = {
        "verdict": "reproduced" if any(run.reproduced for run in runs) else "not_reproduced",
        "kafka": version,
        "scenario": scenario.name,
        "reproduced": sum(run.reproduced for run in runs),
        "runs": [
            {
                "outcome": None if run.outcome is None else asdict(run.outcome),
                "fault": run.fault,
                "seconds": round(run.seconds, 1),
            }
            for run in runs
        ],
    }
    return json.dumps(told)
