"""Internal: Kafka's configuration, read from files that operators have, as settings of the model `cluster`.

`reading` has the door, and what it returns. `file_kinds` tells the kinds of files apart, and each kind has a file that
reads its entries: `properties`, `ini` (inventories), `printed` (by Kafka's tools), `terraform`, and `documents` (YAML
and JSON: resources of Kubernetes, charts, playbooks) with `nodes`, `commands`, `compose` and `variables`. `entries` has
an entry with its place. Then `precedence` finds the value of each setting, `process_roles` which node's file decides it
in KRaft, and `versions` the release and the kind of controller. `remarks` has sentences on what the files leave open.
"""
