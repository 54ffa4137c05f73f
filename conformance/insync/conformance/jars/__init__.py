"""Internal: the jars of Kafka's releases: which they are, where they come from, and where they are kept.

`pinned` lists the jars of a release with their SHA-256, `maven` gets them, `store` keeps them in the cache, and
`fetched` says which versions are there. `distribution` takes the jars of an unpacked Kafka. A `jar_set` is what all
of these return.
"""
