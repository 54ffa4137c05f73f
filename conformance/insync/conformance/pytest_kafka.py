"""What the pytest fixture `insync_kafka` does: Hypothesis draws steps of `cluster`, and Kafka's classes take them too.

The plugin itself is `_insync_pytestplugin`, which imports this module when a test asks for the fixture.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from insync.conformance.classes.harness import Harness
from insync.conformance.jars.distribution import distribution_jars
from insync.conformance.jars.jar_set import JarSet
from insync.conformance.jars.pinned import pinned
from insync.conformance.jars.store import stored_jars
from insync.conformance.kafka_machine import kafka_machine
from insync.kafka.cluster.model import Cluster
from insync.kafka.releases import release_of
from insync.runtime.errors import UserError

__all__ = ["InsyncKafka"]


class InsyncKafka:
    """Runs Kafka's classes beside the model; called by a test, which fails where the two differ.

    Each Kafka is one process of Java, which all tests share.

    Args:
        version: the release where a test names none; None if there is no such.
        libs: the folder `libs` of a distribution where a test names none.
    """

    def __init__(self, version: str | None = None, libs: Path | None = None) -> None:
        self._version, self._libs = version, libs
        self._running: dict[str, Harness] = {}
        self._ends = ExitStack()

    def __call__(
        self,
        *,
        bounds: Mapping[str, int | str] | None = None,
        kafka: str | None = None,
        libs: str | Path | None = None,
        max_examples: int = 20,
        steps: int = 30,
    ) -> None:
        """Let Hypothesis draw steps of the model, take them on Kafka's classes, and compare every field after each.

        Args:
            bounds: settings and budgets of `cluster`; without a release, those of the Kafka that runs.
            kafka: a release of `insync kafka versions`, which must be fetched.
            libs: the folder `libs` of a Kafka distribution, as it is.
            max_examples: how many runs Hypothesis makes.
            steps: most steps of a run.

        Raises:
            Disagreement: a field differs; the message has the shortest steps that Hypothesis found.
            UserError: Java or jars are missing.
        """
        __tracebackhide__ = True
        try:
            harness = self._started(self._jars(kafka, libs))
            model = Cluster(**{"release": release_of(harness.version).value, **(bounds or {})})
        except UserError as error:
            raise error.with_traceback(None) from None  # pytest shows the line of the test, and the message
        # A cluster takes a tenth of a second to make, and a step that Kafka cannot take may end a run.
        passed_over = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
        # To explain a failure, Hypothesis would look for lines of Python that only failing runs execute: insync's own.
        phases = [phase for phase in settings().phases if phase is not Phase.explain]
        chosen = settings(
            max_examples=max_examples,
            stateful_step_count=steps,
            deadline=None,
            phases=phases,
            suppress_health_check=passed_over,
        )
        run_state_machine_as_test(kafka_machine(model, lambda: harness), settings=chosen)

    def close(self) -> None:
        """End all processes of Java."""
        self._ends.close()

    def _jars(self, kafka: str | None, libs: str | Path | None) -> JarSet:
        if kafka is not None and libs is not None:
            message = "insync_kafka: kafka= and libs= each name a Kafka: leave one of them out."
            raise UserError(message)
        if self._version is not None and self._libs is not None:
            message = "insync_kafka: --insync-kafka and --insync-kafka-libs each name a Kafka: leave one of them out."
            raise UserError(message)
        folder = libs if libs is not None else None if kafka is not None else self._libs
        if folder is not None:
            return distribution_jars(Path(folder))
        version = kafka or self._version
        if version is None:
            message = (
                "insync_kafka: no Kafka is named. Give kafka= or libs= in the test, or --insync-kafka VERSION or "
                "--insync-kafka-libs DIR to pytest."
            )
            raise UserError(message)
        return stored_jars(pinned(version))

    def _started(self, jars: JarSet) -> Harness:
        key = ":".join(jars.digests)
        if key not in self._running:
            self._running[key] = self._ends.enter_context(Harness(jars))
        return self._running[key]
