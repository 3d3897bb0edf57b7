# SPDX-License-Identifier: MIT
"""A fair semaphore: a unit that becomes free goes to the thread that has waited longest, and nobody
who comes later can take it first.

    import fairsem

    slots = fairsem.Semaphore(4)
    with slots:
        ...                             # at most four threads are here
    with slots.hold(3, timeout=2):      # TimeoutError after two seconds
        ...
    with slots.hold(share=tenant):      # a Share: units go round between the tenants
        ...

Semaphore and BoundedSemaphore can stand where threading's do, AsyncSemaphore and
AsyncBoundedSemaphore where asyncio's do.  SharedSemaphore is one between processes.  The manual
page of a function of the library, for instance fairsem_acquire(3), says more.
"""
from __future__ import annotations

import ctypes
import errno
import math
import os
import threading
import time
from contextlib import contextmanager
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Set, SupportsIndex, Tuple,
                    Type, TypeVar, Union)

from fairsem import _library as c
from fairsem._library import SharedStat, Stat

if TYPE_CHECKING:
    from fairsem.aio import AsyncBoundedSemaphore, AsyncSemaphore, Request
else:
    def __getattr__(name):
        """Import asyncio, which takes three times as long as the rest, only for a program that uses it."""
        if name in ("AsyncBoundedSemaphore", "AsyncSemaphore"):
            from fairsem import aio
            return getattr(aio, name)
        raise AttributeError(f"module 'fairsem' has no attribute {name!r}")

__all__ = ["AsyncBoundedSemaphore", "AsyncSemaphore", "BoundedSemaphore", "Canceled", "Closed", "QueueFull",
           "Semaphore", "Share", "SharedSemaphore", "SharedStat", "Stat", "Token", "acquire_all", "hold_all",
           "release_all"]
__version__ = "1.1.0"

_This = TypeVar("_This", bound="_Acquires")
_Own = TypeVar("_Own", bound="_OfThisProcess")


class _Ended(RuntimeError):

    def __init__(self, reason: int) -> None:
        super().__init__(reason)    # pickle makes the exception again from this argument
        self.reason = reason

    def __str__(self) -> str:
        return c.strerror(self.reason)


class Closed(_Ended):
    """The semaphore was closed, before the wait or during it, for `reason`."""


class Canceled(_Ended):
    """The token was canceled, before the wait or during it, for `reason`."""


class QueueFull(RuntimeError):
    """As many requests wait as max_waiters allows."""


class _NotThere:
    """Stands for an attribute before __init__ has made it, and after the object's end."""

    def __get__(self, instance: object, owner: object = None) -> Any:
        if instance is None:
            return self
        raise ValueError(f"{type(instance).__name__} was not initialized, or has ended")


class _OneOfAKind:
    """An object of the library cannot be copied: there would be two owners of one address."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        raise TypeError(f"cannot copy or pickle a {type(self).__name__}")


# The longest delay of Python's signal handlers, and so of Ctrl-C, while the main thread waits; in seconds.
_SLICE = 0.05
# A time-out that never ends in practice.
_FOR_EVER_NS = 1 << 62


def _within(what: str, value: float, least: int = 0, most: int = c.MAX_UNITS) -> None:
    if value < least:
        raise ValueError(f"{what} must be >= {least}")
    if value > most:
        raise ValueError(f"{what} must be <= {most}")


def _number(what: str, value: SupportsIndex, least: int = 0, most: int = c.MAX_UNITS) -> int:
    number = c.number(what, ctypes.c_int64, value)
    _within(what, number, least, most)
    return number


def _nanoseconds(what: str, seconds: float) -> int:
    _within(what, seconds)
    return int(seconds * 1e9)


def _exception(error: int) -> Exception:
    if error == errno.E2BIG:
        return ValueError("units must be <= the capacity")
    if error == errno.EOVERFLOW:
        return ValueError("n is too large: more units would be free than the capacity")
    text = c.strerror(error)
    if error == errno.EINVAL:
        return ValueError(text)
    if error == errno.ENOMEM:
        return MemoryError(text)
    if error == errno.ENOBUFS:
        return QueueFull(text)
    return OSError(error, text)


def _check(error: int) -> None:
    if error != 0:
        raise _exception(error)


def _must_serve_signals(timeout: Optional[float]) -> bool:
    """Is this a wait in the main thread, in which Python runs signal handlers between steps of the interpreter?"""
    may_wait = timeout is None or timeout > 0
    return may_wait and threading.get_ident() == threading.main_thread().ident


def _reason(reason: SupportsIndex) -> int:
    reason = c.number("reason", ctypes.c_int, reason)
    if reason in (errno.EAGAIN, errno.EINPROGRESS, errno.ETIMEDOUT):
        raise ValueError(f"reason must not be {errno.errorcode[reason]}, which has another meaning here")
    return reason


def _how(timeout: Optional[float], priority: int, token: Optional[Token],
         share: Optional[Share] = None) -> c.fairsem_wait_t:
    """A fairsem_wait_t.  A timeout of None waits for ever; a timeout of 0 or less only tries."""
    how = c.fairsem_wait_t(priority=priority)
    if timeout is not None:
        how.timeout_ns = -1 if timeout <= 0 else math.ceil(min(timeout * 1e9, _FOR_EVER_NS))
    if token is not None:
        how.token = token._memory.address
    if share is not None:
        how.share = share._struct.address
    return how


def _request(sem: int, units: int, share: Optional[Share]) -> c.fairsem_request_t:
    request = c.fairsem_request_t(sem=sem, units=units)
    if share is not None:
        request.share = share._struct.address
    return request


def _wait_beside(wait: Callable[[Token], int], give_back: Callable[[], None],
                 token: Optional[Token]) -> int:
    """Run wait(end) in another thread, and signal handlers in this thread.  Returns the result of wait()."""
    end = Token()
    results: List[int] = []
    over = threading.Event()

    def run() -> None:
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
        # A handler has raised: the caller does not learn that it has units, so give them back.
        end.cancel()
        while waits.ident is None and waits in threading.enumerate():
            time.sleep(0.001)       # the exception came in the middle of start()
        # Not join(): in CPython 3.11, after an interrupted join() the next join() returns at once.
        if waits.ident is not None:
            over.wait()
        if results == [0]:
            give_back()
        raise
    return results[0]


class Token(_OneOfAKind):
    """A switch that ends many waits, on many semaphores: pass it to their acquires."""

    _memory = _NotThere()

    def __init__(self) -> None:
        memory = c.Memory(c.TOKEN_SIZE)
        _check(c.token_init(memory.address))
        self._memory = memory
        self._requests: Set[Request] = set()    # of tasks

    def __del__(self, destroy: Callable[..., int] = c.token_destroy) -> None:
        # No wait uses the token any longer: a wait holds a reference to it.
        memory = self.__dict__.pop("_memory", None)
        if memory is not None:
            destroy(memory.address)

    def cancel(self, reason: SupportsIndex = 0) -> bool:
        """End the waits with Canceled, for this reason; 0 stands for ECANCELED.  The result is False if the
        token was canceled already: then its first reason stays."""
        error = c.token_cancel(self._memory.address, _reason(reason))
        if error not in (0, errno.EALREADY):
            raise _exception(error)
        for request in list(self._requests):
            request.tell()
        return error == 0

    @property
    def reason(self) -> int:
        """The reason that cancel() was given; 0 if the token is not canceled."""
        return c.token_reason(self._memory.address)


class Share(_OneOfAKind):
    """One client's share of a semaphore: pass it to the acquires of its requests.  While several shares have
    requests in the queue, units go round between them in proportion to the weights, 1 to 65535.

    A share is for one semaphore at a time, which has neither bypass nor aging; otherwise an acquire raises
    ValueError.  All requests without a share have one share together, of weight 1.  fairsem_share_init(3) says
    more.
    """

    _struct = _NotThere()

    def __init__(self, weight: SupportsIndex = 1) -> None:
        weight = _number("weight", weight, 1, c.MAX_WEIGHT)
        before = self.__dict__.get("_struct")
        if before is not None:      # a second __init__: no request may use the share
            _check(c.share_destroy(before.address))
        memory = c.Memory(c.SHARE_SIZE)
        _check(c.share_init(memory.address, weight))
        self._struct = memory

    def charge(self, n: SupportsIndex) -> None:
        """Count n units more in the share's next grant, or fewer if n < 0: for work larger than its request."""
        _check(c.share_charge(self._struct.address, _number("n", n, -c.MAX_UNITS)))


class _Semaphore(_OneOfAKind):
    """The common part of all semaphores.  _try() returns an errno value."""

    _name: Optional[c.Name] = None

    @property
    def available(self) -> int:
        raise NotImplementedError

    @property
    def waiters(self) -> int:
        raise NotImplementedError

    def _try(self, units: int) -> int:
        raise NotImplementedError

    def _closed_for(self) -> int:
        raise NotImplementedError

    def _give(self, n: int) -> None:
        raise NotImplementedError

    def release(self, n: SupportsIndex = 1) -> None:
        raise NotImplementedError

    def _has_got(self, error: int, token: Optional[Token]) -> bool:
        """The result of an acquire: True, False if the time is over, or an exception."""
        if error == 0:
            return True
        if token is not None and error == token.reason:
            raise Canceled(error)
        if error == self._closed_for():
            raise Closed(error)
        if error in (errno.EAGAIN, errno.ETIMEDOUT):
            return False
        raise _exception(error)

    def get_value(self) -> int:
        """The free units, like `available`; multiprocessing has this name."""
        return self.available

    def locked(self) -> bool:
        """Would an acquire of one unit have to wait at this moment?"""
        return self.available < 1 or self.waiters > 0

    def __repr__(self) -> str:
        kind, name = type(self), "" if self._name is None else f" {os.fsdecode(self._name)!r}"
        try:
            value = f"value={self.available}"
        except (OSError, ValueError) as error:      # the semaphore has ended, or is damaged
            value = str(error)
        return f"<{kind.__module__}.{kind.__qualname__}{name} at {id(self):#x}: {value}>"


class _Acquires(_Semaphore):
    """The acquires of threads."""

    def _wait(self, units: int, timeout: Optional[float], priority: int, token: Optional[Token],
              share: Optional[Share]) -> int:
        raise NotImplementedError

    def _acquire(self, units: Any, timeout: Optional[float], priority: Any, token: Optional[Token],
                 share: Optional[Share]) -> bool:
        if units.__class__ is not int or units >> 60:
            units = _number("units", units)
        if priority.__class__ is not int or priority >> 31 not in (0, -1):
            priority = c.number("priority", ctypes.c_int, priority)
        plain = token is None and share is None
        error = self._try(units) if plain else errno.EAGAIN
        if error == errno.EAGAIN and (timeout is None or timeout > 0 or not plain):
            error = self._wait(units, timeout, priority, token, share)
        return error == 0 or self._has_got(error, token)

    def acquire(self, blocking: bool = True, timeout: Optional[float] = None, *, units: SupportsIndex = 1,
                priority: SupportsIndex = 0, token: Optional[Token] = None,
                share: Optional[Share] = None) -> bool:
        """Take units, all at once; wait in the queue while that is impossible.

        The result is False if the units did not come within `timeout` seconds.  With blocking=False, it is False
        if too few units are free or another request waits.  Requests with a lower priority come first.
        A SharedSemaphore has no shares: ValueError.

        Raises Closed, Canceled, QueueFull, and ValueError if the semaphore can never have so many.
        """
        if not blocking:
            if timeout is not None:
                raise ValueError("timeout must be None if blocking is false")
            timeout = 0
        return self._acquire(units, timeout, priority, token, share)

    @contextmanager
    def hold(self: _This, units: SupportsIndex = 1, *, timeout: Optional[float] = None,
             priority: SupportsIndex = 0, token: Optional[Token] = None,
             share: Optional[Share] = None) -> Iterator[_This]:
        """Hold units during a with statement.  Like acquire(), but TimeoutError stands for False."""
        n = _number("units", units)
        if not self._acquire(n, timeout, priority, token, share):
            raise TimeoutError(c.strerror(errno.ETIMEDOUT))
        try:
            yield self
        finally:
            self._give(n)

    def __enter__(self) -> bool:
        return self._acquire(1, None, 0, None, None)

    def __exit__(self, *exception: object) -> None:
        self.release()


class _Handle(int):
    """The address of a semaphore of the library.  The semaphore ends with the last reference to this object.  Then
    nobody waits any longer, because each wait has a reference."""

    def __del__(self, free: Callable[..., int] = c.free) -> None:
        free(self)


class _OfThisProcess(_Semaphore):
    """A semaphore of one process, with `value` free units.

    capacity     the most units that can be free: a release beyond it raises ValueError; None: unbounded
    name         a name for debuggers
    max_waiters  the longest queue; None: no limit
    spin         may a waiter stay awake for a moment, if that pays off?
    bypass       in seconds: running threads may pass a request that has waited for less
    aging        in seconds: a request that has waited longer comes first, whatever the priorities
    """

    _sem = _NotThere()

    def __init__(self, value: SupportsIndex = 1, *, capacity: Optional[SupportsIndex] = None,
                 name: Optional[c.Name] = None, max_waiters: Optional[SupportsIndex] = None, spin: bool = True,
                 bypass: Optional[float] = None, aging: Optional[float] = None) -> None:
        self._name = c.name(name)
        attr = c.fairsem_attr_t(name=self._name)
        free = _number("value", value)
        if capacity is not None:
            attr.capacity = _number("capacity", capacity)
            if free > attr.capacity:
                raise ValueError("value must be <= capacity")
        if max_waiters is not None:
            attr.max_waiters = _number("max_waiters", max_waiters, 1)
        if not spin:
            attr.flags |= c.NO_SPIN
        if bypass is not None:
            attr.flags |= c.BOUNDED_BYPASS
            attr.bypass_ns = _nanoseconds("bypass", bypass)
        if aging is not None:
            attr.aging_ns = _nanoseconds("aging", aging)
        # To fairsem_new(), a capacity of 0 means unbounded.  BoundedSemaphore(0) must be bounded, as in
        # threading: begin with a capacity of 1 and one unit, then lower the capacity to 0, which removes the
        # unit.
        paused = capacity is not None and attr.capacity == 0
        if paused:
            free = attr.capacity = 1
        created = ctypes.c_void_p()
        _check(c.new(created, free, attr))
        self._sem = _Handle(created.value or 0)
        self._requests: Set[Request] = set()    # of tasks
        self._told: Set[int] = set()            # tickets of tasks that have been told but have not run yet
        if paused:
            self.capacity = 0

    @classmethod
    def of(cls: Type[_Own], other: _OfThisProcess) -> _Own:
        """Another object for the same semaphore: Semaphore.of() for threads, AsyncSemaphore.of() for tasks.
        Threads and tasks wait in one queue."""
        sem = cls.__new__(cls)
        sem._name, sem._sem, sem._requests, sem._told = other._name, other._sem, other._requests, other._told
        return sem

    def _try(self, units: int) -> int:
        return c.tryacquire(self._sem, units)

    def _closed_for(self) -> int:
        return c.closed(self._sem)

    def release(self, n: Any = 1) -> None:
        """Give n units back, at least one: the oldest waiters get them."""
        if n.__class__ is not int or n < 1 or n >> 60:
            n = _number("n", n, 1)
        error = c.release(self._sem, n)
        if error != 0:
            raise _exception(error)

    def _give(self, n: int) -> None:
        _check(c.release(self._sem, n))

    def close(self, reason: SupportsIndex = 0) -> bool:
        """All waits and all later acquires raise Closed, for this reason; 0 stands for ESHUTDOWN.  The result is
        False if the semaphore was closed already: then its first reason stays."""
        error = c.close(self._sem, _reason(reason))
        if error not in (0, errno.EALREADY):
            raise _exception(error)
        return error == 0

    @property
    def closed(self) -> int:
        """The reason that close() was given; 0 if the semaphore is open."""
        return c.closed(self._sem)

    @property
    def capacity(self) -> Optional[int]:
        """The most units that can be free, or None if unbounded.  At 0, every request waits: a pause."""
        capacity = c.capacity(self._sem)
        return None if capacity < 0 else capacity

    @capacity.setter
    def capacity(self, capacity: SupportsIndex) -> None:
        _check(c.set_capacity(self._sem, _number("capacity", capacity)))

    @property
    def available(self) -> int:
        """The free units; a negative number is a debt, which a smaller capacity has made."""
        return c.available(self._sem)

    @property
    def waiters(self) -> int:
        """How many requests are in the queue."""
        return c.waiters(self._sem)

    def stat(self) -> Stat:
        """A Stat: figures of one moment."""
        stat = c.fairsem_stat_t()
        _check(c.stat(self._sem, stat))
        return Stat(*(getattr(stat, field) for field in Stat._fields))


class Semaphore(_OfThisProcess, _Acquires):
    __doc__ = _OfThisProcess.__doc__

    def histogram(self) -> List[int]:
        """The waits that have ended, by length.  Item i of the list counts the waits that were longer than 2**(i-1)
        and at most 2**i microseconds.  The first item counts waits of at most 1, the last all longer waits."""
        counts = (ctypes.c_uint64 * c.WAIT_BUCKETS)()
        _check(c.stat_histogram(self._sem, counts))
        return list(counts)

    def _wait(self, units: int, timeout: Optional[float], priority: int, token: Optional[Token],
              share: Optional[Share]) -> int:
        if _must_serve_signals(timeout):
            return self._wait_for_signals(units, timeout, priority, token, share)
        return c.acquire_with(self._sem, units, _how(timeout, priority, token, share))

    def _wait_for_signals(self, units: int, timeout: Optional[float], priority: int, token: Optional[Token],
                          share: Optional[Share]) -> int:
        """Wait in slices; signal handlers run between slices.  A ticket keeps the place in the queue."""
        if token is not None and token.reason != 0:
            return token.reason
        deadline = None if timeout is None else time.monotonic() + timeout
        ticket = c.Memory(c.TICKET_SIZE)
        claimed = c.fairsem_units_t()
        try:
            error = c.ticket_take_with(ticket.address, _request(self._sem, units, share), priority, None, None)
            while error in (errno.EINPROGRESS, errno.ETIMEDOUT):
                left = _SLICE if deadline is None else min(_SLICE, deadline - time.monotonic())
                error = c.ticket_wait(ticket.address, _how(left, 0, token))
                if error == errno.ETIMEDOUT and left < _SLICE:
                    return error
            return error or c.ticket_claim(ticket.address, claimed)
        except BaseException:
            # A handler has raised: the caller does not learn that it has units, so give them back.
            c.units_release(claimed)
            raise
        finally:
            c.ticket_return(ticket.address)


# One request: the semaphore, the number of units, and the share.
_One = Union[Tuple[Semaphore, SupportsIndex], Tuple[Semaphore, SupportsIndex, Optional[Share]]]


def _requests(requests: Tuple[_One, ...]) -> Tuple[List[Semaphore], Any]:
    """The semaphores of the requests, and the requests as an array for C."""
    def request(sem: Semaphore, units: SupportsIndex, share: Optional[Share] = None) -> c.fairsem_request_t:
        if not isinstance(sem, Semaphore):
            raise TypeError(f"{type(sem).__name__} is no semaphore of one process")
        return _request(sem._sem, _number("units", units), share)

    array = (c.fairsem_request_t * len(requests))(*(request(*one) for one in requests))
    return [one[0] for one in requests], array


def acquire_all(*requests: _One, timeout: Optional[float] = None, priority: int = 0,
                token: Optional[Token] = None) -> bool:
    """Take units of several semaphores, all of them or none: acquire_all((files, 1), (bytes, size)).
    A request may have a share: (files, 1, tenant).

    Threads that name the semaphores in different orders do not deadlock; fairsem_acquire_all(3) says
    what a call holds while it waits.  The result is False if the time is over.  Raises what
    Semaphore.acquire() raises.
    """
    sems, array = _requests(requests)

    def wait(how: c.fairsem_wait_t) -> int:
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


def release_all(*requests: _One) -> None:
    """Give units of several semaphores back.  If a semaphore refuses its units, the others still get theirs."""
    sems, array = _requests(requests)
    error = c.release_all(array, len(sems))
    if error != 0:
        raise _exception(error)


@contextmanager
def hold_all(*requests: _One, timeout: Optional[float] = None, priority: int = 0,
             token: Optional[Token] = None) -> Iterator[None]:
    """Hold units of several semaphores during a with statement.  Like acquire_all(), but TimeoutError stands
    for False."""
    if not acquire_all(*requests, timeout=timeout, priority=priority, token=token):
        raise TimeoutError(c.strerror(errno.ETIMEDOUT))
    try:
        yield
    finally:
        release_all(*requests)


class _Bounded(_OfThisProcess):

    def __init__(self, value: SupportsIndex = 1, *, name: Optional[c.Name] = None,
                 max_waiters: Optional[SupportsIndex] = None, spin: bool = True,
                 bypass: Optional[float] = None, aging: Optional[float] = None) -> None:
        super().__init__(value, capacity=value, name=name, max_waiters=max_waiters, spin=spin, bypass=bypass,
                         aging=aging)


class BoundedSemaphore(_Bounded, Semaphore):
    """As threading.BoundedSemaphore: no release can make more units free than it began with."""


class SharedSemaphore(_Acquires):
    """A semaphore between processes.  The units of a process that dies are given back.

    name           "/" and a file name; None: only for the children of this process, by os.fork()
    value          its units: a new semaphore begins with them, an existing one must have begun with as
                   many; None: the semaphore must exist
    exclusive      True: the semaphore must not exist yet
    undo           False: any process may release any units, and a death gives no units back
    capacity       with undo=False, the most units that can be free; None: unbounded
    max_waiters    the longest queue, of all processes; None: 256
    max_processes  the most processes that can have the semaphore open; None: 64
    aging          in seconds: a request that has waited longer comes first, whatever the priorities
    mode           the mode of a new file
    """

    _handle: Optional[int] = None

    def __init__(self, name: Optional[c.Name] = None, value: Optional[SupportsIndex] = None, *,
                 exclusive: bool = False, undo: bool = True, capacity: Optional[SupportsIndex] = None,
                 max_waiters: Optional[SupportsIndex] = None, max_processes: Optional[SupportsIndex] = None,
                 spin: bool = True, aging: Optional[float] = None, mode: int = 0o600) -> None:
        flags = 0 if undo else c.SHARED_NO_UNDO
        if not spin:
            flags |= c.SHARED_NO_SPIN
        attr = c.fairsem_shared_attr_t(flags=flags)
        if value is not None:
            attr.units = _number("value", value)
        if capacity is not None:
            attr.capacity = _number("capacity", capacity, 1)
            if undo:
                raise ValueError("capacity must be None if undo is true")
        if max_waiters is not None:
            attr.max_waiters = _number("max_waiters", max_waiters, 1, c.SHARED_MAX)
        if max_processes is not None:
            attr.max_processes = _number("max_processes", max_processes, 1, c.SHARED_MAX)
        if aging is not None:
            attr.aging_ns = _nanoseconds("aging", aging)
        oflag = os.O_CREAT if value is not None and name is not None else 0
        if exclusive:
            oflag |= os.O_EXCL
        handle = ctypes.c_void_p()
        error = c.shared_open(handle, c.name(name), oflag, c.number("mode", ctypes.c_uint, mode), attr)
        if error == errno.EINVAL:
            raise ValueError('name must be "/" and a file name; an old one needs the same undo and spin')
        _check(error)
        SharedSemaphore.__del__(self)       # a second __init__
        self._name = name
        self._handle = handle.value
        if value is not None:
            made = self.stat().initial_units
            if attr.units != made:
                self.close()
                raise ValueError(f"value must be {made}: {os.fsdecode(name or '')!r} was made with as many")

    def __del__(self, close: Callable[..., int] = c.shared_close) -> None:
        handle = self.__dict__.pop("_handle", None)
        if handle is not None:
            close(handle)

    def __copy__(self) -> Any:
        return _OneOfAKind.__reduce_ex__(self, 0)

    def __deepcopy__(self, memo: Dict[int, Any]) -> Any:
        return self.__copy__()

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """For the children of multiprocessing: a child opens the name, which must still exist."""
        self._open()
        if self._name is None:
            return super().__reduce_ex__(protocol)
        rest = {key: value for key, value in self.__dict__.items() if key != "_handle"}
        return _opened_again, (type(self), self._name), rest

    @staticmethod
    def unlink(name: c.Name) -> None:
        """Remove a name.  Processes that have the semaphore open can go on using it."""
        _check(c.shared_unlink(c.name(name)))

    def close(self) -> None:
        """Close this object, which can no longer be used.  When this process has closed the semaphore as often
        as it has opened it, the process's units are given back."""
        handle, self._handle = self._open(), None
        error = c.shared_close(handle)
        if error != 0:
            self._handle = handle
            raise _exception(error)

    def _open(self) -> int:
        if self._handle is None:
            raise ValueError("the shared semaphore was closed, or not initialized")
        return self._handle

    def _closed_for(self) -> int:
        return 0

    def _try(self, units: int) -> int:
        return c.shared_tryacquire(self._open(), units)

    def _wait(self, units: int, timeout: Optional[float], priority: int, token: Optional[Token],
              share: Optional[Share]) -> int:
        if share is None and _must_serve_signals(timeout):
            return self._wait_for_signals(units, timeout, priority, token)
        return c.shared_acquire_with(self._open(), units, _how(timeout, priority, token, share))

    def _wait_for_signals(self, units: int, timeout: Optional[float], priority: int,
                          token: Optional[Token]) -> int:
        """Wait in another thread: between processes there are no tickets that keep a place in the queue."""
        handle = self._open()
        return _wait_beside(
            lambda end: c.shared_acquire_with(handle, units, _how(timeout, priority, end)),
            lambda: self._give(units), token)

    def release(self, n: SupportsIndex = 1) -> None:
        """Give n units back, at least one: the oldest waiters get them, in any process."""
        self._give(_number("n", n, 1))

    def _give(self, n: int) -> None:
        _check(c.shared_release(self._open(), n))

    @property
    def available(self) -> int:
        """The free units."""
        return self._count(c.shared_available(self._open()))

    @property
    def waiters(self) -> int:
        """How many requests of all processes are in the queue."""
        return self._count(c.shared_waiters(self._open()))

    def _count(self, count: int) -> int:
        if count < 0:
            self.stat()     # raises the reason
        return count

    def stat(self) -> SharedStat:
        """A SharedStat: figures of one moment."""
        stat = c.fairsem_shared_stat_t()
        _check(c.shared_stat(self._open(), stat))
        return SharedStat(*(getattr(stat, field) for field in SharedStat._fields))


def _opened_again(kind: Type[SharedSemaphore], name: c.Name) -> SharedSemaphore:
    """Called by pickle.  It calls __init__ of SharedSemaphore, since a subclass may have another __init__."""
    sem = kind.__new__(kind)
    SharedSemaphore.__init__(sem, name)
    return sem
