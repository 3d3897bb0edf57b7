# SPDX-License-Identifier: MIT
"""Semaphores for the tasks of asyncio: a task that waits is a ticket in the library's queue, not a thread."""
from __future__ import annotations

import asyncio
import ctypes
import errno
from contextlib import asynccontextmanager
from typing import AsyncIterator, Dict, List, Optional, Set, SupportsIndex

from fairsem import Share, Token, _Bounded, _number, _OfThisProcess, _request
from fairsem import _library as c

# The semaphore of each ticket, kept alive by this dictionary.  If a task and its semaphore become garbage
# together, the semaphore could otherwise end before the ticket.
_semaphores: Dict[int, int] = {}


class Request:
    """A task that waits.  The semaphore keeps the request alive until the task is told."""

    def __init__(self, sem: AsyncSemaphore, token: Optional[Token]) -> None:
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[None] = self.loop.create_future()
        self.ticket, self.told = c.Memory(c.TICKET_SIZE), sem._told
        self.lists: List[Set[Request]] = [sem._requests] + ([] if token is None else [token._requests])
        for requests in self.lists:
            requests.add(self)

    def leave(self) -> None:
        for requests in self.lists:
            requests.discard(self)

    def tell(self) -> bool:
        """Let the task go on.  Any thread may call this.  Returns False if the loop was closed."""
        if asyncio._get_running_loop() is self.loop:
            self._go_on()       # in the loop's next round, as in asyncio
            if asyncio.current_task() is not None:
                return True
            # No task runs, so this may be a signal handler that has interrupted the loop's sleep: wake the loop.
        try:
            self.loop.call_soon_threadsafe(self._go_on)
        except RuntimeError:
            return False
        return True

    def _go_on(self) -> None:
        if not self.future.done():
            self.future.set_result(None)


def _resolved(ticket: int, request: Request) -> None:
    if request.tell():
        request.told.add(ticket)
    else:
        c.ticket_return(ticket)
    # From here on, only the loop refers to the task.  If the loop is closed before the task runs, the end of
    # the task returns the ticket.
    request.leave()


_notify = c.notify_fn(_resolved)


class AsyncSemaphore(_OfThisProcess):
    __doc__ = _OfThisProcess.__doc__

    async def acquire(self, *, units: SupportsIndex = 1, priority: SupportsIndex = 0,
                      token: Optional[Token] = None, share: Optional[Share] = None) -> bool:
        """Take units, all at once; wait in the queue while that is impossible, and let other tasks run.

        The result is True.  Requests with a lower priority come first.  A task that is canceled while it waits, as
        by asyncio.timeout(), leaves the queue; units that it was already granted go to the next waiter.

        Raises Closed, Canceled (by the token), QueueFull, and ValueError if the semaphore can never have so many.
        """
        n, priority = _number("units", units), c.number("priority", ctypes.c_int, priority)
        error = 0 if token is None else token.reason
        if error == 0:
            error = errno.EAGAIN if self._told or share is not None else self._try(n)
        if error == errno.EAGAIN:
            error = await self._wait(n, priority, token, share)
        return self._has_got(error, token)

    async def _wait(self, units: int, priority: int, token: Optional[Token], share: Optional[Share]) -> int:
        request, claimed = Request(self, token), c.fairsem_units_t()
        ticket = request.ticket.address
        _semaphores[ticket] = self._sem
        try:
            error = c.ticket_take_with(ticket, _request(self._sem, units, share), priority, _notify, request)
            if error == errno.EINPROGRESS:
                if token is None or token.reason == 0:      # read after the request was put into the token's list
                    await request.future
                error = 0
            elif error == 0:
                await asyncio.sleep(0)      # let tasks run first that were granted earlier
            error = error or c.ticket_claim(ticket, claimed)
            return token.reason if error == errno.EAGAIN and token is not None else error
        finally:
            request.leave()
            c.ticket_return(ticket)
            self._told.discard(ticket)
            del _semaphores[ticket]

    @asynccontextmanager
    async def hold(self, units: SupportsIndex = 1, *, priority: SupportsIndex = 0,
                   token: Optional[Token] = None,
                   share: Optional[Share] = None) -> AsyncIterator[AsyncSemaphore]:
        """Hold units during an async with statement."""
        n = _number("units", units)
        await self.acquire(units=n, priority=priority, token=token, share=share)
        try:
            yield self
        finally:
            self._give(n)

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(self, *exception: object) -> None:
        self.release()


class AsyncBoundedSemaphore(_Bounded, AsyncSemaphore):
    """As asyncio.BoundedSemaphore: no release can make more units free than it began with."""
