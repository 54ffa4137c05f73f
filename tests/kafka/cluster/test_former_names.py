"""Former names of options: they work for a release, on the command line and in Python, with one warning."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from insync.cli.main import run
from insync.kafka.cluster import broker_state, state
from insync.kafka.cluster.configuration import BOUNDS, OPTION_GROUPS, RARE_OPTIONS, SETTINGS
from insync.kafka.cluster.former_names import FORMER_FIELDS, FORMER_NAMES, FORMER_STEPS
from insync.kafka.cluster.model import Cluster
from insync.kafka.groups.consumer_group import ConsumerGroup
from insync.kafka.placement import Placement
from insync.kafka.typed_state import fields_of
from insync.model import Bound, Bounds, Model, ModelError, State, UserError
from insync.runtime.errors import FormerName

OLD = ["--lossy-crashes", "0", "--shrinks=0", "--min-insync", "1", "--late-replies", "on"]
NOW = {"power_failures": 0, "isr_shrinks": 0, "min_insync_replicas": 1, "late_fetch_responses": "on"}


def test_each_former_name_has_one_of_today() -> None:
    assert not FORMER_NAMES.keys() & {*SETTINGS, *BOUNDS}
    assert {*FORMER_NAMES.values()} - {""} <= {*SETTINGS, *BOUNDS}
    assert not FORMER_STEPS.keys() & {*Cluster.action_order}
    assert {*FORMER_STEPS.values()} <= {*Cluster.action_order}


def test_each_field_that_was_renamed_is_there_under_its_name_of_today() -> None:
    kinds = [kind for module in (state, broker_state) for kind in vars(module).values() if isinstance(kind, type)]
    names = {name for kind in kinds for name in fields_of(kind)}
    assert {*FORMER_FIELDS} <= names
    assert not ({*FORMER_FIELDS.values()} - {"start"}) & names


def test_a_trace_with_former_names_of_fields_is_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "t.json"
    assert run(["check", "cluster", "--acks", "1", "--records", "1", "--trace", str(file), "--quiet"]) == 1
    file.write_text(
        file.read_text().replace('"registrations"', '"changes"').replace("accept_alter_partition", "accept_isr")
    )
    capsys.readouterr()
    assert run(["replay", str(file)]) == 2
    assert capsys.readouterr().err == (
        f"Error: {file}: step 0 (the initial state): the field registrations is missing from the state in the trace. "
        "The trace was changed by hand, or the model has changed since it was written.\n"
    )


@pytest.mark.parametrize("command", ["check", "describe"])
def test_the_command_line_takes_them_with_one_warning(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    limits = ["--max-depth", "2", "--property", "none"] if command == "check" else []
    assert run([command, *OLD, "cluster", *limits, "--json"]) in (0, 3)
    found = capsys.readouterr()
    document = json.loads(found.out)
    chosen = document["chosen" if command == "describe" else "bounds"]
    assert NOW.items() <= chosen.items()
    (warned,) = [line for line in found.err.splitlines() if "former" in line]
    assert warned == (
        "warning: --lossy-crashes, --shrinks, --min-insync and --late-replies are now --power-failures, --isr-shrinks, "
        "--min-insync-replicas and --late-fetch-responses; the former names go with the next release."
    )


GONE = [name for name, now in FORMER_NAMES.items() if not now]


def test_the_command_line_ignores_those_that_are_gone(capsys: pytest.CaptureFixture[str]) -> None:
    first, *others = (f"--{name.replace('_', '-')}" for name in GONE)
    old = [f"{first}=on", *(word for name in others for word in (name, "1")), "--shrinks", "0"]
    assert run(["check", *old, "cluster", "--max-depth", "2", "--property", "none", "--json"]) in (0, 3)
    found = capsys.readouterr()
    assert json.loads(found.out)["bounds"]["isr_shrinks"] == 0
    assert f"--shrinks is now --isr-shrinks; the former name goes with the next release. {first}" in found.err
    assert found.err.count("gone") == 1


def test_python_ignores_those_that_are_gone() -> None:
    with pytest.warns(FormerName, match="deletion_answers is gone and is ignored; leave it out."):
        model = Cluster(deletion_answers="on")
    assert model.identity == Cluster().identity


def test_diff_takes_one_twice(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["--stops", "0", "--stops", "1", "--records", "1", "--max-depth", "3"]
    assert run(["diff", "cluster", *given, "--json"]) in (1, 3)
    found = capsys.readouterr()
    assert json.loads(found.out)["settings"] == {"controlled_shutdowns": [0, 1]}
    assert found.err.count("--stops is now --controlled-shutdowns; the former name goes with the next release.") == 1


def test_ask_takes_them(capsys: pytest.CaptureFixture[str]) -> None:
    old = ["ask", "--replicas", "2", "--min-insync", "1", "--against", "everyday", "--quiet"]
    codes, outputs = [], []
    for given in (old, [one.replace("--min-insync", "--min-insync-replicas") for one in old]):
        codes.append(run(given))
        outputs.append(capsys.readouterr())
    assert codes[0] == codes[1]
    warned = "warning: --min-insync is now --min-insync-replicas; the former name goes with the next release.\n"
    assert outputs[0].err == warned + outputs[1].err


def test_an_option_of_the_command_is_none_of_the_model(capsys: pytest.CaptureFixture[str]) -> None:
    """`--elections` of the quorum was an option of the cluster too."""
    assert run(["kafka", "conform", "--kafka", "3.9.2", "--elections", "2"]) == 2
    assert "--elections is about the quorum: give --quorum as well." in capsys.readouterr().err


def test_python_takes_them_with_a_warning_at_the_line_that_has_them() -> None:
    with pytest.warns(FormerName, match="lossy_crashes is now power_failures; the former name goes") as warned:
        model = Cluster(lossy_crashes=0)
    assert model.b.power_failures == 0
    assert [one.filename for one in warned] == [__file__]
    with pytest.raises(UserError, match="stops is the former name of controlled_shutdowns, and both are given"):
        Cluster(stops=1, controlled_shutdowns=1)
    with pytest.raises(UserError, match="directory_failures are former names of log_dir_failures; give log_dir_fail"):
        Cluster(directory_losses=1, directory_failures=1)


def test_other_models_have_them_too() -> None:
    with pytest.warns(FormerName, match="min_insync is now min_insync_replicas"):
        assert Placement(min_insync=1).b.min_insync_replicas == 1
    with pytest.warns(FormerName, match="offset_reset is now auto_offset_reset"):
        ConsumerGroup(offset_reset="latest")


def test_a_subclass_may_have_an_option_of_that_name() -> None:
    class Stopping(Cluster):
        name = "stopping"
        bounds = Bounds(**Cluster.bounds, stops=Bound(1, 0, 2, "mine"))

    assert (Stopping(stops=2).b.stops, Stopping().b.controlled_shutdowns) == (2, 0)


def test_the_help_has_at_most_28_options_of_the_cluster_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", "cluster", "--help"])
    short = capsys.readouterr().out
    run(["check", "cluster", "--help-all"])
    full = capsys.readouterr().out
    shown = [name for names in OPTION_GROUPS.values() for name in names]
    assert len(shown) == len({*shown}) <= 28
    assert {*shown, *RARE_OPTIONS} == {*SETTINGS, *BOUNDS}
    for name in (*shown, *RARE_OPTIONS):
        line = f"\n  --{name.replace('_', '-')} "
        assert (line in short, line in full) == (name in shown, True), name
    assert [title for title in OPTION_GROUPS if f"\n{title}:\n" in short] == [*OPTION_GROUPS]
    assert f"`insync check cluster --help-all` has {len(RARE_OPTIONS)} more options of cluster." in short


def test_options_outside_all_groups_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", "examples/raft.py:Raft", "--help"])
    out = capsys.readouterr().out
    assert "\nBounds of Raft:\n" in out or "\nBounds of raft:\n" in out
    assert "help-all" not in out


@pytest.mark.parametrize(
    "declared",
    [{"option_groups": {"Sizes": ("sise",)}}, {"rare_options": ("sise",)}, {"former_names": {"length": "sise"}}],
)
def test_a_name_that_is_no_option_is_refused(declared: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="names 'sise'; name its own choices"):
        type("Wrong", (Model,), {**declared, "bounds": Bounds(size=Bound(1, 1, 2)), "declare": lambda s, b: State()})
