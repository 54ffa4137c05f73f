package insync.harness;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Reads a command a line, as JSON, and answers each with what is new in the state that it led to.
 *
 * It ends with its parent: where nothing more can be read, the files are removed and the process ends, within seconds even
 * if a command hangs.
 */
public final class Main {
    private static final long PATIENCE = 10_000L;

    private Main() { }

    public static void main(String[] arguments) throws InterruptedException, IOException {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        File root = new File(arguments[0]);
        BlockingQueue<Optional<String>> commands = new LinkedBlockingQueue<>();
        Thread reader = new Thread(() -> read(commands, root), "reader");
        reader.setDaemon(true);
        reader.start();
        ObjectMapper json = new ObjectMapper();
        Clusters clusters = new Clusters(root);
        News news = new News(json);
        for (Optional<String> next = commands.take(); next.isPresent(); next = commands.take()) {
            answers.println(json.writeValueAsString(answer(clusters, news, json.readTree(next.get()))));
            answers.flush();
        }
        clusters.end();
        Disk.delete(root);
        Runtime.getRuntime().halt(0);
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

    private static void read(BlockingQueue<Optional<String>> commands, File root) {
        try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) commands.add(Optional.of(line));
        } catch (IOException closed) {
            System.err.println("the commands cannot be read: " + closed);
        }
        commands.add(Optional.empty());
        try {
            Thread.sleep(PATIENCE);
        } catch (InterruptedException early) {
            Thread.currentThread().interrupt();
        }
        Disk.delete(root);
        Runtime.getRuntime().halt(1);
    }
}
