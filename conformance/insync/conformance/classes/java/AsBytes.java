package insync.harness;

import java.nio.ByteBuffer;
import java.util.List;
import moved.AbstractRequest;
import moved.AbstractResponse;
import moved.ApiKeys;
import moved.ApiMessage;
import moved.ApiMessageAndVersion;
import moved.Batch;
import moved.ByteBufferAccessor;
import moved.MetadataRecordSerde;
import moved.ObjectSerializationCache;

/** Requests, responses and metadata between two processes: written to bytes, and read again as objects of their own. */
final class AsBytes {
    private static final MetadataRecordSerde METADATA = new MetadataRecordSerde();

    private AsBytes() { }

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

    /** A batch of metadata as a broker reads it that is a process of its own. */
    static Batch<ApiMessageAndVersion> batch(Batch<ApiMessageAndVersion> written) {
        return Batch.data(written.baseOffset(), written.epoch(), written.appendTimestamp(), written.sizeInBytes(),
            records(written.records()));
    }

    /** Metadata records as a broker reads them that is a process of its own. */
    static List<ApiMessageAndVersion> records(List<ApiMessageAndVersion> written) {
        return written.stream().map(AsBytes::record).toList();
    }

    private static ApiMessageAndVersion record(ApiMessageAndVersion written) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        int size = METADATA.recordSize(written, cache);
        ByteBuffer buffer = ByteBuffer.allocate(size);
        METADATA.write(written, cache, new ByteBufferAccessor(buffer));
        return METADATA.read(new ByteBufferAccessor(buffer.flip()), size);
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
