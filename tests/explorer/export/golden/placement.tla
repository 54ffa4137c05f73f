-------------------- MODULE placement --------------------

\* Many partitions on many brokers: which of them lose their leader or their redundancy as brokers fail.
\* Exported by insync from placement with brokers = 4, topic_partitions = 4, replicas = 3, min_insync_replicas =
\* 2, failures = 1.

EXTENDS Integers, FiniteSets

VARIABLES down, failures
vars == <<down, failures>>

b1 == 0
b2 == 1
b3 == 2
b4 == 3
Server == 0..3

TypeOK == down \in SUBSET Server /\ failures \in 0..1

Init == down = {} /\ failures = 0

\* broker fails: A broker fails; each partition that it leads goes to the next live replica in the order of
\* assignment.
Fail(broker) ==
  /\ failures < 1
  /\ broker \notin down
  /\ down' = down \cup {broker}
  /\ failures' = failures + 1

\* broker returns: A broker returns and catches up with the partitions that it has replicas of.
Recover(broker) ==
  /\ broker \in down
  /\ 0 < failures
  /\ down' = down \ {broker}
  /\ failures' = failures - 1

Next ==
  \/ \E broker \in Server : Fail(broker)
  \/ \E broker \in Server : Recover(broker)

Spec == Init /\ [][Next]_vars

\* Every partition has a replica on a broker that runs, so it can have a leader.
every_partition_has_a_leader ==
  /\ 1 <= Cardinality({b1, b2, b3} \ down)
  /\ 1 <= Cardinality({b2, b3, b4} \ down)
  /\ 1 <= Cardinality({b1, b3, b4} \ down)
  /\ 1 <= Cardinality({b1, b2, b4} \ down)

\* Every partition has min.insync.replicas replicas on brokers that run, so it takes writes with acks=all.
every_partition_takes_writes ==
  /\ 2 <= Cardinality({b1, b2, b3} \ down)
  /\ 2 <= Cardinality({b2, b3, b4} \ down)
  /\ 2 <= Cardinality({b1, b3, b4} \ down)
  /\ 2 <= Cardinality({b1, b2, b4} \ down)

========================================
