"""Internal: the processes of a cluster: their files, their ports and their classes.

`node_files` has the files with which a node starts, `controller_files` those of a controller of a quorum. `ports`
chooses ports, and `class_archive` archives classes so that nodes start faster.
"""
