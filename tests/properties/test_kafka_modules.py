"""Kafka's properties are loaded when one of its models is asked about, and by nothing else."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from ast import literal_eval
from collections.abc import Collection
from pathlib import Path

import pytest

import insync.properties.kafka
from insync.kafka.published import Kip320
from insync.model import Model
from insync.model.catalogue import BUILT_IN, find_model
from insync.properties.declare import HOLDERS
from insync.properties.registry import invariants_of, lemmas_of, run_properties_of

LAMP = Path(__file__).parent.parent / "support" / "insync_lamp.py"
LOADED = "sorted(name for name in sys.modules if name.startswith(('insync.properties.kafka.', 'insync.kafka')))"


def class_of(reference: str) -> type[Model]:
    module, _, name = reference.partition(":")
    found = getattr(importlib.import_module(module), name)
    assert isinstance(found, type)
    assert issubclass(found, Model)
    assert f"{found.__module__}:{found.__qualname__}" == reference
    return found


def test_the_table_names_every_module_of_properties() -> None:
    modules = {module.name for module in pkgutil.iter_modules(insync.properties.kafka.__path__)}
    helping = {"cluster_reasons", "cluster_terms", "lemmas_terms", "lemmas_cluster_terms"}
    named = [module for holders in HOLDERS.values() for modules in holders for module in modules]
    assert set(named) | helping == modules
    assert len(set(named)) == len(named)


@pytest.mark.parametrize("reference", list(HOLDERS))
def test_a_module_declares_what_it_has_of_its_class(reference: str) -> None:
    kind = class_of(reference)
    declared: tuple[Collection[str], ...] = (invariants_of(kind()), run_properties_of(kind), lemmas_of(kind()))
    for modules, known in zip(HOLDERS[reference], declared, strict=True):
        for module in modules:
            names = importlib.import_module(f"insync.properties.kafka.{module}").__all__
            assert names
            assert {name for name in names if name.islower()} <= set(known)


def test_every_model_of_the_catalogue_but_placement_has_properties_beside_it() -> None:
    without = {name for name in BUILT_IN if not any(b in _classes() for b in find_model(name).__mro__)}
    assert without == {"placement"}


def _classes() -> set[type]:
    return {class_of(reference) for reference in HOLDERS}


def test_a_subclass_in_a_user_s_file_has_what_its_base_has(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("from insync.kafka.published import Kip320\nclass Mine(Kip320):\n    '''Mine.'''\n")
    mine, base = find_model(f"{file}:Mine")(), Kip320()
    assert list(invariants_of(mine)) == list(invariants_of(base))
    assert list(lemmas_of(mine)) == list(lemmas_of(base))
    assert list(run_properties_of(mine)) == list(run_properties_of(base))
    assert "strong_isr" in invariants_of(mine)


def test_the_order_of_properties_does_not_depend_on_which_module_was_imported_first() -> None:
    listed = "from insync.cli.main import run; run(['list', 'cluster'])"
    found = [
        subprocess.run([sys.executable, "-c", first + listed], check=True, capture_output=True, text=True).stdout
        for first in ("", "import insync.properties.kafka.cluster_removals; ")
    ]
    assert found[0] == found[1]


@pytest.mark.slow_for("to ask for help")
@pytest.mark.parametrize(
    "code",
    [
        "import insync.properties, insync.properties.registry, insync.properties.explain",
        f"from insync.cli.main import run; run(['check', {f'{LAMP}:Lamp'!r}])",
        f"from insync.cli.main import run; run(['check', {f'{LAMP}:Lamp'!r}, '--help'])",
    ],
    ids=["to declare", "to check", "to ask for help"],
)
def test_a_model_of_one_s_own_loads_nothing_of_kafka(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint('loaded', {LOADED})"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1] == "loaded []", done.stderr


def test_a_check_loads_what_it_checks_alone() -> None:
    code = (
        f"import sys; from insync.cli.main import run; run(['check', 'async_isr', '--replicas', '2']); print({LOADED})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert [name for name in literal_eval(done.stdout.splitlines()[-1]) if ".properties." in name] == [
        "insync.properties.kafka.async_isr"
    ]
