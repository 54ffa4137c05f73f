"""Internal: the types of the objects that `--json` prints for every model: the one source of their JSON Schemas.

Documents are checked against them by mypy, and docs/schemas is made from them, so no program imports these modules.
Scripts rely on the keys: one may be added, none is removed or changes its meaning.

The files are those of the commands: `searches` (check, simulate, liveness, why), `proofs` (prove), `comparisons`
(agree, mutate, diff), `traces` (replay, and the file of a trace) and `models` (list, export, spark export).
"""
