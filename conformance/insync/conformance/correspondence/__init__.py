"""Internal: a model and Kafka beside each other, for the cluster and for the quorum alike.

`SideBySide` takes each step on both and compares them; a `Correspondence` says what a step is on Kafka and which facts
are compared; a `KnownDifference` is a place where both are known to go apart, as data.
"""
