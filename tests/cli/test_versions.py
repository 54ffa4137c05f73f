"""`insync --version` says what insync works with, and of what is not there that it is not."""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding
import pytest

Insync = Callable[..., Any]


def test_it_says_what_is_there(insync: Insync, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho started >&2; exit 1\n")
    java.chmod(0o755)
    (tmp_path / "jdk" / "release").write_text('IMPLEMENTOR="X"\nJAVA_VERSION="17.0.9"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    monkeypatch.setenv("INSYNC_CACHE_DIR", str(tmp_path / "cache"))
    code, out, err = insync("--version")
    first, *rest = out.splitlines()
    said = dict(line.split(maxsplit=1) for line in rest)
    assert (code, first, err) == (0, f"insync {metadata.version('insync')}", "")
    assert said["Python"].startswith(f"{platform.python_version()} (")
    numbers = ".".join(map(str, llvmlite.binding.llvm_version_info))
    assert said["LLVM"] == f"{numbers} (llvmlite {llvmlite.__version__})"
    for line, package, module in (("z3", "z3-solver", "z3"), ("Spark", "pyspark", "pyspark")):
        if importlib.util.find_spec(module):
            assert said[line] == metadata.version(package)
    assert said["Java"] == f"17.0.9 ({java})"
    assert said["cache"] == str(tmp_path / "cache")
    (tmp_path / "jdk" / "release").unlink()
    assert f"Java    {java}\n" in insync("--version").out


def test_it_says_what_is_not_there(insync: Insync, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    lines = insync("--version").out.splitlines()
    assert "z3      not installed (pip install 'insync[prove]')" in lines
    assert "Spark   not installed (pip install 'insync[spark]')" in lines
    assert "Java    not installed" in lines
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", os.devnull)
    assert "Java    not installed" in insync("--version").out.splitlines()
