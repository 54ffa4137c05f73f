"""What each command says: its text, its JSON, and the files that it writes, held byte for byte.

What differs from run to run is masked: times, memory, versions, and the folder that the repository is in. Short outputs
are on record as they are, of long ones a digest is. Whoever means a change runs `make records`; the difference of
outputs.json says what else has changed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest

from insync.cli.main import run
from insync_json import require_file_schema, require_schema, schema_name

ROOT = Path(__file__).parents[2]
PATH = Path(__file__).parent / "outputs.json"
SUPPORT = ("toys", "runs", "steps", "symmetric", "confined", "worksite", "proofs")
LONG, WIDE = 80, 400
"""How many lines a text may have that is on record as it is, and how many characters a line."""

JUGS, RING, COMMIT, LEDGER = (f"insync_toys.py:{name}" for name in ("DieHard", "TokenRing", "Commit", "Ledger"))
VOTES, CROSSING, PLANE = "insync_steps.py:Votes", "insync_runs.py:Crossing", "insync_confined.py:Plane"
TWO_PHASE, SITE, CORRIDOR = "insync_symmetric.py:TwoPhase", "insync_worksite.py:Worksite", "insync_proofs.py:Corridor"
LOCK = "lock.py:Lock"
OWN = "--engine evaluator --engine local-1 --engine local-2"
FORMATS = ("text", "itf", "json", "html", "svg", "mermaid", "markdown")

COMMANDS = (
    f"check {JUGS} --trace jugs.json --html jugs.html --sarif jugs.sarif --github",
    f"check {JUGS} --json",
    f"check {JUGS} --color always",
    *(f"check {RING} --two-tokens 1 --trace ring.{ending}" for ending in ("itf.json", "svg", "md", "mmd", "txt")),
    f"check {RING} --statistics",
    f"check {RING} --statistics --json",
    f"check {VOTES} --keep-going --html votes.html",
    f"check {VOTES} --keep-going --json",
    f"check {LEDGER} --property type_ok --property nothing_is_lost",
    f"check {TWO_PHASE} --json",
    f"check {TWO_PHASE}",
    f"check {PLANE} --within near",
    f"check {JUGS} --max-depth 3 --json",
    f"check {JUGS} --max-depth 3",
    "check kip101 --html kip101.html --trace kip101.json",
    "check kip320 --replicas 2 --log-size 1 --max-records 1 --json",
    f"simulate {JUGS} --walks 60 --html jugs.html",
    f"simulate {JUGS} --walks 60 --json",
    f"simulate {RING} --walks 20 --depth 9 --abstract-states",
    f"liveness {CROSSING} --github --sarif crossing.sarif",
    f"liveness {CROSSING} --property gets_across --unfair --html crossing.html --trace crossing.json",
    f"liveness {CROSSING} --json --witnesses",
    f"why {SITE} --html site.html",
    f"why {SITE} --json",
    f"prove {RING} --induction",
    f"prove {CORRIDOR} --property never_trapped --property near_the_door --save corridor.json",
    f"prove {RING} --induction --json",
    f"prove {CORRIDOR} --induction --github --sarif corridor.sarif --html corridor.html",
    f"prove {CORRIDOR} --induction --json",
    f"prove {JUGS} --bmc 8 --trace jugs.json",
    f"prove {LOCK} --mine --json",
    f"agree {RING} {OWN}",
    f"agree {JUGS} {OWN} --json",
    f"diff {RING} --two-tokens 0 --two-tokens 1 --html ring.html --trace ring.json",
    f"diff {RING} --two-tokens 0 --two-tokens 1 --json",
    f"mutate {RING}",
    f"mutate {RING} --json",
    "replay given_jugs.json",
    f"replay given_jugs.json --model {JUGS} --html jugs.html",
    *(f"replay given_jugs.json --model {JUGS} --format {form}" for form in FORMATS),
    f"replay given_jugs.json --model {JUGS} --json",
    "replay given_kip101.json --format html",
    f"report given_jugs.json given_kip101.json --model {JUGS} --output both.html",
    "diff given_kip101.json given_walk.json",
    "diff given_kip101.json given_walk.json --json",
    *(f"export {COMMIT} --to {form} --output commit" for form in ("tla", "tla-unrolled", "promela", "dot")),
    "export kip320 --to tla --output kip320.tla",
    f"export {JUGS} --to tla --json",
    f"export {RING} --to graphml --output ring.graphml",
    f"export {RING} --to dot --max-depth 2 --json",
    "list",
    "list --json",
    "list kip320",
    "list cluster --json",
    "ask --release 4.1 --replicas 2 --against broker --details",
    "ask --release 4.1 --replicas 2 --against broker --json",
    "ask --release 4.1 --replicas 2 --acks 1 --against broker --explain C-2 --html ask.html",
    "ask --release 4.1 --replicas 2 --acks 1 --against broker --json",
    "defects lost after power failure",
    "defects",
    "defects --json",
    "defects R-26",
    "defects R-26 --json --trace defect.json",
    "kafka claims",
    "kafka claims --json",
    *(f"{command} --help".strip() for command in (
        "", "check", "simulate", "explore", "replay", "report", "ask", "defects", "kafka", "liveness", "prove", "agree",
        "why", "diff", "mutate", "spark", "export", "list", "kafka conform", "kafka replay", "kafka bisect",
        "check kip320", "check cluster",
    )),
    "check kip32",
    f"check {JUGS} --property never_for",
    "chek kip320",
)  # fmt: skip

MASKS = (
    (re.escape(str(ROOT)), "ROOT"),
    (r", \d[\d,.]*( million)? \w+/s\b", ""),  # which is left out where a search takes no time
    (r"\b(\d+ h \d+ min|\d+ min \d+ s|\d+(\.\d+)? ?m?s)\b", "TIME"),
    (r"\d[\d.,]* (KiB|MiB|GiB)", "SIZE"),
    (
        r'("(?:\w*seconds|\w*memory\w*|\w*bytes\w*|version|insync|created|seconds)": )("[^"]*"|[\d.e+-]+|\{[^}]*\})',
        r'\1"MASKED"',
    ),
    (r"insync \d+\.\d+\S*", "insync VERSION"),
    (r'("digest": )"[0-9a-f]{32}"', r'\1"MASKED"'),  # of a proof file, which has seconds
    (r'"solver": "z3 [\d.]+"', '"solver": "z3"'),
)


def masked(text: str, folder: str) -> str:
    for pattern, instead in ((re.escape(folder), "FOLDER"), *MASKS):
        text = re.sub(pattern, instead, text)
    return text


@contextlib.contextmanager
def a_folder() -> Iterator[Path]:
    """Give a folder with the models, and two traces of them, and make it the current one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for one in SUPPORT:
            shutil.copy(ROOT / "tests" / "support" / f"insync_{one}.py", folder)
        shutil.copy(ROOT / "examples" / "lock.py", folder)
        with contextlib.chdir(folder):
            yield folder


@cache
def traces() -> Mapping[str, str]:
    """Return the texts of trace files, by name."""
    with a_folder(), contextlib.redirect_stdout(io.StringIO()):
        run(["check", JUGS, "--trace", "given_jugs.json", "--quiet"])
        run(["check", "kip101", "--trace", "given_kip101.json", "--quiet", "--property", "strong_isr"])
        run(["simulate", "kip101", "--walks", "5000", "--seed", "3", "--trace", "given_walk.json", "--quiet"])
        return {file.name: file.read_text(encoding="utf-8") for file in sorted(Path().glob("given_*.json"))}


def written(command: str) -> Mapping[str, object]:
    """Return what a command says, how it ends and what it writes."""
    given = traces() if "given_" in command else {}
    with a_folder() as folder:
        for name, text in given.items():
            Path(name).write_text(text, encoding="utf-8")
        before = set(folder.rglob("*"))
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run([*command.split(), *quiet(command)])
        if command.endswith("--json") or " --json " in command:
            require_schema(schema_name(command.split()), out.getvalue())
        found: dict[str, object] = {"code": code, "out": said(out.getvalue(), str(folder))}
        if err.getvalue():
            found["err"] = said(err.getvalue(), str(folder))
        for file in sorted(set(folder.rglob("*")) - before):
            if file.is_file() and file.suffix != ".pyc":
                text = file.read_text(encoding="utf-8")
                require_file_schema(text)
                found[file.name] = said(text, str(folder))
        return found


def quiet(command: str) -> list[str]:
    """Return what keeps lines of progress out, and the number of processors."""
    verb = command.split()[0]
    if "--help" in command or verb in ("list", "replay", "report", "export", "kafka", "chek"):
        return []
    return ["--quiet", *(["--threads", "1"] if verb in ("check", "simulate", "why", "prove", "ask", "mutate") else [])]


def said(text: str, folder: str) -> object:
    """Return the lines of a text, or of a long one a digest; of JSON in one line both, if it has few values."""
    text = masked(text, folder)
    lines, digest = text.splitlines(), f"{len(text)} characters, {crc32(text.encode()):08x}"
    if len(lines) == 1 and text.startswith("{"):
        spread = json.dumps(json.loads(text), indent=1).splitlines()
        return {"digest": digest, "values": spread} if len(spread) <= LONG else digest
    return lines if len(lines) <= LONG and max(map(len, lines), default=0) <= WIDE else digest


@cache
def known() -> Mapping[str, Mapping[str, object]]:
    """Return what is on record, by command."""
    found: Mapping[str, Mapping[str, object]] = json.loads(PATH.read_text(encoding="utf-8"))
    return found


def test_every_command_is_on_record_once() -> None:
    assert list(known()) == list(COMMANDS)
    assert len(set(COMMANDS)) == len(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_what_it_said(command: str) -> None:
    assert written(command) == known()[command]


if __name__ == "__main__":
    for variable in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        os.environ.pop(variable, None)
    PATH.write_text(json.dumps({each: written(each) for each in COMMANDS}, indent=1) + "\n", encoding="utf-8")
