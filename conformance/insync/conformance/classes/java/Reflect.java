package insync.harness;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Calls by name what Kafka keeps to itself, or declares differently from release to release.
 *
 * Overloads are told apart by the arguments that are given, so a call reads as one in Java would.
 */
final class Reflect {
    /** A method with the types of its parameters, which Java would copy at each question. */
    private record Known(Method method, Class<?>[] types) { }

    /** What was found in a class by its name. */
    private static final class Members {
        private final Map<String, List<Known>> methods = new ConcurrentHashMap<>();
        private final Map<String, Field> fields = new ConcurrentHashMap<>();
    }

    private static final ClassValue<Members> MEMBERS = new ClassValue<>() {
        @Override protected Members computeValue(Class<?> owner) {
            return new Members();
        }
    };
    /** The methods of a name in a class. */
    private record Named(Class<?> owner, String name, List<Known> methods) { }

    /** What was asked for last, each at the place that its class and name lead to: most calls are made again and again. */
    private static final Named[] RECENT = new Named[1 << 12];
    private static final Map<String, Optional<Class<?>>> CLASSES = new ConcurrentHashMap<>();
    private static final Map<Class<?>, Class<?>> BOXES = Map.of(
        boolean.class, Boolean.class, byte.class, Byte.class, short.class, Short.class, char.class, Character.class,
        int.class, Integer.class, long.class, Long.class, float.class, Float.class, double.class, Double.class);

    private Reflect() { }

    /** The first of these classes that this release has. */
    static Class<?> classOf(String... names) {
        for (String name : names) {
            Class<?> found = classOrNull(name);
            if (found != null) return found;
        }
        throw new NoSuchElement("none of the classes " + Arrays.toString(names));
    }

    static Class<?> classOrNull(String name) {
        return CLASSES.computeIfAbsent(name, Reflect::found).orElse(null);
    }

    private static Optional<Class<?>> found(String name) {
        try {
            return Optional.of(Class.forName(name));
        } catch (ClassNotFoundException absent) {
            return Optional.empty();
        }
    }

    /** Whether an object has a method with this name and so many parameters. */
    static boolean has(Object target, String name, int parameters) {
        for (Known one : known(target.getClass(), name)) {
            if (one.types.length == parameters) return true;
        }
        return false;
    }

    /** Whether an object has a method with this name. */
    static boolean has(Object target, String name) {
        return !known(target.getClass(), name).isEmpty();
    }

    /** Calls the method of that name that takes these arguments. */
    static Object call(Object target, String name, Object... arguments) {
        return call(target.getClass(), target, name, arguments);
    }

    /** Whether an object has a method of that name that takes these arguments. */
    static boolean takes(Object target, String name, Object... arguments) {
        for (Known one : known(target.getClass(), name)) {
            if (fits(one.types, arguments)) return true;
        }
        return false;
    }

    /**
     * Calls the method of that name whose first parameter is exactly of the class of the first argument, with as many of
     * the arguments as it takes; returns whether there is one.
     */
    static boolean callForClass(Object target, String name, Object... arguments) {
        for (Known one : known(target.getClass(), name)) {
            if (one.types.length == 0 || one.types[0] != arguments[0].getClass()) continue;
            invoke(one.method, target, Arrays.copyOf(arguments, one.types.length));
            return true;
        }
        return false;
    }

    /** Calls the static method of that name that takes these arguments. */
    static Object callStatic(Class<?> owner, String name, Object... arguments) {
        return call(owner, null, name, arguments);
    }

    private static Object call(Class<?> owner, Object target, String name, Object[] arguments) {
        for (Known one : known(owner, name)) {
            if (fits(one.types, arguments)) return invoke(one.method, target, arguments);
        }
        throw new NoSuchElement(owner.getName() + "." + name + " for " + Arrays.toString(arguments));
    }

    /** Calls the method of that name with as many of the arguments as it takes, from the first on. */
    static Object callWithFirst(Object target, String name, Object... arguments) {
        return callWithFirst(target.getClass(), target, name, arguments);
    }

    static Object callStaticWithFirst(Class<?> owner, String name, Object... arguments) {
        return callWithFirst(owner, null, name, arguments);
    }

    private static Object callWithFirst(Class<?> owner, Object target, String name, Object[] arguments) {
        for (int given = arguments.length; given >= 0; given--) {
            Object[] first = Arrays.copyOf(arguments, given);
            for (Known one : known(owner, name)) {
                if (fits(one.types, first)) return invoke(one.method, target, first);
            }
        }
        throw new NoSuchElement(owner.getName() + "." + name + " for some of " + Arrays.toString(arguments));
    }

    /** Calls the method of that name with these arguments first; Scala's default values are the others. */
    static Object callWithDefaults(Object target, String name, Object... arguments) {
        for (Known one : known(target.getClass(), name)) {
            Class<?>[] types = one.types;
            if (types.length < arguments.length) continue;
            if (!fits(Arrays.copyOf(types, arguments.length), arguments)) continue;
            if (types.length > arguments.length && !has(target, name + "$default$" + types.length, 0)) continue;
            Object[] all = Arrays.copyOf(arguments, types.length);
            for (int i = arguments.length; i < types.length; i++) {
                all[i] = call(target, name + "$default$" + (i + 1));
            }
            return invoke(one.method, target, all);
        }
        throw new NoSuchElement(target.getClass().getName() + "." + name + " for " + Arrays.toString(arguments));
    }

    static Object get(Object target, String field) {
        try {
            return field(target.getClass(), field).get(target);
        } catch (IllegalAccessException impossible) {
            throw unchecked(impossible);
        }
    }

    static void set(Object target, String field, Object value) {
        try {
            field(target.getClass(), field).set(target, value);
        } catch (IllegalAccessException impossible) {
            throw unchecked(impossible);
        }
    }

    static Object getStatic(Class<?> owner, String field) {
        try {
            return field(owner, field).get(null);
        } catch (IllegalAccessException impossible) {
            throw unchecked(impossible);
        }
    }

    private static Field field(Class<?> owner, String name) {
        Map<String, Field> fields = MEMBERS.get(owner).fields;
        Field found = fields.get(name);
        return found != null ? found : fields.computeIfAbsent(name, field -> declared(owner, field));
    }

    private static Field declared(Class<?> owner, String name) {
        for (Class<?> c = owner; c != null; c = c.getSuperclass()) {
            try {
                Field found = c.getDeclaredField(name);
                found.setAccessible(true);
                return found;
            } catch (NoSuchFieldException above) {
                continue;
            }
        }
        throw new NoSuchElement("the field " + owner.getName() + "." + name);
    }

    static List<Method> methods(Class<?> owner, String name, int parameters) {
        return methods(owner, name).stream().filter(method -> method.getParameterCount() == parameters).toList();
    }

    /** The methods of that name of a class, of what it extends, and of what it implements. */
    static List<Method> methods(Class<?> owner, String name) {
        return known(owner, name).stream().map(Known::method).toList();
    }

    private static List<Known> known(Class<?> owner, String name) {
        int place = (31 * owner.hashCode() + name.hashCode()) & RECENT.length - 1;
        Named recent = RECENT[place];
        if (recent == null || recent.owner != owner || !recent.name.equals(name)) {
            List<Known> found = MEMBERS.get(owner).methods.computeIfAbsent(name, method -> declaredMethods(owner, method));
            recent = new Named(owner, name, found);
            RECENT[place] = recent;
        }
        return recent.methods;
    }

    private static List<Known> declaredMethods(Class<?> owner, String name) {
        List<Known> found = new ArrayList<>();
        for (Class<?> type : lineage(owner)) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().equals(name) && !method.isBridge() && opened(type, method)) {
                    found.add(new Known(method, method.getParameterTypes()));
                }
            }
        }
        return found;
    }

    private static boolean opened(Class<?> type, Method method) {
        boolean ofJava = type.getName().startsWith("java.");
        if (ofJava && !(Modifier.isPublic(method.getModifiers()) && Modifier.isPublic(type.getModifiers()))) return false;
        if (!ofJava) method.setAccessible(true);
        return true;
    }

    private static Set<Class<?>> lineage(Class<?> owner) {
        Set<Class<?>> seen = new LinkedHashSet<>();
        Deque<Class<?>> next = new ArrayDeque<>(List.of(owner));
        while (!next.isEmpty()) {
            Class<?> type = next.poll();
            if (!seen.add(type)) continue;
            if (type.getSuperclass() != null) next.add(type.getSuperclass());
            next.addAll(Arrays.asList(type.getInterfaces()));
        }
        return seen;
    }

    static Object invoke(Method method, Object target, Object[] arguments) {
        try {
            return method.invoke(target, arguments);
        } catch (ReflectiveOperationException raised) {
            throw unchecked(raised);
        }
    }

    static boolean fits(Class<?>[] types, Object[] values) {
        if (types.length != values.length) return false;
        for (int i = 0; i < types.length; i++) {
            if (!fits(types[i], values[i])) return false;
        }
        return true;
    }

    static boolean fits(Class<?> type, Object value) {
        if (!type.isPrimitive()) return value == null || type.isInstance(value);
        return value != null && value.getClass() == BOXES.get(type);
    }

    /** What was thrown, as an exception that need not be declared. */
    static RuntimeException unchecked(Throwable raised) {
        Throwable cause = raised instanceof InvocationTargetException ? raised.getCause() : raised;
        if (cause instanceof Error error) throw error;
        return cause instanceof RuntimeException known ? known : new RuntimeException(cause);
    }

    /** This release of Kafka lacks something that the harness calls by name. */
    static final class NoSuchElement extends RuntimeException {
        NoSuchElement(String what) {
            super("this release of Kafka has not got " + what);
        }
    }
}
