"""`insync list`: the models that come with insync."""

from __future__ import annotations

import click

from insync.cli.exit_codes import EPILOG, ExitCode
from insync.cli.options.engine import ENGINES
from insync.cli.show.terminal import emit

__all__ = ["command"]


@click.command("list", epilog=EPILOG, short_help="Show the models, their bounds and their properties.")
@click.option("--json", "json_", is_flag=True, help="Print one JSON object for scripts in place of the list.")
def command(json_: bool) -> int:
    """Show every model that comes with insync: what it is, its bounds, its properties, and the engines."""
    emit(_as_json() if json_ else _as_text())
    return ExitCode.HOLDS


def _as_text() -> str:
    from insync.cli.options.choices import choices, default_of, range_of
    from insync.cli.options.models import built_in_models, model_properties
    from insync.properties.invariants import sentence_of

    lines = []
    for kind in built_in_models():
        lines += [kind.name, f"  {sentence_of(kind)}"]
        width = max((len(name) for name in choices(kind)), default=0)
        for name, choice in choices(kind).items():
            values = f"{default_of(choice)} ({range_of(choice)})"
            lines.append(f"    {name:<{width}}  {values:<11}  {choice.doc}".rstrip())
        names = [f"{name}{'*' if default else ''}" for name, _, default in model_properties(kind)]
        lines += [f"    properties: {', '.join(names)}", ""]
    lines.append("After each bound its default and range. A property with a star is checked when none is named.")
    lines.append(f"Engines: {', '.join(ENGINES)}. More about one model: insync check MODEL --help")
    return "\n".join(lines)


def _as_json() -> str:
    import json

    from insync.cli.options.choices import choices, default_of
    from insync.cli.options.models import built_in_models, model_properties
    from insync.model import Setting
    from insync.properties.invariants import sentence_of

    models = [
        {
            "name": kind.name,
            "sentence": sentence_of(kind),
            "bounds": [
                {
                    "name": name,
                    "default": default_of(c),
                    **(
                        {"values": list(c.names)}
                        if isinstance(c, Setting)
                        else {"lowest": c.lowest, "highest": c.highest}
                    ),
                    "sentence": c.doc,
                }
                for name, c in choices(kind).items()
            ],
            "properties": [
                {"name": name, "sentence": sentence, "headline": default}
                for name, sentence, default in model_properties(kind)
            ],
        }
        for kind in built_in_models()
    ]
    return json.dumps({"models": models, "engines": list(ENGINES)}, ensure_ascii=False)
