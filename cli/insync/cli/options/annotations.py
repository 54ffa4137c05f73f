"""Options of annotations: lines for GitHub Actions, and a SARIF file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from insync.cli.options.output import Output
from insync.cli.options.values import OutputPath, gathered, option
from insync.cli.terminal import emit_data, exit_code_for
from insync.model import Model
from insync.runtime.files import check_writable, write_whole

if TYPE_CHECKING:
    from insync.cli.annotations import Finding
    from insync.explorer import Verdict
    from insync.explorer.traces.trace import Trace

__all__ = ["Build", "build_options"]


@dataclass(frozen=True, slots=True)
class Build:
    """Where annotations go.

    Attributes:
        github: whether to print them for GitHub Actions.
        sarif: the SARIF file to write, if any.
    """

    github: bool
    sarif: Path | None

    def check(self, output: Output) -> None:
        """Refuse an unwritable file and `--github` beside `--json`, before the search.

        Raises:
            UserError: the file cannot be written.
            UsageError: `--github` beside `--json`.
        """
        if self.github and output.json:
            message = "--github prints lines below the report, and --json one object alone. Leave one of them out."
            raise click.UsageError(message)
        if self.sarif is not None:
            check_writable(self.sarif)

    def tell(
        self,
        model: Model,
        traces: Sequence[Trace],
        asked: Sequence[str],
        *,
        verdict: Verdict,
        stopped_by: str | None,
        warnings: Sequence[str],
        never: Sequence[str] = (),
        unproved: Mapping[str, str] | None = None,
        findings: Sequence[Finding] = (),
    ) -> None:
        """Print and write the annotations of a result.

        Args:
            model: the model.
            traces: one for each property that fails with a trace.
            asked: the names of the properties that were checked.
            verdict: the verdict.
            stopped_by: the limit that stopped the search, if one did.
            warnings: sentences.
            never: the names of the properties that fail without a trace.
            unproved: the names of properties that were neither proved nor refuted, each with the reason.
            findings: what each trace shows, in other words than its property's.

        Raises:
            UserError: the file cannot be written.
        """
        if not self.github and self.sarif is None:
            return
        from insync.cli.annotations import Outcome, github_lines, sarif_text
        from insync.explorer.documents.text import STOPPED_BY

        stopped = stopped_by if verdict == "incomplete" else None
        words = "" if stopped is None else STOPPED_BY.get(stopped, stopped)
        code = exit_code_for(verdict)
        outcome = Outcome(model, traces, asked, words, warnings, code, never, unproved or {}, findings)
        if self.github and (lines := github_lines(outcome.annotations())):
            emit_data(lines)
        if self.sarif is not None:
            write_whole(self.sarif, sarif_text(outcome))


build_options = gathered(
    "build",
    Build,
    github=option("--github", is_flag=True, help="Print annotations for GitHub Actions below the report."),
    sarif=option("--sarif", type=OutputPath(), metavar="FILE", help="Write the result as SARIF 2.1.0 to FILE."),
)
"""Decorator: adds `--github` and `--sarif`, which the command receives as `build`."""
