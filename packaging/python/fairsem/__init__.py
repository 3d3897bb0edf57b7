# SPDX-License-Identifier: MIT
"""A fair semaphore: a unit that becomes free goes to the thread that has waited longest, and nobody
who comes later can take it first.

    import fairsem

    slots = fairsem.Semaphore(4)
    with slots:
        ...                             # at most four threads are here
    with slots.hold(3, timeout=2):      # TimeoutError after two seconds
        ...

Semaphore and BoundedSemaphore can stand where threading's do.  SharedSemaphore is one between
processes.  The manual page of a function of the library, for instance fairsem_acquire(3), says more.
"""
import ctypes
import errno
import math
import os
import threading
import time
from collections import namedtuple
from contextlib import contextmanager

from fairsem import _library as c

__all__ = ["BoundedSemaphore", "Canceled", "Closed", "QueueFull", "Semaphore", "SharedSemaphore",
           "SharedStat", "Stat", "Token", "acquire_all", "hold_all", "release_all"]


class Closed(RuntimeError):
    """The semaphore was closed, before the wait or during it, for `reason`."""

    def __init__(self, reason):
        super().__init__(reason)    # what pickle makes it again from
        self.reason = reason

    def __str__(self):
        return _text(self.reason)


class Canceled(RuntimeError):
    """The token was canceled, before the wait or during it, for `reason`."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason

    def __str__(self):
        return _text(self.reason)


class QueueFull(RuntimeError):
    """As many wait as may."""


class _NotThere:
    """In place of what __init__ makes, before it and after the object's end."""

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        raise ValueError(f"{type(instance).__name__} was not initialized, or has ended")


class _OneOfAKind:
    """An object of the library cannot be copied: there would be two owners of one address."""

    def __reduce_ex__(self, protocol):
        raise TypeError(f"cannot copy or pickle a {type(self).__name__}")


def _struct(name, fields):
    names = [field for field, _ in fields if field != "reserved_"]
    kind = namedtuple(name, names)
    kind.__doc__ = "The figures of one moment, see fairsem_stat(3); times are in nanoseconds."
    kind._of = classmethod(lambda cls, stat: cls(*(getattr(stat, field) for field in names)))
    return kind


Stat = _struct("Stat", c.fairsem_stat_t._fields_)
SharedStat = _struct("SharedStat", c.fairsem_shared_stat_t._fields_)

# A signal handler of Python, and so Ctrl-C, runs at most so much later, in seconds, than the signal
# comes while the main thread waits.
_SLICE = 0.05
# As if there were no end.
_FOR_EVER_NS = 1 << 62


def _text(error):
    return c.strerror(error).decode()


def _exception(error):
    if error in (errno.EINVAL, errno.E2BIG, errno.EOVERFLOW):
        return ValueError(_text(error))
    if error == errno.ENOMEM:
        return MemoryError(_text(error))
    if error == errno.ENOBUFS:
        return QueueFull(_text(error))
    return OSError(error, _text(error))


def _check(error):
    if error != 0:
        raise _exception(error)


def _must_serve_signals(timeout):
    """Python runs signal handlers in the main thread, between two steps of the interpreter."""
    may_wait = timeout is None or timeout > 0
    return may_wait and threading.get_ident() == threading.main_thread().ident


def _reason(reason):
    if reason in (errno.EAGAIN, errno.EINPROGRESS, errno.ETIMEDOUT):
        raise ValueError(f"{errno.errorcode[reason]} has another meaning here")
    return reason


def _how(timeout, priority, token):
    """A fairsem_wait_t; a timeout of None is for ever, one of 0 or less only tries."""
    how = c.fairsem_wait_t(priority=priority)
    if timeout is not None:
        how.timeout_ns = -1 if timeout <= 0 else math.ceil(min(timeout * 1e9, _FOR_EVER_NS))
    if token is not None:
        how.token = token._memory.address
    return how


def _wait_beside(wait, give_back, token):
    """The result of wait(end) in another thread, while handlers run in this one."""
    end = Token()
    results = []
    over = threading.Event()

    def run():
        try:
            results.append(wait(end))
        finally:
            over.set()

    waits = threading.Thread(target=run, daemon=True)
    try:
        waits.start()
        while not over.wait(_SLICE):
            if token is not None and token.reason != 0:
                end.cancel(token.reason)
    except BaseException:
        # A handler's exception: the caller does not get to know that it has units.
        end.cancel()
        while waits.ident is None and waits in threading.enumerate():
            time.sleep(0.001)       # it came in the middle of the start
        # Not join(): in CPython 3.11, one that was interrupted lets the next return at once.
        if waits.ident is not None:
            over.wait()
        if results == [0]:
            give_back()
        raise
    return results[0]


class Token(_OneOfAKind):
    """A switch that ends many waits, on many semaphores: pass it to their acquires."""

    _memory = _NotThere()

    def __init__(self):
        memory = c.Memory(c.TOKEN_SIZE)
        _check(c.token_init(memory.address))
        self._memory = memory

    def __del__(self, destroy=c.token_destroy):
        # A wait would hold the token.
        memory = self.__dict__.pop("_memory", None)
        if memory is not None:
            destroy(memory.address)

    def cancel(self, reason=0):
        """End the waits with Canceled.  The result is False if there is a reason already, which
        stays; 0 stands for ECANCELED."""
        error = c.token_cancel(self._memory.address, _reason(reason))
        if error not in (0, errno.EALREADY):
            raise _exception(error)
        return error == 0

    @property
    def reason(self):
        """What cancel() was given; 0 if the token is not canceled."""
        return c.token_reason(self._memory.address)


class _Acquires(_OneOfAKind):
    """What the two semaphores have in common.  They have _try and _wait, which return an errno
    value, _closed_for, _give and release()."""

    def _acquire(self, units, timeout, priority, token):
        """True, or False if the time is over."""
        if units.__class__ is not int or units >> 62:
            units = c.number(c.i64, units)
        if priority.__class__ is not int or priority >> 31 not in (0, -1):
            priority = c.number(c.i32, priority)
        error = self._try(units) if token is None else errno.EAGAIN
        if error == errno.EAGAIN and (timeout is None or timeout > 0 or token is not None):
            error = self._wait(units, timeout, priority, token)
        if error == 0:
            return True
        if token is not None and error == token.reason:
            raise Canceled(error)
        if error == self._closed_for():
            raise Closed(error)
        if error in (errno.EAGAIN, errno.ETIMEDOUT):
            return False
        raise _exception(error)

    def acquire(self, blocking=True, timeout=None, *, units=1, priority=0, token=None):
        """Take units, all at once; wait in the queue while that is impossible.

        The result is False if the time is over, `timeout` in seconds, or if blocking is False and
        too few units are free, or somebody waits.  Requests with a lower priority come first.

        Raises Closed, Canceled, QueueFull, and ValueError if the semaphore can never have so many.
        """
        if not blocking:
            if timeout is not None:
                raise ValueError("a timeout needs blocking")
            timeout = 0
        return self._acquire(units, timeout, priority, token)

    @contextmanager
    def hold(self, units=1, *, timeout=None, priority=0, token=None):
        """Hold units during a with statement.  As acquire(), but TimeoutError in place of False."""
        if not self._acquire(units, timeout, priority, token):
            raise TimeoutError(_text(errno.ETIMEDOUT))
        try:
            yield self
        finally:
            self._give(units)

    def __enter__(self):
        return self._acquire(1, None, 0, None)

    def __exit__(self, *exception):
        self.release()


class Semaphore(_Acquires):
    """A semaphore of one process, with so many free units.

    capacity     the most that can be free: a release too many raises ValueError; None: unbounded
    name         for those who debug
    max_waiters  the longest queue; None: no limit
    spin         may a waiter stay awake for a moment, if that pays?
    bypass       in seconds: running threads may pass those that have waited for less
    aging        in seconds: who has waited longer comes before better priorities
    """

    _sem = _NotThere()

    def __init__(self, value=1, *, capacity=None, name=None, max_waiters=None, spin=True,
                 bypass=None, aging=None):
        self._name = c.name(name)
        attr = c.fairsem_attr_t(name=self._name)
        if capacity is not None:
            # The library takes 0 for none.  BoundedSemaphore(0) has one, as in threading: its unit goes.
            attr.capacity = max(_at_least(0, "capacity", capacity), 1)
        if max_waiters is not None:
            attr.max_waiters = _at_least(1, "max_waiters", max_waiters)
        if not spin:
            attr.flags |= c.NO_SPIN
        if bypass is not None:
            attr.flags |= c.BOUNDED_BYPASS
            attr.bypass_ns = int(bypass * 1e9)
        if aging is not None:
            attr.aging_ns = int(aging * 1e9)
        if capacity == 0 and value != 0:
            raise ValueError("more units than the capacity")
        created = ctypes.c_void_p()
        _check(c.new(created, 1 if capacity == 0 else value, attr))
        if "_sem" in self.__dict__:     # a second __init__, as of threading's
            Semaphore.__del__(self)
        self._sem = created.value
        if capacity == 0:
            _check(c.set_capacity(self._sem, 0))

    def __del__(self, free=c.free):
        # Nobody waits: a wait would hold the semaphore.
        free(self.__dict__.pop("_sem", None))

    def _try(self, units):
        return c.tryacquire(self._sem, units)

    def _closed_for(self):
        return c.closed(self._sem)

    def _wait(self, units, timeout, priority, token):
        if _must_serve_signals(timeout):
            return self._wait_for_signals(units, timeout, priority, token)
        return c.acquire_with(self._sem, units, _how(timeout, priority, token))

    def _wait_for_signals(self, units, timeout, priority, token):
        """Wait in slices, between which handlers run.  A ticket keeps the place in the queue."""
        if token is not None and token.reason != 0:
            return token.reason
        deadline = None if timeout is None else time.monotonic() + timeout
        ticket = c.Memory(c.TICKET_SIZE)
        claimed = c.fairsem_units_t()
        try:
            error = c.ticket_take(ticket.address, self._sem, units, priority, None, None)
            while error in (errno.EINPROGRESS, errno.ETIMEDOUT):
                left = _SLICE if deadline is None else min(_SLICE, deadline - time.monotonic())
                error = c.ticket_wait(ticket.address, _how(left, 0, token))
                if error == errno.ETIMEDOUT and left < _SLICE:
                    return error
            return error or c.ticket_claim(ticket.address, claimed)
        except BaseException:
            # A handler's exception: the caller does not get to know that it has units.
            c.units_release(claimed)
            raise
        finally:
            c.ticket_return(ticket.address)

    def release(self, n=1):
        """Give n units back, at least one: the oldest waiters get them."""
        if n.__class__ is not int or n < 1 or n >> 62:
            n = _at_least(1, "n", c.number(c.i64, n))
        error = c.release(self._sem, n)
        if error != 0:
            raise _exception(error)

    def _give(self, n):
        _check(c.release(self._sem, n))

    def close(self, reason=0):
        """All waits and all later acquires raise Closed.  The result is False if there is a reason
        already, which stays; 0 stands for ESHUTDOWN."""
        error = c.close(self._sem, _reason(reason))
        if error not in (0, errno.EALREADY):
            raise _exception(error)
        return error == 0

    @property
    def closed(self):
        """What close() was given; 0 if the semaphore is open."""
        return c.closed(self._sem)

    @property
    def capacity(self):
        """The most units that can be free, None if that is unbounded; 0 is a pause."""
        capacity = c.capacity(self._sem)
        return None if capacity < 0 else capacity

    @capacity.setter
    def capacity(self, capacity):
        _check(c.set_capacity(self._sem, capacity))

    @property
    def available(self):
        """The free units; < 0: a smaller capacity has made a debt."""
        return c.available(self._sem)

    @property
    def waiters(self):
        """How many requests are in the queue."""
        return c.waiters(self._sem)

    def stat(self):
        """A Stat: figures of one moment."""
        stat = c.fairsem_stat_t()
        _check(c.stat(self._sem, stat))
        return Stat._of(stat)


def _requests(requests):
    """The semaphores, and an array of C."""
    requests = list(requests)
    sems = [sem for sem, _ in requests]
    for sem in sems:
        if not isinstance(sem, Semaphore):
            raise TypeError(f"{type(sem).__name__} is no semaphore of one process")
    return sems, (c.fairsem_request_t * len(sems))(
        *(c.fairsem_request_t(sem=sem._sem, units=n) for sem, n in requests))


def acquire_all(*requests, timeout=None, priority=0, token=None):
    """Take units of several semaphores, all of them or none: acquire_all((files, 1), (bytes, size)).

    Threads that name them in different orders do not deadlock; fairsem_acquire_all(3) says what a
    call holds while it waits.  The result is False if the time is over.  Raises what
    Semaphore.acquire() raises.
    """
    sems, array = _requests(requests)

    def wait(how):
        return c.acquire_all(array, len(sems), how)

    if _must_serve_signals(timeout):
        error = wait(_how(0, priority, token))
        if error == errno.ETIMEDOUT:
            error = _wait_beside(lambda end: wait(_how(timeout, priority, end)),
                                 lambda: release_all(*requests), token)
    else:
        error = wait(_how(timeout, priority, token))
    if error == 0:
        return True
    if token is not None and error == token.reason:
        raise Canceled(error)
    if any(error == sem.closed for sem in sems):
        raise Closed(error)
    if error == errno.ETIMEDOUT:
        return False
    raise _exception(error)


def release_all(*requests):
    """Give units of several semaphores back; one that refuses keeps none of the others."""
    sems, array = _requests(requests)
    error = c.release_all(array, len(sems))
    if error != 0:
        raise _exception(error)


@contextmanager
def hold_all(*requests, timeout=None, priority=0, token=None):
    """Hold units of several semaphores during a with statement.  As acquire_all(), but TimeoutError
    in place of False."""
    if not acquire_all(*requests, timeout=timeout, priority=priority, token=token):
        raise TimeoutError(_text(errno.ETIMEDOUT))
    try:
        yield
    finally:
        release_all(*requests)


def _at_least(least, what, number):
    if number < least:
        raise ValueError(f"{what} must be at least {least}")
    return number


class BoundedSemaphore(Semaphore):
    """As threading.BoundedSemaphore: it has no more units than it began with."""

    def __init__(self, value=1, **options):
        super().__init__(value, capacity=value, **options)


class SharedSemaphore(_Acquires):
    """A semaphore between processes.  A process that dies takes no units along.

    name           "/" and a file name; None: for the children of this process, by os.fork()
    value          free units, if it is made; None: it must exist
    exclusive      it must not exist
    undo           False: any process may release any units, and they survive the one that took them
    capacity       with undo=False, the most that can be free; None: unbounded
    max_waiters    in all processes; None: 256
    max_processes  that can have it open; None: 64
    aging          in seconds: who has waited longer comes before better priorities
    mode           of the file, if it is made
    """

    _handle = None
    _name = None

    def __init__(self, name=None, value=None, *, exclusive=False, undo=True, capacity=None,
                 max_waiters=None, max_processes=None, spin=True, aging=None, mode=0o600):
        flags = 0 if undo else c.SHARED_NO_UNDO
        if not spin:
            flags |= c.SHARED_NO_SPIN
        attr = c.fairsem_shared_attr_t(
            units=0 if value is None else value, flags=flags,
            capacity=0 if capacity is None else _at_least(1, "capacity", capacity),
            max_waiters=0 if max_waiters is None else _at_least(1, "max_waiters", max_waiters),
            max_processes=0 if max_processes is None
            else _at_least(1, "max_processes", max_processes),
            aging_ns=0 if aging is None else int(aging * 1e9))
        oflag = os.O_CREAT if value is not None and name is not None else 0
        if exclusive:
            oflag |= os.O_EXCL
        handle = ctypes.c_void_p()
        _check(c.shared_open(handle, c.name(name), oflag, mode, attr))
        SharedSemaphore.__del__(self)       # a second __init__
        self._name = name
        self._handle = handle.value

    def __del__(self, close=c.shared_close):
        handle = self.__dict__.pop("_handle", None)
        if handle is not None:
            close(handle)

    def __copy__(self):
        return _OneOfAKind.__reduce_ex__(self, 0)

    def __deepcopy__(self, memo):
        return self.__copy__()

    def __reduce_ex__(self, protocol):
        """For the children of multiprocessing: they open the name, which must still exist."""
        self._open()
        if self._name is None:
            return super().__reduce_ex__(protocol)
        rest = {key: value for key, value in self.__dict__.items() if key != "_handle"}
        return _opened_again, (type(self), self._name), rest

    @staticmethod
    def unlink(name):
        """Remove a name.  Who has the semaphore open may go on."""
        _check(c.shared_unlink(c.name(name)))

    def close(self):
        """This process gives its units back, unless it has opened the name more than once, and
        can use the object no more."""
        handle, self._handle = self._open(), None
        error = c.shared_close(handle)
        if error != 0:
            self._handle = handle
            raise _exception(error)

    def _open(self):
        if self._handle is None:
            raise ValueError("the shared semaphore was closed, or not initialized")
        return self._handle

    def _closed_for(self):
        return 0

    def _try(self, units):
        return c.shared_tryacquire(self._open(), units)

    def _wait(self, units, timeout, priority, token):
        if _must_serve_signals(timeout):
            return self._wait_for_signals(units, timeout, priority, token)
        return c.shared_acquire_with(self._open(), units, _how(timeout, priority, token))

    def _wait_for_signals(self, units, timeout, priority, token):
        """There are no tickets between processes: another thread keeps the place in the queue."""
        handle = self._open()
        return _wait_beside(
            lambda end: c.shared_acquire_with(handle, units, _how(timeout, priority, end)),
            lambda: self._give(units), token)

    def release(self, n=1):
        """Give n units back, at least one: the oldest waiters get them, in whatever process they
        are."""
        self._give(_at_least(1, "n", c.number(c.i64, n)))

    def _give(self, n):
        _check(c.shared_release(self._open(), n))

    @property
    def available(self):
        """The free units."""
        return self._count(c.shared_available(self._open()))

    @property
    def waiters(self):
        """How many requests are in the queue, of all processes."""
        return self._count(c.shared_waiters(self._open()))

    def _count(self, count):
        if count < 0:
            self.stat()     # raises the reason
        return count

    def stat(self):
        """A SharedStat: figures of one moment."""
        stat = c.fairsem_shared_stat_t()
        _check(c.shared_stat(self._open(), stat))
        return SharedStat._of(stat)


def _opened_again(kind, name):
    """What pickle calls.  A subclass may have another __init__."""
    sem = kind.__new__(kind)
    SharedSemaphore.__init__(sem, name)
    return sem
