"""The trace that somebody asks to be replayed: of a file, or of a defect of the catalogue."""

from __future__ import annotations

from pathlib import Path

from insync.conformance.slow_alone import with_one_slow
from insync.explorer.replay import model_of_trace, replay
from insync.explorer.traces.trace import Trace
from insync.explorer.traces.trace_file import read_trace
from insync.kafka.cluster.model import Cluster
from insync.kafka.defects import DEFECTS, Defect
from insync.kafka.defects.named import no_such_defect
from insync.kafka_questions.defects import search_defect
from insync.model import Model
from insync.runtime.errors import UserError

__all__ = ["given_trace"]


def given_trace(given: str, *, races: bool = True, model: type[Model] | None = None) -> tuple[Cluster, Trace]:
    """Return a trace with its model, confirmed by the model.

    Before a shrink those who stay in the ISR fetch, as Kafka drops all that are slow (`with_one_slow`).

    Args:
        given: a trace file, or the name of a defect, whose shortest trace is searched for.
        races: whether the trace of a defect may take a race inside a method of Kafka; if not, it is the shortest
            without one, where there is one.
        model: the class of the model of a trace file. None is the one that the file names, if it comes with insync or
            has been imported already.

    Raises:
        UnnamedModel: a trace file names a Python file, and `model` is None; nothing was imported.
        UserError: it is neither; or the trace is not one of `cluster`, or its model does not confirm it; or the defect
            does no harm.
    """
    file = Path(given)
    if not file.exists() and given.upper() in DEFECTS:
        return _trace_of(DEFECTS[given.upper()], races)
    if not file.exists() and file.suffix == "" and len(file.parts) == 1:
        raise no_such_defect(given, fallback=f"{given!r} is neither a trace file nor a defect of `insync defects`.")
    claim = read_trace(file)
    built = model_of_trace(claim, given, model=model, beside=file)
    if not isinstance(built, Cluster):
        message = (
            f"{given}: this is a trace of {claim.model}, and Kafka's classes take the steps of cluster alone. "
            "Write one with `insync check cluster --trace FILE`."
        )
        raise UserError(message)
    return built, with_one_slow(replay(claim, model=built, place=given), built)


def _trace_of(defect: Defect, races: bool) -> tuple[Cluster, Trace]:
    found = None if defect.harmless else search_defect(defect)
    if found is not None and found.trace is not None and found.trace.takes_race and not races:
        calm = search_defect(defect, {**defect.witness, "races": "off"})
        found = found if calm.trace is None else calm
    if found is None or found.trace is None:
        message = (
            f"{defect.name} ({defect.title}) does no harm, so it has no trace. Name another defect, or a trace file."
        )
        raise UserError(message)
    assert isinstance(found.model, Cluster)
    return found.model, with_one_slow(found.trace, found.model)
