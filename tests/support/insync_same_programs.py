"""Whether two checkouts have the same programs: `python insync_same_programs.py CHECKOUT` prints their digests.

With `words` behind it, it prints what is said of the steps of long walks: labels, demands, drawings and the grid.

A rewriting leaves every program as it was: of each release, with everything and by default, of both sides of each entry
of the catalogue, of the long walks, and of the spaces whose sizes are pinned. Run this for the parent and for the child
with one file of this name and of insync_digests, and compare what is printed; nothing of that is kept. Fields and
actions count by their former names.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

__all__ = ["programs"]

FOLDERS = ("model", "properties", "explorer", "spark_explore", "conformance", "cli")


def programs() -> Iterator[tuple[str, AbstractContextManager[Any], bool]]:
    """Yield programs by name: what makes the model, and whether its properties count too."""

    spaces, walks = importlib.import_module("test_spaces"), importlib.import_module("test_walks")

    from insync.kafka.cluster.model import Cluster
    from insync.kafka.defects import DEFECTS
    from insync.kafka.releases import Release
    from insync_every_model import EVERYTHING

    for release, chosen in walks.CHOSEN.items():
        yield f"walk {release}", nullcontext(Cluster(**{**chosen, "release": release})), True
    for name in walks.NEVER_RELEASED:
        yield f"walk {name}", walks.loose(name), False
    for entry in DEFECTS.values():
        for side, bounds in (("broken", entry.witness), ("fixed", entry.fixed_witness)):
            yield f"{entry.name} {side}", nullcontext(Cluster(**bounds)), False
    for each in Release:
        yield f"default {each.value}", nullcontext(Cluster(release=each.value)), each is Release.V4_1
        yield f"everything {each.value}", nullcontext(Cluster(**{**EVERYTHING, "release": each.value})), False
    for each in spaces.RELEASES:
        chosen = {**spaces.CALM, "release": each, "records": 2, "power_failures": 1, "fencings": 1, "metadata_lag": 1}
        yield f"space {each}", nullcontext(Cluster(**chosen)), False
    for chosen, _ in spaces.SPACES:
        yield f"space {chosen}", nullcontext(Cluster(**{**spaces.CALM, **chosen})), False


def printed() -> None:
    """Print the digests of each program on a line of its own."""
    from insync_digests import program_digest

    first = former()
    for name, made, whole in programs():
        with made as model:
            found = program_digest(model, None if whole else (), first)
        sys.stdout.write(json.dumps([name, found]) + "\n")


def former() -> dict[str, str]:
    """Return what names of options, fields and actions of the cluster were, by what they are."""
    from insync.kafka.cluster import former_names

    options = {now: former for former, now in former_names.FORMER_NAMES.items() if now}
    options["log_dir_losses"] = "directory_losses"  # a count that had a budget of its own
    fields = dict(getattr(former_names, "FORMER_FIELDS", {}))  # an older checkout has none
    actions = {now: former for former, now in getattr(former_names, "FORMER_STEPS", {}).items()}
    return {**options, **fields, **actions, "remote_replicas.leo": "end"}


def printed_words(walks: int = 4, length: int = 40) -> None:
    """Print what is said of random steps of the clusters of the long walks, rare steps preferred."""
    import random

    from insync.explorer.traces.trace import TraceStep
    from insync.model.evaluator import Evaluator
    from insync_digests import named

    first = former()
    for name, made, _ in programs():
        if not name.startswith("walk"):
            continue
        with made as model:
            program, taken = model.program, Counter[str]()
            evaluator, draw = Evaluator(program), random.Random(name)
            for _ in range(walks):
                codes = program.initials[0]
                steps = [TraceStep(None, {}, model.decode(codes))]
                for _ in range(length):
                    enabled = evaluator.enabled(codes)
                    if not enabled:
                        break
                    draw.shuffle(enabled)
                    number = min(enabled, key=lambda one: taken[program.actions[one].name])
                    action = program.actions[number]
                    taken[action.name] += 1
                    codes = evaluator.step(number, codes)
                    steps.append(TraceStep(action.name, action.shown_parameters, model.decode(codes), action.label))
                    drawn = model.step_drawing(steps, action.label)
                    said = named(str(action), first)
                    sys.stdout.write(f"{name} {said} {drawn} {model.grid(steps[-1].state)}\n")
                sys.stdout.write(f"{name} {model.demands(steps)}\n")


if __name__ == "__main__":
    checkout = Path(sys.argv[1]).resolve()
    own = [checkout / "tests" / "support", checkout / "tests" / "kafka" / "cluster"]
    sys.path[:0] = [str(path) for path in (*(checkout / folder for folder in FOLDERS), *own)]
    (printed_words if sys.argv[2:] == ["words"] else printed)()
