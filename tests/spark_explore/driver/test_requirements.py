"""Which versions of the packages will do, to the boundary, and what is said of those that will not."""

from __future__ import annotations

import importlib.metadata

import pytest

from insync.runtime.errors import UserError
from insync.spark_explore.driver.requirements import require_packages

RIGHT = {"pyspark": "4.1.0", "pyarrow": "15.0.0", "pandas": "2.2.0"}


def installed(monkeypatch: pytest.MonkeyPatch, **versions: str | None) -> None:
    known = {**RIGHT, **versions}

    def version(name: str) -> str:
        if known[name] is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return str(known[name])

    monkeypatch.setattr(importlib.metadata, "version", version)


@pytest.mark.parametrize(
    "versions", [{}, {"pyspark": "4.2.0.dev1"}, {"pyspark": "5.0"}, {"pandas": "2.9.9"}, {"pyarrow": "1.0"}], ids=str
)
def test_versions_that_will_do(versions: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, **versions)
    require_packages()


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        ({"pyspark": "4.0.9"}, "needs pyspark 4.1 or newer, and 4.0 is installed"),
        ({"pyspark": "3.5.1"}, "needs pyspark 4.1 or newer, and 3.5 is installed"),
        ({"pandas": "2.1.4"}, "needs pandas from 2.2 to below 3, and 2.1 is installed"),
        ({"pandas": "3.0.0"}, "needs pandas from 2.2 to below 3, and 3.0 is installed"),
        ({"pandas": "3"}, "needs pandas from 2.2 to below 3, and 3 is installed"),
        ({"pyspark": None}, "needs the Python package pyspark, which is not installed"),
        ({"pyarrow": None}, "needs the Python package pyarrow, which is not installed"),
        ({"pandas": None}, "needs the Python package pandas, which is not installed"),
    ],
    ids=str,
)
def test_versions_that_will_not_do(versions: dict[str, str | None], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, **versions)
    with pytest.raises(UserError, match=said) as caught:
        require_packages()
    assert str(caught.value).endswith("Install it with: pip install 'insync[spark]'.")
