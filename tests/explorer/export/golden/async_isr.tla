-------------------- MODULE async_isr --------------------

\* KIP-497: the leader counts with every ISR that the controller may already have written, until it hears which.
\* Exported by insync from async_isr: replicas = 3, max_offset = 2, max_version = 2.

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
  /\ leader
     \in [isr: SUBSET Replica,
          version: Version,
          pending_isr: SUBSET Replica,
          pending_version: Version \cup {None},
          offset: [Replica -> 0..2]]
  /\ requests \in [Version -> SUBSET (SUBSET Replica)]
  /\ updates \in [Version -> SUBSET Replica]

Init ==
  /\ controller = [isr |-> {b1, b2, b3}, version |-> v0]
  /\ leader
     = [isr |-> {b1, b2, b3},
        version |-> v0,
        pending_isr |-> {},
        pending_version |-> None,
        offset |-> [r \in Replica |-> 0]]
  /\ requests = [v \in Version |-> {}]
  /\ updates = [v \in Version |-> {}]

\* controller drops b2
ControllerShrinkIsr_b2 ==
  /\ b2 \in controller.isr
  /\ controller.version < 2
  /\ controller' = [isr |-> controller.isr \ {b2}, version |-> controller.version + 1]
  /\ updates' = [updates EXCEPT ![v1] = IF controller.version = v0
                                        THEN controller.isr \ {b2}
                                        ELSE updates[v1],
                                ![v2] = IF controller.version = v1
                                        THEN controller.isr \ {b2}
                                        ELSE updates[v2]]
  /\ UNCHANGED <<leader, requests>>

\* controller drops b3
ControllerShrinkIsr_b3 ==
  /\ b3 \in controller.isr
  /\ controller.version < 2
  /\ controller' = [isr |-> controller.isr \ {b3}, version |-> controller.version + 1]
  /\ updates' = [updates EXCEPT ![v1] = IF controller.version = v0
                                        THEN controller.isr \ {b3}
                                        ELSE updates[v1],
                                ![v2] = IF controller.version = v1
                                        THEN controller.isr \ {b3}
                                        ELSE updates[v2]]
  /\ UNCHANGED <<leader, requests>>

\* controller accepts ISR {}
ControllerHandleRequest___ ==
  /\ {} \in requests[controller.version]
  /\ controller.version < 2
  /\ controller' = [isr |-> {}, version |-> controller.version + 1]
  /\ updates' = [updates EXCEPT ![v1] = IF controller.version = v0 THEN {} ELSE updates[v1],
                                ![v2] = IF controller.version = v1 THEN {} ELSE updates[v2]]
  /\ UNCHANGED <<leader, requests>>

\* controller accepts ISR {b1}
ControllerHandleRequest__b1_ ==
  /\ {b1} \in requests[controller.version]
  /\ controller.version < 2
  /\ controller' = [isr |-> {b1}, version |-> controller.version + 1]
  /\ updates' = [updates EXCEPT ![v1] = IF controller.version = v0 THEN {b1} ELSE updates[v1],
                                ![v2] = IF controller.version = v1 THEN {b1} ELSE updates[v2]]
  /\ UNCHANGED <<leader, requests>>

\* controller accepts ISR {b2}
ControllerHandleRequest__b2_ ==
  /\ {b2} \in requests[controller.version]
  /\ controller.version < 2
  /\ controller' = [isr |-> {b2}, version |-> controller.version + 1]
  /\ updates' = [updates EXCEPT ![v1] = IF controller.version = v0 THEN {b2} ELSE updates[v1],
                                ![v2] = IF controller.version = v1 THEN {b2} ELSE updates[v2]]
  /\ UNCHANGED <<leader, requests>>

\* controller accepts ISR {b1, b2}
ControllerHandleRequest__b1__b2_ ==
  /\ {b1, b2} \in requests[controller.version]
  /\ controller.version < 2
  /\ controller' = [isr |-> {b1, b2}, version |-> controller.version + 1]
  /\ updates' = [updates EXCEPT ![v1] = IF controller.version = v0 THEN {b1, b2} ELSE updates[v1],
                                ![v2] = IF controller.version = v1 THEN {b1, b2} ELSE updates[v2]]
  /\ UNCHANGED <<leader, requests>>

\* controller accepts ISR {b3}
ControllerHandleRequest__b3_ ==
  /\ {b3} \in requests[controller.version]
  /\ controller.version < 2
  /\ controller' = [isr |-> {b3}, version |-> controller.version + 1]
  /\ updates' = [updates EXCEPT ![v1] = IF controller.version = v0 THEN {b3} ELSE updates[v1],
                                ![v2] = IF controller.version = v1 THEN {b3} ELSE updates[v2]]
  /\ UNCHANGED <<leader, requests>>

\* controller accepts ISR {b1, b3}
ControllerHandleRequest__b1__b3_ ==
  /\ {b1, b3} \in requests[controller.version]
  /\ controller.version < 2
  /\ controller' = [isr |-> {b1, b3}, version |-> controller.version + 1]
  /\ updates' = [updates EXCEPT ![v1] = IF controller.version = v0 THEN {b1, b3} ELSE updates[v1],
                                ![v2] = IF controller.version = v1 THEN {b1, b3} ELSE updates[v2]]
  /\ UNCHANGED <<leader, requests>>

\* controller accepts ISR {b2, b3}
ControllerHandleRequest__b2__b3_ ==
  /\ {b2, b3} \in requests[controller.version]
  /\ controller.version < 2
  /\ controller' = [isr |-> {b2, b3}, version |-> controller.version + 1]
  /\ updates' = [updates EXCEPT ![v1] = IF controller.version = v0 THEN {b2, b3} ELSE updates[v1],
                                ![v2] = IF controller.version = v1 THEN {b2, b3} ELSE updates[v2]]
  /\ UNCHANGED <<leader, requests>>

\* controller accepts ISR {b1, b2, b3}
ControllerHandleRequest__b1__b2__b3_ ==
  /\ {b1, b2, b3} \in requests[controller.version]
  /\ controller.version < 2
  /\ controller' = [isr |-> {b1, b2, b3}, version |-> controller.version + 1]
  /\ updates' = [updates EXCEPT ![v1] = IF controller.version = v0 THEN {b1, b2, b3} ELSE updates[v1],
                                ![v2] = IF controller.version = v1 THEN {b1, b2, b3} ELSE updates[v2]]
  /\ UNCHANGED <<leader, requests>>

\* b1 asks to drop b2
LeaderRequestShrinkIsr_b2 ==
  /\ b2 \in leader.isr
  /\ leader' = [leader EXCEPT !.pending_isr = leader.pending_isr \cup (leader.isr \ {b2}),
                              !.pending_version = leader.version]
  /\ LET v3 == requests[leader.version] \cup {leader.isr \ {b2}} IN
     /\ requests' = [requests EXCEPT ![v0] = IF leader.version = v0 THEN v3 ELSE requests[v0],
                                     ![v1] = IF leader.version = v1 THEN v3 ELSE requests[v1],
                                     ![v2] = IF leader.version = v2 THEN v3 ELSE requests[v2]]
     /\ UNCHANGED <<controller, updates>>

\* b1 asks to drop b3
LeaderRequestShrinkIsr_b3 ==
  /\ b3 \in leader.isr
  /\ leader' = [leader EXCEPT !.pending_isr = leader.pending_isr \cup (leader.isr \ {b3}),
                              !.pending_version = leader.version]
  /\ LET v3 == requests[leader.version] \cup {leader.isr \ {b3}} IN
     /\ requests' = [requests EXCEPT ![v0] = IF leader.version = v0 THEN v3 ELSE requests[v0],
                                     ![v1] = IF leader.version = v1 THEN v3 ELSE requests[v1],
                                     ![v2] = IF leader.version = v2 THEN v3 ELSE requests[v2]]
     /\ UNCHANGED <<controller, updates>>

\* b1 asks to add b1
LeaderRequestExpandIsr_b1 ==
  /\ b1 \notin leader.isr
  /\ LET v3 == leader.isr \cup leader.pending_isr IN
     /\ (Min(Min(IF b1 \in v3 THEN leader.offset[b1] ELSE 2, IF b2 \in v3 THEN leader.offset[b2] ELSE 2),
             IF b3 \in v3 THEN leader.offset[b3] ELSE 2))
        <= leader.offset[b1]
     /\ leader' = [leader EXCEPT !.pending_isr = leader.pending_isr \cup leader.isr \cup {b1},
                                 !.pending_version = leader.version]
     /\ LET v4 == requests[leader.version] \cup {leader.isr \cup {b1}} IN
        /\ requests' = [requests EXCEPT ![v0] = IF leader.version = v0 THEN v4 ELSE requests[v0],
                                        ![v1] = IF leader.version = v1 THEN v4 ELSE requests[v1],
                                        ![v2] = IF leader.version = v2 THEN v4 ELSE requests[v2]]
        /\ UNCHANGED <<controller, updates>>

\* b1 asks to add b2
LeaderRequestExpandIsr_b2 ==
  /\ b2 \notin leader.isr
  /\ LET v3 == leader.isr \cup leader.pending_isr IN
     /\ (Min(Min(IF b1 \in v3 THEN leader.offset[b1] ELSE 2, IF b2 \in v3 THEN leader.offset[b2] ELSE 2),
             IF b3 \in v3 THEN leader.offset[b3] ELSE 2))
        <= leader.offset[b2]
     /\ leader' = [leader EXCEPT !.pending_isr = leader.pending_isr \cup leader.isr \cup {b2},
                                 !.pending_version = leader.version]
     /\ LET v4 == requests[leader.version] \cup {leader.isr \cup {b2}} IN
        /\ requests' = [requests EXCEPT ![v0] = IF leader.version = v0 THEN v4 ELSE requests[v0],
                                        ![v1] = IF leader.version = v1 THEN v4 ELSE requests[v1],
                                        ![v2] = IF leader.version = v2 THEN v4 ELSE requests[v2]]
        /\ UNCHANGED <<controller, updates>>

\* b1 asks to add b3
LeaderRequestExpandIsr_b3 ==
  /\ b3 \notin leader.isr
  /\ LET v3 == leader.isr \cup leader.pending_isr IN
     /\ (Min(Min(IF b1 \in v3 THEN leader.offset[b1] ELSE 2, IF b2 \in v3 THEN leader.offset[b2] ELSE 2),
             IF b3 \in v3 THEN leader.offset[b3] ELSE 2))
        <= leader.offset[b3]
     /\ leader' = [leader EXCEPT !.pending_isr = leader.pending_isr \cup leader.isr \cup {b3},
                                 !.pending_version = leader.version]
     /\ LET v4 == requests[leader.version] \cup {leader.isr \cup {b3}} IN
        /\ requests' = [requests EXCEPT ![v0] = IF leader.version = v0 THEN v4 ELSE requests[v0],
                                        ![v1] = IF leader.version = v1 THEN v4 ELSE requests[v1],
                                        ![v2] = IF leader.version = v2 THEN v4 ELSE requests[v2]]
        /\ UNCHANGED <<controller, updates>>

\* b1 writes a record
LeaderWrite ==
  /\ leader.offset[b1] < 2
  /\ leader' = [leader EXCEPT !.offset[b1] = leader.offset[b1] + 1]
  /\ UNCHANGED <<controller, requests, updates>>

\* b1 learns v1
LeaderHandleUpdate_v1 ==
  /\ leader.version < 1
  /\ 1 <= controller.version
  /\ leader' = [leader EXCEPT !.isr = updates[v1],
                              !.version = v1,
                              !.pending_isr = {},
                              !.pending_version = None]
  /\ UNCHANGED <<controller, requests, updates>>

\* b1 learns v2
LeaderHandleUpdate_v2 ==
  /\ leader.version < 2
  /\ 2 <= controller.version
  /\ leader' = [leader EXCEPT !.isr = updates[v2],
                              !.version = v2,
                              !.pending_isr = {},
                              !.pending_version = None]
  /\ UNCHANGED <<controller, requests, updates>>

\* b2 fetches a record
FollowerReplicate_b2 ==
  /\ leader.offset[b2] < leader.offset[b1]
  /\ leader' = [leader EXCEPT !.offset[b2] = leader.offset[b2] + 1]
  /\ UNCHANGED <<controller, requests, updates>>

\* b3 fetches a record
FollowerReplicate_b3 ==
  /\ leader.offset[b3] < leader.offset[b1]
  /\ leader' = [leader EXCEPT !.offset[b3] = leader.offset[b3] + 1]
  /\ UNCHANGED <<controller, requests, updates>>

Next ==
  \/ ControllerShrinkIsr_b2
  \/ ControllerShrinkIsr_b3
  \/ ControllerHandleRequest___
  \/ ControllerHandleRequest__b1_
  \/ ControllerHandleRequest__b2_
  \/ ControllerHandleRequest__b1__b2_
  \/ ControllerHandleRequest__b3_
  \/ ControllerHandleRequest__b1__b3_
  \/ ControllerHandleRequest__b2__b3_
  \/ ControllerHandleRequest__b1__b2__b3_
  \/ LeaderRequestShrinkIsr_b2
  \/ LeaderRequestShrinkIsr_b3
  \/ LeaderRequestExpandIsr_b1
  \/ LeaderRequestExpandIsr_b2
  \/ LeaderRequestExpandIsr_b3
  \/ LeaderWrite
  \/ LeaderHandleUpdate_v1
  \/ LeaderHandleUpdate_v2
  \/ FollowerReplicate_b2
  \/ FollowerReplicate_b3

Spec == Init /\ [][Next]_vars

\* Every member of the controller's ISR has replicated up to the leader's high watermark.
valid_high_watermark ==
  LET v3 == leader.isr \cup leader.pending_isr
      v4 == Min(Min(IF b1 \in v3 THEN leader.offset[b1] ELSE 2, IF b2 \in v3 THEN leader.offset[b2] ELSE 2),
                IF b3 \in v3 THEN leader.offset[b3] ELSE 2) IN
  /\ b1 \notin controller.isr \/ v4 <= leader.offset[b1]
  /\ b2 \notin controller.isr \/ v4 <= leader.offset[b2]
  /\ b3 \notin controller.isr \/ v4 <= leader.offset[b3]

========================================
