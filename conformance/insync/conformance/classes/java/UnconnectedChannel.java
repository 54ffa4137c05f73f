package insync.harness;

import java.util.Optional;
import moved.NodeApiVersions;
import moved.NodeToControllerChannelManager;

/** A channel from a broker to the controller without a connection: commands of the harness deliver what is sent. */
abstract class UnconnectedChannel implements NodeToControllerChannelManager {
    @Override public void start() { }

    @Override public void shutdown() { }

    public Optional<NodeApiVersions> controllerApiVersions() {
        return Optional.empty();
    }

    public long getTimeoutMs() {
        return Long.MAX_VALUE;
    }
}
