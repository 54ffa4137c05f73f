package insync.harness;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import moved.AbstractRequest;
import moved.AbstractResponse;
import moved.ApiKeys;
import moved.ApiMessage;
import moved.ApiMessageAndVersion;
import moved.ByteBufferAccessor;
import moved.MetadataRecordSerde;
import moved.ObjectSerializationCache;

/**
 * What one process sends to another: written to bytes, and read again as objects of its own.
 *
 * Kafka compares some values by identity, such as the ids of directories in TopicDelta.localChanges, so a broker must not
 * see the objects of the controller.
 */
final class AsBytes {
    private AsBytes() { }

    /** Records of the metadata log, as a broker reads them. */
    static List<ApiMessageAndVersion> records(List<ApiMessageAndVersion> written) {
        MetadataRecordSerde serde = new MetadataRecordSerde();
        List<ApiMessageAndVersion> read = new ArrayList<>();
        for (ApiMessageAndVersion record : written) {
            ObjectSerializationCache cache = new ObjectSerializationCache();
            int size = serde.recordSize(record, cache);
            ByteBuffer buffer = ByteBuffer.allocate(size);
            serde.write(record, cache, new ByteBufferAccessor(buffer));
            buffer.flip();
            read.add(serde.read(new ByteBufferAccessor(buffer), size));
        }
        return read;
    }

    /** A request as it is handled: with the fields that its version has. */
    @SuppressWarnings("unchecked")
    static <T extends AbstractRequest> T request(T sent) {
        ByteBuffer bytes = bytes(sent.data(), sent.version());
        return (T) parsed(AbstractRequest.class, "parseRequest", sent.apiKey(), bytes, sent.version());
    }

    /** A response as it arrives. */
    static AbstractResponse response(ApiKeys key, short version, AbstractResponse sent) {
        return (AbstractResponse) parsed(AbstractResponse.class, "parseResponse", key, bytes(sent.data(), version), version);
    }

    private static ByteBuffer bytes(ApiMessage message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        return buffer.flip();
    }

    /** Calls Kafka's parser, which takes bytes before 4.1, and a Readable since then. */
    private static Object parsed(Class<?> owner, String name, ApiKeys key, ByteBuffer bytes, short version) {
        for (var method : Reflect.methods(owner, name, 3)) {
            Class<?>[] types = method.getParameterTypes();
            Object[] given = new Object[3];
            for (int i = 0; i < 3; i++) {
                given[i] = types[i] == ApiKeys.class ? key : types[i] == short.class ? version
                    : types[i] == ByteBuffer.class ? bytes : new ByteBufferAccessor(bytes);
            }
            if (!Reflect.fits(types, given)) continue;
            Object found = Reflect.invoke(method, null, given);
            return found instanceof AbstractRequest || found instanceof AbstractResponse ? found : Reflect.get(found, "request");
        }
        throw new Reflect.NoSuchElement(owner.getName() + "." + name);
    }
}
