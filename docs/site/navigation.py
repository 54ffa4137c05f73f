"""Which pages the site has, under which address, and in which order a reader meets them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

__all__ = ["DOORS", "ROOT", "address", "chapters", "pages", "sections"]

ROOT = Path(__file__).parents[2]

DOORS = (
    "insync.model",
    "insync.properties",
    "insync.explorer",
    "insync.explorer.hypothesis",
    "insync.kafka_questions",
    "insync.spark_explore",
)
"""The modules that users import from; each has a page of its API."""

_GUIDES: Mapping[str, Sequence[str]] = {
    "Begin here": (
        "installing",
        "first-model",
        "modelling",
        "states-and-steps",
        "messages",
        "coming-from",
        "command-line",
        "reports",
        "other-tools",
    ),
    "What a cluster can lose": (
        "cluster",
        "cluster-model",
        "cluster-state",
        "groups",
        "cluster-results",
        "changing-cluster",
        "quorum",
    ),
    "The cluster model, from its code": (
        "reference/cluster-options",
        "reference/cluster-steps",
        "reference/cluster-state",
        "reference/cluster-properties",
        "reference/cluster-parts",
        "reference/cluster-releases",
    ),
    "Kafka itself": (
        "kafka",
        "known-differences",
        "reference/kafka-releases",
        "reference/kafka-scenarios",
    ),
    "Look closer": ("exploring", "why-and-diff", "export", "kip320", "second-opinions"),
    "More answers": ("liveness", "refinement", "proving", "proving-cluster"),
    "In your own work": ("pytest", "ci", "hypothesis", "spark", "spark-deployment"),
}
"""The guides in the order of the site; one that is not named here stands at the end of the last section."""

_SUFFIXES = (".md", ".ipynb")
_PROJECT = {
    "ARCHITECTURE.md": "project/architecture",
    "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changelog",
    "benchmarks/README.md": "project/benchmarks",
}


def pages() -> list[str]:
    """Return the paths of the pages of the repository that are pages of the site."""
    found = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*") if path.suffix in _SUFFIXES)
    return [path for path in found if not path.startswith("docs/site/")] + [*_PROJECT]


def address(path: str) -> str | None:
    """Return the address of a page of the repository within the site, without a suffix; None if it has none."""
    if path in _PROJECT:
        return _PROJECT[path]
    if path == "README.md":
        return "index"
    if not path.startswith("docs/") or not path.endswith(_SUFFIXES):
        return None
    inside = PurePosixPath(path).relative_to("docs").with_suffix("")
    return (inside.parent / "index").as_posix() if inside.name == "README" else inside.as_posix()


def sections() -> dict[str, list[str]]:
    """Return the addresses of the pages in the sidebar, by the title of their section, in reading order."""
    guides = {title: [f"guide/{name}" for name in names] for title, names in _GUIDES.items()}
    guides["Begin here"].insert(1, "notebooks/introduction")
    placed = {name for names in guides.values() for name in names}
    known = [found for path in pages() if (found := address(path)) is not None]
    guides["In your own work"] += [name for name in known if name.startswith("guide/") and name not in placed]
    return {
        **guides,
        "Defects of Kafka": ["findings/index", "catalogue/index"],
        "Python API": [f"api/{door}" for door in DOORS],
        "The project": ["releases", "schemas/index", *_PROJECT.values(), "adr/index"],
    }


def chapters(address_of_page: str) -> list[str]:
    """Return the addresses of the pages that belong to a page that opens a folder."""
    folder, _, name = address_of_page.rpartition("/")
    if folder not in ("findings", "adr") or name != "index":
        return []
    known = [found for path in pages() if (found := address(path)) is not None]
    return [one for one in known if one.startswith(f"{folder}/") and one != address_of_page]
