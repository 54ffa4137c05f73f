package insync.harness;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
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
 * It ends with its parent: where nothing more can be read, the files are removed and the process ends. Who started it is
 * also looked at now and then, so that it ends within seconds even if a command hangs. (A thread that reads ahead would see
 * that as well, and cost each command two changes of threads.)
 */
public final class Main {
    private static final long PATIENCE = 5_000L;

    private Main() { }

    public static void main(String[] arguments) throws InterruptedException {
        OutputStream answers = new FileOutputStream(FileDescriptor.out);
        System.setOut(System.err); // whatever else is printed is no answer
        File root = new File(arguments[0]);
        ProcessHandle.current().parent().ifPresent(parent -> parent.onExit().thenRun(() -> endAnyway(root)));
        BrokerParts.tellNoMeasurements();
        Clusters clusters = new Clusters(root);
        try {
            serve(clusters, new BufferedReader(new InputStreamReader(System.in, UTF_8)), answers);
        } catch (IOException nobodyListens) {
            System.err.println("there is nobody to answer: " + nobodyListens);
        }
        clusters.end();
        Disk.delete(root);
        Runtime.getRuntime().halt(0);
    }

    private static void serve(Clusters clusters, BufferedReader commands, OutputStream answers) throws IOException {
        ObjectMapper json = new ObjectMapper();
        News news = new News();
        for (String next = commands.readLine(); next != null; next = commands.readLine()) {
            answers.write(line(json.writeValueAsBytes(answer(clusters, news, json.readTree(next)))));
        }
    }

    private static byte[] line(byte[] text) {
        byte[] line = Arrays.copyOf(text, text.length + 1);
        line[text.length] = '\n';
        return line;
    }

    private static Map<String, Object> answer(Clusters clusters, News news, JsonNode command) {
        Map<String, Object> answer = new LinkedHashMap<>();
        try {
            answer.put("answer", clusters.take(command));
            answer.put("state", news.of(clusters.now()));
        } catch (Throwable raised) {
            StringWriter trace = new StringWriter();
            raised.printStackTrace(new PrintWriter(trace));
            answer.put("raised", raised.toString());
            answer.put("trace", trace.toString());
        }
        return answer;
    }

    /** Ends what was not ended by then, as a command hangs. */
    private static void endAnyway(File root) {
        try {
            Thread.sleep(PATIENCE);
        } catch (InterruptedException early) {
            Thread.currentThread().interrupt();
        }
        Disk.delete(root);
        Runtime.getRuntime().halt(1);
    }
}
