package insync.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import moved.AlterConfigOp;
import moved.AlterPartitionReassignmentsRequestData;
import moved.AlterPartitionReassignmentsResponseData;
import moved.AlterPartitionRequest;
import moved.AlterPartitionResponseData;
import moved.ApiError;
import moved.ApiException;
import moved.ApiKeys;
import moved.ApiMessageAndVersion;
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
    private static final long FIRST_BROKER_EPOCH = 100L;

    final ControllerNode node;
    /** The number of the partition that is looked at. */
    private final int index;
    Uuid topicId;

    ControllerCalls(ControllerNode node, int index) {
        this.node = node;
        this.index = index;
    }

    // ------------------------------------------------------------------------------------------------------- brokers

    /** Registers a new incarnation of a broker, and returns its broker epoch. */
    long register(int id, List<Uuid> directories, Uuid incarnation, long previousEpoch) {
        BrokerRegistrationRequestData request = new BrokerRegistrationRequestData().setBrokerId(id)
            .setClusterId(ControllerNode.CLUSTER).setIncarnationId(incarnation).setLogDirs(directories);
        Construct.give(request, "setPreviousBrokerEpoch", previousEpoch);
        request.listeners().add(new BrokerRegistrationRequestData.Listener()
            .setName("PLAINTEXT").setHost("b" + id).setPort(9092));
        request.features().add(supported(MetadataVersion.FEATURE_NAME, 1, MetadataRelease.latest().featureLevel()));
        request.features().add(supported(MetadataRelease.ELR, 0, 1));
        Object finalized = Reflect.call(node.features, "finalizedFeatures", Long.MAX_VALUE);
        long epoch = node.log.size() + FIRST_BROKER_EPOCH;
        boolean versioned = Reflect.methods(node.cluster.getClass(), "registerBroker", 4).stream()
            .anyMatch(method -> method.getParameterTypes()[3] == short.class); // before 3.9
        Object last = versioned ? (Object) ApiKeys.BROKER_REGISTRATION.latestVersion() : node.elr;
        Object result = Reflect.callWithFirst(node.cluster, "registerBroker", request, epoch, finalized, last);
        return (long) Reflect.call(node.commitResult(result), "epoch");
    }

    private static BrokerRegistrationRequestData.Feature supported(String name, int least, int most) {
        return new BrokerRegistrationRequestData.Feature()
            .setName(name).setMinSupportedVersion((short) least).setMaxSupportedVersion((short) most);
    }

    BrokerRegistration registration(int id) {
        return (BrokerRegistration) ((Map<?, ?>) Reflect.call(node.cluster, "brokerRegistrations")).get(id);
    }

    /** A heartbeat renews the session of a broker: while it lasts no other incarnation can register. */
    void heartbeat(int id, long brokerEpoch) {
        if (Reflect.has(node.cluster, "trackBrokerHeartbeat", 2)) { // since 4.0
            Reflect.call(node.cluster, "trackBrokerHeartbeat", id, brokerEpoch);
        } else {
            Object sessions = Reflect.call(node.cluster, "heartbeatManager");
            Reflect.call(sessions, "touch", id, registration(id).fenced(), (long) node.end());
        }
    }

    /** A session has expired. */
    void fence(int id) {
        decide("handleBrokerFenced", id);
    }

    /** A fenced broker has been heard of again and is up to date. */
    void unfence(int id) {
        decide("handleBrokerUnfenced", id, registration(id).epoch());
    }

    /** A broker wants to stop, and its leadership and membership are taken from it. */
    void startControlledShutdown(int id) {
        decide("handleBrokerInControlledShutdown", id, registration(id).epoch());
    }

    /** A broker tells with a heartbeat of directories that have failed. */
    void directoriesOffline(int id, List<Uuid> failed) {
        decide("handleDirectoriesOffline", id, registration(id).epoch(), failed);
    }

    private void decide(String method, Object... arguments) {
        List<ApiMessageAndVersion> records = new ArrayList<>();
        Object[] all = java.util.Arrays.copyOf(arguments, arguments.length + 1);
        all[arguments.length] = records;
        Reflect.call(node.replication, method, all);
        node.commit(records);
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
        Object result = Reflect.callWithFirst(
            node.replication, "createTopics",
            context(ApiKeys.CREATE_TOPICS, ApiKeys.CREATE_TOPICS.latestVersion()), request, Set.of(), false);
        CreateTopicsResponseData answer = (CreateTopicsResponseData) node.commitResult(result);
        for (CreateTopicsResponseData.CreatableTopicResult made : answer.topics()) {
            if (made.errorCode() != 0) throw new IllegalStateException("the topic is not made: " + made.errorMessage());
            topicId = made.topicId();
        }
    }

    /** An operator sets a configuration of the topic; returns Kafka's error. */
    String configure(String name, String value) {
        Map<String, Map.Entry<AlterConfigOp.OpType, String>> change =
            Map.of(name, Map.entry(AlterConfigOp.OpType.SET, value));
        Object result = Reflect.callWithFirst(
            node.configurations, "incrementalAlterConfigs", Map.of(RESOURCE, change), false, false);
        return ((ApiError) ((Map<?, ?>) node.commitResult(result)).get(RESOURCE)).error().name();
    }

    /** A leader asks for another ISR. */
    AlterPartitionResponseData alterPartition(AlterPartitionRequest request) {
        try {
            Object result = Reflect.call(node.replication, "alterPartition",
                context(ApiKeys.ALTER_PARTITION, request.version()), request.data());
            return (AlterPartitionResponseData) node.commitResult(result);
        } catch (ApiException refused) { // such as a broker epoch that has passed; ControllerApis answers so
            return new AlterPartitionResponseData().setErrorCode(Errors.forException(refused).code());
        }
    }

    /** A broker tells in which of its directories its replica is. */
    AssignReplicasToDirsResponseData assign(AssignReplicasToDirsRequest request) {
        try {
            return (AssignReplicasToDirsResponseData) node.commitResult(
                Reflect.call(node.replication, "handleAssignReplicasToDirs", request.data()));
        } catch (ApiException refused) { // as above
            return new AssignReplicasToDirsResponseData().setErrorCode(Errors.forException(refused).code());
        }
    }

    /** An election of the preferred leader; returns Kafka's error. */
    private String elect() {
        ElectLeadersRequestData request = new ElectLeadersRequestData().setElectionType((byte) 0)
            .setTopicPartitions(new ElectLeadersRequestData.TopicPartitionsCollection());
        request.topicPartitions().add(new ElectLeadersRequestData.TopicPartitions()
            .setTopic(TOPIC).setPartitions(List.of(index)));
        ElectLeadersResponseData answer =
            (ElectLeadersResponseData) node.commitResult(Reflect.call(node.replication, "electLeaders", request));
        return Errors.forCode(answer.replicaElectionResults().get(0).partitionResult().get(0).errorCode()).name();
    }

    /** An operator gives the partition to these brokers, the preferred leader first; null takes that back. */
    String reassign(List<Integer> replicas) {
        AlterPartitionReassignmentsRequestData request = new AlterPartitionReassignmentsRequestData();
        request.topics().add(new AlterPartitionReassignmentsRequestData.ReassignableTopic().setName(TOPIC).setPartitions(
            List.of(new AlterPartitionReassignmentsRequestData.ReassignablePartition()
                .setPartitionIndex(index).setReplicas(replicas))));
        AlterPartitionReassignmentsResponseData answer = (AlterPartitionReassignmentsResponseData) node.commitResult(
            Reflect.call(node.replication, "alterPartitionReassignments", request));
        return Errors.forCode(answer.responses().get(0).partitions().get(0).errorCode()).name();
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
            return partition.replicas[0] == wanted ? elect() : "REASSIGNMENT_IN_PROGRESS";
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
        String elected = leads ? "NONE" : elect();
        return order.equals(before) || !elected.equals("NONE") ? elected : reassign(before);
    }

    /** The same where nothing need be reordered, and nothing else is done. */
    String electInOrder(int wanted) {
        return partition().replicas[0] == wanted ? elect() : "NOT_THE_FIRST";
    }

    private static ControllerRequestContext context(ApiKeys key, short version) {
        RequestHeaderData header = new RequestHeaderData().setRequestApiKey(key.id)
            .setRequestApiVersion(version);
        return new ControllerRequestContext(header, KafkaPrincipal.ANONYMOUS, OptionalLong.empty());
    }
}
