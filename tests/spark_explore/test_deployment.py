"""What the guide has to copy for a cluster: files that their tools read, and options that exist."""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path

import pytest

from insync_played_spark import playing_spark

yaml = pytest.importorskip("yaml")

FOLDER = Path(__file__).parents[2] / "examples" / "spark"
GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "spark-deployment.md"
SUBMITS = sorted(FOLDER.glob("*.sh"))


def test_the_pod_template_is_a_pod_with_the_container_that_the_submit_line_names() -> None:
    pod = yaml.safe_load((FOLDER / "executor-pod.yaml").read_text())
    assert (pod["apiVersion"], pod["kind"]) == ("v1", "Pod")
    (container,) = pod["spec"]["containers"]
    assert f"podTemplateContainerName={container['name']}" in (FOLDER / "submit-kubernetes.sh").read_text()
    mounts = {mount["name"] for mount in container["volumeMounts"]}
    assert mounts == {volume["name"] for volume in pod["spec"]["volumes"]}
    assert all(name.startswith("spark-local-dir-") for name in mounts), "only such volumes are Spark's local folders"


@pytest.mark.parametrize("script", SUBMITS, ids=lambda path: path.stem)
def test_a_submit_line_is_shell_with_options_that_spark_submit_has(script: Path, needs_spark: None) -> None:
    import pyspark

    subprocess.run(["/bin/sh", "-n", str(script)], check=True)
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    shown = subprocess.run([submit, "--help"], capture_output=True, text=True, check=False, timeout=100)
    known = set(re.findall(r"--[a-z-]+", shown.stdout + shown.stderr))
    used = set(re.findall(r"^ +(--[a-z-]+)", script.read_text(), re.MULTILINE))
    assert {"--master", "--conf"} <= used <= known


def test_the_image_copies_what_there_is_and_installs_what_workers_need() -> None:
    text = (FOLDER / "Containerfile").read_text()
    assert "COPY run.py" in text
    (wanted,) = re.findall(r"pip install --no-cache-dir (.*) /tmp/dist", text)
    assert wanted == "llvmlite pyarrow 'pandas>=2.2,<3'"
    assert wanted in GUIDE.read_text()


def test_the_guide_names_each_file() -> None:
    said = GUIDE.read_text()
    assert all(path.name in said for path in FOLDER.iterdir() if path.is_file())


def test_the_script_searches_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(FOLDER / "run.py"))["main"]
    main.__globals__["BOUNDS"] = {"replicas": 2, "log_size": 1, "max_records": 1, "max_leader_epoch": 1}
    with playing_spark(monkeypatch, tmp_path / "executor"):
        main(str(tmp_path / "run"))
        main(str(tmp_path / "run"), "--resume")
    said = capsys.readouterr().out.splitlines()
    results = [line for line in said if line.startswith("holds: ")]
    assert len(results) == 2
    assert len(set(results)) == 1
    assert any(line.startswith("level ") for line in said)
