// SPDX-License-Identifier: MIT
//! A fair blocking semaphore: a unit that becomes free goes to the thread that has waited longest, and
//! nobody who comes later can take it first.
//!
//! ```
//! let slots = fairsem::Semaphore::new(4)?;
//! {
//!     let _units = slots.acquire(1)?;     // at most four threads are here
//! }
//! assert_eq!(slots.available(), 4);
//! # Ok::<(), fairsem::Error>(())
//! ```
use fairsem_sys::*;
use std::ffi::CStr;
use std::fmt;
use std::io;
use std::mem;
use std::os::raw::c_int;
use std::ptr::{self, NonNull};
use std::time::Duration;

/// Why there are no units: an errno value that the header lists for the function, or the reason that
/// was given to `close` or `cancel`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Error(c_int);

impl Error {
    pub fn errno(self) -> i32 {
        self.0
    }

    /// ETIMEDOUT is `TimedOut`, EAGAIN is `WouldBlock`.
    pub fn kind(self) -> io::ErrorKind {
        io::Error::from(self).kind()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: a static string, never NULL.
        let text = unsafe { CStr::from_ptr(fairsem_strerror(self.0)) };
        f.write_str(&text.to_string_lossy())
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        io::Error::from_raw_os_error(error.0)
    }
}

fn result(error: c_int) -> Result<(), Error> {
    if error == 0 {
        Ok(())
    } else {
        Err(Error(error))
    }
}

/// What kind of semaphore; `Options::default()` is an unbounded one.
#[derive(Clone, Copy, Default, Debug)]
pub struct Options {
    /// For those who debug.
    pub name: Option<&'static CStr>,
    /// The most units that can be free.
    pub capacity: Option<i64>,
    /// The longest queue.
    pub max_waiters: Option<i64>,
    /// Waiters sleep at once.
    pub no_spin: bool,
    /// Who has waited longer comes before better priorities.
    pub aging: Option<Duration>,
}

/// How to wait; `Wait::default()` is for ever.
#[derive(Clone, Copy, Default)]
pub struct Wait<'a> {
    pub timeout: Option<Duration>,
    /// Lower numbers come first.
    pub priority: i32,
    /// Ends the wait when it is canceled.
    pub token: Option<&'a Token>,
}

impl Wait<'_> {
    fn for_c(&self) -> fairsem_wait_t {
        fairsem_wait_t {
            clock: 0,
            deadline: ptr::null(),
            priority: self.priority,
            token: self.token.map_or(ptr::null_mut(), |token| token.0.as_ptr()),
            timeout_ns: self.timeout.map_or(0, nanoseconds),
            reserved_: [0; 4],
        }
    }
}

pub struct Semaphore(NonNull<fairsem_t>);

// SAFETY: any thread may call any function of the library at any time.
unsafe impl Send for Semaphore {}
unsafe impl Sync for Semaphore {}

impl Semaphore {
    /// An unbounded semaphore with so many free units.
    pub fn new(units: i64) -> Result<Semaphore, Error> {
        Semaphore::with(units, &Options::default())
    }

    pub fn with(units: i64, options: &Options) -> Result<Semaphore, Error> {
        let attr = fairsem_attr_t {
            name: options.name.map_or(ptr::null(), CStr::as_ptr),
            capacity: limit(options.capacity),
            max_waiters: limit(options.max_waiters),
            flags: if options.no_spin { FAIRSEM_NO_SPIN } else { 0 },
            reserved_: [0; 5],
            aging_ns: options.aging.map_or(0, nanoseconds),
            bypass_ns: 0,
        };
        let mut sem = ptr::null_mut();
        // SAFETY: the name lives as long as the program, attr as long as the call.
        result(unsafe { fairsem_new(&mut sem, units, &attr) })?;
        Ok(Semaphore(NonNull::new(sem).expect("fairsem_new returned 0")))
    }

    /// Take n units, all at once; wait in the queue while that is impossible.
    pub fn acquire(&self, n: i64) -> Result<Units<'_>, Error> {
        self.acquire_with(n, &Wait::default())
    }

    pub fn acquire_with(&self, n: i64, wait: &Wait<'_>) -> Result<Units<'_>, Error> {
        let how = wait.for_c();
        // SAFETY: the token is borrowed during the wait, and self, so nobody frees them.
        result(unsafe { fairsem_acquire_with(self.0.as_ptr(), n, &how) })?;
        Ok(Units { sem: self, n })
    }

    /// The same without a wait: EAGAIN if too few are free, or somebody waits.
    pub fn try_acquire(&self, n: i64) -> Result<Units<'_>, Error> {
        // SAFETY: self is a semaphore.
        result(unsafe { fairsem_tryacquire(self.0.as_ptr(), n) })?;
        Ok(Units { sem: self, n })
    }

    /// Make n units free that no `Units` holds: new ones, or those of `Units::forget`.
    pub fn release(&self, n: i64) -> Result<(), Error> {
        // SAFETY: as above.
        result(unsafe { fairsem_release(self.0.as_ptr(), n) })
    }

    /// All waits and all later acquires fail with `reason`; 0 stands for ESHUTDOWN.
    pub fn close(&self, reason: i32) -> Result<(), Error> {
        // SAFETY: as above.
        result(unsafe { fairsem_close(self.0.as_ptr(), reason) })
    }

    /// The free units.
    pub fn available(&self) -> i64 {
        // SAFETY: as above.
        unsafe { fairsem_available(self.0.as_ptr()) }
    }

    /// How many requests are in the queue.
    pub fn waiters(&self) -> i64 {
        // SAFETY: as above.
        unsafe { fairsem_waiters(self.0.as_ptr()) }
    }
}

/// 0 is "no limit" to the library, and less than 0 is EINVAL.
fn limit(number: Option<i64>) -> i64 {
    match number {
        None => 0,
        Some(0) => -1,
        Some(number) => number,
    }
}

/// 0 is "no timeout" to the library, and less than 0 is "only try".
fn nanoseconds(timeout: Duration) -> i64 {
    match i64::try_from(timeout.as_nanos()) {
        Ok(0) => -1,
        Ok(ns) => ns,
        Err(_) => i64::MAX,
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: who waits borrows the semaphore, so nobody does.
        unsafe { fairsem_free(self.0.as_ptr()) }
    }
}

/// Units that are held: they are released when this is dropped.
#[must_use = "the units are released when this is dropped"]
pub struct Units<'a> {
    sem: &'a Semaphore,
    n: i64,
}

impl Units<'_> {
    /// Keep the units: somebody will `release` as many.
    pub fn forget(self) -> i64 {
        let n = self.n;
        mem::forget(self);
        n
    }
}

impl Drop for Units<'_> {
    fn drop(&mut self) {
        // It fails only if units were released that nobody had taken, and then they are lost.
        let _ = self.sem.release(self.n);
    }
}

/// Take units of several semaphores, all of them or none.
///
/// ```
/// # let (files, bytes) = (fairsem::Semaphore::new(2)?, fairsem::Semaphore::new(4096)?);
/// let [_file, _memory] = fairsem::acquire_all([(&files, 1), (&bytes, 512)])?;
/// # Ok::<(), fairsem::Error>(())
/// ```
///
/// Threads that name them in different orders do not deadlock; fairsem_acquire_all(3) says what a call
/// holds while it waits.
pub fn acquire_all<'a, const N: usize>(
    requests: [(&'a Semaphore, i64); N],
) -> Result<[Units<'a>; N], Error> {
    acquire_all_with(requests, &Wait::default())
}

/// The timeout and the token are those of the whole call; the priority counts in each queue.
pub fn acquire_all_with<'a, const N: usize>(
    requests: [(&'a Semaphore, i64); N],
    wait: &Wait<'_>,
) -> Result<[Units<'a>; N], Error> {
    let all = requests.map(|(sem, units)| fairsem_request_t { sem: sem.0.as_ptr(), units });
    // SAFETY: the semaphores and the token are borrowed during the wait, so nobody frees them.
    result(unsafe { fairsem_acquire_all(all.as_ptr(), N, &wait.for_c()) })?;
    Ok(requests.map(|(sem, n)| Units { sem, n }))
}

/// A switch that ends many waits, on many semaphores.
pub struct Token(NonNull<fairsem_token_t>);

// SAFETY: any thread may cancel it at any time.
unsafe impl Send for Token {}
unsafe impl Sync for Token {}

impl Token {
    pub fn new() -> Token {
        let token = Box::into_raw(Box::new(fairsem_token_t { reserved_: [0; 128] }));
        // SAFETY: it stays where it is until it is dropped.  The call returns 0.
        unsafe { fairsem_token_init(token) };
        Token(NonNull::new(token).expect("a box"))
    }

    /// End the waits with `reason`; 0 stands for ECANCELED.
    pub fn cancel(&self, reason: i32) -> Result<(), Error> {
        // SAFETY: self is a token.
        result(unsafe { fairsem_token_cancel(self.0.as_ptr(), reason) })
    }
}

impl Default for Token {
    fn default() -> Token {
        Token::new()
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        // SAFETY: who waits borrows the token, so nobody does; it came from a box.
        unsafe {
            fairsem_token_destroy(self.0.as_ptr());
            drop(Box::from_raw(self.0.as_ptr()));
        }
    }
}
