package insync.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.server.util.Scheduler;
import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;

/** A scheduler that runs what is due when it is told to; what Kafka repeats by itself never runs. */
final class QueuedScheduler implements Scheduler {
    private record Task(Runnable work, long due, Handle handle) { }

    private final StillClock clock;
    private final List<Task> queue = new ArrayList<>();

    QueuedScheduler(StillClock clock) {
        this.clock = clock;
    }

    @Override public void startup() { }

    @Override public void shutdown() {
        queue.clear();
    }

    @Override public void resizeThreadPool(int size) { }

    @Override public ScheduledFuture<?> schedule(String name, Runnable work, long delay, long period) {
        Handle handle = new Handle();
        if (period < 0) queue.add(new Task(work, clock.milliseconds() + delay, handle));
        return handle;
    }

    /** Runs what is due, in order, and what that brings about. */
    void runDue() {
        for (Task next = nextDue(); next != null; next = nextDue()) {
            queue.remove(next);
            if (!next.handle.cancelled) next.work.run();
        }
    }

    private Task nextDue() {
        for (Task task : queue) {
            if (task.due <= clock.milliseconds()) return task;
        }
        return null;
    }

    private static final class Handle implements ScheduledFuture<Object> {
        private boolean cancelled;

        @Override public long getDelay(TimeUnit unit) {
            return 0;
        }

        @Override public int compareTo(Delayed other) {
            return 0;
        }

        @Override public boolean cancel(boolean interrupt) {
            cancelled = true;
            return true;
        }

        @Override public boolean isCancelled() {
            return cancelled;
        }

        @Override public boolean isDone() {
            return true;
        }

        @Override public Object get() {
            return null;
        }

        @Override public Object get(long timeout, TimeUnit unit) {
            return null;
        }
    }

    /** The timer of a purgatory in which nothing ever times out. */
    static final class SilentTimer implements Timer {
        @Override public void add(TimerTask task) { }

        @Override public boolean advanceClock(long milliseconds) {
            return false;
        }

        @Override public int size() {
            return 0;
        }

        public void close() { }

        public void shutdown() { }
    }
}
