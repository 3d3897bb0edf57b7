# SPDX-License-Identifier: MIT
"""What a Python programmer does to an object: copy it, pickle it, use it before its time and after,
and give it numbers and names that the library cannot hold."""
import copy
import multiprocessing
import os
import pathlib
import pickle
import sys
import threading
import unittest

import fairsem

BIG = (1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, 1 << 64, (1 << 64) + 1, -(1 << 63) - 1, 10**30)
NO_INT = (1.0, "1", b"1", None, [], float("nan"))


class Holder:
    def __init__(self, inside):
        self.inside = inside


class Named(fairsem.SharedSemaphore):
    def __init__(self, name):
        super().__init__(name, 1)
        self.color = "red"


def own_name(what):
    return f"/fairsem-python-{what}-{os.getpid()}"


def take_one(sem):
    return sem.acquire(False) and not sem.acquire(False)


def raise_closed(reason):
    raise fairsem.Closed(reason)


def raise_canceled(reason):
    raise fairsem.Canceled(reason)


class Copies(unittest.TestCase):

    def test_no_object_can_be_copied_or_pickled(self):
        for one in (fairsem.Semaphore(2), fairsem.BoundedSemaphore(2), fairsem.Token(),
                    fairsem.SharedSemaphore(value=2)):
            for act in (copy.copy, copy.deepcopy, pickle.dumps,
                        lambda x: pickle.dumps(x, 0), lambda x: copy.deepcopy([x]),
                        lambda x: copy.deepcopy(Holder(x)), lambda x: pickle.dumps(Holder(x))):
                with self.subTest(one=type(one).__name__), self.assertRaises(TypeError):
                    act(one)

    def test_exceptions_survive_pickle_with_their_reason(self):
        for kind in (fairsem.Closed, fairsem.Canceled):
            for act in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
                again = act(kind(32))
                self.assertIs(type(again), kind)
                self.assertEqual((again.reason, str(again)), (32, str(kind(32))))

    @unittest.skipUnless(sys.platform == "linux", "between processes: Linux only")
    def test_a_named_one_opens_again(self):
        name = own_name("pickle")
        sem = Named(name)
        try:
            again = pickle.loads(pickle.dumps(sem))
            self.assertIs(type(again), Named)
            self.assertEqual(again.color, "red")
            self.assertTrue(sem.acquire(False))
            self.assertEqual(again.available, 0)
            again.release()
            for act in (copy.copy, copy.deepcopy):
                self.assertRaises(TypeError, act, sem)
            sem.close()
            self.assertRaises(ValueError, pickle.dumps, sem)
            again.close()
        finally:
            fairsem.SharedSemaphore.unlink(name)

    @unittest.skipUnless(sys.platform == "linux", "between processes: Linux only")
    def test_it_goes_to_processes_that_are_not_forked(self):
        name = own_name("spawn")
        sem = fairsem.SharedSemaphore(name, 1)
        try:
            for method in ("spawn", "forkserver"):
                with multiprocessing.get_context(method).Pool(1) as pool:
                    self.assertTrue(pool.apply(take_one, (sem,)))
                    for raises, kind in ((raise_closed, fairsem.Closed),
                                         (raise_canceled, fairsem.Canceled)):
                        with self.assertRaises(kind) as caught:
                            pool.apply(raises, (7,))
                        self.assertEqual(caught.exception.reason, 7)
        finally:
            sem.close()
            fairsem.SharedSemaphore.unlink(name)


class Lives(unittest.TestCase):

    def used(self, one):
        yield from (lambda: one.acquire(), lambda: one.acquire(False), lambda: one.release(),
                    lambda: one.acquire(timeout=0.01), lambda: one.available, lambda: one.waiters,
                    lambda: one.stat(), lambda: one.__enter__(), lambda: one.hold().__enter__())

    def test_before_its_initialization(self):
        class Late(fairsem.Semaphore):
            def __init__(self):
                pass

        class LateShared(fairsem.SharedSemaphore):
            def __init__(self):
                pass

        class LateToken(fairsem.Token):
            def __init__(self):
                pass

        for use in self.used(Late()):
            self.assertRaises(ValueError, use)
        self.assertRaises(ValueError, Late().close)
        self.assertRaises(ValueError, fairsem.acquire_all, (Late(), 1))
        for use in self.used(LateShared()):
            self.assertRaises(ValueError, use)
        self.assertRaises(ValueError, LateToken().cancel)
        self.assertRaises(ValueError, lambda: LateToken().reason)
        self.assertRaises(ValueError, fairsem.Semaphore(0).acquire, timeout=1, token=LateToken())

    def test_after_its_end(self):
        sem, token = fairsem.Semaphore(1), fairsem.Token()
        sem.__del__()
        sem.__del__()
        token.__del__()
        for use in self.used(sem):
            self.assertRaises(ValueError, use)
        self.assertRaises(ValueError, token.cancel)

    def test_a_second_initialization_is_a_new_life(self):
        sem = fairsem.Semaphore(1)
        sem.acquire()
        sem.__init__(3)
        self.assertEqual(sem.available, 3)


class Numbers(unittest.TestCase):

    def refused(self, what, *arguments, **named):
        self.assertRaises((OverflowError, ValueError), what, *arguments, **named)

    def test_too_large(self):
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
    def test_too_large_between_processes(self):
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

    def test_no_integers(self):
        sem = fairsem.Semaphore(1, capacity=4)
        for n in NO_INT:
            with self.subTest(n=n):
                self.assertRaises(TypeError, sem.acquire, units=n)
                self.assertRaises(TypeError, sem.release, n)
                self.assertRaises(TypeError, fairsem.Semaphore, n)
                self.assertRaises(TypeError, sem.acquire, priority=n, units=2, timeout=0.001)
                self.assertRaises(TypeError, sem.close, n)
        self.assertEqual(sem.available, 1)

    def test_an_integer_of_another_kind(self):
        class Two:
            def __index__(self):
                return 2

        sem = fairsem.Semaphore(Two())
        self.assertTrue(sem.acquire(False, units=Two()))
        sem.release(Two())
        self.assertEqual(sem.available, 2)


class Names(unittest.TestCase):

    @unittest.skipUnless(sys.platform == "linux", "between processes: Linux only")
    def test_text_bytes_and_paths(self):
        name = own_name("kinds")
        sem = fairsem.SharedSemaphore(name, 3)
        try:
            for same in (os.fsencode(name), pathlib.PurePosixPath(name)):
                again = fairsem.SharedSemaphore(same)
                self.assertEqual(again.available, 3)
                again.close()
            self.assertRaises(TypeError, fairsem.SharedSemaphore, 4, 3)
        finally:
            sem.close()
            fairsem.SharedSemaphore.unlink(pathlib.PurePosixPath(name))

    def test_no_name_is_cut(self):
        for name in ("/a\0b", b"/a\0b"):
            self.assertRaises(ValueError, fairsem.SharedSemaphore, name, 1)
            self.assertRaises(ValueError, fairsem.SharedSemaphore.unlink, name)
            self.assertRaises(ValueError, fairsem.Semaphore, 1, name=name)


class AsThreading(unittest.TestCase):

    def same(self, do):
        def outcome(module):
            try:
                return do(module)
            except Exception as error:
                return type(error)
        self.assertEqual(outcome(fairsem), outcome(threading))

    def test_the_same(self):
        for do in (lambda m: m.BoundedSemaphore(0).acquire(False),
                   lambda m: m.BoundedSemaphore(0).release(),
                   lambda m: m.Semaphore(0).release(0),
                   lambda m: m.Semaphore(0).release(-1),
                   lambda m: m.Semaphore(-1),
                   lambda m: m.BoundedSemaphore(1).release(),
                   lambda m: m.Semaphore("1"),
                   lambda m: m.Semaphore(True).acquire(False)):
            self.same(do)

    def test_nobody_gets_a_unit_of_a_bounded_one_of_0(self):
        sem = fairsem.BoundedSemaphore(0)
        self.assertFalse(sem.acquire(timeout=0.01))
        self.assertEqual((sem.capacity, sem.available), (0, 0))


if __name__ == "__main__":
    unittest.main()
