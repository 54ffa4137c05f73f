package insync.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import moved.AlterConfigOp;
import moved.AlterPartitionReassignmentsRequestData;
import moved.AlterPartitionReassignmentsResponseData;
import moved.AlterPartitionRequest;
import moved.AlterPartitionResponseData;
import moved.ApiError;
import moved.ApiException;
import moved.ApiKeys;
import moved.AssignReplicasToDirsRequest;
import moved.AssignReplicasToDirsResponseData;
import moved.BrokerRegistration;
import moved.BrokerRegistrationRequestData;
import moved.ConfigResource;
import moved.ControllerRequestContext;
import moved.CreateTopicsRequestData;
import moved.CreateTopicsResponseData;
import moved.ElectLeadersRequestData;
import moved.ElectLeadersResponseData;
import moved.Errors;
import moved.KafkaPrincipal;
import moved.MetadataVersion;
import moved.PartitionRegistration;
import moved.RequestHeaderData;
import moved.Uuid;

/** What brokers, operators and time ask of the controller, about the one partition of the one topic. */
final class ControllerCalls {
    static final String TOPIC = "t";
    static final ConfigResource RESOURCE = new ConfigResource(ConfigResource.Type.TOPIC, TOPIC);

    final ControllerNode node;
    final Heartbeats heartbeats;
    /** The number of the partition that is looked at. */
    private final int index;
    Uuid topicId;

    ControllerCalls(ControllerNode node, int index, Heartbeats heartbeats) {
        this.node = node;
        this.index = index;
        this.heartbeats = heartbeats;
    }

    // ------------------------------------------------------------------------------------------------------- brokers

    /**
     * Registers a new incarnation of a broker, and returns its broker epoch. The controller takes so many milliseconds for
     * that. If that is as long as a session, the one of the former incarnation ends meanwhile, and nobody was fenced before.
     */
    long register(int id, List<Uuid> directories, Uuid incarnation, long previousEpoch, long milliseconds) {
        long pause = milliseconds >= ControllerNode.SESSION ? heartbeats.passHalf(id) : milliseconds;
        BrokerRegistrationRequestData request = new BrokerRegistrationRequestData() {
            @Override public String clusterId() { // the first that is looked at
                node.clock.advance(pause);
                return ControllerNode.CLUSTER;
            }
        };
        request.setBrokerId(id).setIncarnationId(incarnation).setLogDirs(directories);
        Construct.give(request, "setPreviousBrokerEpoch", previousEpoch);
        request.listeners().add(new BrokerRegistrationRequestData.Listener()
            .setName("PLAINTEXT").setHost("b" + id).setPort(9092));
        request.features().add(supported(MetadataVersion.FEATURE_NAME, 1, MetadataRelease.latest().featureLevel()));
        request.features().add(supported(MetadataRelease.ELR, 0, 1));
        request.features().add(supported("kraft.version", 0, 1));
        try {
            Object answer = node.answer(node.controller.registerBroker(context(ApiKeys.BROKER_REGISTRATION), request));
            return (long) Reflect.call(answer, "epoch");
        } finally {
            if (pause > 0) {
                node.settle();
                heartbeats.renewAll();
            }
        }
    }

    private static BrokerRegistrationRequestData.Feature supported(String name, int least, int most) {
        return new BrokerRegistrationRequestData.Feature()
            .setName(name).setMinSupportedVersion((short) least).setMaxSupportedVersion((short) most);
    }

    BrokerRegistration registration(int id) {
        return (BrokerRegistration) ((Map<?, ?>) Reflect.call(node.cluster, "brokerRegistrations")).get(id);
    }

    /** Lets the session of a broker end. */
    void fence(int id) {
        heartbeats.expire(id);
    }

    /** Sends a heartbeat of a broker that is ready; it stays fenced until it has read the record of its registration. */
    String unfence(int id) {
        return heartbeats.beat(id, true, List.of()) ? "FENCED" : "NONE";
    }

    /** Asks for the shutdown of a broker: Kafka takes its leadership and membership first, or fences it and lets it go. */
    void askToStop(int id) {
        heartbeats.beatToStop(id);
    }

    /** Reports with a heartbeat that directories of a broker have failed. */
    void directoriesOffline(int id, List<Uuid> failed) {
        heartbeats.beat(id, !registration(id).fenced(), failed);
    }

    // ----------------------------------------------------------------------------------------------------- partition

    PartitionRegistration partition() {
        return (PartitionRegistration) Reflect.call(node.replication, "getPartition", topicId, index);
    }

    /** Makes the topic; partition 0 has other replicas where it is not the one that is looked at. */
    void createTopic(List<Integer> replicas, List<Integer> elsewhere, Map<String, String> configuration) {
        CreateTopicsRequestData.CreatableTopic topic = new CreateTopicsRequestData.CreatableTopic()
            .setName(TOPIC).setNumPartitions(-1).setReplicationFactor((short) -1);
        for (int number = 0; number <= index; number++) {
            topic.assignments().add(new CreateTopicsRequestData.CreatableReplicaAssignment()
                .setPartitionIndex(number).setBrokerIds(number == index ? replicas : elsewhere));
        }
        configuration.forEach((name, value) -> topic.configs().add(
            new CreateTopicsRequestData.Creat/*before 3.9*/e/*end*/ableTopicConfig().setName(name).setValue(value)));
        CreateTopicsRequestData request = new CreateTopicsRequestData();
        request.topics().add(topic);
        CreateTopicsResponseData answer = (CreateTopicsResponseData) ask(
            "createTopics", context(ApiKeys.CREATE_TOPICS), request, Set.of(), false);
        for (CreateTopicsResponseData.CreatableTopicResult made : answer.topics()) {
            if (made.errorCode() != 0) throw new IllegalStateException("the topic is not made: " + made.errorMessage());
            topicId = made.topicId();
        }
    }

    /** An operator sets a configuration of the topic; returns Kafka's error. */
    String configure(String name, String value) {
        Map<String, Map.Entry<AlterConfigOp.OpType, String>> change =
            Map.of(name, Map.entry(AlterConfigOp.OpType.SET, value));
        Object answer = ask(
            "incrementalAlterConfigs", context(ApiKeys.INCREMENTAL_ALTER_CONFIGS), Map.of(RESOURCE, change), false, false);
        return ((ApiError) ((Map<?, ?>) answer).get(RESOURCE)).error().name();
    }

    /** A leader asks for another ISR. */
    AlterPartitionResponseData alterPartition(AlterPartitionRequest request) {
        try {
            return node.answer(node.controller.alterPartition(
                context(ApiKeys.ALTER_PARTITION, request.version(), OptionalLong.empty()), request.data()));
        } catch (ApiException refused) { // such as a broker epoch that has passed; ControllerApis answers so
            return new AlterPartitionResponseData().setErrorCode(Errors.forException(refused).code());
        }
    }

    /** A broker tells in which of its directories its replica is. */
    AssignReplicasToDirsResponseData assign(AssignReplicasToDirsRequest request) {
        try {
            return node.answer(node.controller.assignReplicasToDirs(
                context(ApiKeys.ASSIGN_REPLICAS_TO_DIRS), request.data()));
        } catch (ApiException refused) { // as above
            return new AssignReplicasToDirsResponseData().setErrorCode(Errors.forException(refused).code());
        }
    }

    /** An operator asks for an election of the preferred leader; returns Kafka's error. */
    private String elect() {
        ElectLeadersRequestData request = new ElectLeadersRequestData().setElectionType((byte) 0)
            .setTopicPartitions(new ElectLeadersRequestData.TopicPartitionsCollection());
        request.topicPartitions().add(new ElectLeadersRequestData.TopicPartitions()
            .setTopic(TOPIC).setPartitions(List.of(index)));
        ElectLeadersResponseData answer = node.answer(node.controller.electLeaders(context(ApiKeys.ELECT_LEADERS), request));
        return Errors.forCode(answer.replicaElectionResults().get(0).partitionResult().get(0).errorCode()).name();
    }

    /** An operator gives the partition to these brokers, the preferred leader first; null takes that back. */
    String reassign(List<Integer> replicas) {
        AlterPartitionReassignmentsRequestData request = new AlterPartitionReassignmentsRequestData();
        request.topics().add(new AlterPartitionReassignmentsRequestData.ReassignableTopic().setName(TOPIC).setPartitions(
            List.of(new AlterPartitionReassignmentsRequestData.ReassignablePartition()
                .setPartitionIndex(index).setReplicas(replicas))));
        AlterPartitionReassignmentsResponseData answer = node.answer(node.controller.alterPartitionReassignments(
            context(ApiKeys.ALTER_PARTITION_REASSIGNMENTS), request));
        return Errors.forCode(answer.responses().get(0).partitions().get(0).errorCode()).name();
    }

    /** Waits until the controller's own task has looked for preferred leaders; returns Kafka's error. */
    private String awaitElection() {
        heartbeats.passChecks();
        PartitionRegistration partition = partition();
        return partition.leader == partition.replicas[0] ? "NONE" : Errors.PREFERRED_LEADER_NOT_AVAILABLE.name();
    }

    /**
     * Makes a broker the leader by an election of the preferred one.
     *
     * Only the first in the order of replicas can be preferred, so the order is changed before and put back after it; a
     * change of the order alone moves no leader and no leader epoch.
     */
    String electPreferred(int wanted) {
        PartitionRegistration partition = partition();
        if (partition.addingReplicas.length + partition.removingReplicas.length > 0) {
            return partition.replicas[0] == wanted ? awaitElection() : "REASSIGNMENT_IN_PROGRESS";
        }
        List<Integer> before = new ArrayList<>();
        for (int replica : partition.replicas) before.add(replica);
        List<Integer> order = new ArrayList<>(before);
        order.remove((Integer) wanted);
        order.add(0, wanted);
        String reordered = order.equals(before) ? "NONE" : reassign(order);
        if (!reordered.equals("NONE")) return reordered;
        // Where nobody may lead any more, as after a restart that was not fenced, the change of order elects already.
        boolean leads = !order.equals(before) && partition.leader != wanted && partition().leader == wanted;
        String elected = leads ? "NONE" : awaitElection();
        return order.equals(before) || !elected.equals("NONE") ? elected : reassign(before);
    }

    /** The same where nothing need be reordered, and nothing else is done. */
    String electInOrder(int wanted) {
        return partition().replicas[0] == wanted ? elect() : "NOT_THE_FIRST";
    }

    /** Asks what takes fewer arguments in some releases than in others. */
    private Object ask(String method, Object... arguments) {
        return node.answer((CompletableFuture<?>) Reflect.callWithFirst(node.controller, method, arguments));
    }

    private static ControllerRequestContext context(ApiKeys key) {
        return context(key, OptionalLong.empty());
    }

    /** With a moment until which the event may wait in the controller's queue. */
    static ControllerRequestContext context(ApiKeys key, OptionalLong deadline) {
        return context(key, key.latestVersion(), deadline);
    }

    private static ControllerRequestContext context(ApiKeys key, short version, OptionalLong deadline) {
        RequestHeaderData header = new RequestHeaderData().setRequestApiKey(key.id)
            .setRequestApiVersion(version);
        return new ControllerRequestContext(header, KafkaPrincipal.ANONYMOUS, deadline);
    }
}
