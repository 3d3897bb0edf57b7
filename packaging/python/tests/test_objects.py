# SPDX-License-Identifier: MIT
"""Objects that are copied, pickled, used before __init__ or after their end, or given numbers and names that the
library cannot hold."""
import copy
import errno
import multiprocessing
import os
import pathlib
import pickle
import sys
import threading
import unittest
from typing import Any, Callable, Iterator, List, Tuple, Type, Union

import fairsem
from test_semaphore import Waiter, await_waiters

BIG = (1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, 1 << 64, (1 << 64) + 1, -(1 << 63) - 1, 10**30)
NO_INT: Tuple[Any, ...] = (1.0, "1", b"1", None, [], float("nan"))


class Holder:
    def __init__(self, inside: object) -> None:
        self.inside = inside


class Named(fairsem.SharedSemaphore):
    def __init__(self, name: str) -> None:
        super().__init__(name, 1)
        self.color = "red"


def own_name(what: str) -> str:
    return f"/fairsem-python-{what}-{os.getpid()}"


def take_one(sem: fairsem.SharedSemaphore) -> bool:
    return sem.acquire(False) and not sem.acquire(False)


def raise_closed(reason: int) -> None:
    raise fairsem.Closed(reason)


def raise_canceled(reason: int) -> None:
    raise fairsem.Canceled(reason)


class Copies(unittest.TestCase):

    def test_no_object_can_be_copied_or_pickled(self) -> None:
        for one in (fairsem.Semaphore(2), fairsem.BoundedSemaphore(2), fairsem.Token(), fairsem.Share(),
                    fairsem.SharedSemaphore(value=2)):
            acts: Tuple[Callable[[object], object], ...] = (
                copy.copy, copy.deepcopy, pickle.dumps, lambda x: pickle.dumps(x, 0),
                lambda x: copy.deepcopy([x]), lambda x: copy.deepcopy(Holder(x)),
                lambda x: pickle.dumps(Holder(x)))
            for act in acts:
                with self.subTest(one=type(one).__name__), self.assertRaises(TypeError):
                    act(one)

    def test_exceptions_survive_pickle_with_their_reason(self) -> None:
        kinds: Tuple[Type[Union[fairsem.Closed, fairsem.Canceled]], ...] = fairsem.Closed, fairsem.Canceled
        acts: Tuple[Callable[[Any], Any], ...] = (copy.copy, copy.deepcopy,
                                                  lambda x: pickle.loads(pickle.dumps(x)))
        for kind in kinds:
            for act in acts:
                again = act(kind(32))
                self.assertIs(type(again), kind)
                self.assertEqual((again.reason, str(again)), (32, str(kind(32))))

    @unittest.skipUnless(sys.platform == "linux", "between processes: Linux only")
    def test_a_named_one_opens_again(self) -> None:
        name = own_name("pickle")
        sem = Named(name)
        try:
            again = pickle.loads(pickle.dumps(sem))
            self.assertIs(type(again), Named)
            self.assertEqual(again.color, "red")
            self.assertTrue(sem.acquire(False))
            self.assertEqual(again.available, 0)
            again.release()
            self.assertRaises(TypeError, copy.copy, sem)
            self.assertRaises(TypeError, copy.deepcopy, sem)
            sem.close()
            self.assertRaises(ValueError, pickle.dumps, sem)
            again.close()
        finally:
            fairsem.SharedSemaphore.unlink(name)

    @unittest.skipUnless(sys.platform == "linux", "between processes: Linux only")
    def test_it_goes_to_processes_that_are_not_forked(self) -> None:
        name = own_name("spawn")
        sem = fairsem.SharedSemaphore(name, 1)
        try:
            for method in ("spawn", "forkserver"):
                with multiprocessing.get_context(method).Pool(1) as pool:
                    self.assertTrue(pool.apply(take_one, (sem,)))
                    with self.assertRaises(fairsem.Closed) as closed:
                        pool.apply(raise_closed, (7,))
                    with self.assertRaises(fairsem.Canceled) as canceled:
                        pool.apply(raise_canceled, (7,))
                    self.assertEqual((closed.exception.reason, canceled.exception.reason), (7, 7))
        finally:
            sem.close()
            fairsem.SharedSemaphore.unlink(name)


class Lives(unittest.TestCase):

    def used(self, one: Any) -> Iterator[Callable[[], object]]:
        yield from (lambda: one.acquire(), lambda: one.acquire(False), lambda: one.release(),
                    lambda: one.acquire(timeout=0.01), lambda: one.available, lambda: one.waiters,
                    lambda: one.stat(), lambda: one.__enter__(), lambda: one.hold().__enter__())

    def test_before_its_initialization(self) -> None:
        class Late(fairsem.Semaphore):
            def __init__(self) -> None:
                pass

        class LateShared(fairsem.SharedSemaphore):
            def __init__(self) -> None:
                pass

        class LateToken(fairsem.Token):
            def __init__(self) -> None:
                pass

        class LateShare(fairsem.Share):
            def __init__(self) -> None:
                pass

        for use in self.used(Late()):
            self.assertRaises(ValueError, use)
        self.assertRaises(ValueError, Late().close)
        self.assertRaises(ValueError, fairsem.acquire_all, (Late(), 1))
        for use in self.used(LateShared()):
            self.assertRaises(ValueError, use)
        self.assertRaises(ValueError, LateShare().charge, 1)
        self.assertRaises(ValueError, fairsem.Semaphore(1).acquire, share=LateShare())
        self.assertRaises(ValueError, LateToken().cancel)
        self.assertRaises(ValueError, lambda: LateToken().reason)
        self.assertRaises(ValueError, fairsem.Semaphore(0).acquire, timeout=1, token=LateToken())

    def test_after_its_end(self) -> None:
        token = fairsem.Token()
        token.__del__()
        token.__del__()
        self.assertRaises(ValueError, token.cancel)

    def test_a_second_initialization_is_a_new_life(self) -> None:
        sem = fairsem.Semaphore(1)
        sem.acquire()
        fairsem.Semaphore.__init__(sem, 3)
        self.assertEqual(sem.available, 3)


class Numbers(unittest.TestCase):

    def refused(self, what: Callable[..., object], *arguments: Any, **named: Any) -> None:
        self.assertRaises((OverflowError, ValueError), what, *arguments, **named)

    def test_too_large(self) -> None:
        sem, token = fairsem.Semaphore(1, capacity=4), fairsem.Token()
        for n in BIG:
            with self.subTest(n=n):
                for units in ((n,) if abs(n) > 1 << 62 else ()):
                    self.refused(sem.acquire, units=units)
                    self.refused(sem.acquire, False, units=units)
                    self.refused(sem.acquire, units=units, timeout=0.001)
                    self.refused(sem.release, units)
                    self.refused(fairsem.Semaphore, units)
                    self.refused(fairsem.Semaphore, 0, capacity=units)
                    self.refused(fairsem.acquire_all, (sem, units), timeout=0)
                    self.refused(fairsem.release_all, (sem, units))
                    self.refused(setattr, sem, "capacity", units)
                    self.refused(fairsem.Semaphore, 0, aging=units)
                self.refused(sem.close, n)
                self.refused(token.cancel, n)
                self.refused(sem.acquire, units=2, priority=n, timeout=0.001)
                self.refused(fairsem.acquire_all, (sem, 2), priority=n, timeout=0.001)
        self.assertEqual((sem.available, sem.capacity, sem.closed, token.reason), (1, 4, 0, 0))

    @unittest.skipUnless(sys.platform == "linux", "between processes: Linux only")
    def test_too_large_between_processes(self) -> None:
        sem = fairsem.SharedSemaphore(value=1)
        for n in BIG:
            with self.subTest(n=n):
                if abs(n) > 1 << 62:
                    self.refused(sem.acquire, False, units=n)
                    self.refused(sem.release, n)
                    self.refused(fairsem.SharedSemaphore, value=n)
                self.refused(fairsem.SharedSemaphore, value=1, max_waiters=n)
                self.refused(fairsem.SharedSemaphore, value=1, max_processes=n)
                self.refused(sem.acquire, units=1, priority=n)
        self.assertEqual(sem.available, 1)

    def test_no_integers(self) -> None:
        sem = fairsem.Semaphore(1, capacity=4)
        for n in NO_INT:
            with self.subTest(n=n):
                self.assertRaises(TypeError, sem.acquire, units=n)
                self.assertRaises(TypeError, sem.release, n)
                self.assertRaises(TypeError, fairsem.Semaphore, n)
                self.assertRaises(TypeError, sem.acquire, priority=n, units=2, timeout=0.001)
                self.assertRaises(TypeError, sem.close, n)
        self.assertEqual(sem.available, 1)

    def test_an_integer_of_another_kind(self) -> None:
        class Two:
            def __index__(self) -> int:
                return 2

        sem = fairsem.Semaphore(Two())
        self.assertTrue(sem.acquire(False, units=Two()))
        sem.release(Two())
        with sem.hold(Two()):
            self.assertEqual(sem.available, 0)
        self.assertEqual(sem.available, 2)


class Texts(unittest.TestCase):
    """Messages, and texts of objects."""

    def says(self, text: str, what: Callable[..., object], *arguments: Any, **named: Any) -> None:
        with self.assertRaises((OverflowError, TypeError, ValueError)) as raised:
            what(*arguments, **named)
        self.assertEqual(str(raised.exception), text)

    def test_an_error_names_the_argument(self) -> None:
        sem = fairsem.Semaphore(1, capacity=2)
        self.says("units must be >= 0", sem.acquire, units=-1)
        self.says("units must be >= 0", fairsem.acquire_all, (sem, -1))
        self.says("units must be <= the capacity", sem.acquire, units=3)
        self.says(f"units must be <= {1 << 60}", sem.acquire, units=(1 << 60) + 1)
        self.says("units must be an integer, not float", sem.acquire, units=1.0)
        self.says("priority is too large for the library: 2147483648", sem.acquire, priority=1 << 31)
        self.says("priority must be an integer, not NoneType", sem.acquire, priority=None)
        self.says("timeout must be None if blocking is false", sem.acquire, False, 1)
        self.says("n must be >= 1", sem.release, 0)
        self.says("n is too large: more units would be free than the capacity", sem.release, 2)
        self.says("reason must be an integer, not str", sem.close, "1")
        self.says("reason must not be ETIMEDOUT, which has another meaning here", sem.close, errno.ETIMEDOUT)
        self.says("value must be >= 0", fairsem.Semaphore, -1)
        self.says("value must be an integer, not str", fairsem.Semaphore, "1")
        self.says("value must be <= capacity", fairsem.Semaphore, 3, capacity=2)
        self.says("max_waiters must be >= 1", fairsem.Semaphore, 3, max_waiters=0)
        self.says("aging must be >= 0", fairsem.Semaphore, aging=-1)
        self.says("bypass must be >= 0", fairsem.Semaphore, bypass=-1)
        self.says("weight must be >= 1", fairsem.Share, 0)
        self.says("weight must be <= 65535", fairsem.Share, 65536)
        self.says("name has a null byte", fairsem.Semaphore, name="a\0b")
        self.assertEqual((sem.available, sem.closed), (1, 0))

    @unittest.skipUnless(sys.platform == "linux", "between processes: Linux only")
    def test_an_error_between_processes_names_the_argument(self) -> None:
        sem = fairsem.SharedSemaphore(value=1)
        self.says("units must be >= 0", sem.acquire, units=-1)
        self.says("units must be <= the capacity", sem.acquire, units=2)
        self.says("n must be >= 1", sem.release, 0)
        self.says("value must be >= 0", fairsem.SharedSemaphore, value=-1)
        self.says("max_waiters must be <= 4096", fairsem.SharedSemaphore, value=1, max_waiters=4097)
        self.says("mode must be an integer, not str", fairsem.SharedSemaphore, value=1, mode="600")
        self.says("max_processes must be >= 1", fairsem.SharedSemaphore, value=1, max_processes=0)
        self.says("capacity must be None if undo is true", fairsem.SharedSemaphore, value=1, capacity=1)
        self.says('name must be "/" and a file name; an old one needs the same undo and spin',
                  fairsem.SharedSemaphore, "", 1)

    def test_a_semaphore_shows_its_name_and_value(self) -> None:
        class Mine(fairsem.Semaphore):
            pass

        sem = fairsem.Semaphore(3, name="slots")
        self.assertEqual(repr(sem), f"<fairsem.Semaphore 'slots' at {id(sem):#x}: value=3>")
        self.assertRegex(repr(Mine()), r"\A<test_objects\.Texts.*\.Mine at 0x[0-9a-f]+: value=1>\Z")
        sem = Mine.__new__(Mine)
        self.assertRegex(repr(sem), r": Mine was not initialized, or has ended>\Z")

    @unittest.skipUnless(sys.platform == "linux", "between processes: Linux only")
    def test_a_semaphore_between_processes_shows_its_name_and_value(self) -> None:
        name = own_name("repr")
        sem = fairsem.SharedSemaphore(name, 2)
        fairsem.SharedSemaphore.unlink(name)
        self.assertEqual(repr(sem), f"<fairsem.SharedSemaphore '{name}' at {id(sem):#x}: value=2>")
        sem.close()
        self.assertRegex(repr(sem), ": the shared semaphore was closed, or not initialized>")

    def test_the_package_says_that_it_has_annotations(self) -> None:
        self.assertTrue(pathlib.Path(fairsem.__file__).with_name("py.typed").exists())

    def test_locked_tells_whether_an_acquire_waits(self) -> None:
        kinds: List[Union[fairsem.Semaphore, fairsem.SharedSemaphore]] = [fairsem.Semaphore(2)]
        if sys.platform == "linux":
            kinds.append(fairsem.SharedSemaphore(value=2))
        for sem in kinds:
            sem.acquire()
            self.assertEqual((sem.get_value(), sem.locked()), (1, False))
            waiter = Waiter(sem, units=2)
            await_waiters(sem, 1)
            self.assertEqual((sem.get_value(), sem.locked()), (1, True))
            sem.release()
            self.assertIs(waiter.outcome(), True)
            self.assertEqual((sem.get_value(), sem.locked()), (0, True))


class Names(unittest.TestCase):

    @unittest.skipUnless(sys.platform == "linux", "between processes: Linux only")
    def test_text_bytes_and_paths(self) -> None:
        name = own_name("kinds")
        sem = fairsem.SharedSemaphore(name, 3)
        try:
            both: Tuple[Union[bytes, pathlib.PurePosixPath], ...] = os.fsencode(name), pathlib.PurePosixPath(name)
            for same in both:
                again = fairsem.SharedSemaphore(same)
                self.assertEqual(again.available, 3)
                again.close()
            self.assertRaises(TypeError, fairsem.SharedSemaphore, 4, 3)
        finally:
            sem.close()
            fairsem.SharedSemaphore.unlink(pathlib.PurePosixPath(name))

    def test_no_name_is_cut(self) -> None:
        for name in ("/a\0b", b"/a\0b"):
            self.assertRaises(ValueError, fairsem.SharedSemaphore, name, 1)
            self.assertRaises(ValueError, fairsem.SharedSemaphore.unlink, name)
            self.assertRaises(ValueError, fairsem.Semaphore, 1, name=name)


class AsThreading(unittest.TestCase):

    def same(self, do: Callable[[Any], object]) -> None:
        def outcome(module: Any) -> object:
            try:
                return do(module)
            except Exception as error:
                return type(error)
        self.assertEqual(outcome(fairsem), outcome(threading))

    def test_the_same(self) -> None:
        for do in (lambda m: m.BoundedSemaphore(0).acquire(False),
                   lambda m: m.BoundedSemaphore(0).release(),
                   lambda m: m.Semaphore(-1),
                   lambda m: m.BoundedSemaphore(1).release(),
                   lambda m: m.Semaphore("1"),
                   lambda m: m.Semaphore(True).acquire(False)):
            self.same(do)

    def test_nobody_gets_a_unit_of_a_bounded_one_of_0(self) -> None:
        sem = fairsem.BoundedSemaphore(0)
        self.assertFalse(sem.acquire(timeout=0.01))
        self.assertEqual((sem.capacity, sem.available), (0, 0))


if __name__ == "__main__":
    unittest.main()
