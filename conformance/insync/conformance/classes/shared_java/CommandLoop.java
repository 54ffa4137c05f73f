package insync.harness;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Reads a command a line, as JSON, and answers each with what is new in the state that it led to.
 *
 * It ends with its parent: where nothing more can be read, the process ends. Who started it is also looked at now and
 * then, so that it ends within seconds even if a command hangs. (A thread that reads ahead would see that as well, and cost
 * each command two changes of threads.)
 */
public final class CommandLoop {
    private static final long PATIENCE = 5_000L;

    private CommandLoop() { }

    /** Who takes commands. */
    public interface Taker {
        /** Takes a command, and returns Kafka's answer and the state, by their names. */
        Map<String, Object> take(JsonNode command) throws Throwable;
    }

    /** What is done at the end. */
    public interface Ending {
        void run() throws InterruptedException;
    }

    /**
     * Takes commands until there are no more, and ends the process.
     *
     * @param taker who takes them
     * @param end what is done then, in order
     * @param remove what is done in any case
     */
    public static void run(Taker taker, Ending end, Runnable remove) throws InterruptedException {
        OutputStream answers = new FileOutputStream(FileDescriptor.out);
        System.setOut(System.err); // whatever else is printed is no answer
        ProcessHandle.current().parent().ifPresent(parent -> parent.onExit().thenRun(() -> endAnyway(remove)));
        try {
            serve(taker, new BufferedReader(new InputStreamReader(System.in, UTF_8)), answers);
        } catch (IOException nobodyListens) {
            System.err.println("there is nobody to answer: " + nobodyListens);
        }
        end.run();
        remove.run();
        Runtime.getRuntime().halt(0);
    }

    private static void serve(Taker taker, BufferedReader commands, OutputStream answers) throws IOException {
        ObjectMapper json = new ObjectMapper();
        for (String next = commands.readLine(); next != null; next = commands.readLine()) {
            answers.write(line(json.writeValueAsBytes(answer(taker, json.readTree(next)))));
        }
    }

    private static byte[] line(byte[] text) {
        byte[] line = Arrays.copyOf(text, text.length + 1);
        line[text.length] = '\n';
        return line;
    }

    private static Map<String, Object> answer(Taker taker, JsonNode command) {
        try {
            return taker.take(command);
        } catch (Throwable raised) {
            StringWriter trace = new StringWriter();
            raised.printStackTrace(new PrintWriter(trace));
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("raised", raised.toString());
            answer.put("trace", trace.toString());
            return answer;
        }
    }

    /** Ends what was not ended by then, as a command hangs. */
    private static void endAnyway(Runnable remove) {
        try {
            Thread.sleep(PATIENCE);
        } catch (InterruptedException early) {
            Thread.currentThread().interrupt();
        }
        remove.run();
        Runtime.getRuntime().halt(1);
    }
}
