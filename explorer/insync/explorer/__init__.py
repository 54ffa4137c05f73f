"""Public: the verbs of insync on this machine; a name is loaded when it is first used.

The verbs take a model as a class with `bounds=`, an instance, or a name such as "kip320", and all else by keyword
(except for the adapter of `tour`):
`limits=Limits(...)`, `reporter=` (called with the progress), `stop=` (a `threading.Event` that ends the work with what
was found). The folders and modules of this package are internal, except for `insync.explorer.hypothesis`.

Verbs: `check`, `simulate`, `prove`, `liveness`, `why`, `mutate`, `agree`, `diff`, `replay`, `tour` and `explore` are
modules; `export` is a folder; the verb `graph` is in `runs.state_graph`. What is about Kafka's models alone is in
`insync.kafka_questions`.

Other modules:

- `task` is what a verb is asked for and does first, `named_model` finds a model by its name, `progress` reports the
  work, `symmetry` decides whether a search may use symmetry
- `results` and `proof_results` are the results of several verbs; `tables` shows all results in Python
- `run_identity`, `run_lock` and `manifest_entries` belong to run directories
- `tlc` and `spin` run other checkers
- `mutants` makes the mutants of a model
- `testing` has the pytest fixture for models, `testing_systems` the one for systems beside a model

Folders:

- `search` visits states with machine code, `stepping` takes single steps, `runs` has the state graph and fair cycles
- `traces` has traces and their files, which `pictures` draws
- `coverage`, `products` and `mining` do the work of `why`, `diff` and mined lemmas of `prove`
- `systems` has the systems of users that `tour` and model-based tests drive
- `exploring` is an exploration by hand, which `exploring_page` shows in a browser
- `hypothesis` has models for Hypothesis, `documents` results as text, JSON and HTML
"""

from __future__ import annotations

import importlib
import sys
import warnings
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from insync.explorer.agree import Agreement, Opinion, agree
    from insync.explorer.check import check
    from insync.explorer.coverage.results import ActionCoverage, PropertyCoverage, WhyResult
    from insync.explorer.diff import diff, diff_traces
    from insync.explorer.explore import NoViolation, explore
    from insync.explorer.exploring.session import Exploration, TakenWalk
    from insync.explorer.exploring.steps import Reached
    from insync.explorer.export import export
    from insync.explorer.liveness import LivenessResult, RunResult, liveness
    from insync.explorer.mutate import Fate, MutantResult, MutationResult, mutate
    from insync.explorer.products.divergence import DiffResult, OnlyOne, TraceDifference
    from insync.explorer.progress import Progress, Reporter, WalkProgress, WalkReporter
    from insync.explorer.proof_results import BoundedResult, ProofResult
    from insync.explorer.prove import bounded_check, prove
    from insync.explorer.replay import replay
    from insync.explorer.results import CheckResult, PropertyResult, Verdict, Violation
    from insync.explorer.runs.state_graph import StateGraph, dot_text, graph, graphml_text, to_networkx, write_graph
    from insync.explorer.runs.transition_tour import ActionShare
    from insync.explorer.search.walks import AbstractStates
    from insync.explorer.simulate import SimulationResult, WalkLengths, simulate
    from insync.explorer.systems.failures import FailureKind
    from insync.explorer.testing import InsyncCheck, PropertyViolated, SuspiciousModel, UnexpectedVerdict
    from insync.explorer.testing_systems import Disagreement, InsyncTour, SystemHung, SystemRaised, SystemUnstable
    from insync.explorer.tour import TourFailure, TourInterrupted, TourProgress, TourReporter, TourResult, tour
    from insync.explorer.traces.trace import RefusedStep, Trace, TraceStep
    from insync.explorer.traces.trace_file import read_trace, write_trace
    from insync.explorer.why import why
    from insync.runtime.watch import Limits, StopReason

__all__ = [
    "AbstractStates",
    "ActionCoverage",
    "ActionShare",
    "Agreement",
    "BoundedResult",
    "CheckResult",
    "DiffResult",
    "Disagreement",
    "Exploration",
    "FailureKind",
    "Fate",
    "InsyncCheck",
    "InsyncTour",
    "Limits",
    "LivenessResult",
    "MutantResult",
    "MutationResult",
    "NoViolation",
    "OnlyOne",
    "Opinion",
    "Progress",
    "ProofResult",
    "PropertyCoverage",
    "PropertyResult",
    "PropertyViolated",
    "Reached",
    "RefusedStep",
    "Reporter",
    "RunResult",
    "SimulationResult",
    "StateGraph",
    "StopReason",
    "SuspiciousModel",
    "SystemHung",
    "SystemRaised",
    "SystemUnstable",
    "TakenWalk",
    "TourFailure",
    "TourInterrupted",
    "TourProgress",
    "TourReporter",
    "TourResult",
    "Trace",
    "TraceDifference",
    "TraceStep",
    "UnexpectedVerdict",
    "Verdict",
    "Violation",
    "WalkLengths",
    "WalkProgress",
    "WalkReporter",
    "WhyResult",
    "agree",
    "bounded_check",
    "check",
    "diff",
    "diff_traces",
    "dot_text",
    "explore",
    "export",
    "graph",
    "graphml_text",
    "liveness",
    "mutate",
    "prove",
    "read_trace",
    "replay",
    "simulate",
    "to_networkx",
    "tour",
    "why",
    "write_graph",
    "write_trace",
]

_OF_MODULE = {
    "agree": ("Agreement", "Opinion", "agree"),
    "check": ("check",),
    "coverage.results": ("ActionCoverage", "PropertyCoverage", "WhyResult"),
    "diff": ("diff", "diff_traces"),
    "explore": ("NoViolation", "explore"),
    "exploring.session": ("Exploration", "TakenWalk"),
    "exploring.steps": ("Reached",),
    "export": ("export",),
    "liveness": ("LivenessResult", "RunResult", "liveness"),
    "mutate": ("Fate", "MutantResult", "MutationResult", "mutate"),
    "products.divergence": ("DiffResult", "OnlyOne", "TraceDifference"),
    "progress": ("Progress", "Reporter", "WalkProgress", "WalkReporter"),
    "proof_results": ("BoundedResult", "ProofResult"),
    "prove": ("bounded_check", "prove"),
    "replay": ("replay",),
    "results": ("CheckResult", "PropertyResult", "Verdict", "Violation"),
    "runs.state_graph": ("StateGraph", "dot_text", "graph", "graphml_text", "to_networkx", "write_graph"),
    "runs.transition_tour": ("ActionShare",),
    "search.walks": ("AbstractStates",),
    "simulate": ("SimulationResult", "WalkLengths", "simulate"),
    "systems.failures": ("FailureKind",),
    "testing": ("InsyncCheck", "PropertyViolated", "SuspiciousModel", "UnexpectedVerdict"),
    "testing_systems": ("Disagreement", "InsyncTour", "SystemHung", "SystemRaised", "SystemUnstable"),
    "tour": ("TourFailure", "TourInterrupted", "TourProgress", "TourReporter", "TourResult", "tour"),
    "traces.trace": ("RefusedStep", "Trace", "TraceStep"),
    "traces.trace_file": ("read_trace", "write_trace"),
    "why": ("why",),
}
_MODULE_OF = {name: f"{__name__}.{module}" for module, names in _OF_MODULE.items() for name in names}
_MODULE_OF |= dict.fromkeys(("Limits", "StopReason"), "insync.runtime.watch")


if not TYPE_CHECKING:  # a checker of types would take every name for one that is there

    def __getattr__(name: str) -> object:
        """Load a public name with the module that defines it."""
        if name == "ask":
            message = "`ask` has moved; write `from insync.kafka_questions import ask`"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
            return importlib.import_module("insync.kafka_questions").ask
        if name not in _MODULE_OF:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        found = getattr(importlib.import_module(_MODULE_OF[name]), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Door(ModuleType):
    """A package in which a verb keeps its name although a module has it too.

    After it has loaded the module `check`, the import system sets the package's attribute `check` to it, whichever
    module imported it. The attribute stays the verb.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, ModuleType) and _MODULE_OF.get(name) == f"{__name__}.{name}":
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Door
