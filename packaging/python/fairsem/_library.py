# SPDX-License-Identifier: MIT
"""libfairsem, and the parts of fairsem.h and fairsem/shared.h that the package uses."""
from __future__ import annotations

import ctypes
import operator
import os
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p, py_object
from typing import Any, Callable, NamedTuple, Optional, SupportsIndex, Tuple, Union

MAX_UNITS = 1 << 60
MAX_WEIGHT = 65535
NO_SPIN, BOUNDED_BYPASS = 2, 4
WAIT_BUCKETS = 28
SHARED_NO_UNDO, SHARED_NO_SPIN = 1, 2
SHARED_MAX = 4096
# The oldest version that has fairsem_new().
OLDEST = 10100

# ---- Numbers and names.  ctypes would cut a number to its C type, and C would cut a name at a null byte: check both.


def number(what: str, kind: Any, value: SupportsIndex) -> int:
    """The value as an int that the C type can hold.  Raises TypeError for other types, such as a float."""
    try:
        result = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} must be an integer, not {type(value).__name__}") from None
    if kind(result).value != result:
        raise OverflowError(f"{what} is too large for the library: {result}")
    return result


Name = Union[str, bytes, "os.PathLike[str]"]


def name(value: Optional[Name]) -> Optional[bytes]:
    """A name as bytes for C; None if there is no name."""
    if value is None:
        return None
    value = os.fsencode(value)
    if b"\0" in value:
        raise ValueError("name has a null byte")
    return value


class _Struct(ctypes.Structure):

    def __init__(self, **fields: object) -> None:
        super().__init__()
        for field, value in fields.items():
            setattr(self, field, value)

    def __setattr__(self, field: str, value: Any) -> None:
        fields: Any = self._fields_
        kind = dict(fields)[field]
        if kind in (c_int, c_int64, c_uint):
            value = number(field, kind, value)
        super().__setattr__(field, value)


class Stat(NamedTuple):
    """The figures of one moment, see fairsem_stat(3); times are in nanoseconds."""

    available: int
    capacity: int
    waiters: int
    waiting_units: int
    oldest_wait_ns: int
    waits: int
    grants: int
    timeouts: int
    cancels: int
    wait_ns_total: int
    wait_ns_max: int
    waiters_max: int
    refused: int
    over_releases: int
    aged: int
    shares: int


class SharedStat(NamedTuple):
    """The figures of one moment, see fairsem_shared_stat(3); times are in nanoseconds."""

    available: int
    capacity: int
    held: int
    mine: int
    processes: int
    max_processes: int
    waiters: int
    max_waiters: int
    waiting_units: int
    oldest_wait_ns: int
    waits: int
    grants: int
    timeouts: int
    cancels: int
    lost: int
    wait_ns_total: int
    wait_ns_max: int
    waiters_max: int
    refused: int
    over_releases: int
    deaths: int
    returned: int
    repairs: int
    initial_units: int
    aged: int


# The structs have the names of the headers; tests/test_layout.py compares their members.


class fairsem_attr_t(_Struct):
    _fields_ = [("name", c_char_p), ("capacity", c_int64), ("max_waiters", c_int64),
                ("flags", c_uint), ("reserved_", c_uint * 5), ("aging_ns", c_int64),
                ("bypass_ns", c_int64)]


class fairsem_wait_t(_Struct):
    _fields_ = [("clock", c_int), ("deadline", c_void_p), ("priority", c_int),
                ("token", c_void_p), ("timeout_ns", c_int64), ("share", c_void_p),
                ("share_weight", c_uint32), ("share_key", c_uint64)]
    if ctypes.sizeof(c_void_p) > 4:
        _fields_.append(("reserved_", c_void_p * 1))


class fairsem_units_t(ctypes.Structure):
    _fields_ = [("sem", c_void_p), ("n", c_int64)]


class fairsem_request_t(_Struct):
    _fields_ = [("sem", c_void_p), ("units", c_int64), ("share", c_void_p)]


class fairsem_stat_t(ctypes.Structure):
    _fields_ = [(name, c_int64) for name in Stat._fields] + [("reserved_", c_int64 * 4)]


class fairsem_shared_attr_t(_Struct):
    _fields_ = [("units", c_int64), ("capacity", c_int64), ("max_waiters", c_int),
                ("max_processes", c_int), ("flags", c_uint), ("reserved1_", c_uint),
                ("aging_ns", c_int64), ("reserved_", c_uint * 5)]


class fairsem_shared_stat_t(ctypes.Structure):
    _fields_ = [(name, c_int64) for name in SharedStat._fields] + [("reserved_", c_int64 * 7)]


TOKEN_SIZE = TICKET_SIZE = 128
SHARE_SIZE = 64
ALIGNMENT = 16


class Memory:
    """`size` bytes, all zero, at an address that is aligned as the library's types are."""

    def __init__(self, size: int) -> None:
        self._bytes = ctypes.create_string_buffer(size + ALIGNMENT)
        self.address = (ctypes.addressof(self._bytes) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def _load() -> Tuple[ctypes.CDLL, ctypes.PyDLL]:
    name = os.environ.get("FAIRSEM_LIBRARY", "libfairsem.so.0")
    try:
        # Other Python threads can run during a call through the CDLL, but not during a call through the PyDLL.
        return ctypes.CDLL(name), ctypes.PyDLL(name)
    except OSError as error:
        raise ImportError(f"the library fairsem is not installed: {error}; FAIRSEM_LIBRARY can say "
                          f"where it is") from None


_waiting, _quick = _load()


def _function(library: ctypes.CDLL, name: str, *arguments: Any, result: Any = c_int) -> Callable[..., int]:
    # On a 32-bit system with a 64-bit time_t the name ends with _time64, see fairsem_private.h.
    function: Any = getattr(library, name, None) or getattr(library, name + "_time64")
    function.argtypes = arguments
    function.restype = result
    return function     # type: ignore[no-any-return]


# The callback of a ticket.  It needs the interpreter's lock, so a function that waits for the end of the
# callback, such as ticket_return, must be called through _waiting.
notify_fn = ctypes.CFUNCTYPE(None, c_void_p, py_object)

# These functions may wait.
acquire_with = _function(_waiting, "fairsem_acquire_with", c_void_p, c_int64,
                         POINTER(fairsem_wait_t))
acquire_all = _function(_waiting, "fairsem_acquire_all", POINTER(fairsem_request_t), c_size_t,
                        POINTER(fairsem_wait_t))
ticket_wait = _function(_waiting, "fairsem_ticket_wait", c_void_p, POINTER(fairsem_wait_t))
ticket_return = _function(_waiting, "fairsem_ticket_return", c_void_p)
shared_acquire_with = _function(_waiting, "fairsem_shared_acquire_with", c_void_p, c_int64,
                                POINTER(fairsem_wait_t))
shared_open = _function(_waiting, "fairsem_shared_open", POINTER(c_void_p), c_char_p, c_int,
                        c_uint, POINTER(fairsem_shared_attr_t))
shared_close = _function(_waiting, "fairsem_shared_close", c_void_p)
shared_unlink = _function(_waiting, "fairsem_shared_unlink", c_char_p)
shared_release = _function(_waiting, "fairsem_shared_release", c_void_p, c_int64)
shared_tryacquire = _function(_waiting, "fairsem_shared_tryacquire", c_void_p, c_int64)
shared_available = _function(_waiting, "fairsem_shared_available", c_void_p, result=c_int64)
shared_waiters = _function(_waiting, "fairsem_shared_waiters", c_void_p, result=c_int64)
shared_stat = _function(_waiting, "fairsem_shared_stat", c_void_p, POINTER(fairsem_shared_stat_t))

# These functions take less time than a switch of Python threads.
version = _function(_quick, "fairsem_version")
_strerror = _quick.fairsem_strerror
_strerror.restype = c_char_p
if version() < OLDEST:
    raise ImportError(f"libfairsem is too old: {version()} is before {OLDEST}")
new = _function(_quick, "fairsem_new", POINTER(c_void_p), c_int64, POINTER(fairsem_attr_t))
free = _function(_quick, "fairsem_free", c_void_p, result=None)
tryacquire = _function(_quick, "fairsem_tryacquire", c_void_p, c_int64)
release = _function(_quick, "fairsem_release", c_void_p, c_int64)
release_all = _function(_quick, "fairsem_release_all", POINTER(fairsem_request_t), c_size_t)
available = _function(_quick, "fairsem_available", c_void_p, result=c_int64)
waiters = _function(_quick, "fairsem_waiters", c_void_p, result=c_int64)
capacity = _function(_quick, "fairsem_capacity", c_void_p, result=c_int64)
set_capacity = _function(_quick, "fairsem_set_capacity", c_void_p, c_int64)
close = _function(_quick, "fairsem_close", c_void_p, c_int)
closed = _function(_quick, "fairsem_closed", c_void_p)
stat = _function(_quick, "fairsem_stat", c_void_p, POINTER(fairsem_stat_t))
stat_histogram = _function(_quick, "fairsem_stat_histogram", c_void_p, c_void_p)
token_init = _function(_quick, "fairsem_token_init", c_void_p)
token_destroy = _function(_quick, "fairsem_token_destroy", c_void_p)
token_cancel = _function(_quick, "fairsem_token_cancel", c_void_p, c_int)
token_reason = _function(_quick, "fairsem_token_reason", c_void_p)
share_init = _function(_quick, "fairsem_share_init", c_void_p, c_uint)
share_destroy = _function(_quick, "fairsem_share_destroy", c_void_p)
share_charge = _function(_quick, "fairsem_share_charge", c_void_p, c_int64)
ticket_take_with = _function(_quick, "fairsem_ticket_take_with", c_void_p, POINTER(fairsem_request_t), c_int,
                             c_void_p, py_object)
ticket_claim = _function(_quick, "fairsem_ticket_claim", c_void_p, POINTER(fairsem_units_t))
units_release = _function(_quick, "fairsem_units_release", POINTER(fairsem_units_t))


def strerror(error: int) -> str:
    return str(_strerror(error), "utf-8")
