// SPDX-License-Identifier: MIT
//! What `fairsem.h` declares, as far as the crate `fairsem` uses it.  The contract is in the header,
//! and in the manual page of each function.
#![allow(non_camel_case_types)]

use std::marker::{PhantomData, PhantomPinned};
use std::os::raw::{c_char, c_int, c_uint, c_void};

// With 32 bits, the names depend on the width of time_t: fairsem_private.h.
#[cfg(not(target_pointer_width = "64"))]
compile_error!("fairsem-sys is for 64 bits");

pub const FAIRSEM_NO_SPIN: c_uint = 2;

/// Made by `fairsem_new`: its size is the library's business.
#[repr(C)]
pub struct fairsem_t {
    private: [u8; 0],
    // Neither Send nor Sync nor Unpin: its owner decides.
    pinned: PhantomData<(*mut u8, PhantomPinned)>,
}

/// Do not move it once it is initialized.
#[repr(C, align(16))]
pub struct fairsem_token_t {
    pub reserved_: [u8; 128],
}

#[repr(C)]
pub struct fairsem_attr_t {
    pub name: *const c_char,
    pub capacity: i64,
    pub max_waiters: i64,
    pub flags: c_uint,
    pub reserved_: [c_uint; 5],
    pub aging_ns: i64,
    pub bypass_ns: i64,
}

#[repr(C)]
pub struct fairsem_wait_t {
    pub clock: c_int,
    pub deadline: *const c_void,
    pub priority: c_int,
    pub token: *mut fairsem_token_t,
    pub timeout_ns: i64,
    pub reserved_: [usize; 4],
}

#[repr(C)]
pub struct fairsem_request_t {
    pub sem: *mut fairsem_t,
    pub units: i64,
}

extern "C" {
    pub fn fairsem_new(sem: *mut *mut fairsem_t, units: i64, attr: *const fairsem_attr_t) -> c_int;
    pub fn fairsem_free(sem: *mut fairsem_t);
    pub fn fairsem_tryacquire(sem: *mut fairsem_t, n: i64) -> c_int;
    pub fn fairsem_acquire_with(sem: *mut fairsem_t, n: i64, how: *const fairsem_wait_t) -> c_int;
    pub fn fairsem_release(sem: *mut fairsem_t, n: i64) -> c_int;
    pub fn fairsem_acquire_all(
        requests: *const fairsem_request_t,
        count: usize,
        how: *const fairsem_wait_t,
    ) -> c_int;
    pub fn fairsem_close(sem: *mut fairsem_t, reason: c_int) -> c_int;
    pub fn fairsem_available(sem: *const fairsem_t) -> i64;
    pub fn fairsem_waiters(sem: *const fairsem_t) -> i64;
    pub fn fairsem_token_init(token: *mut fairsem_token_t) -> c_int;
    pub fn fairsem_token_destroy(token: *mut fairsem_token_t) -> c_int;
    pub fn fairsem_token_cancel(token: *mut fairsem_token_t, reason: c_int) -> c_int;
    pub fn fairsem_strerror(error: c_int) -> *const c_char;
}
