"""What an answer says of a small cluster: outcomes by disturbance, causes by name, and the verdict for a gate."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from typing import Any

import pytest

from insync.explorer import Limits
from insync.explorer.results import Verdict
from insync.explorer.traces.grid import plain
from insync.kafka.cluster.model import Cluster
from insync.kafka_questions import ask
from insync.kafka_questions.ask import Answer, _otherwise
from insync.kafka_questions.ask import answer as answer_of
from insync.kafka_questions.availability import availability
from insync.kafka_questions.causes.cause import Cause, CauseKind, changes_of, harm_of
from insync.kafka_questions.causes.diagnosis import _with_fewest_changes, causes_of, may_be_cause
from insync.kafka_questions.disturbances import DISTURBANCES, bounds_of, chosen, narrowed, searched
from insync.kafka_questions.documents.ask import describe_first_screen
from insync.kafka_questions.documents.verdict import Gate, verdict_sentence
from insync.kafka_questions.question import ELECTABLE, LOSS, PROMISES, Question
from insync.runtime.errors import UserError


def names(answer: Answer) -> dict[str, CauseKind]:
    return {cause.name: cause.kind for cause in (*answer.causes, *answer.open)}


@pytest.mark.slow_for("settings5-everyday-C-10-change5")
@pytest.mark.parametrize(
    ("settings", "against", "cause", "change"),
    [
        ({"acks": "1"}, "broker", "C-2", {"acks": "all"}),
        ({"acks": "1"}, "election", "C-19", {"acks": "all"}),
        ({"min_insync_replicas": 1}, "everyday", "C-3", {"min_insync_replicas": 2}),
        ({"elr": "off", "replicas": 3}, "everyday", "R-25", {"elr": "on"}),
        ({"replicas": 1, "min_insync_replicas": 1}, "rack", "C-10", {"replicas": 3}),
        ({"replicas": 1, "min_insync_replicas": 1}, "everyday", "C-10", {"replicas": 3, "min_insync_replicas": 2}),
        (
            {"unclean_leader_election": "on", "elr": "off", "release": "4.0", "min_insync_replicas": 1},
            "broker+slow",
            "C-6",
            {"unclean_leader_election": "off"},
        ),
    ],
)
def test_a_setting_is_named_as_the_cause_with_the_change_that_removes_it(
    settings: dict[str, int | str], against: str, cause: str, change: dict[str, int | str]
) -> None:
    answer = ask({"replicas": 2, **settings}, against=[against])
    first, *_ = answer.causes
    assert (first.name, first.kind, first.change) == (cause, CauseKind.SETTINGS, change)
    assert first.loses
    assert first.rows[0].name == against
    assert first.violation.trace.property == LOSS
    assert answer.verdict_for("settings", ()) is Verdict.VIOLATED
    assert answer.named(cause) is first


def test_the_simplest_way_with_acks_1_is_a_leader_that_dies() -> None:
    """A broker that dies comes before a zombie's acknowledgement."""
    answer = ask({"replicas": 2, "acks": "1"}, against=["broker", "controller"])
    assert [row.outcome(LOSS) for row in answer.rows] == ["lost in 4 steps", "lost in 3 steps"]
    (cause,) = answer.causes
    assert [step.action for step in cause.violation.trace.steps[1:]] == ["write", "crash", "fence", "apply_metadata"]


def test_without_a_setting_that_helps_the_release_is_the_cause_and_the_gate_is_open() -> None:
    answer = ask({"release": "3.9", "replicas": 2}, against=["everyday"])
    assert names(answer)["R-26"] is CauseKind.RELEASE
    cause = answer.named("R-26")
    assert cause is not None
    assert (cause.fixed_in, cause.violation.trace.takes_race) == ("4.0", True)
    assert answer.verdict_for("settings", ()) is Verdict.HOLDS
    assert answer.verdict_for("any", ()) is Verdict.VIOLATED
    assert answer.verdict_for("any", tuple(names(answer))) is Verdict.HOLDS


def test_a_whole_cluster_without_power_is_the_design_and_no_setting() -> None:
    answer = ask({"release": "4.1", "replicas": 2}, against=["cluster", "broker"])
    assert names(answer) == {"C-7": CauseKind.DESIGN}
    assert answer.verdict_for("settings", ()) is Verdict.HOLDS
    assert [row.outcome(LOSS) for row in answer.rows][1] == "safe"
    assert ask({"replicas": 2, "flush": "always"}, against=["cluster"]).causes == ()


@pytest.mark.slow_for("3.9-off-on-2", "4.0-off-on-2", "4.0-off-off-2", "4.1-off-on-1")
@pytest.mark.parametrize(
    ("release", "elr", "unclean", "min_insync_replicas"),
    [
        ("3.9", "off", "on", 2),
        ("4.0", "off", "on", 2),
        ("4.0", "off", "off", 2),
        ("4.1", "off", "on", 1),
        ("4.1", "off", "on", 2),
        ("4.1", "off", "off", 2),
        ("4.1", "on", "on", 2),
        ("4.1", "on", "off", 2),
    ],
)
def test_as_far_as_kafka_goes_is_said_only_where_the_whole_cluster_loses_power(
    release: str, elr: str, unclean: str, min_insync_replicas: int
) -> None:
    settings: dict[str, int | str] = {
        "release": release,
        "unclean_leader_election": unclean,
        "elr": elr,
        "min_insync_replicas": min_insync_replicas,
    }
    answer = ask({"replicas": 2, **settings}, against=["broker", "everyday", "cluster"])
    said = verdict_sentence(answer)
    if said.startswith("SAFE"):
        assert "but for a loss of power of the whole cluster, by design" in said
        assert {row.name for cause in answer.causes for row in cause.rows} <= {"cluster"}
    for cause in answer.causes:
        if cause.name == "C-7":
            assert {row.name for row in cause.rows} == {"cluster"}
    lost = {row.name for row in answer.rows if row.outcome(LOSS).startswith("lost")}
    assert lost <= {row.name for cause in answer.causes for row in cause.rows}
    first = answer.causes[0]
    assert first.rows[0].words in said or said.startswith("SAFE")
    assert f"By: {first.rows[0].label}" in " ".join(describe_first_screen(answer, Gate(), plain, 120).split())


@pytest.mark.parametrize(
    ("release", "names", "kind"),
    [("4.0", ["R-25"], CauseKind.RELEASE), ("4.1", ["R-25", "C-6"], CauseKind.SETTINGS)],
)
def test_a_loss_that_takes_two_changes_to_prevent_has_both(release: str, names: list[str], kind: CauseKind) -> None:
    causes = ask(
        {"replicas": 2, "release": release, "elr": "off", "unclean_leader_election": "on"}, against=["everyday"]
    ).causes
    assert [cause.name for cause in causes] == names
    assert {cause.kind for cause in causes} == {kind}
    changed = {name: value for cause in causes for name, value in cause.change.items()}
    assert (changed["unclean_leader_election"], changed["elr"]) == ("off", "on")


def test_a_setting_comes_with_the_upgrade_against_what_it_leaves() -> None:
    settings: dict[str, int | str] = {"replicas": 2, "min_insync_replicas": 1, "release": "3.9"}
    screen = " ".join(describe_first_screen(ask(settings, against=["everyday"]), Gate(), plain, 120).split())
    upgrade = "an upgrade to Kafka 4.1, eligible.leader.replicas.version=1 (first kafka-features.sh "
    assert f"What to change: min.insync.replicas=2; against R-25 and R-26, {upgrade}" in screen


def test_an_upgrade_comes_with_the_settings_that_it_takes() -> None:
    answer = ask({"replicas": 2, "release": "4.0", "unclean_leader_election": "on"}, against=["everyday"])
    lines = describe_first_screen(answer, Gate(), plain, 120).splitlines()
    screen = " ".join(" ".join(lines).split())
    assert (
        "AS GOOD AS THIS RELEASE CAN BE: no setting alone short of a flush of every record keeps more, but an" in screen
    )
    assert (
        "What to change: an upgrade to Kafka 4.1, eligible.leader.replicas.version=1, "
        "unclean.leader.election.enable=false (first kafka-features.sh --bootstrap-server HOST:PORT upgrade "
        "--release-version 4.1, when all nodes have Kafka 4.1; kafka-configs.sh " in screen
    )
    assert not [line for line in lines if line.endswith("-")], "no command is broken at a hyphen"


def test_what_is_safe_alone_may_be_lost_with_another_disturbance() -> None:
    """Safe always says against what: one power loss and one slow follower are safe, and both are not."""
    settings: dict[str, int | str] = {"release": "3.9", "replicas": 2, "min_insync_replicas": 1}
    answer = ask(settings, against=["rack", "slow", "controller"], pairs=True)
    outcomes = {row.name: row.outcome(LOSS) for row in answer.rows}
    assert list(outcomes) == ["rack", "slow", "controller", "rack+slow", "rack+controller", "slow+controller"]
    assert [outcomes[name] for name in ("rack", "slow", "controller")] == ["safe"] * 3
    assert outcomes["rack+controller"].startswith("lost in ")


@pytest.mark.slow
def test_defects_that_every_release_has_are_apart_and_do_not_decide() -> None:
    answer = ask({"release": "4.1"})
    assert {cause.name for cause in answer.open} == {"N-01", "N-02"}
    assert answer.verdict_for("settings", ()) is Verdict.HOLDS
    assert answer.verdict_for("any", ("C-7",)) is Verdict.VIOLATED
    assert answer.verdict_for("any", ("C-7", "N-01", "N-02")) is Verdict.HOLDS
    assert answer.otherwise is not None, "an upgraded cluster does not keep eligible leader replicas"
    assert ask({"release": "4.1", "elr": "on"}).otherwise is None


def test_what_an_upgraded_cluster_loses_is_told_also_where_settings_are_to_be_changed() -> None:
    question = Question(settings={"replicas": 2, "min_insync_replicas": 1, "release": "4.1"})
    everyday = searched(question, [DISTURBANCES["everyday"]])
    causes = causes_of(question, [everyday])
    assert changes_of(causes) == {"min_insync_replicas": 2}
    otherwise = _otherwise(question, question.changed(changes_of(causes)), everyday)
    assert otherwise is not None
    assert otherwise.outcome(LOSS).startswith("lost")
    found = Answer(question.model, (everyday,), tuple(causes), (), tuple(availability(question)), otherwise)
    screen = " ".join(describe_first_screen(found, Gate(), plain, 120).split())
    assert screen.startswith("AT RISK")
    assert "If the cluster was upgraded, eligible.leader.replicas.version is 0 (give --elr off)" in screen
    assert "also with what is to be changed (R-25, KIP-966)." in screen


@pytest.mark.slow
def test_a_defect_of_an_old_release_is_named_with_the_first_release_without_it() -> None:
    answer = ask({"release": "2.0", "replicas": 2}, against=["election"])
    cause = answer.named("R-22")
    assert cause is not None
    assert (cause.kind, cause.fixed_in) == (CauseKind.RELEASE, "2.2")


def test_with_acks_0_nothing_is_promised() -> None:
    answer = ask({"acks": "0", "replicas": 2}, against=["broker"])
    assert answer.rows[0].outcome(LOSS) == "not promised"
    assert answer.causes == ()


def test_what_cannot_happen_and_what_takes_more_records_is_not_called_safe() -> None:
    (row,) = ask({"replicas": 1, "min_insync_replicas": 1}, against=["slow"]).rows
    assert row.outcome(LOSS) == "cannot happen"
    (row,) = ask({"replicas": 2}, against=["slow"]).rows
    assert row.outcome("reads_repeat") == "not searched", "it takes two records"
    assert row.outcome(LOSS) == "safe"


def test_a_search_that_was_stopped_is_no_safety() -> None:
    stop = threading.Event()
    stop.set()
    answer = ask({"replicas": 2}, against=["broker"], stop=stop)
    assert answer.rows[0].outcome(LOSS) == "not searched"
    assert answer.verdict_for("settings", ()) is Verdict.INCOMPLETE
    few = ask({"replicas": 2}, against=["broker"], limits=Limits(states=5))
    assert few.verdict is Verdict.INCOMPLETE
    assert verdict_sentence(few) == "UNKNOWN: not all that can happen when a broker is killed was searched."


def test_several_searches_that_were_stopped_are_counted_and_then_listed() -> None:
    answer = ask({"replicas": 1, "min_insync_replicas": 1}, against=["rack", "broker", "slow"], limits=Limits(states=2))
    said = describe_first_screen(answer, Gate(), plain, 200)
    assert "UNKNOWN: 2 of the 2 disturbances were not searched to the end." in said, "a follower cannot be slow"
    assert "power loss of the broker, broker killed." in said


def test_a_loss_that_is_known_when_the_answer_is_stopped_does_not_vanish(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = threading.Event()
    question = Question(settings={"replicas": 2, "acks": "1"}, stop=stop)

    def stopped_then(*given: Any) -> list[Cause]:
        stop.set()
        return causes_of(*given)

    monkeypatch.setattr(sys.modules["insync.kafka_questions.ask"], "causes_of", stopped_then)
    stopped = answer_of(question, chosen(["broker", "broker+slow"]))
    (cause,) = stopped.causes
    assert (cause.kind, cause.loses, cause.name) == (CauseKind.UNKNOWN, True, "")
    assert cause.story == "its cause was not looked for yet"
    assert [row.name for row in cause.rows] == ["broker"]
    assert stopped.open == ()
    assert stopped.verdict_for("settings", ()) is Verdict.VIOLATED
    said = "AT RISK: an acknowledged record can be lost when a broker is killed; its cause was not looked for yet."
    assert verdict_sentence(stopped) == said
    screen = " ".join(describe_first_screen(stopped, Gate(), plain, 120).split())
    assert "its cause was not looked for yet. By: broker killed" in screen
    assert "Not searched to the end, as it was interrupted: broker killed + slow follower." in screen


def test_causes_of_what_happens_alone_are_looked_for_before_pairs() -> None:
    began: list[str] = []
    question = Question(settings={"replicas": 2, "acks": "1"}, began=began.append)
    found = answer_of(question, chosen(["broker+slow", "broker"]))
    assert [row.name for row in found.rows] == ["broker+slow", "broker"]
    alone = found.rows[1].words
    assert began[:2] == [alone, alone], "the search, and that with acks=all"


def test_a_disturbance_has_only_its_own_budgets() -> None:
    budgets = (
        "power_failures",
        "crashes",
        "controlled_shutdowns",
        "fencings",
        "isr_shrinks",
        "preferred_elections",
        "reassignments",
    )
    for name, one in DISTURBANCES.items():
        model = Cluster(**bounds_of([one], {"replicas": 3}))
        spent = {budget: model.b[budget] for budget in budgets if model.b[budget]}
        wanted = {key: value for key, value in one.budgets(3).items() if key in budgets}
        assert spent == wanted, name
        assert model.b.records == 1
    both = bounds_of([DISTURBANCES["rack"], DISTURBANCES["cluster"]], {"replicas": 2})
    assert both["power_failures"] == 3, "budgets of a pair are added"


def test_disturbances_are_chosen_by_name() -> None:
    assert len(chosen([])) == len(DISTURBANCES)
    assert [[one.name for one in group] for group in chosen(["rack", "slow+election"])] == [
        ["rack"], ["slow", "election"]
    ]  # fmt: skip
    with pytest.raises(UserError, match=r"No disturbance is named 'rak'. Did you mean 'rack'\?"):
        chosen(["rak"])


def test_no_search_is_made_twice() -> None:
    question = Question(settings={"replicas": 2})
    bounds = bounds_of([DISTURBANCES["slow"]], question.settings)
    assert question.search(bounds) is question.changed({}).search(dict(reversed(bounds.items())))


def test_a_known_trace_that_a_fix_does_not_prevent_needs_no_search() -> None:
    question = Question(settings={"release": "2.0", "replicas": 2})
    everyone = [DISTURBANCES["cluster"]]
    row = searched(question, everyone)
    assert row.searched is not None
    known = row.searched.broken.values()
    bounds = bounds_of(everyone, question.settings)
    assert question.breaks_all({**bounds, "defect": "R-22", "fixed": "alone"}, known)
    assert not question.breaks_all({**bounds, "flush": "always"}, known)
    assert not question.breaks_all(bounds, known), "what was searched is looked up"
    (cause,) = causes_of(question, [row])
    assert cause.name == "C-7"
    assert not [one for one in question.found if ("defect", "R-22") in one]


def test_a_trace_does_not_tell_of_a_cluster_that_cannot_take_its_steps() -> None:
    question = Question(settings={"replicas": 2, "min_insync_replicas": 1, "elr": "on"})
    row = searched(question, [DISTURBANCES["everyday"]])
    assert row.searched is not None
    bounds = bounds_of(row.disturbances, {**question.settings, "min_insync_replicas": 2})
    assert not question.breaks_all(bounds, row.searched.broken.values())
    assert not question.search(bounds).broken


def test_what_is_searched_further_is_what_loses_most_and_only_by_default() -> None:
    assert [name for name, one in DISTURBANCES.items() if one.far] == ["rack", "rolling", "everyday"]
    few = Question(settings={"replicas": 2}, limits=Limits(states=5))
    row = searched(few, [DISTURBANCES["rack"]], far=True)
    assert row.searched is not None
    assert row.searched.result.distinct_states < 100
    assert row.outcome(LOSS) == "not searched"
    assert 0 < row.steps < 5


@pytest.mark.parametrize(
    ("acks", "states", "outcome", "ended"),
    [
        ("all", 1, "safe", None),
        ("all", 1_000, "safe", None),
        ("1", 1, "lost in 4 steps", None),
        ("1", 60, "lost in 4 steps", "states"),
    ],
)
def test_what_is_searched_further_is_searched_once(
    monkeypatch: pytest.MonkeyPatch, acks: str, states: int, outcome: str, ended: str | None
) -> None:
    """Where a record is lost within the limit the search ends there, else it goes on to the end."""
    monkeypatch.setattr("insync.kafka_questions.question._MOST_STATES", states)
    began: list[str] = []
    question = Question(settings={"replicas": 2, "acks": acks}, began=began.append)
    rows = [searched(question, [DISTURBANCES["rack"]], far=True) for _ in range(2)]
    assert began == [rows[0].words]
    assert rows[0].searched is not None
    assert (rows[0].outcome(LOSS), rows[0].searched.result.stopped_by) == (outcome, ended)
    assert rows[1].searched is rows[0].searched


def test_a_search_that_was_cut_is_made_again_where_it_goes_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("insync.kafka_questions.question._MOST_STATES", 1)
    question = Question(settings={"replicas": 2})
    rack = [DISTURBANCES["rack"]]
    assert searched(question, rack).outcome(LOSS) == "not searched"
    assert searched(question, rack, far=True).outcome(LOSS) == "safe"
    assert searched(question, rack).outcome(LOSS) == "safe"


@pytest.mark.parametrize(
    ("release", "said"),
    [
        ("4.1", "a setting would prevent it."),
        ("3.9", "a setting would prevent the simplest way to that, and others remain."),
    ],
)
def test_a_setting_prevents_a_loss_only_if_nothing_else_loses_there(release: str, said: str) -> None:
    found = ask({"release": release, "replicas": 2, "min_insync_replicas": 1}, against=["everyday"])
    assert verdict_sentence(found).endswith(said)
    assert {cause.name for cause in found.causes} >= ({"C-3"} if release == "4.1" else {"C-3", "R-25"})


def test_a_promise_has_words() -> None:
    assert LOSS in PROMISES
    assert all(text and not text.endswith(".") for text in PROMISES.values())


@pytest.mark.parametrize(
    ("settings", "against", "label"),
    [
        ({"acks": "1"}, "broker", "b1 appends a record"),
        ({"elr": "off", "release": "4.1"}, "everyday", "b1 crashes, its log ends at 0"),
    ],
)
def test_the_harm_is_an_early_acknowledgement_or_the_loss_of_a_copy(
    settings: dict[str, int | str], against: str, label: str
) -> None:
    (cause, *_) = ask({"replicas": 2, **settings}, against=[against]).causes
    trace = cause.violation.trace
    number = harm_of(trace)
    assert number is not None
    assert trace.steps[number].label == label


def test_what_has_too_many_states_is_searched_again_where_changes_are_applied_as_they_are_made() -> None:
    """That finds a lost record, and says nothing else."""
    few = Limits(states=1200)
    question = Question(settings={"replicas": 2}, limits=few)
    row = searched(question, [DISTURBANCES["cluster"]])
    assert (row.outcome(LOSS), row.stopped_by, row.decided) == ("not searched", "states", False)
    again = narrowed(question, row)
    assert again.outcome(LOSS).startswith("lost in ")
    assert again.outcome("leader_is_eligible") == "not searched"
    assert again.decided
    wide = Question(settings={"replicas": 5}, limits=Limits(states=5))
    row = searched(wide, [DISTURBANCES["cluster"]])
    assert narrowed(wide, row) is row, "that would take too long, and find nothing"
    answer = ask({"replicas": 2}, against=["cluster"], limits=few)
    assert [cause.kind for cause in answer.causes] == [CauseKind.DESIGN]
    assert answer.verdict_for("settings", ()) is Verdict.HOLDS
    calm = searched(question, [DISTURBANCES["rolling"]])
    assert narrowed(question, calm) is calm, "no record can be lost by power there"


@pytest.mark.parametrize(("replicas", "stops", "among"), [(2, 2, ""), (3, 3, ""), (4, 2, " (2 of 4 brokers)")])
def test_a_rolling_restart_says_of_how_many_brokers_it_is(replicas: int, stops: int, among: str) -> None:
    rolling = DISTURBANCES["rolling"]
    assert bounds_of([rolling], {"replicas": replicas})["controlled_shutdowns"] == stops
    row = searched(Question(settings={"replicas": replicas}, limits=Limits(states=5)), [rolling])
    assert row.label == f"rolling restart that does not wait for the ISR{among}"
    assert row.words == f"brokers restart one after another, the next before the ISR is full{among}"


def test_the_settings_to_change_are_the_fewest() -> None:
    """With acks=1 and min.insync.replicas=1 both are to be changed; a change that does nothing is left out."""
    question = Question(settings={"replicas": 2, "min_insync_replicas": 1, "acks": "1"})
    rows = [searched(question, [DISTURBANCES[name]]) for name in ("broker", "everyday")]
    causes = causes_of(question, rows)
    assert changes_of(causes) == {"acks": "all", "min_insync_replicas": 2}
    more = [replace(one, change={**one.change, "unclean_leader_election": "off", "elr": "on"}) for one in causes]
    assert changes_of(_with_fewest_changes(question, more)) == {"acks": "all", "min_insync_replicas": 2}


@pytest.mark.slow_for("3.9-2", "4.0-1", "4.0-2", "4.1-1")
@pytest.mark.parametrize("fewest", [1, 2])
@pytest.mark.parametrize("release", ["3.9", "4.0", "4.1"])
def test_who_follows_the_advice_is_not_advised_again(release: str, fewest: int) -> None:
    """Settings that only the newer release needs are to be changed too."""
    given: dict[str, int | str] = {"replicas": 2, "min_insync_replicas": fewest, "unclean_leader_election": "on"}
    against = ["two-brokers", "everyday"]
    first = ask({"release": release, **given}, against=against)
    changed = {**given, "release": release, **changes_of(first.causes)}
    assert changed["unclean_leader_election"] == "off" or fewest == 2
    for cause in first.causes:
        changed |= cause.change if cause.kind is CauseKind.RELEASE else {}
    then = ask(changed, against=against)
    assert CauseKind.SETTINGS not in {cause.kind for cause in then.causes}


def test_that_a_third_replica_keeps_writes_going_is_said_where_one_broker_stops_them() -> None:
    said = " ".join(describe_first_screen(ask({"replicas": 2}, against=["broker"]), Gate(), plain, 120).split())
    assert "or 1 follower is slow (with a replication factor of 3 one may be). The partition has no leader" in said
    one = describe_first_screen(ask({"replicas": 2, "min_insync_replicas": 1}, against=["broker"]), Gate(), plain, 120)
    assert "with a replication factor of" not in one


def test_what_was_searched_together_is_not_called_alone() -> None:
    answer = ask({"replicas": 2}, against=["broker", "slow", "broker+slow", "everyday"])
    said = " ".join(describe_first_screen(answer, Gate(), plain, 120).split())
    both = "broker killed + slow follower, slow follower + expired session + power loss of one broker"
    assert f"Safe against, each alone: broker killed, slow follower; and together: {both}." in said
    pair = " ".join(describe_first_screen(ask({"replicas": 2}, against=["broker+slow"]), Gate(), plain, 120).split())
    assert "Safe against, together: broker killed + slow follower." in pair


@pytest.mark.parametrize(("acks", "said"), [("all", "are refused when"), ("1", "would be refused when")])
def test_that_a_producer_with_acks_1_is_not_refused_is_said(acks: str, said: str) -> None:
    screen = describe_first_screen(ask({"replicas": 2, "acks": acks}, against=["slow"]), Gate(), plain, 120)
    assert f"Writes with acks=all {said}" in " ".join(screen.split())


def test_a_cause_that_loses_a_record_in_one_row_alone_is_shown_by_that_row(monkeypatch: pytest.MonkeyPatch) -> None:
    question = Question(settings={"replicas": 2, "acks": "1"})
    rows = [searched(question, [DISTURBANCES[name]]) for name in ("slow", "broker")]
    (cause,) = causes_of(question, rows[1:])
    first, last = (replace(one, property=name) for one in cause.violations[:1] for name in (ELECTABLE, LOSS))
    yielded = {
        "slow": replace(cause, rows=tuple(rows[:1]), violations=(first,)),
        "broker": replace(cause, violations=(last,)),
    }
    module = sys.modules["insync.kafka_questions.causes.diagnosis"]
    monkeypatch.setattr(module, "_causes", lambda question, row, known: iter([yielded[row.name]]))
    (both,) = causes_of(question, rows)
    assert both.loses
    assert [row.name for row in both.rows] == ["broker", "slow"]


def test_a_setting_that_is_lowered_by_hand_is_a_cause_with_a_name() -> None:
    answer = ask({"release": "4.1", "replicas": 2}, against=["min-insync+everyday"])
    (cause,) = answer.causes
    assert (cause.name, cause.kind) == ("C-3", CauseKind.DESIGN)
    assert answer.verdict_for("settings", ()) is Verdict.HOLDS
    assert verdict_sentence(answer).startswith(
        "AS GOOD AS THIS RELEASE CAN BE: no setting keeps more, but an acknowledged"
    )
    screen = " ".join(describe_first_screen(answer, Gate(), plain, 120).split())
    assert "No setting prevents it: leave min.insync.replicas at 2 or more." in screen
    assert may_be_cause("C-3", answer.model, ["min-insync", "everyday"])
    assert not may_be_cause("C-3", answer.model, ["everyday"])
