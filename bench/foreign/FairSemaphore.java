// SPDX-License-Identifier: MIT
// FairSemaphore.java - Java's fair Semaphore, for fairsem-bench: see README.md and ../arena.c.

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

final class FairSemaphore {
    static final int WARM_UP = 0, COUNTING = 1, OVER = 2;

    final Semaphore semaphore;
    final int threads;
    final long holdNs;
    final AtomicLong services = new AtomicLong();
    final CountDownLatch gate = new CountDownLatch(1);
    volatile int phase = WARM_UP;

    FairSemaphore(long holdNs, int threads, int units) {
        this.semaphore = new Semaphore(units, true);
        this.threads = threads;
        this.holdNs = holdNs;
    }

    final class Member extends Thread {
        long served, passed, longest;
        long[] waits = new long[1 << 12]; // of those that are counted

        @Override
        public void run() {
            try {
                gate.await();
            } catch (InterruptedException e) {
                return;
            }
            long left = System.nanoTime();
            int seen;
            do {
                long before = services.get();
                semaphore.acquireUninterruptibly();
                long got = System.nanoTime();
                long after = services.getAndIncrement();
                seen = phase;
                long waited = got - left;
                left = got;
                while (left - got < holdNs)
                    left = System.nanoTime();
                semaphore.release();
                note(seen, waited, after - before);
            } while (seen != OVER);
        }

        void note(int seen, long waited, long others) {
            if (seen == WARM_UP)
                return;
            longest = Math.max(longest, waited);
            if (seen == OVER)
                return;
            if (served == waits.length)
                waits = Arrays.copyOf(waits, waits.length * 2);
            waits[(int) served++] = waited;
            if (others > threads - 1)
                passed++;
        }
    }

    static long cpuNs() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime();
    }

    static void sleepNs(long ns) throws InterruptedException {
        Thread.sleep(ns / 1000000, (int) (ns % 1000000));
    }

    String run(long warmUpNs, long durationNs) throws InterruptedException {
        Member[] members = new Member[threads];
        for (int i = 0; i < threads; i++) {
            members[i] = new Member();
            members[i].start();
        }
        gate.countDown();
        sleepNs(warmUpNs);
        long cpu = cpuNs(), began = System.nanoTime();
        phase = COUNTING;
        sleepNs(durationNs);
        phase = OVER;
        long duration = System.nanoTime() - began;
        cpu = cpuNs() - cpu;
        for (Member m : members)
            m.join();
        return sum(members, cpu, duration);
    }

    String sum(Member[] members, long cpu, long duration) {
        long holds = 0, least = Long.MAX_VALUE, passed = 0, longest = 0;
        for (Member m : members) {
            holds += m.served;
            least = Math.min(least, m.served);
            passed += m.passed;
            longest = Math.max(longest, m.longest);
        }
        long[] waits = new long[(int) holds];
        int n = 0;
        for (Member m : members) {
            System.arraycopy(m.waits, 0, waits, n, (int) m.served);
            n += (int) m.served;
        }
        Arrays.sort(waits);
        return String.format(Locale.ROOT, "%d %d %d %d %.4f %d %d %d", holds, longest,
            quantile(waits, 0.5), quantile(waits, 0.99),
            holds == 0 ? 0.0 : (double) least * members.length / holds, passed, cpu, duration);
    }

    static long quantile(long[] sorted, double p) {
        return sorted.length == 0 ? 0 : sorted[(int) (p * (sorted.length - 1))];
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] word = line.trim().split(" ");
            FairSemaphore arena = new FairSemaphore(Long.parseLong(word[0]),
                Integer.parseInt(word[1]), Integer.parseInt(word[2]));
            System.out.println(arena.run(Long.parseLong(word[3]), Long.parseLong(word[4])));
        }
    }
}
