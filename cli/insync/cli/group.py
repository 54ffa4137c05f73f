"""The group of commands, and the handling of exceptions.

No model, search, compiler or explanation of a mistake is imported here, so that `insync --help` starts at once.
"""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Sequence

import click

from insync.cli.terminal import EPILOG, ExitCode, emit, emit_error, prepare_streams

__all__ = ["insync", "run_command"]

_GROUPS = {
    "Ask about Kafka": {
        "ask": "Show what a Kafka release with these settings can lose, and what would prevent it.",
        "defects": "Show the published defects of Kafka's replication, each with its shortest trace.",
        "kafka": "Compare the model with the classes of Kafka 3.7 and later.",
    },
    "Check a model": {
        "list": "Show the models, their bounds and their properties.",
        "check": "Search the whole space of a model, and prove or refute its properties.",
        "simulate": "Take random walks through a model, and shorten the one that fails.",
        "liveness": "Decide what can happen, and what must in every fair run.",
        "prove": "Prove properties by induction, or look for short violations, with z3.",
        "explore": "Step through a model by hand, and see why a step is not enabled.",
        "why": "Count what a search exercised: every guard, branch, field and premise.",
        "mutate": "Break a model in every small way; see which properties notice.",
        "diff": "Compare two models, releases or settings, or two traces.",
    },
    "Look at results": {
        "replay": "Execute a trace file again, and show or convert it.",
        "report": "Make a page of trace files, to step through and send.",
        "export": "Write a model in another tool's language, or the graph of its states.",
    },
}
_OTHERS = {
    "agree": "Let several engines search a model, and compare them.",
    "describe": "Show which features of Kafka a cluster has, and which option or rule decides each.",
    "spark": "Use the states that a search on Spark left in its run directory.",
}
_COMMANDS = {name: said for group in (*_GROUPS.values(), _OTHERS) for name, said in group.items()}

_MOVED = {"graph": "insync export MODEL --to graphml -o FILE, or --to dot"}
"""Commands of the release before, with what took their place."""

_HELP = frozenset({"-h", "--help"})

_MODULES = {
    "ask": ("ask",),
    "comparisons": ("agree", "diff", "mutate"),
    "defects": ("defects",),
    "describe": ("describe",),
    "kafka": ("kafka",),
    "models": ("list",),
    "proofs": ("prove",),
    "searches": ("check", "liveness", "simulate", "why"),
    "spark": ("spark",),
    "traces": ("explore", "export", "replay", "report"),
}
_MODULE_OF = {name: f"insync.cli.commands.{module}" for module, names in _MODULES.items() for name in names}


def run_command(arguments: Sequence[str] | None) -> int:
    """Run a command and return its exit code; see `ExitCode`. None takes the arguments of the process."""
    given = sys.argv[1:] if arguments is None else arguments
    completes = "_INSYNC_COMPLETE" in os.environ
    # click writes help texts and completions to `sys.stdout` itself.
    prepare_streams(keeps_output=not completes and not {*_HELP, "--help-all"}.intersection(given))
    warnings.showwarning = _show_warning
    if completes:
        from insync.cli.completion import begin_completing

        begin_completing()
    try:
        result = insync.main(arguments, "insync", standalone_mode=False)
    except click.UsageError as error:
        from insync.cli.faults import describe_usage_error, shortened

        emit_error(shortened(f"Error: {describe_usage_error(error, given, insync)}", given))
        return ExitCode.USER_ERROR
    except (click.Abort, KeyboardInterrupt) as error:
        from insync.runtime.oversight import place_in_traceback

        place = place_in_traceback((error.__cause__ or error).__traceback__)  # click raises Abort from Ctrl-C
        emit_error(f"Interrupted at {place}." if place else "Interrupted.")
        return ExitCode.INTERRUPTED
    except SystemExit as error:
        from insync.cli.faults import explain_exit

        return explain_exit(error)
    except Exception as error:  # noqa: BLE001 -- the last resort: mistakes of users, and errors of insync
        from insync.cli.faults import explain_fault

        return explain_fault(error, given)
    return result if isinstance(result, int) else ExitCode.HOLDS


def _show_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, *_: object, **__: object
) -> None:
    """Show a warning of insync as a sentence, and any other as Python does."""
    if category.__module__.startswith("insync."):
        emit_error(f"warning: {message}")
    else:
        emit_error(warnings.formatwarning(message, category, filename, lineno).rstrip())


class _Commands(click.Group):
    """The group of commands; a command is imported when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _MOVED:
            message = f"the command {cmd_name} has gone; write {_MOVED[cmd_name]}."
            raise click.UsageError(message)
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(importlib.import_module(_MODULE_OF[cmd_name]), f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, _COMMANDS))
        for name, commands in _GROUPS.items():
            with formatter.section(name):
                formatter.write_dl([(one.ljust(width), said) for one, said in commands.items()])
        formatter.write_paragraph()
        formatter.write_text(f"Also: {', '.join(_OTHERS)}. `insync COMMAND --help` explains each.")


def _show_versions(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from insync.cli.versions import describe_versions_here

    emit(describe_versions_here())
    ctx.exit()


@click.group(
    cls=_Commands,
    epilog=EPILOG,
    no_args_is_help=False,
    context_settings={"help_option_names": sorted(_HELP, key=len), "max_content_width": 120},
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_versions,
    help="Show the versions of insync and of what it works with, and exit.",
)
def insync() -> None:
    """Check Kafka's replication protocol, exactly.

    insync searches every state that a model of the protocol can reach, and says that its properties hold, or shows
    the shortest way to break one.

    \b
      insync list
      insync check kip320 --replicas 3 --log-size 2 --max-records 2 --max-leader-epoch 2
      insync check kip101 --property strong_isr --trace out.json
      insync simulate kip101 --walks 100000 --depth 60 --seed 1
      insync replay out.json
    """  # noqa: D301 -- the control character makes click keep these lines as they are
