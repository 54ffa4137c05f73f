package insync.harness;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import scala.jdk.javaapi.CollectionConverters;

/** What Kafka keeps in Scala's collections or in Java's, as plain values. */
final class Plain {
    private Plain() { }

    /** What an option of Scala or of Java holds, null for nothing; any other value as it is. */
    static Object orNull(Object option) {
        if (option instanceof scala.Option<?> found) return found.isEmpty() ? null : found.get();
        if (option instanceof Optional<?> found) return found.orElse(null);
        if (option instanceof OptionalInt found) return found.isPresent() ? found.getAsInt() : null;
        if (option instanceof OptionalLong found) return found.isPresent() ? found.getAsLong() : null;
        return option;
    }

    /** The elements of an array of numbers, or of a collection of Scala or of Java. */
    static List<Object> list(Object collection) {
        List<Object> elements = new ArrayList<>();
        if (collection instanceof int[] numbers) {
            for (int number : numbers) elements.add(number);
        } else if (collection instanceof Iterable<?> some) {
            some.forEach(elements::add);
        } else if (collection instanceof scala.collection.Iterable<?> some) {
            CollectionConverters.asJava(some).forEach(elements::add);
        } else {
            throw new IllegalArgumentException("not a collection: " + collection);
        }
        return elements;
    }

    /** The broker ids of a collection, in ascending order. */
    static List<Integer> sortedIds(Object collection) {
        List<Integer> ids = new ArrayList<>();
        for (Object id : list(collection)) ids.add(((Number) id).intValue());
        if (ids.size() > 1) Collections.sort(ids);
        return ids;
    }

    /** A collection as a parameter of this type takes it: a set of Java, or one of Scala's. */
    static Object setFor(Class<?> type, Collection<String> names) {
        if (type.isInstance(java.util.Set.of())) return new java.util.HashSet<>(names);
        scala.collection.mutable.Set<String> some = CollectionConverters.asScala(new java.util.HashSet<>(names));
        return type.isInstance(some) ? some : some.toSet();
    }

    static scala.collection.immutable.Seq<Object> seq(Object... elements) {
        return CollectionConverters.asScala(List.of(elements)).toSeq();
    }
}
