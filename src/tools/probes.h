/* SPDX-License-Identifier: MIT */
/*
 * probes.h - the static probes (USDT) of the provider `fairsem`, for tracers.
 *
 * A probe is an instruction that does nothing, and a note in the object file that says where the
 * instruction and its arguments are.  perf, bpftrace, gdb and SystemTap read the note.  The arguments
 * are values that the code has anyway, so a probe that nobody reads costs only its instruction.
 *
 * Probes fire where the statistics are counted, under the mutex, for the same waits: a request that is
 * granted at once is not a wait.  The probe for the end of a wait fires in the thread that ends the
 * wait.  So semaphore and sequence number identify a waiter.
 *
 * doc/tracing.md documents the probes for users; tests/release/debug/probes.sh compares that page with
 * this file.
 */
#ifndef FS_PROBES_H
#define FS_PROBES_H

#include <stddef.h>
#include <stdint.h>

#if !defined(FS_HAS_PROBES)
#define FS_HAS_PROBES 0         /* <sys/sdt.h>; configure looks for it */
#endif

#if FS_HAS_PROBES
#if UINTPTR_MAX < UINT64_MAX
/* Memory or constants: a 64-bit number needs two registers, and a note can name only one. */
#define STAP_SDT_ARG_CONSTRAINT no
#endif
#include <sys/sdt.h>
#if defined(__clang__)                  /* macros of <sys/sdt.h> are called without arguments for `...` */
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#endif
/* An operand in memory must be a variable. */
#define FS_VARIABLE(name, value) __extension__ __auto_type name = (value)
#define FS_PROBE3(name, a, b, c)                                                    \
    do {                                                                            \
        FS_VARIABLE(a_, a); FS_VARIABLE(b_, b); FS_VARIABLE(c_, c);                 \
        STAP_PROBE3(fairsem, name, a_, b_, c_);                                     \
    } while (0)
#define FS_PROBE4(name, a, b, c, d)                                                 \
    do {                                                                            \
        FS_VARIABLE(a_, a); FS_VARIABLE(b_, b); FS_VARIABLE(c_, c);                 \
        FS_VARIABLE(d_, d);                                                         \
        STAP_PROBE4(fairsem, name, a_, b_, c_, d_);                                 \
    } while (0)
#define FS_PROBE5(name, a, b, c, d, e)                                              \
    do {                                                                            \
        FS_VARIABLE(a_, a); FS_VARIABLE(b_, b); FS_VARIABLE(c_, c);                 \
        FS_VARIABLE(d_, d); FS_VARIABLE(e_, e);                                     \
        STAP_PROBE5(fairsem, name, a_, b_, c_, d_, e_);                             \
    } while (0)
#define FS_PROBE6(name, a, b, c, d, e, f)                                           \
    do {                                                                            \
        FS_VARIABLE(a_, a); FS_VARIABLE(b_, b); FS_VARIABLE(c_, c);                 \
        FS_VARIABLE(d_, d); FS_VARIABLE(e_, e); FS_VARIABLE(f_, f);                 \
        STAP_PROBE6(fairsem, name, a_, b_, c_, d_, e_, f_);                         \
    } while (0)
#else
#define FS_PROBE3(name, a, b, c)          ((void)(a), (void)(b), (void)(c))
#define FS_PROBE4(name, a, b, c, d)       (FS_PROBE3(name, a, b, c), (void)(d))
#define FS_PROBE5(name, a, b, c, d, e)    (FS_PROBE4(name, a, b, c, d), (void)(e))
#define FS_PROBE6(name, a, b, c, d, e, f) (FS_PROBE5(name, a, b, c, d, e), (void)(f))
#endif

/*
 * Load a string, so that its page is in memory.  A tracer cannot load a page: to a tracer, a string in a
 * page that was never accessed is empty.
 */
static inline void fs_probe_text(const char *text)
{
    if (FS_HAS_PROBES && text != NULL)
        (void)*(const volatile char *)text;
}

/* ---- Probes of a fairsem_t; the name may be NULL ---- */

#define fs_probe_wait_begin(sem, name, units, seq, priority) \
    FS_PROBE5(wait_begin, sem, name, units, seq, priority)

#define fs_probe_grant(sem, name, units, seq, waited_ns) \
    FS_PROBE5(grant, sem, name, units, seq, waited_ns)

/*
 * Fires before `grant` if the queue has flows.  client: the share of the flow, or NULL.  start: the
 * flow's start tag, in steps of 2^-20.
 */
#define fs_probe_share(sem, name, seq, client, weight, start) \
    FS_PROBE6(share, sem, name, seq, client, weight, start)

/* A request has become the front because it has aged, before requests of better priorities. */
#define fs_probe_aged(sem, name, units, seq, waited_ns) \
    FS_PROBE5(aged, sem, name, units, seq, waited_ns)

#define fs_probe_timeout(sem, name, units, seq, waited_ns) \
    FS_PROBE5(timeout, sem, name, units, seq, waited_ns)

/* `why` is a text, because the number of the reason may be gone with the waiter (I8). */
#define fs_probe_cancel(sem, name, units, seq, waited_ns, why) \
    do { fs_probe_text(why); FS_PROBE6(cancel, sem, name, units, seq, waited_ns, why); } while (0)

/* Fires before the waits end. */
#define fs_probe_close(sem, name, reason) \
    FS_PROBE3(close, sem, name, reason)

/* `room`: the number of units that could have been released. */
#define fs_probe_over_release(sem, name, units, room) \
    FS_PROBE4(over_release, sem, name, units, room)

/* ---- Probes between processes: with a handle, and the inode number of the segment's file ---- */

#define fs_probe_shared_wait_begin(handle, inode, units, seq, priority) \
    FS_PROBE5(shared_wait_begin, handle, inode, units, seq, priority)

/* `pid`: the process that is granted the units. */
#define fs_probe_shared_grant(handle, inode, units, seq, waited_ns, pid) \
    FS_PROBE6(shared_grant, handle, inode, units, seq, waited_ns, pid)

#define fs_probe_shared_timeout(handle, inode, units, seq, waited_ns) \
    FS_PROBE5(shared_timeout, handle, inode, units, seq, waited_ns)

#define fs_probe_shared_cancel(handle, inode, units, seq, waited_ns) \
    FS_PROBE5(shared_cancel, handle, inode, units, seq, waited_ns)

/*
 * Units of a dead process become free.  Fires for each granted request of the process, and once for the
 * units that the process held.
 */
#define fs_probe_shared_returned(handle, inode, units, pid) \
    FS_PROBE4(shared_returned, handle, inode, units, pid)

#endif
