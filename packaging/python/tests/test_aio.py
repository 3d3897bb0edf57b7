# SPDX-License-Identifier: MIT
"""Tasks of asyncio, alone and together with threads."""
import asyncio
import errno
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from typing import Any, Awaitable, Callable, Dict, List, Tuple

import fairsem
from fairsem import _library, aio
from test_semaphore import Waiter, await_waiters


async def joined(sem: Any, count: int) -> None:
    """Let other tasks run until this number of requests is in the queue."""
    end = time.monotonic() + 60
    while sem.waiters != count:
        if time.monotonic() > end:
            raise AssertionError(f"{sem.waiters} wait, not {count}")
        await asyncio.sleep(0)


async def outcome(task: Awaitable[Any]) -> Any:
    """The result or the exception."""
    return (await asyncio.wait_for(asyncio.gather(task, return_exceptions=True), 60))[0]


async def in_queue(sem: fairsem.AsyncSemaphore, **how: Any) -> "asyncio.Task[bool]":
    """A task that has joined the queue."""
    count = sem.waiters
    task = asyncio.ensure_future(sem.acquire(**how))
    await joined(sem, count + 1)
    return task


class Tasks(unittest.IsolatedAsyncioTestCase):
    """Checks after each test that no ticket is left and the loop has had no error."""

    async def asyncSetUp(self) -> None:
        self.errors: List[Dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, error: self.errors.append(error))

    async def asyncTearDown(self) -> None:
        await asyncio.sleep(0)
        self.assertEqual((self.errors, aio._semaphores), ([], {}))


class Queue(Tasks):

    async def test_a_task_that_waits_leaves_the_loop_to_others(self) -> None:
        sem = fairsem.AsyncSemaphore(1)

        async def release() -> None:
            await joined(sem, 1)
            sem.release()

        async with sem:
            other = asyncio.ensure_future(release())
            self.assertIs(await sem.acquire(), True)
            await other
            self.assertEqual((sem.get_value(), sem.locked()), (0, True))
        self.assertEqual((sem.get_value(), sem.locked()), (1, False))

    async def test_tasks_and_threads_get_units_in_order_of_arrival(self) -> None:
        threads = fairsem.Semaphore(0, name="both")
        tasks = fairsem.AsyncSemaphore.of(threads)
        order: List[Any] = []

        async def take() -> None:
            await tasks.acquire()
            order.append(asyncio.current_task())

        waiters: List[Any] = []
        for i in range(6):
            waiters.append(asyncio.ensure_future(take()) if i % 2 == 0 else Waiter(threads, order))
            await joined(tasks, i + 1)
        for i, waiter in enumerate(waiters):
            (threads if i % 3 == 0 else tasks).release()
            if i % 2 == 0:
                await outcome(waiter)
            else:
                self.assertIs(waiter.outcome(), True)
        self.assertEqual(order, waiters)
        self.assertRegex(repr(tasks), r"<fairsem\.aio\.AsyncSemaphore 'both' at 0x[0-9a-f]+: value=0>")

    async def test_a_newcomer_does_not_pass_a_task_that_waits(self) -> None:
        sem = fairsem.AsyncSemaphore(0)
        first = await in_queue(sem, units=2)
        sem.release()
        second = await in_queue(sem)
        sem.release(2)
        self.assertEqual([await outcome(first), await outcome(second)], [True, True])

    async def test_a_task_runs_before_one_whose_units_come_later(self) -> None:
        sem = fairsem.AsyncSemaphore(0)
        order: List[str] = []

        async def take(name: str) -> None:
            await sem.acquire()
            order.append(name)

        early = asyncio.ensure_future(take("early"))
        await joined(sem, 1)
        sem.release(2)
        await take("late")
        await early
        self.assertEqual((order, sem.available), (["early", "late"], 0))

    async def test_a_lower_priority_comes_first(self) -> None:
        sem = fairsem.AsyncSemaphore(0)
        late, soon = await in_queue(sem, priority=1), await in_queue(sem, priority=-1)
        sem.release()
        self.assertIs(await outcome(soon), True)
        self.assertEqual((late.done(), sem.waiters), (False, 1))
        sem.release()
        self.assertIs(await outcome(late), True)

    async def test_units_go_round_between_shares(self) -> None:
        sem, many, few = fairsem.AsyncSemaphore(0), fairsem.Share(), fairsem.Share()
        tasks = [await in_queue(sem, share=share) for share in (many, many, few)]
        sem.release(2)
        self.assertEqual([await outcome(tasks[0]), await outcome(tasks[2])], [True, True])
        self.assertEqual((tasks[1].done(), sem.waiters), (False, 1))
        sem.release()
        self.assertIs(await outcome(tasks[1]), True)
        sem.release(2)
        async with sem.hold(2, share=few):
            self.assertEqual(sem.available, 0)
        with self.assertRaises(ValueError):
            await fairsem.AsyncSemaphore(1, aging=1).acquire(share=few)

    async def test_hold_gives_all_units_back(self) -> None:
        sem = fairsem.AsyncSemaphore(3, capacity=3)
        with self.assertRaises(KeyError):
            async with sem.hold(3, priority=1):
                self.assertEqual(sem.available, 0)
                raise KeyError
        self.assertEqual(sem.available, 3)

    async def test_what_can_never_be_is_an_error(self) -> None:
        sem = fairsem.AsyncBoundedSemaphore(2, max_waiters=1)
        refused: Tuple[Tuple[str, Dict[str, Any]], ...] = (
            ("units must be <= the capacity", {"units": 3}), ("units must be >= 0", {"units": -1}),
            ("priority is too large for the library: 2147483648", {"priority": 1 << 31}))
        for text, how in refused:
            with self.assertRaises((OverflowError, ValueError)) as raised:
                await sem.acquire(**how)
            self.assertEqual(str(raised.exception), text)
        self.assertRaises(ValueError, sem.release)
        await sem.acquire()
        waits = await in_queue(sem, units=2)
        with self.assertRaises(fairsem.QueueFull):
            await sem.acquire()
        sem.capacity = 1
        self.assertIsInstance(await outcome(waits), ValueError)
        self.assertEqual((sem.waiters, sem.available), (0, 0))


class Ends(Tasks):

    async def test_a_canceled_task_leaves_the_queue(self) -> None:
        sem = fairsem.AsyncSemaphore(0)
        canceled, other = await in_queue(sem), await in_queue(sem)
        canceled.cancel()
        self.assertIsInstance(await outcome(canceled), asyncio.CancelledError)
        self.assertEqual(sem.waiters, 1)
        sem.release()
        self.assertIs(await outcome(other), True)
        self.assertEqual(sem.available, 0)

    async def test_a_cancellation_that_meets_the_grant_loses_no_unit(self) -> None:
        sem = fairsem.AsyncSemaphore(0)
        for in_a_thread in (False, True):
            canceled, other = await in_queue(sem, units=2), await in_queue(sem)
            if in_a_thread:
                releases = threading.Thread(target=sem.release, args=(2,))
                releases.start()
                releases.join()
            else:
                sem.release(2)
            self.assertEqual((sem.waiters, sem.available), (1, 0))      # one task is granted, and does not know it yet
            canceled.cancel()
            self.assertIsInstance(await outcome(canceled), asyncio.CancelledError)
            self.assertIs(await outcome(other), True)
            self.assertEqual(sem.available, 1)
            await sem.acquire()

    async def test_a_cancellation_waits_for_the_thread_that_tells_of_the_grant(self) -> None:
        sem = fairsem.AsyncSemaphore(0)
        loop, task = asyncio.get_running_loop(), await in_queue(sem)
        tells, returns = threading.Event(), threading.Event()
        call_soon_threadsafe, ticket_return = loop.call_soon_threadsafe, _library.ticket_return

        def slow(*arguments: Any) -> Any:
            tells.set()
            returns.wait(60)
            return call_soon_threadsafe(*arguments)

        def returned(ticket: int) -> int:
            returns.set()
            return ticket_return(ticket)

        setattr(loop, "call_soon_threadsafe", slow)
        self.addCleanup(setattr, loop, "call_soon_threadsafe", call_soon_threadsafe)
        setattr(_library, "ticket_return", returned)
        self.addCleanup(setattr, _library, "ticket_return", ticket_return)
        releases = threading.Thread(target=sem.release)
        releases.start()
        tells.wait(60)
        task.cancel()
        self.assertIsInstance(await outcome(task), asyncio.CancelledError)
        releases.join()
        self.assertEqual(sem.available, 1)

    async def test_a_time_out_leaves_the_queue(self) -> None:
        sem = fairsem.AsyncSemaphore(0)
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(sem.acquire(), 0.01)
        if sys.version_info >= (3, 11):
            with self.assertRaises(TimeoutError):
                async with asyncio.timeout(0.01):
                    async with sem:
                        self.fail("there was none")
        self.assertEqual((sem.waiters, sem.available), (0, 0))

    async def test_a_token_ends_the_waits_of_tasks_and_threads(self) -> None:
        token, threads = fairsem.Token(), fairsem.Semaphore(0)
        sem = fairsem.AsyncSemaphore.of(threads)
        task, stays = await in_queue(sem, token=token), await in_queue(sem)
        thread = Waiter(threads, token=token)
        await joined(sem, 3)
        canceler = threading.Thread(target=token.cancel, args=(errno.EPIPE,))
        canceler.start()
        ended = await outcome(task)
        self.assertIsInstance(ended, fairsem.Canceled)
        self.assertEqual(ended.reason, errno.EPIPE)
        self.assertIsInstance(thread.outcome(), fairsem.Canceled)
        canceler.join()
        self.assertEqual(sem.waiters, 1)
        sem.release(2)
        self.assertIs(await outcome(stays), True)
        with self.assertRaises(fairsem.Canceled):
            await sem.acquire(token=token)
        self.assertEqual(sem.available, 1)

    async def test_a_unit_that_came_before_the_token_is_kept(self) -> None:
        token, sem = fairsem.Token(), fairsem.AsyncSemaphore(0)
        task = await in_queue(sem, token=token)
        sem.release()
        token.cancel()
        self.assertIs(await outcome(task), True)
        self.assertEqual(sem.available, 0)

    async def test_close_ends_all_waits_with_its_reason(self) -> None:
        sem = fairsem.AsyncSemaphore(0)
        task = await in_queue(sem)
        self.assertIs(sem.close(errno.EPIPE), True)
        ended = await outcome(task)
        self.assertIsInstance(ended, fairsem.Closed)
        self.assertEqual(ended.reason, errno.EPIPE)
        with self.assertRaises(fairsem.Closed):
            await sem.acquire()


    async def test_units_survive_a_storm_of_cancellations(self) -> None:
        threads = fairsem.Semaphore(2, capacity=2)
        sem, busy = fairsem.AsyncSemaphore.of(threads), [0]

        def beside() -> None:
            for _ in range(300):
                with threads:
                    pass

        async def take(units: int) -> None:
            async with sem.hold(units, priority=units):
                busy[0] += units
                try:
                    self.assertLessEqual(busy[0], 2)
                    await asyncio.sleep(0)
                finally:
                    busy[0] -= units

        others = [threading.Thread(target=beside) for _ in range(2)]
        for other in others:
            other.start()
        for i in range(100):
            tasks = [asyncio.ensure_future(take(1 + j % 2)) for j in range(6)]
            for _ in range(i % 4):
                await asyncio.sleep(0)
            for j in range(i % 3, 6, 2):
                tasks[j].cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            self.assertEqual({type(end) for end in ends} - {type(None), asyncio.CancelledError}, set())
        for other in others:
            other.join()
        self.assertEqual((sem.available, sem.waiters, sem._told), (2, 0, set()))


class Loops(unittest.TestCase):

    def closed_with_a_task(self, sem: fairsem.AsyncSemaphore, last: Callable[[], None] = lambda: None) -> Any:
        """A task in the queue of a loop that was closed after last()."""
        loop = asyncio.new_event_loop()
        try:
            task = loop.run_until_complete(self.waits(sem))
            last()
            return task
        finally:
            loop.set_exception_handler(lambda *_: None)     # "Task was destroyed but it is pending"
            loop.close()

    async def waits(self, sem: fairsem.AsyncSemaphore) -> List["asyncio.Task[bool]"]:
        return [await in_queue(sem)]

    def test_tasks_of_two_loops_share_the_units(self) -> None:
        sem = fairsem.AsyncSemaphore(1)
        order: List[str] = []

        async def second() -> None:
            async with sem:
                order.append("second")

        async def first() -> None:
            async with sem:
                thread = threading.Thread(target=asyncio.run, args=(second(),))
                thread.start()
                await joined(sem, 1)
                order.append("first")
            await asyncio.get_running_loop().run_in_executor(None, thread.join)

        asyncio.run(first())
        self.assertEqual((order, sem.available), (["first", "second"], 1))

    def test_a_handler_that_releases_wakes_a_loop_that_sleeps(self) -> None:
        sem = fairsem.AsyncSemaphore(0)
        late: List[bool] = []

        async def wait() -> bool:
            asyncio.get_running_loop().call_later(60, late.append, True)
            return await sem.acquire()

        def send() -> None:
            await_waiters(sem, 1)
            os.kill(os.getpid(), signal.SIGALRM)

        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, lambda *_: sem.release()))
        sender = threading.Thread(target=send)
        sender.start()
        self.assertEqual((asyncio.run(wait()), late), (True, []))
        sender.join()

    def test_a_grant_to_a_task_of_a_closed_loop_goes_to_the_next(self) -> None:
        threads = fairsem.Semaphore(0)
        sem = fairsem.AsyncSemaphore.of(threads)
        task, = self.closed_with_a_task(sem)
        waiter = Waiter(threads)
        await_waiters(sem, 2)
        threads.release()
        self.assertIs(waiter.outcome(), True)
        self.assertEqual((task.done(), sem.waiters, sem.available), (False, 0, 0))

    def test_a_loop_that_is_closed_before_the_granted_task_runs_loses_no_unit(self) -> None:
        sem = fairsem.AsyncSemaphore(0)
        self.closed_with_a_task(sem, sem.release)
        gc.collect()
        self.assertEqual((sem.waiters, sem.available), (0, 1))

    def test_a_semaphore_that_is_garbage_with_its_task_ends_after_the_task(self) -> None:
        self.closed_with_a_task(fairsem.AsyncSemaphore(0))
        gc.collect()

    def test_a_task_that_only_the_semaphore_knows_is_not_lost(self) -> None:
        sem = fairsem.AsyncSemaphore(0)
        done: List[bool] = []

        async def take() -> None:
            done.append(await sem.acquire())

        async def run() -> None:
            asyncio.ensure_future(take())
            await joined(sem, 1)
            gc.collect()
            sem.release()
            while not done:
                await asyncio.sleep(0)

        asyncio.run(asyncio.wait_for(run(), 60))

    def test_a_child_has_the_count_and_an_empty_queue(self) -> None:
        sem = fairsem.AsyncSemaphore(0)

        async def in_child() -> bool:
            sem.release()
            async with sem:
                first = sem.waiters == 0 and sem.available == 0
                waits = await in_queue(sem)
            return first and await outcome(waits) is True

        async def run() -> Tuple[int, bool]:
            waits = await in_queue(sem)
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    status = 0 if asyncio.run(in_child()) else 2
                finally:
                    os._exit(status)
            status = os.waitpid(child, 0)[1]
            sem.release()
            return status, await outcome(waits)

        self.assertEqual(asyncio.run(run()), (0, True))

    def test_only_a_program_that_uses_it_imports_asyncio(self) -> None:
        program = "import fairsem, sys; print('asyncio' in sys.modules, fairsem.AsyncSemaphore.__name__)"
        ended = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(ended.stdout, "False AsyncSemaphore\n")
        with self.assertRaises(AttributeError):
            fairsem.NoSemaphore     # type: ignore[attr-defined]    # mypy --strict finds no such name


if __name__ == "__main__":
    unittest.main()
