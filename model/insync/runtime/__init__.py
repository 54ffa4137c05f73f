"""Internal: errors, limits, memory, threads, files and processes; nothing here depends on a model.

- `errors` has the exceptions; `text` makes control characters visible, and puts nouns to numbers
- `watch` has the limits of searches and proofs, the reasons to stop, and threads for work that cannot check limits;
  `oversight` ends an author's code that does not return
- `memory` measures memory and allocates it outside Python's heap; `workers` is a team of threads
- `files` writes files whole and reads files of a kind, `checksums` has their digests, `cache` keeps what is slow to
  make
- `child_processes` runs other programs, through `guardian`, so that they end with this process; `java` finds Java
"""
