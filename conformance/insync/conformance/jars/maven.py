"""Fetches jars by Maven with the user's own settings: insync names coordinates, and never a host."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import escape

from insync.runtime.errors import UserError

__all__ = ["Coordinates", "copy_by_maven"]

Coordinates = tuple[str, str, str]
"""A group, an artifact and a version."""

_PATIENCE = 900
_ELSEWHERE = "Or give --repository DIR, a folder in Maven's layout that has the jars."
_POM = """\
<project>
<modelVersion>4.0.0</modelVersion>
<groupId>insync</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
{dependencies}
</dependencies>
</project>
"""


def copy_by_maven(
    wanted: Iterable[Coordinates],
    folder: Path,
    *,
    without: Iterable[tuple[str, str]] = (),
    classifier: str = "",
) -> None:
    """Have Maven copy jars, and what they need to run, to a folder, in Maven's layout.

    Args:
        wanted: the jars.
        folder: where they go.
        without: groups and artifacts of what is not needed; `*` stands for all.
        classifier: which jar of the artifact, such as `sources`; the one with its classes where it is empty.

    Raises:
        UserError: there is no `mvn`, or it fails; the message says what it says.
    """
    maven = shutil.which("mvn")
    if maven is None:
        message = f"Kafka's jars are fetched by Maven, and there is no mvn on the PATH. Install it. {_ELSEWHERE}"
        raise UserError(message)
    with tempfile.TemporaryDirectory(prefix="insync-maven-") as name:
        # Maven takes options and extensions from the first `.mvn` at its project or above, and above is where others
        # may write, such as /tmp.
        (Path(name) / ".mvn").mkdir()
        pom = Path(name) / "pom.xml"
        pom.write_text(
            _POM.format(dependencies="\n".join(_dependency(one, list(without), classifier) for one in wanted))
        )
        command = [maven, "-q", "-B", "-ntp", "-f", str(pom), "dependency:copy-dependencies"]
        command += [f"-DoutputDirectory={folder}", "-Dmdep.useRepositoryLayout=true", "-DincludeScope=runtime"]
        try:
            done = subprocess.run(  # noqa: S603
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except (OSError, subprocess.SubprocessError) as error:
            message = f"{maven} cannot be run to the end ({error}). {_ELSEWHERE}"
            raise UserError(message) from error
    if done.returncode != 0:
        message = (
            f"Maven cannot fetch Kafka's jars: {_complaint(done.stdout + done.stderr)}. "
            f"Check the network and your Maven settings, and run the command again. {_ELSEWHERE}"
        )
        raise UserError(message)


def _dependency(coordinates: Coordinates, without: list[tuple[str, str]], classifier: str) -> str:
    group, artifact, version = map(escape, coordinates)
    left_out = "".join(
        f"<exclusion><groupId>{escape(g)}</groupId><artifactId>{escape(a)}</artifactId></exclusion>" for g, a in without
    )
    which = f"<classifier>{escape(classifier)}</classifier>" if classifier else ""
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>{which}"
        f"<exclusions>{left_out}</exclusions></dependency>"
    )


def _complaint(output: str) -> str:
    """The first thing that Maven calls an error, without its own advice."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)
    first = next((line for line in plain.splitlines() if "ERROR" in line), plain.strip() or "it says nothing")
    told = re.sub(r"^\[ERROR\]\s*", "", first).split(" -> [Help")[0].strip().rstrip(".:")
    return told if len(told) <= 400 else told[:397] + "..."
