-------------------- MODULE async_isr --------------------

\* KIP-497: the leader counts with every ISR that the controller may already have written, until it learns which.
\* Exported by insync from async_isr with replicas = 3, max_offset = 2, max_version = 2.

EXTENDS Integers, FiniteSets

VARIABLES controller, leader, requests, updates
vars == <<controller, leader, requests, updates>>

b1 == 0
b2 == 1
b3 == 2
Replica == 0..2

v0 == 0
v1 == 1
v2 == 2
Version == 0..2

\* The absence of a number.
None == -1

Min(a, b) == IF a < b THEN a ELSE b

TypeOK ==
  /\ controller \in [isr: SUBSET Replica, version: Version]
  /\ leader \in [isr: SUBSET Replica,
                 version: Version,
                 pending_isr: SUBSET Replica,
                 pending_version: Version \cup {None},
                 offset: [Replica -> 0..2]]
  /\ requests \in [Version -> SUBSET (SUBSET Replica)]
  /\ updates \in [Version -> SUBSET Replica]

Init ==
  /\ controller = [isr |-> {b1, b2, b3}, version |-> v0]
  /\ leader = [isr |-> {b1, b2, b3},
               version |-> v0,
               pending_isr |-> {},
               pending_version |-> None,
               offset |-> [r \in Replica |-> 0]]
  /\ requests = [v \in Version |-> {}]
  /\ updates = [v \in Version |-> {}]

\* controller drops replica: The controller takes a replica out of the ISR on its own, as when a broker is
\* fenced.
ControllerShrinkIsr(replica) ==
  /\ replica # b1
  /\ replica \in controller.isr
  /\ controller.version < 2
  /\ controller' = [controller EXCEPT !.version = controller.version + 1, !.isr = controller.isr \ {replica}]
  /\ updates' = [updates EXCEPT ![controller.version + 1] = controller.isr \ {replica}]
  /\ UNCHANGED <<leader, requests>>

\* controller accepts ISR isr: The controller writes an ISR that the leader asked for, if the request names the
\* current version.
ControllerHandleRequest(isr) ==
  /\ isr \in requests[controller.version]
  /\ controller.version < 2
  /\ controller' = [controller EXCEPT !.version = controller.version + 1, !.isr = isr]
  /\ updates' = [updates EXCEPT ![controller.version + 1] = isr]
  /\ UNCHANGED <<leader, requests>>

\* b1 asks to drop replica: The leader asks for an ISR without this member, and goes on counting with it.
LeaderRequestShrinkIsr(replica) ==
  /\ replica # b1
  /\ replica \in leader.isr
  /\ leader' = [leader EXCEPT !.pending_isr = leader.pending_isr \cup (leader.isr \ {replica}),
                              !.pending_version = leader.version]
  /\ requests' = [requests EXCEPT ![leader.version] = requests[leader.version] \cup {leader.isr \ {replica}}]
  /\ UNCHANGED <<controller, updates>>

\* b1 asks to add replica: The leader asks for an ISR with a replica that has reached its high watermark, and
\* counts with it at once.
LeaderRequestExpandIsr(replica) ==
  /\ replica \notin leader.isr
  /\ Min(Min(IF b1 \in leader.isr \cup leader.pending_isr THEN leader.offset[b1] ELSE 2,
             IF b2 \in leader.isr \cup leader.pending_isr THEN leader.offset[b2] ELSE 2),
         IF b3 \in leader.isr \cup leader.pending_isr THEN leader.offset[b3] ELSE 2)
     <= leader.offset[replica]
  /\ leader' = [leader EXCEPT !.pending_isr = leader.pending_isr \cup leader.isr \cup {replica},
                              !.pending_version = leader.version]
  /\ requests' = [requests EXCEPT ![leader.version] = (requests[leader.version]
                                                       \cup {leader.isr \cup {replica}})]
  /\ UNCHANGED <<controller, updates>>

\* b1 writes a record: The leader appends a producer's record.
LeaderWrite ==
  /\ leader.offset[b1] < 2
  /\ leader' = [leader EXCEPT !.offset[b1] = leader.offset[b1] + 1]
  /\ UNCHANGED <<controller, requests, updates>>

\* b1 learns version: The leader adopts an ISR that the controller wrote, and forgets what it asked for.
LeaderHandleUpdate(version) ==
  /\ 0 < version
  /\ leader.version < version
  /\ version <= controller.version
  /\ leader' = [leader EXCEPT !.isr = updates[version],
                              !.version = version,
                              !.pending_isr = {},
                              !.pending_version = None]
  /\ UNCHANGED <<controller, requests, updates>>

\* replica fetches a record: A follower appends the leader's next record, in the ISR or not.
FollowerReplicate(replica) ==
  /\ replica # b1
  /\ leader.offset[replica] < leader.offset[b1]
  /\ leader' = [leader EXCEPT !.offset[replica] = leader.offset[replica] + 1]
  /\ UNCHANGED <<controller, requests, updates>>

Next ==
  \/ \E replica \in Replica : ControllerShrinkIsr(replica)
  \/ \E isr \in SUBSET Replica : ControllerHandleRequest(isr)
  \/ \E replica \in Replica : LeaderRequestShrinkIsr(replica)
  \/ \E replica \in Replica : LeaderRequestExpandIsr(replica)
  \/ LeaderWrite
  \/ \E version \in Version : LeaderHandleUpdate(version)
  \/ \E replica \in Replica : FollowerReplicate(replica)

Spec == Init /\ [][Next]_vars

\* Every member of the controller's ISR has replicated up to the leader's high watermark.
valid_high_watermark ==
  \A member \in controller.isr :
    Min(Min(IF b1 \in leader.isr \cup leader.pending_isr THEN leader.offset[b1] ELSE 2,
            IF b2 \in leader.isr \cup leader.pending_isr THEN leader.offset[b2] ELSE 2),
        IF b3 \in leader.isr \cup leader.pending_isr THEN leader.offset[b3] ELSE 2)
    <= leader.offset[member]

========================================
