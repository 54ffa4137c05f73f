-------------------- MODULE lock --------------------

\* Entering looks again, in the same step.
\* Exported by insync from examples/lock.py:FixedLock with workers = 2.

EXTENDS Integers, FiniteSets

VARIABLES holder, doing
vars == <<holder, doing>>

worker1 == 0
worker2 == 1
Worker == 0..1

RESTING == 0
SAW_IT_FREE == 1
INSIDE == 2
Doing == 0..2

\* The absence of a number.
None == -1

TypeOK == holder \in Worker \cup {None} /\ doing \in [Worker -> Doing]

Init == holder = None /\ doing = [w \in Worker |-> RESTING]

\* A worker sees that nobody holds the lock.
Look(worker) ==
  /\ doing[worker] = RESTING
  /\ holder = None
  /\ doing' = [doing EXCEPT ![worker] = SAW_IT_FREE]
  /\ UNCHANGED <<holder>>

\* A worker that saw the lock free takes it, if it still is.
Enter(worker) ==
  /\ holder = None
  /\ doing[worker] = SAW_IT_FREE
  /\ holder' = worker
  /\ doing' = [doing EXCEPT ![worker] = INSIDE]

\* A worker gives the lock back.
Leave(worker) ==
  /\ doing[worker] = INSIDE
  /\ holder' = None
  /\ doing' = [doing EXCEPT ![worker] = RESTING]

Next ==
  \/ \E worker \in Worker : Look(worker)
  \/ \E worker \in Worker : Enter(worker)
  \/ \E worker \in Worker : Leave(worker)

Spec == Init /\ [][Next]_vars

\* No two workers are inside at once.
one_inside == \A first, second \in Worker : ~(doing[first] = INSIDE /\ doing[second] = INSIDE) \/ first = second

========================================
