# SPDX-License-Identifier: MIT
"""Processes that share a semaphore, without or with a name."""
import errno
import os
import signal
import sys
import threading
import unittest
from typing import Any, Callable, List

import fairsem
from test_semaphore import Interrupt, await_waiters


def in_child(do: Callable[[], Any]) -> int:
    """The process ID of a child whose exit status is 0 if do() is true."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if do() else 2
        finally:
            os._exit(status)
    return child


@unittest.skipUnless(sys.platform == "linux", "between processes: Linux only")
class Shared(unittest.TestCase):

    def ended(self, child: int, status: int = 0) -> None:
        self.assertEqual(os.waitpid(child, 0)[1], status)

    def test_processes_share_the_units(self) -> None:
        sem = fairsem.SharedSemaphore(value=2)
        with sem:
            self.ended(in_child(lambda: sem.acquire(False) and not sem.acquire(False)))
            self.assertEqual(sem.available, 1)
        self.assertEqual(sem.available, 2)

    def test_a_process_that_is_killed_gives_its_units_back(self) -> None:
        sem = fairsem.SharedSemaphore(value=1)
        ready, write = os.pipe()

        def hold() -> None:
            sem.acquire()
            os.write(write, b"x")
            signal.pause()

        child = in_child(hold)
        os.read(ready, 1)
        self.assertIs(sem.acquire(False), False)
        os.kill(child, signal.SIGKILL)
        self.assertIs(sem.acquire(timeout=60), True)
        self.ended(child, signal.SIGKILL)
        self.assertEqual(sem.stat().deaths, 1)
        os.close(ready)
        os.close(write)

    def test_units_go_to_processes_in_order_of_arrival(self) -> None:
        sem = fairsem.SharedSemaphore(value=1)
        read, write = os.pipe()
        sem.acquire()
        children = []
        for i in range(3):
            children.append(in_child(lambda: sem.acquire() and os.write(write, b"%d" % i)))
            await_waiters(sem, i + 1)
        sem.release()
        for child in children:
            self.ended(child)
        self.assertEqual(os.read(read, 9), b"012")
        os.close(read)
        os.close(write)

    def test_a_name_leads_to_the_same_semaphore_until_it_is_removed(self) -> None:
        name = f"/fairsem-python-{os.getpid()}"
        with self.assertRaises(FileNotFoundError):
            fairsem.SharedSemaphore(name)
        sem = fairsem.SharedSemaphore(name, 2, exclusive=True)
        try:
            self.assertRaises(FileExistsError, fairsem.SharedSemaphore, name, 2, exclusive=True)
            same = fairsem.SharedSemaphore(name)
            same.acquire(units=2)
            self.assertEqual(sem.available, 0)
            same.close()
            self.assertRaises(ValueError, same.acquire)
            self.assertEqual(sem.available, 0)      # opened twice, closed once: the unit is still held
            sem.close()
        finally:
            fairsem.SharedSemaphore.unlink(name)
        with self.assertRaises(FileNotFoundError):
            fairsem.SharedSemaphore(name)

    def test_a_name_is_refused_with_another_value_than_it_was_made_with(self) -> None:
        name = f"/fairsem-python-value-{os.getpid()}"
        with self.assertRaises(FileNotFoundError):
            fairsem.SharedSemaphore(name)
        sem = fairsem.SharedSemaphore(name, 2)
        try:
            sem.acquire()
            same = fairsem.SharedSemaphore(name, 2)
            self.assertEqual(same.available, 1)
            same.close()
            with self.assertRaisesRegex(ValueError, f"value must be 2: '{name}' was made with as many"):
                fairsem.SharedSemaphore(name, 3)
            self.assertEqual(sem.stat().mine, 1)
        finally:
            sem.close()
            fairsem.SharedSemaphore.unlink(name)

    def test_only_who_has_units_may_release_them_except_without_undo(self) -> None:
        with self.assertRaises(PermissionError):
            fairsem.SharedSemaphore(value=1).release()
        sem = fairsem.SharedSemaphore(value=0, undo=False, capacity=1)

        def give() -> bool:
            sem.release()
            return True

        self.ended(in_child(give))
        self.assertIs(sem.acquire(False), True)
        sem.release()
        self.assertRaises(ValueError, sem.release)

    def test_a_timeout_is_false_in_the_main_thread_and_in_others(self) -> None:
        sem, results = fairsem.SharedSemaphore(value=1), []
        sem.acquire()
        other = threading.Thread(target=lambda: results.append(sem.acquire(timeout=0.01)))
        other.start()
        self.assertIs(sem.acquire(timeout=0.06), False)
        other.join()
        self.assertEqual(results, [False])
        self.assertEqual((sem.waiters, sem.stat().timeouts), (0, 2))

    def test_more_units_than_there_are_is_an_error(self) -> None:
        self.assertRaises(ValueError, fairsem.SharedSemaphore(value=1).acquire, units=2)

    def test_a_token_ends_the_wait_of_any_thread(self) -> None:
        sem, token = fairsem.SharedSemaphore(value=1), fairsem.Token()
        raised: List[int] = []
        sem.acquire()

        def wait() -> None:
            try:
                sem.acquire(token=token)
            except fairsem.Canceled as error:
                raised.append(error.reason)

        other = threading.Thread(target=wait)
        other.start()
        await_waiters(sem, 1)
        canceler = threading.Timer(0.1, token.cancel, [errno.EPIPE])
        canceler.start()
        wait()
        other.join()
        canceler.join()
        self.assertEqual(raised, [errno.EPIPE] * 2)
        self.assertEqual(sem.waiters, 0)

    def test_an_exception_of_a_handler_ends_the_wait_and_loses_no_unit(self) -> None:
        def interrupt(*_: Any) -> None:
            raise Interrupt

        sem = fairsem.SharedSemaphore(value=1)
        sem.acquire()
        self.addCleanup(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt))

        def send() -> None:
            await_waiters(sem, 1)
            os.kill(os.getpid(), signal.SIGALRM)

        sender = threading.Thread(target=send)
        sender.start()
        self.assertRaises(Interrupt, sem.acquire, timeout=60)
        sender.join()
        self.assertEqual(sem.waiters, 0)
        sem.release()
        self.assertEqual(sem.available, 1)

    def test_close_while_a_thread_waits_changes_nothing(self) -> None:
        sem, results = fairsem.SharedSemaphore(value=1), []
        sem.acquire()
        other = threading.Thread(target=lambda: results.append(sem.acquire()))
        other.start()
        await_waiters(sem, 1)
        with self.assertRaises(OSError) as raised:
            sem.close()
        self.assertEqual(raised.exception.errno, errno.EBUSY)
        sem.release()
        other.join()
        self.assertEqual(results, [True])


if __name__ == "__main__":
    unittest.main()
