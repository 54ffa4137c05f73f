-------------------- MODULE lock --------------------

\* Entering looks again, in the same step.
\* Exported by insync from fixed_lock: workers = 2.

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

\* worker1: look
Look_worker1 ==
  /\ doing[worker1] = RESTING
  /\ holder = None
  /\ doing' = [doing EXCEPT ![worker1] = SAW_IT_FREE]
  /\ UNCHANGED <<holder>>

\* worker2: look
Look_worker2 ==
  /\ doing[worker2] = RESTING
  /\ holder = None
  /\ doing' = [doing EXCEPT ![worker2] = SAW_IT_FREE]
  /\ UNCHANGED <<holder>>

\* worker1: enter
Enter_worker1 ==
  /\ holder = None
  /\ doing[worker1] = SAW_IT_FREE
  /\ holder' = worker1
  /\ doing' = [doing EXCEPT ![worker1] = INSIDE]

\* worker2: enter
Enter_worker2 ==
  /\ holder = None
  /\ doing[worker2] = SAW_IT_FREE
  /\ holder' = worker2
  /\ doing' = [doing EXCEPT ![worker2] = INSIDE]

\* worker1: leave
Leave_worker1 ==
  /\ doing[worker1] = INSIDE
  /\ holder' = None
  /\ doing' = [doing EXCEPT ![worker1] = RESTING]

\* worker2: leave
Leave_worker2 ==
  /\ doing[worker2] = INSIDE
  /\ holder' = None
  /\ doing' = [doing EXCEPT ![worker2] = RESTING]

Next ==
  \/ Look_worker1
  \/ Look_worker2
  \/ Enter_worker1
  \/ Enter_worker2
  \/ Leave_worker1
  \/ Leave_worker2

Spec == Init /\ [][Next]_vars

\* No two workers are inside at once.
one_inside ==
  ~(doing[worker1] = INSIDE /\ doing[worker2] = INSIDE) /\ ~(doing[worker2] = INSIDE /\ doing[worker1] = INSIDE)

========================================
