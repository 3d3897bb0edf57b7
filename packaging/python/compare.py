# SPDX-License-Identifier: MIT
"""compare.py [SECONDS] - compare fairsem's semaphores with those of threading, asyncio and
multiprocessing, as tables for README.md.  Each row is measured for SECONDS, 1 by default."""
import asyncio
import multiprocessing
import os
import signal
import sys
import threading
import time

import fairsem

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0


def uncontended(sem):
    """Nanoseconds of an acquire and a release, without other threads."""
    best = float("inf")
    for _ in range(5):
        count, end = 0, time.perf_counter() + SECONDS / 5
        began = time.perf_counter()
        while time.perf_counter() < end:
            for _ in range(1000):
                sem.acquire()
                sem.release()
            count += 1000
        best = min(best, (time.perf_counter() - began) / count)
    return f"{best * 1e9:.0f} ns"


def hand_off(ping, pong):
    """Microseconds from a release in one thread to the end of the acquire in another thread."""
    over = threading.Event()

    def answer():
        while not over.is_set():
            ping.acquire()
            pong.release()

    def ask():
        count, began = 0, time.perf_counter()
        while time.perf_counter() - began < SECONDS:
            ping.release()
            pong.acquire()
            count += 1
        result.append((time.perf_counter() - began) / count / 2)
        over.set()
        ping.release()

    result = []
    threads = [threading.Thread(target=ask), threading.Thread(target=answer)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{result[0] * 1e6:.0f} us"


def in_main_thread(ping, pong):
    """As hand_off(), but one thread is the main thread, in which Python runs signal handlers."""
    over = threading.Event()

    def answer():
        while not over.is_set():
            ping.acquire()
            pong.release()

    thread = threading.Thread(target=answer)
    thread.start()
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        ping.release()
        pong.acquire()
        count += 1
    took = (time.perf_counter() - began) / count / 2
    over.set()
    ping.release()
    thread.join()
    return f"{took * 1e6:.0f} us"


def hog_and_victim(sem):
    """A hog holds the only unit for 0.2 ms and takes it again at once: the victim's longest wait."""
    over = time.perf_counter() + 3 * SECONDS
    waits = []

    def hog():
        while time.perf_counter() < over:
            with sem:
                time.sleep(0.0002)

    def victim():
        while not waits or time.perf_counter() < over:
            time.sleep(0.001)
            began = time.perf_counter()
            with sem:
                waits.append(time.perf_counter() - began)

    threads = [threading.Thread(target=hog), threading.Thread(target=victim)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{max(waits) * 1e3:.1f} ms"


async def uncontended_in_a_task(kind):
    sem = kind(1)
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        for _ in range(1000):
            await sem.acquire()
            sem.release()
        count += 1
    return f"{(time.perf_counter() - began) / count * 1e6:.0f} ns"


async def between_tasks(kind):
    ping, pong = kind(0), kind(0)

    async def answer():
        while True:
            await ping.acquire()
            pong.release()

    other = asyncio.ensure_future(answer())
    count, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        ping.release()
        await pong.acquire()
        count += 1
    took = (time.perf_counter() - began) / count / 2
    other.cancel()
    return f"{took * 1e6:.0f} us"


def killed(sem):
    """A process is killed while it holds the only unit: how long until another process has the unit?"""
    holds, write = os.pipe()
    child = os.fork()
    if child == 0:
        sem.acquire()
        os.write(write, b"x")
        signal.pause()
    os.read(holds, 1)
    began = time.perf_counter()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not sem.acquire(timeout=3 * SECONDS):
        return "never"
    return f"{(time.perf_counter() - began) * 1e3:.0f} ms"


def row(what, ours, theirs):
    print(f"| {what} | {ours} | {theirs} |", flush=True)


def pair(kind):
    return kind.Semaphore(0), kind.Semaphore(0)


row("between threads", "fairsem", "threading")
row("---", "---", "---")
row("acquire and release, nobody waits",
    uncontended(fairsem.Semaphore()), uncontended(threading.Semaphore()))
row("longest wait beside a hog that holds the unit for 0.2 ms at a time",
    hog_and_victim(fairsem.Semaphore()), hog_and_victim(threading.Semaphore()))
row("hand-off between two threads", hand_off(*pair(fairsem)), hand_off(*pair(threading)))
row("hand-off, one of them the main thread",
    in_main_thread(*pair(fairsem)), in_main_thread(*pair(threading)))
print()
row("between tasks", "fairsem", "asyncio")
row("---", "---", "---")
for what, measure in (("acquire and release, nobody waits", uncontended_in_a_task),
                      ("hand-off between two tasks", between_tasks)):
    row(what, *(asyncio.run(measure(kind)) for kind in (fairsem.AsyncSemaphore, asyncio.Semaphore)))
print()
row("between processes", "fairsem", "multiprocessing")
row("---", "---", "---")
row("acquire and release, nobody waits",
    uncontended(fairsem.SharedSemaphore(value=1)), uncontended(multiprocessing.Semaphore()))
row("a process that holds the unit is killed: the next one gets it after",
    killed(fairsem.SharedSemaphore(value=1)), killed(multiprocessing.Semaphore()))
