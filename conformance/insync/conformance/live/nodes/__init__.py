"""Internal: the processes of a cluster: their files, their ports and their classes."""
