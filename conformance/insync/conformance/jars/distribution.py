"""The jars of a Kafka that is unpacked on this machine: its folder `libs`, taken as it is."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from insync.conformance.jars.jar_set import JarSet, file_digest
from insync.runtime.errors import UserError

__all__ = ["distribution_jars"]

_SERVER = re.compile(r"kafka_2\.\d+-(\d+(?:\.\d+)+[\w.-]*)\.jar")
_NO_CODE = ("-sources.jar", "-javadoc.jar", "-test.jar", "-scaladoc.jar", "-test-sources.jar")


def distribution_jars(folder: Path) -> JarSet:
    """Return the jars of a distribution, whose release is what the jar of its server is named after.

    Raises:
        UserError: it is no folder with the jars of one Kafka, or a jar in it is broken.
    """
    if not folder.is_dir():
        message = f"{folder} is not a folder. Name the folder libs of a Kafka distribution."
        raise UserError(message)
    paths = sorted(path for path in folder.glob("*.jar") if not path.name.endswith(_NO_CODE))
    servers = [match[1] for path in paths if (match := _SERVER.fullmatch(path.name))]
    if len(servers) != 1:
        found = "several jars" if servers else "no jar"
        message = f"{folder} has {found} named kafka_2.13-VERSION.jar. Name the folder libs of a Kafka distribution."
        raise UserError(message)
    for path in paths:
        if not zipfile.is_zipfile(path):
            message = f"{path} is no whole jar: a part of it is missing. Unpack or build that Kafka again."
            raise UserError(message)
    return JarSet(servers[0], tuple(paths), tuple(file_digest(path) for path in paths))
