package insync.harness;

import java.lang.reflect.Constructor;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Makes objects of Kafka's classes whose constructors differ from release to release. */
final class Construct {
    /** A constructor that may be called, with its parameters, which Java would copy at each question. */
    private record Known(Constructor<?> constructor, Class<?>[] types, Parameter[] parameters) { }

    private static final ClassValue<List<Known>> CONSTRUCTORS = new ClassValue<>() {
        @Override protected List<Known> computeValue(Class<?> type) {
            return Arrays.stream(type.getDeclaredConstructors()).map(Construct::known).toList();
        }
    };
    private static final ClassValue<Known> LONGEST = new ClassValue<>() {
        @Override protected Known computeValue(Class<?> type) {
            return CONSTRUCTORS.get(type).stream().max(Comparator.comparingInt(one -> one.types.length))
                .orElseThrow(() -> new Reflect.NoSuchElement("a constructor of " + type.getName()));
        }
    };

    private Construct() { }

    /**
     * Calls the longest constructor: parameters get what is given under their names, else the first given value of their
     * type, else Scala's default. Scala's compiler keeps the names.
     */
    static <T> T named(Class<T> type, Map<String, ?> byName, Object... byType) {
        Known longest = longest(type);
        Object[] arguments = new Object[longest.types.length];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = argument(type, longest.parameters[i], i, byName, byType);
        }
        return made(type, longest, arguments);
    }

    /** Calls the longest constructor with an argument for the type of each of its parameters. */
    static Object filled(Class<?> type, Function<Class<?>, Object> argument) {
        Known longest = longest(type);
        return made(type, longest, Arrays.stream(longest.types).map(argument).toArray());
    }

    private static Known known(Constructor<?> constructor) {
        return new Known(constructor, constructor.getParameterTypes(), constructor.getParameters());
    }

    private static Known longest(Class<?> type) {
        return LONGEST.get(type);
    }

    /** How many parameters the longest constructor has. */
    static int parameters(Class<?> type) {
        return longest(type).types.length;
    }

    private static Object argument(Class<?> type, Parameter parameter, int place, Map<String, ?> byName, Object[] byType) {
        if (byName.containsKey(parameter.getName())) return byName.get(parameter.getName());
        for (Object given : byType) {
            if (Reflect.fits(parameter.getType(), given)) return given;
        }
        Class<?> companion = Reflect.classOrNull(type.getName() + "$");
        if (companion != null) {
            Object module = Reflect.getStatic(companion, "MODULE$");
            String defaults = "$lessinit$greater$default$" + (place + 1);
            if (Reflect.has(module, defaults, 0)) return Reflect.call(module, defaults);
        }
        throw new Reflect.NoSuchElement("a default for " + parameter.getName() + " of " + type.getName());
    }

    /** Calls the public constructor that takes these arguments in order; it may leave out up to two of them. */
    static <T> T inOrder(Class<T> type, Object... given) {
        Known best = null;
        Object[] chosen = null;
        for (Known one : CONSTRUCTORS.get(type)) {
            if (!Modifier.isPublic(one.constructor.getModifiers())) continue;
            Object[] arguments = selection(one.types, given);
            if (arguments == null || arguments.length < given.length - 2) continue;
            if (best != null && best.types.length >= arguments.length) continue;
            best = one;
            chosen = arguments;
        }
        if (best == null) {
            throw new Reflect.NoSuchElement("a constructor of " + type.getName() + " for " + Arrays.toString(given));
        }
        return made(type, best, chosen);
    }

    private static Object[] selection(Class<?>[] types, Object[] given) {
        List<Object> chosen = new ArrayList<>();
        int next = 0;
        for (Class<?> type : types) {
            while (next < given.length && !Reflect.fits(type, given[next])) next++;
            if (next == given.length) return null;
            chosen.add(given[next++]);
        }
        return chosen.toArray();
    }

    /** Calls the constructor that takes exactly these arguments. */
    static <T> T exactly(Class<T> type, Object... given) {
        for (Known one : CONSTRUCTORS.get(type)) {
            if (Reflect.fits(one.types, given)) return made(type, one, given);
        }
        throw new Reflect.NoSuchElement("a constructor of " + type.getName() + " for " + Arrays.toString(given));
    }

    /** The builder of one of the controller's managers, which is hidden within its package. */
    static Object builder(Class<?> owner) {
        return exactly(Reflect.classOf(owner.getName() + "$Builder"));
    }

    /** Gives a builder a value, if this release's has such a setter. */
    static void give(Object builder, String setter, Object... value) {
        if (Reflect.has(builder, setter, value.length)) Reflect.call(builder, setter, value);
    }

    private static <T> T made(Class<T> type, Known one, Object[] arguments) {
        try {
            one.constructor.setAccessible(true);
            return type.cast(one.constructor.newInstance(arguments));
        } catch (ReflectiveOperationException raised) {
            throw Reflect.unchecked(raised);
        }
    }
}
