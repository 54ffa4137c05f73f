"""`insync kafka claims`: the rules that differ between releases, and the evidence for each."""

from __future__ import annotations

import click

from insync.cli.options.output import Output, output_options
from insync.cli.terminal import ExitCode

__all__ = ["command"]


@click.command("claims", short_help="List what changed between releases, and whether it was seen on both sides.")
@output_options(color=False, quiet=False)
def command(output: Output) -> int:
    """List each rule that differs between releases whose classes insync can run, with what these classes did.

    A rule is shown by a trace that only one of its values allows: a defect of `insync defects`, or a few steps for it.
    It is confirmed if the last release before the change and the first one with it differ in just that. All of it is on
    record; `insync kafka bisect NAME` runs it again.

    \b
    Exit codes:
      0  every change is confirmed
      3  one is not
    """  # noqa: D301 -- the control character makes click keep these lines as they are
    from insync.conformance.catalogue.catalogue_record import read_record
    from insync.conformance.catalogue.claim_evidence import evidence
    from insync.conformance.documents.claims import claims_json, describe_claims

    found = evidence(read_record())
    output.show(lambda: describe_claims(found), lambda: claims_json(found))
    return ExitCode.HOLDS if all(one.confirmed for one in found) else ExitCode.INCOMPLETE
