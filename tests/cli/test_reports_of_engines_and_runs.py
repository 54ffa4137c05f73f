"""Reports of engines that agree or not, and of runs: of results made by hand, each line and its reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from insync.explorer import LivenessResult, RunResult
from insync.explorer.agree import Agreement, Opinion
from insync.explorer.documents.agree import AgreementDocument, describe_opinion
from insync.explorer.documents.document import Style
from insync.explorer.documents.liveness import LivenessDocument
from insync.explorer.results import Verdict
from insync.explorer.stepping.difference import Difference
from insync.properties.temporal import Fairness, RunKind
from insync.runtime.watch import StopReason
from insync_lamp_reports import BOUNDS, HEAD, TRACE, WIDTH, columns

# ----------------------------------------------------------------------------------------------------------- agreement

LOCAL = Opinion("local-1", Verdict.VIOLATED, 2, (1, 2), {"press": 2}, {"dark": 1, "whole": 2}, {}, 0.5)
OTHER = replace(
    LOCAL, engine="z3", levels=None, actions=None, failing={}, verdict=Verdict.INCOMPLETE, note="at depth 2"
)
ABSENT = Opinion("spark", None, 0, None, None, {}, {}, 0.0, "pyspark is not installed")
AGREED = Agreement("lamp", BOUNDS, ("dark",), (LOCAL, OTHER), (), None)


def agreement(**other: object) -> list[str]:
    return AgreementDocument(replace(AGREED, **other), columns).text(Style(width=WIDTH)).splitlines()  # type: ignore[arg-type]


def test_the_opinion_of_an_engine() -> None:
    said = [
        LOCAL,
        OTHER,
        ABSENT,
        replace(LOCAL, failing={}, stopped_by=StopReason.TIME),
        replace(LOCAL, failing={}, stopped_by=StopReason.TIME, of_share=True),
        replace(ABSENT, note="", stopped_by=StopReason.INTERRUPT),
    ]
    assert [describe_opinion(one) for one in said] == [
        "violated, dark fails after 1 state, whole fails after 2 states, 3 states, depth 2 (0.50 s)",
        "incomplete, at depth 2 (0.50 s)",
        "did not run: pyspark is not installed",
        "violated, 3 states, depth 2, stopped by the limit on the time (--max-seconds) (0.50 s)",
        "violated, 3 states, depth 2, stopped by its share (0.50 s)",
        "did not run: stopped by Ctrl-C",
    ]


SHARE = (
    "Each engine has a share of half a minute, and some were stopped at its end. --max-seconds S gives each of them S "
    "seconds instead."
)
COUNTED = (
    "Evaluator and machine code take the same steps from every state that the evaluator reaches, so the difference "
    "lies in how states are kept or counted."
)


def test_engines_that_agree_and_engines_that_do_not() -> None:
    rows = [f"  local-1  {describe_opinion(LOCAL)}", f"  z3       {describe_opinion(OTHER)}"]
    head = f"{HEAD}   properties "
    assert agreement() == [f"{head}dark", *rows, "", "The engines agree."]
    nothing = "Fewer than two engines looked at any state, so nothing was compared."
    assert agreement(properties=(), opinions=(LOCAL, replace(OTHER, depth=0)))[0] == f"{head}none"
    assert agreement(opinions=(LOCAL, replace(OTHER, depth=0)))[-1] == nothing
    assert agreement(opinions=(LOCAL, ABSENT))[-1] == nothing
    assert agreement(stopped_by=StopReason.INTERRUPT)[-1] == "Stopped by Ctrl-C; the engines do not differ so far."
    stopped = agreement(stopped_by=StopReason.INTERRUPT, opinions=(LOCAL,))
    assert stopped[-1] == "Stopped by Ctrl-C; nothing is compared yet."
    confined = agreement(within=("near",), warnings=("It is odd.",))
    assert confined[1] == "  within near: no step is taken from states outside"
    assert confined[4:] == ["warning: It is odd.", "", "The engines agree."]
    assert agreement(opinions=(LOCAL, replace(OTHER, of_share=True)))[-2:] == [
        "The engines agree.",
        SHARE,
    ]
    differ = agreement(differences=("One is more.", "Two is less."))
    assert differ[3:] == [
        "",
        "The engines differ:",
        "  One is more.",
        "  Two is less.",
        "",
        COUNTED,
    ]
    state = Difference(3, {"lamp": "on"}, "The evaluator presses.")
    assert agreement(differences=("One is more.",), state=state)[-3:] == [
        "First in this state, in level 3:",
        "  lamp: on",
        "The evaluator presses.",
    ]
    assert agreement(differences=("One is more.",), stopped_by=StopReason.INTERRUPT)[-1] == (
        "Stopped by Ctrl-C before the first state was found that they treat differently."
    )


def test_agreement_for_scripts() -> None:
    state = Difference(3, {"lamp": "on"}, "Why.")
    found = AgreementDocument(
        replace(AGREED, state=state, differences=("One.",), warnings=("It is odd.",)), columns
    ).data()
    assert {name: value for name, value in found.items() if name != "engines"} == {
        "model": "lamp", "bounds": BOUNDS, "properties": ["dark"], "within": [], "agreed": False, "stopped_by": None,
        "differences": ["One."], "warnings": ["It is odd."],
        "state": {"level": 3, "state": {"lamp": "on"}, "why": "Why."},
    }  # fmt: skip
    assert found["engines"] == [
        {"engine": "local-1", "verdict": "violated", "depth": 2, "states": None, "steps": None,
         "levels": [1, 2], "actions": {"press": 2},
         "failing": {"dark": 1, "whole": 2}, "stopped_by": None, "of_share": False, "note": "", "seconds": 0.5},
        {"engine": "z3", "verdict": "incomplete", "depth": 2, "states": None, "steps": None,
         "levels": None, "actions": None, "failing": {},
         "stopped_by": None, "of_share": False, "note": "at depth 2", "seconds": 0.5},
    ]  # fmt: skip
    assert AgreementDocument(AGREED, columns).data()["state"] is None


# ---------------------------------------------------------------------------------------------------------------- runs

FAIR = Fairness(("press",), ("burn",))
ENDS = RunResult(
    "ends", RunKind.EVENTUALLY, "It ends.", FAIR, Verdict.VIOLATED, 3, replace(TRACE, loop=1, fairness=FAIR)
)
LIT = RunResult("lit", RunKind.SOMETIMES, "It is lit.", Fairness(), Verdict.HOLDS, 1, replace(TRACE, witness=True))
RUNS = LivenessResult("lamp", BOUNDS, Verdict.VIOLATED, 2, 1, 2, (ENDS, LIT), {"explore": 0.5, "decide": 12.0})


def runs(shown: tuple[RunResult, ...], files: dict[str, Path | None], **other: object) -> list[str]:
    result = replace(RUNS, **other)  # type: ignore[arg-type]
    return LivenessDocument(result, columns, shown, files).text(Style(width=WIDTH)).splitlines()


def test_properties_of_runs() -> None:
    assert runs((), {}) == [
        HEAD,
        "violated    ends  eventually, for each of 3 bindings",
        "holds       lit   sometimes: reached after 1 step",
        "",
        "2 states, 1 step",
        "explore 0.50 s, decide 12.0 s",
    ]
    said = runs(
        (), {}, properties=(replace(LIT, trace=None), replace(ENDS, instances=1), replace(ENDS, undecided="no time")),
        warnings=("It is odd.",), stopped_by=StopReason.STATES,
    )  # fmt: skip
    assert said[1:] == [
        "holds       lit   sometimes: not reached",
        "violated    ends  eventually",
        "violated    ends  eventually: no time",
        "warning: It is odd.",
        "",
        "2 states, 1 step, stopped by the limit on the states (--max-states)",
        "explore 0.50 s, decide 12.0 s",
    ]


def test_the_runs_that_are_shown() -> None:
    said = runs((ENDS, LIT), {"ends": Path("ends.json"), "lit": None})
    fairness = said.index(f"Fairness: {FAIR}.")
    assert "ends.json" in said[fairness + 1]
    assert sum(line.startswith("Fairness") for line in said) == 1, "a witness takes none for granted"
    assert sum("ends.json" in line for line in said) == 1


def test_a_sometimes_property_of_several_bindings_says_which_is_not_reached() -> None:
    several = replace(LIT, instances=3)
    lost = replace(several, verdict=Verdict.VIOLATED, trace=None)
    said = runs((), {}, properties=(several, lost, replace(lost, unreached=("a = 1", "a = 2"))))
    assert said[1:4] == [
        "holds       lit  sometimes, for each of 3 bindings: the last of them is reached after 1 step",
        "violated    lit  sometimes, for each of 3 bindings: not reached",
        "violated    lit  sometimes, for each of 3 bindings: not reached for a = 1 and 1 more",
    ]


def test_runs_for_scripts() -> None:
    found = LivenessDocument(RUNS, columns, (), {"ends": Path("ends.json"), "lit": None}).data()
    assert {name: value for name, value in found.items() if name != "properties"} == {
        "model": "lamp", "bounds": BOUNDS, "within": [], "verdict": "violated", "stopped_by": None,
        "distinct_states": 2, "transitions": 1, "depth": 2, "refused": None, "warnings": [],
        "seconds": {"explore": 0.5, "decide": 12.0},
    }  # fmt: skip
    assert found["properties"] == [
        {"name": "ends", "kind": "eventually", "verdict": "violated",
         "fairness": {"weak": ["press"], "strong": ["burn"]},
         "trace_length": 2, "loop": 1, "undecided": None, "unreached": [],
         "reason": "The lamp is on.", "trace": "ends.json"},
        {"name": "lit", "kind": "sometimes", "verdict": "holds", "fairness": {"weak": [], "strong": []},
         "trace_length": 2, "loop": None, "undecided": None, "unreached": [],
         "reason": "The lamp is on.", "trace": None},
    ]  # fmt: skip
