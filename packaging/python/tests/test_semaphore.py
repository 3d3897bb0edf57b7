# SPDX-License-Identifier: MIT
"""Threads of one process."""
import errno
import os
import resource
import signal
import sys
import threading
import time
import unittest
from typing import Any, Callable, List, Optional, Tuple

import fairsem


def await_waiters(sem: Any, count: int) -> None:
    end = time.monotonic() + 60
    while sem.waiters != count:
        if time.monotonic() > end:
            raise AssertionError(f"{sem.waiters} wait, not {count}")
        time.sleep(0.001)


class Waiter(threading.Thread):
    """A thread that acquires and records the result."""

    def __init__(self, sem: Any, order: Optional[List[Any]] = None, **how: Any) -> None:
        super().__init__()
        self.sem, self.order, self.how = sem, order, how
        self.result: Any = None
        self.start()

    def run(self) -> None:
        try:
            self.result = self.sem.acquire(**self.how)
            if self.order is not None:
                self.order.append(self)
        except Exception as error:
            self.result = error

    def outcome(self) -> Any:
        self.join(60)
        return self.result


class AsThreading(unittest.TestCase):
    """Typical uses of threading's semaphores, run with threading's and with ours."""

    KINDS = (threading, fairsem)

    def test_acquire_counts_down_and_says_false_at_zero(self) -> None:
        for kind in self.KINDS:
            sem = kind.Semaphore(2)
            self.assertIs(sem.acquire(), True)
            self.assertIs(sem.acquire(True), True)
            self.assertIs(sem.acquire(False), False)
            self.assertIs(sem.acquire(blocking=False), False)
            self.assertIs(sem.acquire(timeout=0), False)
            self.assertIs(sem.acquire(True, 0.01), False)
            sem.release()
            self.assertIs(sem.acquire(False), True)
            sem.release()
            sem.release()
            self.assertEqual([sem.acquire(False) for _ in range(3)], [True, True, False])

    @unittest.skipUnless(sys.version_info >= (3, 9), "before Python 3.9 threading releases one at a time")
    def test_a_release_of_several(self) -> None:
        for kind in self.KINDS:
            sem = kind.Semaphore(0)
            sem.release(3)
            self.assertEqual([sem.acquire(False) for _ in range(4)], [True, True, True, False])
            self.assertRaises(ValueError, sem.release, 0)
            self.assertRaises(ValueError, sem.release, -1)

    def test_a_semaphore_begins_with_one_unit(self) -> None:
        for kind in self.KINDS:
            sem = kind.Semaphore()
            self.assertEqual([sem.acquire(False), sem.acquire(False)], [True, False])

    def test_a_timeout_is_for_calls_that_block(self) -> None:
        for kind in self.KINDS:
            self.assertRaises(ValueError, kind.Semaphore().acquire, False, 1)

    def test_a_negative_value_is_an_error(self) -> None:
        for kind in self.KINDS:
            self.assertRaises(ValueError, kind.Semaphore, -1)

    def test_a_bounded_one_refuses_a_release_too_many(self) -> None:
        for kind in self.KINDS:
            sem = kind.BoundedSemaphore(2)
            self.assertRaises(ValueError, sem.release)
            sem.acquire()
            sem.release()

    def test_with_releases_even_if_the_block_raises(self) -> None:
        for kind in self.KINDS:
            sem = kind.BoundedSemaphore(1)
            with self.assertRaises(KeyError):
                with sem:
                    self.assertIs(sem.acquire(False), False)
                    raise KeyError
            self.assertIs(sem.acquire(False), True)


class Queue(unittest.TestCase):

    def test_units_go_to_waiters_in_order_of_arrival(self) -> None:
        sem = fairsem.Semaphore(0)
        order: List[Waiter] = []
        waiters: List[Waiter] = []
        for i in range(5):
            waiters.append(Waiter(sem, order))
            await_waiters(sem, i + 1)
        for i in range(5):
            sem.release()
            self.assertIs(waiters[i].outcome(), True)
        self.assertEqual(order, waiters)

    def test_a_lower_priority_comes_first(self) -> None:
        sem = fairsem.Semaphore(0)
        late = Waiter(sem, priority=1)
        await_waiters(sem, 1)
        soon = Waiter(sem, priority=-1)
        await_waiters(sem, 2)
        sem.release()
        self.assertIs(soon.outcome(), True)
        self.assertEqual(sem.waiters, 1)
        sem.release()
        self.assertIs(late.outcome(), True)

    def test_an_old_request_comes_before_a_better_priority(self) -> None:
        sem = fairsem.Semaphore(0, aging=0.001)
        late = Waiter(sem, priority=1)
        await_waiters(sem, 1)
        soon = Waiter(sem, priority=-1)
        await_waiters(sem, 2)
        time.sleep(0.001)
        sem.release()
        self.assertIs(late.outcome(), True)
        sem.release()
        self.assertIs(soon.outcome(), True)

    def take(self, sem: fairsem.Semaphore, order: List[str], name: str, share: fairsem.Share) -> threading.Thread:
        """A thread in the queue.  When it is granted, it notes its name and releases at once."""
        def run() -> None:
            with sem.hold(share=share):
                order.append(name)

        thread, count = threading.Thread(target=run), sem.waiters
        thread.start()
        await_waiters(sem, count + 1)
        return thread

    def test_units_go_round_between_shares(self) -> None:
        sem, many, few = fairsem.Semaphore(0), fairsem.Share(), fairsem.Share(2)
        order: List[str] = []
        threads = [self.take(sem, order, name, many) for name in ("first", "second")]

        def last() -> None:
            await_waiters(sem, 3)       # the main thread waits, too
            threads.append(self.take(sem, order, "few", few))
            order.append(f"{sem.stat().shares} shares")
            sem.release()

        helper = threading.Thread(target=last)
        helper.start()
        with sem.hold(share=many):
            order.append("main")
        helper.join()
        for thread in threads:
            thread.join(60)
        self.assertEqual(order, ["2 shares", "first", "few", "second", "main"])

    def test_a_share_is_charged_for_more_units(self) -> None:
        sem, many, few = fairsem.Semaphore(0), fairsem.Share(), fairsem.Share()
        order: List[str] = []
        threads = [self.take(sem, order, name, many if name < "c" else few) for name in "abcd"]
        many.charge(1)
        sem.release()
        for thread in threads:
            thread.join(60)
        self.assertEqual("".join(order), "acdb")

    def test_a_share_that_cannot_be_used_is_an_error(self) -> None:
        sem, share = fairsem.Semaphore(1), fairsem.Share(65535)
        for weight in (0, 65536):
            self.assertRaises(ValueError, fairsem.Share, weight)
        self.assertRaises(ValueError, share.charge, (1 << 60) + 1)
        for blocking in (True, False):
            self.assertRaises(ValueError, fairsem.Semaphore(1, aging=1).acquire, blocking, share=share)
        self.assertIs(sem.acquire(False, share=share), True)
        waiter = Waiter(sem, share=share)
        await_waiters(sem, 1)
        self.assertRaises(ValueError, fairsem.Semaphore(1).acquire, share=share)
        self.assertRaises(OSError, fairsem.Share.__init__, share)       # a request in the queue uses its memory
        sem.release()
        self.assertIs(waiter.outcome(), True)
        fairsem.Share.__init__(share)
        self.assertIs(fairsem.Semaphore(1).acquire(share=share), True)
        if sys.platform == "linux":
            self.assertRaises(ValueError, fairsem.SharedSemaphore(value=1).acquire, share=share)

    def test_nobody_passes_a_big_request(self) -> None:
        sem = fairsem.Semaphore(0)
        big = Waiter(sem, units=3)
        await_waiters(sem, 1)
        sem.release(2)
        self.assertIs(sem.acquire(False), False)
        self.assertEqual(sem.available, 2)
        sem.release()
        self.assertIs(big.outcome(), True)
        self.assertEqual(sem.available, 0)

    def test_the_main_thread_has_its_place_like_any_other(self) -> None:
        sem = fairsem.Semaphore(0)
        behind = []

        def others() -> None:
            await_waiters(sem, 1)       # the main thread waits
            behind.append(Waiter(sem))
            await_waiters(sem, 2)
            time.sleep(0.2)             # several slices: after each, the main thread is still the first
            sem.release()

        helper = threading.Thread(target=others)
        helper.start()
        self.assertIs(sem.acquire(), True)
        helper.join()
        self.assertEqual(sem.waiters, 1)
        sem.release()
        self.assertIs(behind[0].outcome(), True)

    def test_a_timeout_in_any_thread_is_false_and_leaves_the_queue(self) -> None:
        sem = fairsem.Semaphore(0)
        other = Waiter(sem, timeout=0.01)
        began = time.monotonic()
        self.assertIs(sem.acquire(timeout=0.12), False)
        self.assertGreaterEqual(time.monotonic() - began, 0.12)
        self.assertIs(other.outcome(), False)
        self.assertEqual(sem.waiters, 0)
        self.assertEqual(sem.stat().timeouts + sem.stat().cancels, 2)

    def test_hold_raises_timeout_error_and_gives_all_units_back(self) -> None:
        sem = fairsem.Semaphore(3)
        with sem.hold(3, timeout=1):
            self.assertEqual(sem.available, 0)
            with self.assertRaises(TimeoutError):
                with sem.hold(timeout=0.01):
                    self.fail("there was none")
        self.assertEqual(sem.available, 3)

    def test_a_full_queue_refuses(self) -> None:
        sem = fairsem.Semaphore(0, max_waiters=1)
        waiter = Waiter(sem)
        await_waiters(sem, 1)
        self.assertRaises(fairsem.QueueFull, sem.acquire)
        self.assertIsInstance(Waiter(sem).outcome(), fairsem.QueueFull)
        sem.release()
        self.assertIs(waiter.outcome(), True)

    def test_more_than_the_capacity_is_an_error_until_the_capacity_grows(self) -> None:
        sem = fairsem.Semaphore(2, capacity=2)
        self.assertRaises(ValueError, sem.acquire, units=3)
        self.assertRaises(ValueError, sem.acquire, units=-1)
        sem.capacity = 3
        self.assertIs(sem.acquire(units=3), True)
        sem.capacity = 1
        self.assertEqual((sem.capacity, sem.available), (1, -2))
        self.assertIsNone(fairsem.Semaphore().capacity)
        self.assertRaises(ValueError, fairsem.Semaphore, 1, capacity=0)

    def test_stat_has_what_the_semaphore_has_seen(self) -> None:
        sem = fairsem.Semaphore(0, capacity=4, name="slots", spin=False)
        waiter = Waiter(sem, units=2)
        await_waiters(sem, 1)
        stat = sem.stat()
        self.assertEqual((stat.available, stat.capacity, stat.waiters, stat.waiting_units),
                         (0, 4, 1, 2))
        sem.release(2)
        waiter.outcome()
        self.assertEqual((sem.stat().waits, sem.stat().grants), (1, 1))

    def test_each_wait_that_has_ended_is_in_the_histogram(self) -> None:
        sem = fairsem.Semaphore(0)
        self.assertEqual(sem.histogram(), [0] * 28)
        waiter = Waiter(sem)
        await_waiters(sem, 1)
        self.assertEqual(sum(sem.histogram()), 0)
        sem.release()
        waiter.outcome()
        self.assertEqual(sum(sem.histogram()), 1)

    def test_an_object_that_nobody_uses_is_freed(self) -> None:
        def kilobytes() -> int:
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        before = kilobytes()
        for _ in range(100000):
            fairsem.Semaphore(1)        # 256 bytes each
        self.assertLess(kilobytes() - before, 10000)


class Ends(unittest.TestCase):

    def test_close_ends_all_waits_with_its_reason(self) -> None:
        sem = fairsem.Semaphore(0)
        waiter = Waiter(sem)
        await_waiters(sem, 1)
        closer = threading.Timer(0.1, sem.close, [errno.EPIPE])
        closer.start()
        with self.assertRaises(fairsem.Closed) as raised:
            sem.acquire()
        self.assertEqual(raised.exception.reason, errno.EPIPE)
        self.assertIsInstance(waiter.outcome(), fairsem.Closed)
        closer.join()
        self.assertEqual(sem.closed, errno.EPIPE)
        self.assertIs(sem.close(), False)
        self.assertRaises(fairsem.Closed, sem.acquire, False)
        sem.release()

    def test_a_token_ends_waits_on_several_semaphores(self) -> None:
        token, sems = fairsem.Token(), [fairsem.Semaphore(0), fairsem.Semaphore(0)]
        waiters = [Waiter(sem, token=token) for sem in sems]
        for sem in sems:
            await_waiters(sem, 1)
        canceler = threading.Timer(0.1, token.cancel)
        canceler.start()
        with self.assertRaises(fairsem.Canceled) as raised:
            sems[0].acquire(token=token)
        self.assertEqual(raised.exception.reason, errno.ECANCELED)
        for waiter in waiters:
            self.assertIsInstance(waiter.outcome(), fairsem.Canceled)
        self.assertEqual(token.reason, errno.ECANCELED)
        self.assertIs(token.cancel(errno.EPIPE), False)
        self.assertEqual([sem.waiters for sem in sems], [0, 0])

    def test_a_canceled_token_counts_even_if_units_are_free(self) -> None:
        token, sem = fairsem.Token(), fairsem.Semaphore(1)
        self.assertIs(sem.acquire(False, token=token), True)
        self.assertIs(sem.acquire(False, token=token), False)
        sem.release()
        token.cancel()
        self.assertRaises(fairsem.Canceled, sem.acquire, token=token)
        self.assertRaises(fairsem.Canceled, sem.acquire, False, token=token)
        self.assertIsInstance(Waiter(sem, token=token).outcome(), fairsem.Canceled)
        self.assertEqual(sem.available, 1)

    def test_a_reason_that_means_something_else_is_refused(self) -> None:
        for reason in (errno.ETIMEDOUT, errno.EINPROGRESS, errno.EAGAIN, -1):
            self.assertRaises(ValueError, fairsem.Semaphore().close, reason)
            self.assertRaises(ValueError, fairsem.Token().cancel, reason)


class Several(unittest.TestCase):
    """acquire_all(), hold_all() and release_all()."""

    def setUp(self) -> None:
        self.files = fairsem.Semaphore(2, capacity=2)
        self.bytes = fairsem.Semaphore(100, capacity=100)

    def free(self) -> Tuple[int, int]:
        return self.files.available, self.bytes.available

    def in_a_thread(self, *requests: Any, **how: Any) -> Waiter:
        class Acquires(Waiter):
            def run(self) -> None:
                try:
                    self.result = fairsem.acquire_all(*requests, **how)
                except Exception as error:
                    self.result = error

        return Acquires(None)

    def test_all_of_them_are_held_until_the_block_ends(self) -> None:
        with self.assertRaises(KeyError):
            with fairsem.hold_all((self.bytes, 60), (self.files, 1), (self.bytes, 10)):
                self.assertEqual(self.free(), (1, 30))
                raise KeyError
        self.assertEqual(self.free(), (2, 100))
        self.assertIs(fairsem.acquire_all(), True)

    def test_each_request_has_a_share(self) -> None:
        sem, many, few = fairsem.Semaphore(0), fairsem.Share(), fairsem.Share()
        waiters: List[Waiter] = []
        for requests in (((sem, 1, many),), ((self.files, 1, few), (sem, 1), (sem, 0, many)), ((sem, 1, few),)):
            waiters.append(self.in_a_thread(*requests))
            await_waiters(sem, len(waiters))
        sem.release(2)
        self.assertEqual((waiters[0].outcome(), waiters[2].outcome(), sem.waiters), (True, True, 1))
        self.assertRaises(ValueError, fairsem.acquire_all, (self.bytes, 1, many), (self.bytes, 1, few))
        with fairsem.hold_all((self.bytes, 1, None), (self.bytes, 1, few)):
            self.assertEqual(self.bytes.available, 98)
        sem.release()
        self.assertIs(waiters[1].outcome(), True)

    def test_if_one_fails_none_is_held(self) -> None:
        token = fairsem.Token()
        self.assertRaises(ValueError, fairsem.acquire_all, (self.files, 1), (self.bytes, 101))
        self.assertRaises(ValueError, fairsem.acquire_all, (self.files, 1), (self.bytes, -1))
        self.assertRaises(TypeError, fairsem.acquire_all, (self.files, 1), (None, 1))
        self.assertEqual(self.free(), (2, 100))
        self.bytes.acquire(units=100)
        for timeout in (0, 0.01):
            both = (self.files, 1), (self.bytes, 1)
            self.assertIs(fairsem.acquire_all(*both, timeout=timeout), False)
            self.assertIs(self.in_a_thread(*both, timeout=timeout).outcome(), False)
            with self.assertRaises(TimeoutError):
                with fairsem.hold_all(*both, timeout=timeout):
                    self.fail("has what is not free")
            self.assertEqual(self.free(), (2, 0))
        waiter = self.in_a_thread(*both, token=token)
        await_waiters(self.bytes, 1)
        token.cancel(errno.EPIPE)
        self.assertIsInstance(waiter.outcome(), fairsem.Canceled)
        self.assertRaises(fairsem.Canceled, fairsem.acquire_all, *both, token=token)
        self.bytes.close()
        self.assertRaises(fairsem.Closed, fairsem.acquire_all, *both)
        self.assertEqual(self.free(), (2, 0))

    def test_a_release_that_fails_keeps_none_of_the_others(self) -> None:
        self.assertIs(fairsem.acquire_all((self.files, 1), (self.bytes, 5)), True)
        self.assertRaises(ValueError, fairsem.release_all, (self.files, 2), (self.bytes, 5))
        self.assertEqual(self.free(), (1, 100))

    def test_threads_that_name_them_in_different_orders_do_not_deadlock(self) -> None:
        one, other = (fairsem.Semaphore(1), 1), (fairsem.Semaphore(1), 1)

        def take(*requests: Tuple[fairsem.Semaphore, int]) -> None:
            for _ in range(300):
                with fairsem.hold_all(*requests, timeout=60):
                    pass
            done.append(True)

        done: List[bool] = []
        thread = threading.Thread(target=take, args=(one, other))
        thread.start()
        take(other, one)
        thread.join(60)
        self.assertEqual(len(done), 2)


class Interrupt(Exception):
    pass


class Signals(unittest.TestCase):
    """A signal comes while the main thread waits."""

    def setUp(self) -> None:
        self.sem = fairsem.Semaphore(0)
        self.addCleanup(signal.signal, signal.SIGALRM, signal.SIG_DFL)

    def when_waiting(self, handler: Callable[..., Any]) -> None:
        def send() -> None:
            await_waiters(self.sem, 1)
            os.kill(os.getpid(), signal.SIGALRM)

        signal.signal(signal.SIGALRM, handler)
        sender = threading.Thread(target=send)
        sender.start()
        self.addCleanup(sender.join)

    def test_an_exception_of_a_handler_ends_the_wait_and_loses_no_unit(self) -> None:
        def interrupt(*_: Any) -> None:
            raise Interrupt

        self.when_waiting(interrupt)
        self.assertRaises(Interrupt, self.sem.acquire, timeout=60)
        self.assertEqual(self.sem.waiters, 0)
        self.sem.release()
        self.assertEqual(self.sem.available, 1)

    def test_an_exception_ends_a_wait_for_several(self) -> None:
        def interrupt(*_: Any) -> None:
            raise Interrupt

        other = fairsem.Semaphore(1)
        self.when_waiting(interrupt)
        self.assertRaises(Interrupt, fairsem.acquire_all, (self.sem, 1), (other, 1), timeout=60)
        self.assertEqual((self.sem.waiters, other.available), (0, 1))
        self.sem.release()
        self.assertEqual(self.sem.available, 1)

    def test_a_handler_may_release_what_the_main_thread_waits_for(self) -> None:
        self.when_waiting(lambda *_: self.sem.release())
        self.assertIs(self.sem.acquire(timeout=60), True)

    def test_the_place_in_the_queue_survives_a_handler(self) -> None:
        waiters = []

        def handler(*_: Any) -> None:
            waiters.append(Waiter(self.sem))
            await_waiters(self.sem, 2)
            self.sem.release()

        self.when_waiting(handler)
        self.assertIs(self.sem.acquire(timeout=60), True)
        self.assertEqual(self.sem.waiters, 1)
        self.sem.release()
        self.assertIs(waiters[0].outcome(), True)


class Fork(unittest.TestCase):

    def test_a_child_has_the_count_and_an_empty_queue(self) -> None:
        sem = fairsem.Semaphore(0)
        waiter = Waiter(sem)
        await_waiters(sem, 1)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                sem.release()
                if sem.waiters == 0 and sem.acquire(timeout=60) and not sem.acquire(timeout=0.06):
                    status = 0
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(sem.waiters, 1)
        sem.release()
        self.assertIs(waiter.outcome(), True)


if __name__ == "__main__":
    unittest.main()
