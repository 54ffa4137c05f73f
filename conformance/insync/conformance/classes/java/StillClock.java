package insync.harness;

import java.util.function.Supplier;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.Timer;

/** Time that stands still until a command moves it on. */
final class StillClock implements Time {
    private volatile long now = 1_000_000_000L; // that of an event queue is read in its thread

    void advance(long milliseconds) {
        now += milliseconds;
    }

    @Override public long milliseconds() {
        return now;
    }

    @Override public long nanoseconds() {
        return now * 1_000_000L;
    }

    @Override public long hiResClockMs() {
        return now;
    }

    @Override public void sleep(long milliseconds) {
        advance(milliseconds);
    }

    @Override public void waitObject(Object object, Supplier<Boolean> condition, long deadline) {
        if (!condition.get()) throw new TimeoutException("nothing is waited for here");
    }

    @Override public Timer timer(long timeout) {
        return Construct.exactly(Timer.class, this, timeout);
    }
}
