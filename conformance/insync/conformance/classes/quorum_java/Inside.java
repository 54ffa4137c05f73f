package org.apache.kafka.raft;

import java.lang.reflect.Field;

/** What Kafka's classes keep to themselves. */
final class Inside {
    private Inside() { }

    /** The value of a field of an object, be it declared in its class or in one above. */
    static Object of(Object object, String name) {
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
            try {
                Field field = type.getDeclaredField(name);
                field.setAccessible(true);
                return field.get(object);
            } catch (NoSuchFieldException further) {
                continue;
            } catch (IllegalAccessException never) {
                throw new IllegalStateException(never);
            }
        }
        throw new IllegalStateException(object.getClass() + " has no field " + name);
    }
}
