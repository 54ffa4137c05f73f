"""The published JSON Schemas are those of the code's types, and cover every command that has `--json`.

That outputs are as they say is judged where commands are tested: see tests/cli/conftest.py.
"""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "site"))

from insync.cli.group import insync
from insync.explorer.traces import trace_file
from insync_json import require_file_schema, require_schema, schema_name
from json_schemas import FOLDER, SCHEMAS, schema_of, texts, write_schemas

TRACE = {
    "format": "insync-trace/1",
    "model": "kip101",
    "bounds": {"replicas": 3, "acks": "all"},
    "property": "strong_isr",
    "reason": "b1 lacks a record",
    "steps": [{"action": None, "parameters": {}, "state": {"leader": None}}],
}


def test_the_files_are_those_of_the_types() -> None:
    assert {path.name: path.read_text() for path in FOLDER.iterdir()} == texts()


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(schema_of(name))


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    with click.Context(group) as ctx:
        for name in group.list_commands(ctx):
            command = group.get_command(ctx, name)
            assert command is not None
            if isinstance(command, click.Group):
                yield from commands(command, (*path, name))
            else:
                yield (*path, name), command


def test_every_command_with_json_has_a_schema() -> None:
    with_json = {
        schema_name(path)
        for path, command in commands(insync)
        if any("--json" in parameter.opts for parameter in command.params)
    }
    assert with_json == set(SCHEMAS) - {"trace", "proof"}


def test_the_schema_of_a_trace_has_the_keys_that_the_reader_takes() -> None:
    schema = schema_of("trace")
    assert set(schema["properties"]) == set(trace_file._TRACE_KEYS)
    assert set(schema["required"]) == set(trace_file._TRACE_KEYS) - trace_file._OPTIONAL
    assert set(schema["$defs"]["FileStep"]["properties"]) == set(trace_file._STEP_KEYS)
    assert set(schema["$defs"]["RefusedStepEntry"]["properties"]) == set(trace_file._REFUSED_KEYS)
    assert schema["properties"]["format"]["const"] == trace_file.FORMAT


def test_a_trace_that_is_none_is_refused() -> None:
    require_file_schema(json.dumps(TRACE))
    for key, value in (("loop", "1"), ("bounds", {"replicas": 1.5}), ("steps", [{}]), ("surprise", 1)):
        with pytest.raises(AssertionError, match="trace, "):
            require_file_schema(json.dumps({**TRACE, key: value}))


def test_an_output_with_another_key_is_refused_here_and_taken_by_scripts() -> None:
    from jsonschema import Draft202012Validator

    listed = {"kafka": "4.3.1", "events": 3, "file": "run.jsonl"}
    require_schema("kafka-record", json.dumps(listed))
    with pytest.raises(AssertionError, match="new"):
        require_schema("kafka-record", json.dumps({**listed, "new": 1}))
    Draft202012Validator(schema_of("kafka-record")).validate({**copy.deepcopy(listed), "new": 1})


if __name__ == "__main__":
    write_schemas(FOLDER)
