"""What GitHub and SARIF are told of a result: the place of what fails, its steps, and nothing of the machine."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Insync = Callable[..., Any]
SUPPORT = Path(__file__).parent.parent / "support"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder below the root of a repository, with a model in it."""
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    (tmp_path / ".git").mkdir()
    inside = tmp_path / "models"
    inside.mkdir()
    shutil.copy(SUPPORT / "insync_shutter.py", inside / "our shutter,1.py")
    monkeypatch.chdir(inside)
    return inside


SHUTTER = "our shutter,1.py:Shutter"
TIRED = "our shutter,1.py:Tired"


def line_of(text: str, after: str = "") -> int:
    whole = (SUPPORT / "insync_shutter.py").read_text()
    return whole[: whole.index(text, whole.index(after))].count("\n") + 1


def annotated(out: str) -> list[tuple[str, dict[str, str], str]]:
    """Read the annotations in an output as GitHub's runner does."""

    def plain(text: str, *escapes: str) -> str:
        for escape in (*escapes, "%0D", "%0A", "%25"):
            text = text.replace(escape, bytes.fromhex(escape[1:]).decode())
        return text

    found = []
    for line in out.splitlines():
        match = re.fullmatch(r"::(error|warning) (.*?)::(.*)", line)
        if match:
            pairs = dict(pair.split("=", 1) for pair in match[2].split(","))
            properties = {name: plain(value, "%3A", "%2C") for name, value in pairs.items()}
            found.append((match[1], properties, plain(match[3])))
    return found


def test_github_is_told_where_each_property_is_written(insync: Insync, folder: Path) -> None:
    code, out, _ = insync("check", SHUTTER, "--property", "few", "--property", "stays_open", "--keep-going", "--github")
    state, step, domain, suspicion = annotated(out)
    file = "models/our shutter,1.py"
    assert code == 1
    assert step[:2] == (
        "error",
        {"file": file, "line": str(line_of("@step_invariant")), "title": "insync: stays_open"},
    )
    assert state[:2] == ("error", {"file": file, "line": str(line_of("@invariant")), "title": "insync: few"})
    assert state[2].splitlines() == [
        "Shutter: few fails after 2 steps (most 3). few fails: pushes < 2 does not hold, with pushes = 2.",
        "  0  start",
        "  1  push",
        "  2  push",
    ]
    assert domain[1] == {"file": file, "line": str(line_of("s.pushes += 1")), "title": "insync: type_ok"}
    assert suspicion == (
        "warning",
        {"file": file, "line": str(line_of("@action", after="s.pushes += 1")), "title": "insync: suspicious"},
        "the action 'stare' never changes the state, so its steps lead nowhere.",
    )


def test_what_the_runner_would_misread_is_escaped(insync: Insync, folder: Path) -> None:
    (folder / "our shutter,1.py").rename(folder / "50%: it.py")
    _, out, _ = insync("check", "50%: it.py:Shutter", "--github")
    (line,) = [line for line in out.splitlines() if line.startswith("::error")]
    assert "file=models/50%25%3A it.py,line=" in line
    assert "title=insync%3A few::Shutter: few fails" in line
    assert "%0A  0  start%0A  1  push" in line


@pytest.mark.parametrize("packages", ["site-packages", "dist-packages"])
def test_a_model_of_a_package_that_is_installed_within_the_repository_is_in_no_file_of_it(
    insync: Insync, folder: Path, packages: str
) -> None:
    installed = folder / ".venv" / "lib" / packages / "ours"
    installed.mkdir(parents=True)
    (folder / "our shutter,1.py").rename(installed / "shutter.py")
    code, out, _ = insync("check", f".venv/lib/{packages}/ours/shutter.py:Shutter", "--github")
    found = annotated(out)
    assert code == 1
    assert "insync: few" in [properties["title"] for _, properties, _ in found]
    assert not [properties for _, properties, _ in found if "file" in properties]


@pytest.mark.parametrize(
    ("text", "changed", "line", "said"),
    [
        ("s.pushes < 2", "s.pushes <", None, "cannot be loaded: SyntaxError"),
        ("import annotations", "import annotations\nimport nowhere", 4, "No module named 'nowhere'"),
        ("s.pushes += 1", "s.pushes += s", None, ""),
        ("Int(0, b.most)", "Int(0, b.least)", None, ""),
    ],
)
def test_a_mistake_in_the_model_is_told_where_it_is(
    insync: Insync, folder: Path, text: str, changed: str, line: int | None, said: str
) -> None:
    before = (SUPPORT / "insync_shutter.py").read_text()
    (folder / "wrong.py").write_text(before.replace(text, changed, 1))
    code, out, err = insync("check", "wrong.py:Shutter", "--github")
    ((level, properties, message),) = annotated(out)
    assert (code, level, properties["title"], err[:6]) == (2, "error", "insync: mistake", "Error:")
    assert properties["file"] == "models/wrong.py"
    assert int(properties["line"]) == (line or line_of(text))
    assert said in message
    assert insync("check", "wrong.py:Shutter").out == ""


def test_where_nothing_fails_and_nothing_is_suspicious_github_is_told_nothing(insync: Insync) -> None:
    code, out, _ = insync("check", "kip320", "--replicas", 2, "--github")
    assert (code, annotated(out)) == (0, [])


def test_a_search_that_was_stopped_is_a_warning(insync: Insync, folder: Path) -> None:
    code, out, _ = insync("check", "kip320", "--max-depth", 3, "--github")
    ((level, properties, message),) = annotated(out)
    assert (code, level, properties) == (3, "warning", {"title": "insync: incomplete"})
    assert message == "Kip320: the search was stopped by the limit on the depth (--max-depth), so nothing is proved."


def test_of_runs_a_failure_without_a_trace_is_told_as_well(insync: Insync, folder: Path) -> None:
    code, out, _ = insync("liveness", TIRED, "--github", "--sarif", "out.sarif")
    told = {properties["title"]: (properties["line"], text.splitlines()[0]) for _, properties, text in annotated(out)}
    assert code == 1
    end, never = told["insync: is_shut_in_the_end"], told["insync: is_shut_while_unused"]
    assert end[0] == str(line_of("@eventually"))
    assert end[1].startswith("Tired: is_shut_in_the_end fails (most 3). ")
    assert never == (str(line_of("@sometimes")), "Tired: is_shut_while_unused fails: no state satisfies it.")
    assert len(results(folder / "out.sarif")) == len(told) == 3


def test_a_walk_tells_of_its_violation(insync: Insync, folder: Path) -> None:
    _, out, _ = insync("simulate", SHUTTER, "--depth", 2, "--github")
    assert next((level, properties["title"]) for level, properties, _ in annotated(out)) == ("error", "insync: few")


def test_json_and_annotations_do_not_share_an_output(insync: Insync) -> None:
    code, out, err = insync("check", "kip101", "--github", "--json")
    assert (code, out) == (2, "")
    assert "Leave one of them out." in err


def test_a_model_without_bounds_has_none_to_name(insync: Insync, folder: Path) -> None:
    text = (
        (folder / "our shutter,1.py")
        .read_text()
        .replace("Int(0, b.most)", "Int(0, 3)")
        .replace("    bounds =", "    # ")
    )
    (folder / "plain.py").write_text(text)
    _, out, _ = insync("check", "plain.py:Shutter", "--github")
    assert annotated(out)[0][2].startswith("Shutter: few fails after 2 steps. few fails: ")


def test_paths_begin_in_the_workspace_that_github_names(
    insync: Insync, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_WORKSPACE", str(folder))
    assert annotated(insync("check", SHUTTER, "--github").out)[0][1]["file"] == "our shutter,1.py"
    monkeypatch.setenv("GITHUB_WORKSPACE", "/elsewhere")
    assert annotated(insync("check", SHUTTER, "--github").out)[0][1]["file"] == "models/our shutter,1.py"


def test_a_model_elsewhere_has_no_place_in_the_repository(insync: Insync, folder: Path) -> None:
    _, out, _ = insync("check", f"{SUPPORT / 'insync_shutter.py'}:Shutter", "--github", "--sarif", "out.sarif")
    assert all("file" not in properties for _, properties, _ in annotated(out))
    (location,) = results(folder / "out.sarif")[0]["locations"]
    assert location == {"logicalLocations": [{"name": "Shutter", "kind": "type"}]}


# ---------------------------------------------------------------------------------------------------------- SARIF


def results(file: Path) -> list[dict[str, Any]]:
    (run,) = json.loads(file.read_text())["runs"]
    found: list[dict[str, Any]] = run["results"]
    return found


def test_sarif_has_a_result_for_each_failure_with_its_trace(insync: Insync, folder: Path) -> None:
    insync("check", SHUTTER, "--keep-going", "--sarif", "out.sarif", "--json")
    few, domain, suspicion = results(folder / "out.sarif")
    place = {
        "artifactLocation": {"uri": "models/our%20shutter%2C1.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": line_of("@invariant")},
    }
    assert (few["ruleId"], few["level"]) == ("few", "error")
    assert few["locations"][0]["physicalLocation"] == place
    steps = few["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in steps] == ["start", "push", "push"]
    assert [step["state"] for step in steps][:2] == [
        {"open": {"text": "false"}, "pushes": {"text": "0"}},
        {"open": {"text": "true"}, "pushes": {"text": "1"}},
    ]
    assert steps[1]["location"]["physicalLocation"]["region"] == {"startLine": line_of("@action")}
    assert len(domain["codeFlows"][0]["threadFlows"][0]["locations"]) == 5, "the refused step is the last"
    assert (suspicion["ruleId"], suspicion["level"]) == ("suspicious", "warning")


def test_sarif_of_a_property_that_holds_has_its_rule_and_no_result(insync: Insync, folder: Path) -> None:
    code, _, _ = insync("check", "kip320", "--replicas", 2, "--sarif", "out.sarif")
    (run,) = json.loads((folder / "out.sarif").read_text())["runs"]
    assert (code, run["results"]) == (0, [])
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["weak_isr", "strong_isr"]
    assert run["invocations"] == [{"executionSuccessful": True, "exitCode": 0}]


def test_sarif_is_the_same_on_every_machine(insync: Insync, folder: Path) -> None:
    """So it has no path of this one, no time and no name of it."""
    insync("check", SHUTTER, "--keep-going", "--sarif", "out.sarif")
    text = (folder / "out.sarif").read_text()
    assert str(folder) not in text
    assert not re.search(r'"/|file:', text)
    before = json.loads(text)
    insync("check", SHUTTER, "--keep-going", "--sarif", "out.sarif", "--threads", 1)
    assert json.loads((folder / "out.sarif").read_text()) == before


def test_a_sarif_file_that_cannot_be_written_is_refused_before_the_search(insync: Insync, folder: Path) -> None:
    code, out, err = insync("check", "kip320", "--sarif", "nowhere/out.sarif")
    assert (code, out) == (2, "")
    assert "nowhere/out.sarif: cannot be written" in err


SARIF: dict[str, tuple[set[str], dict[str, str]]] = {
    "log": ({"version", "runs"}, {"$schema": "text", "version": "text", "runs": "run*"}),
    "run": (
        {"tool"},
        {"tool": "tool", "automationDetails": "details", "invocations": "invocation*", "results": "result*"},
    ),
    "tool": ({"driver"}, {"driver": "driver"}),
    "driver": ({"name"}, {"name": "text", "version": "text", "rules": "rule*"}),
    "rule": ({"id"}, {"id": "text", "shortDescription": "words", "help": "words"}),
    "details": (set(), {"id": "text"}),
    "invocation": ({"executionSuccessful"}, {"executionSuccessful": "truth", "exitCode": "whole"}),
    "result": (
        {"message"},
        {
            "ruleId": "text",
            "ruleIndex": "whole",
            "level": "level",
            "message": "words",
            "locations": "location*",
            "partialFingerprints": "texts",
            "codeFlows": "flow*",
        },
    ),
    "words": ({"text"}, {"text": "text"}),
    "location": (set(), {"message": "words", "physicalLocation": "physical", "logicalLocations": "logical*"}),
    "physical": ({"artifactLocation"}, {"artifactLocation": "artifact", "region": "region"}),
    "artifact": ({"uri"}, {"uri": "relative", "uriBaseId": "text"}),
    "region": ({"startLine"}, {"startLine": "line"}),
    "logical": ({"name"}, {"name": "text", "kind": "text"}),
    "flow": ({"threadFlows"}, {"message": "words", "threadFlows": "thread+"}),
    "thread": ({"locations"}, {"locations": "stop+"}),
    "stop": (set(), {"location": "location", "state": "state"}),
}
"""Of the schema of SARIF 2.1.0, for the objects that are written: the keys that must be there, and what each has."""

SIMPLE: dict[str, Callable[[Any], bool]] = {
    "text": lambda value: isinstance(value, str),
    "truth": lambda value: isinstance(value, bool),
    "whole": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "line": lambda value: isinstance(value, int) and value >= 1,
    "level": lambda value: value in ("none", "note", "warning", "error"),
    "texts": lambda value: all(isinstance(text, str) for text in value.values()),
    "state": lambda value: all(set(text) == {"text"} and isinstance(text["text"], str) for text in value.values()),
    "relative": lambda value: re.fullmatch(r"(?!/)([\w.~/-]|%[0-9A-F]{2})+", value, re.ASCII) is not None,
}


def departures(value: Any, kind: str, at: str) -> Iterator[str]:
    """Say where a value is not as SARIF has it."""
    if kind in SIMPLE:
        if not SIMPLE[kind](value):
            yield f"{at}: {value!r} is no {kind}"
        return
    if kind[-1] in "*+":
        if not isinstance(value, list) or (kind[-1] == "+" and not value):
            yield f"{at}: {value!r} is no list of {kind}"
            return
        for number, each in enumerate(value):
            yield from departures(each, kind[:-1], f"{at}[{number}]")
        return
    needed, known = SARIF[kind]
    yield from (f"{at}: {name} is missing" for name in needed - value.keys())
    yield from (f"{at}: {name} is unknown" for name in value.keys() - known.keys())
    for name in value.keys() & known.keys():
        yield from departures(value[name], known[name], f"{at}.{name}")


@pytest.mark.slow_for("line2", "line3")
@pytest.mark.parametrize(
    "line",
    [
        ("check", SHUTTER, "--keep-going"),
        ("check", "kip320", "--replicas", 2),
        ("check", "kip101", "--max-leader-epoch", 1, "--max-depth", 4),
        ("check", "cluster", "--defect", "R-26", "--max-depth", 6),
        ("liveness", TIRED),
        ("simulate", SHUTTER, "--depth", 9),
    ],
)
def test_sarif_is_as_its_schema_says(insync: Insync, folder: Path, line: tuple[object, ...]) -> None:
    insync(*line, "--sarif", "out.sarif")
    log = json.loads((folder / "out.sarif").read_text())
    assert list(departures(log, "log", "log")) == []
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
