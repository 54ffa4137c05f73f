-------------------- MODULE placement --------------------

\* Many partitions on many brokers: which of them lose their leader or their redundancy as brokers fail.
\* Exported by insync from placement: brokers = 4, topic_partitions = 4, replicas = 3, min_insync = 2, failures =
\* 1.

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

\* b1 fails
Fail_b1 ==
  /\ failures < 1
  /\ b1 \notin down
  /\ down' = down \cup {b1}
  /\ failures' = failures + 1

\* b2 fails
Fail_b2 ==
  /\ failures < 1
  /\ b2 \notin down
  /\ down' = down \cup {b2}
  /\ failures' = failures + 1

\* b3 fails
Fail_b3 ==
  /\ failures < 1
  /\ b3 \notin down
  /\ down' = down \cup {b3}
  /\ failures' = failures + 1

\* b4 fails
Fail_b4 ==
  /\ failures < 1
  /\ b4 \notin down
  /\ down' = down \cup {b4}
  /\ failures' = failures + 1

\* b1 returns
Recover_b1 ==
  /\ b1 \in down
  /\ 0 < failures
  /\ down' = down \ {b1}
  /\ failures' = failures - 1

\* b2 returns
Recover_b2 ==
  /\ b2 \in down
  /\ 0 < failures
  /\ down' = down \ {b2}
  /\ failures' = failures - 1

\* b3 returns
Recover_b3 ==
  /\ b3 \in down
  /\ 0 < failures
  /\ down' = down \ {b3}
  /\ failures' = failures - 1

\* b4 returns
Recover_b4 ==
  /\ b4 \in down
  /\ 0 < failures
  /\ down' = down \ {b4}
  /\ failures' = failures - 1

Next ==
  \/ Fail_b1
  \/ Fail_b2
  \/ Fail_b3
  \/ Fail_b4
  \/ Recover_b1
  \/ Recover_b2
  \/ Recover_b3
  \/ Recover_b4

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
