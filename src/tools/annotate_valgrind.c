/* SPDX-License-Identifier: MIT */
/*
 * annotate_valgrind.c - wrappers of the public functions, for helgrind and DRD; see annotate.h.
 *
 * Valgrind redirects every call of a function NAME to _vgw00000ZU_Za_NAME, if some object has that
 * symbol ("Za": whichever object NAME is in).  Only valgrind calls the wrappers.  Under another tool,
 * such as memcheck, a wrapper only passes the call on.  The wrappers are exported so that valgrind
 * finds them in a stripped library.  A program linked statically and stripped hides them from valgrind.
 *
 * The tools do not understand how the library shares its own memory, so they must not check that
 * memory.  DRD can be told not to check a thread for a while.  helgrind can only be told not to check
 * some memory: semaphores, tokens, shares and tickets, and the waits on the stacks.  Both tools still check
 * all mutexes, the program's own data, and callbacks.
 *
 * 64 bits only: a wrapper passes machine words.
 */
#include "tools/annotate_valgrind.h"

#if defined(FS_WEAK) && !defined(FS_INSTRUMENTED)
bool fs_under_valgrind;
#endif

#if FS_HAS_VALGRIND && !defined(FS_INSTRUMENTED)

#include "fairsem.h"

#include <stdatomic.h>
#include <stdint.h>

#define CONTENDED INT64_C(1)    /* FS_CONTENDED of a semaphore's word, which FAIRSEM_WATCHED_ sets */

#include <valgrind/drd.h>
#include <valgrind/helgrind.h>

static bool under_helgrind, under_drd;  /* written when the library is loaded */
static _Thread_local struct fs_ignored mine;

bool fs_valgrind_watches(void)
{
    /* -2 means that helgrind does not run. */
    under_helgrind = (int)VALGRIND_HG_GET_ABITS(&mine, NULL, 1) != -2;
    under_drd = DRD_GET_VALGRIND_THREADID != 0;
    return under_helgrind || under_drd;
}

/* Both tools understand ANNOTATE_HAPPENS_BEFORE and ANNOTATE_HAPPENS_AFTER. */
void fs_valgrind_before(const void *object)
{
    ANNOTATE_HAPPENS_BEFORE(object);
}

void fs_valgrind_after(const void *object)
{
    ANNOTATE_HAPPENS_AFTER(object);
}

static void ignore_object(const void *object, size_t size)
{
    if (under_helgrind)
        VALGRIND_HG_DISABLE_CHECKING(object, size);
}

/*
 * A waker may pass a word to futex() after the word's thread is gone: see park_futex.c.  To the tools,
 * the system call is a load of the word.
 */
void fs_ignore_word(const void *word)
{
    ignore_object(word, sizeof(int));
}

/* The library calls this function, too: a wrapper sees only arguments, not a share inside a struct. */
void fs_ignore_share(const void *share)
{
    ignore_object(share, sizeof(fairsem_share_t));
}

static void heed_object(const void *object, size_t size)
{
    if (under_helgrind)
        VALGRIND_HG_ENABLE_CHECKING(object, size);
}

void fs_ignore_wait(const void *wait, size_t size)
{
    mine.wait = wait;
    mine.size = size;
    ignore_object(wait, size);
}

/*
 * Tell DRD whether to check this thread's loads and stores.  (helgrind.h redefines DRD's macros
 * for this purpose.)
 */
static void drd_looks(bool yes)
{
    VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_RECORD_LOADS, yes, 0, 0, 0, 0);
    VALGRIND_DO_CLIENT_REQUEST_STMT(VG_USERREQ__DRD_RECORD_STORES, yes, 0, 0, 0, 0);
}

static void ignore_thread(void)
{
    if (mine.depth++ == 0 && under_drd)
        drd_looks(false);
}

static void heed_thread(void)
{
    /* The depth is already 0 if fs_ignored_is_canceled() has reset it. */
    if (mine.depth == 0 || --mine.depth != 0)
        return;
    if (under_drd)
        drd_looks(true);
    if (mine.wait != NULL)
        heed_object(mine.wait, mine.size);
    mine.wait = NULL;
}

void fs_heed_all(struct fs_ignored *ignored)
{
    *ignored = mine;
    mine = (struct fs_ignored){ .depth = 0 };
    if (under_drd)
        drd_looks(true);
}

void fs_ignore_again(const struct fs_ignored *ignored)
{
    mine = *ignored;
    if (under_drd && mine.depth != 0)
        drd_looks(false);
}

/* A thread that is canceled in a wait leaves the library without returning from its calls. */
void fs_ignored_is_canceled(void)
{
    mine.depth = 1;
    heed_thread();
}

/* ---- The objects that a function is called with ---- */

/*
 * Set CONTENDED, which is clear only before the first use of a semaphore made by FAIRSEM_INITIALIZER.  The
 * store needs no mutex: setting CONTENDED again changes nothing (I3).
 */
static void begin_sem(const void *sem)
{
    fairsem_t *s = (fairsem_t *)(uintptr_t)sem;
    _Atomic int64_t *word = (_Atomic int64_t *)(void *)&s->fairsem_word_;

    ignore_thread();
    if ((atomic_fetch_or(word, CONTENDED) & CONTENDED) == 0)
        ignore_object(sem, sizeof(fairsem_t));
}

static void begin_init(const void *sem)
{
    ignore_thread();
    ignore_object(sem, sizeof(fairsem_t));
}

/* The semaphore's address is known only after the call. */
static void begin_new(const void *sem)
{
    (void)sem;
    ignore_thread();
}

static void end_new(const void *sem, size_t result)
{
    heed_thread();
    if ((int)result == 0)
        ignore_object(*(fairsem_t *const *)sem, sizeof(fairsem_t));
}

/* free() makes the tool check the memory again, so no end function need do so. */
static void begin_free(const void *sem)
{
    if (sem == NULL)
        ignore_thread();
    else
        begin_sem(sem);
}

static void begin_token(const void *token)
{
    ignore_thread();
    ignore_object(token, sizeof(fairsem_token_t));
}

static void begin_share(const void *share)
{
    ignore_thread();
    fs_ignore_share(share);
}

static void begin_ticket(const void *ticket)
{
    ignore_thread();
    ignore_object(ticket, sizeof(fairsem_ticket_t));
}

static void end(const void *object, size_t result)
{
    (void)object;
    (void)result;
    heed_thread();
}

/* A destroyed object's memory belongs to the program again, so the tool must check it. */
static void end_destroy_sem(const void *sem, size_t result)
{
    heed_thread();
    if ((int)result == 0)
        heed_object(sem, sizeof(fairsem_t));
}

static void end_destroy_token(const void *token, size_t result)
{
    heed_thread();
    if ((int)result == 0)
        heed_object(token, sizeof(fairsem_token_t));
}

static void end_destroy_share(const void *share, size_t result)
{
    heed_thread();
    if ((int)result == 0)
        heed_object(share, sizeof(fairsem_share_t));
}

/* ---- The wrappers ---- */

/* WRAP(function, before its call, after its call, valgrind's macro for the call, parameters, arguments...) */
#define WRAP(name, begin, end, call, arguments, ...)                                    \
    FAIRSEM_API size_t I_WRAP_SONAME_FNNAME_ZU(Za, name) arguments;                     \
    FAIRSEM_API size_t I_WRAP_SONAME_FNNAME_ZU(Za, name) arguments                      \
    {                                                                                   \
        OrigFn fn;                                                                      \
        size_t result;                                                                  \
                                                                                        \
        VALGRIND_GET_ORIG_FN(fn);                                                       \
        if (fs_under_valgrind)                                                          \
            begin(a);                                                                   \
        call(result, fn, __VA_ARGS__);                                                  \
        if (fs_under_valgrind)                                                          \
            end(a, result);                                                             \
        return result;                                                                  \
    }
#define WRAP_1(name, begin, end) WRAP(name, begin, end, CALL_FN_W_W, (const void *a), a)
#define WRAP_2(name, begin, end)                                                        \
    WRAP(name, begin, end, CALL_FN_W_WW, (const void *a, size_t b), a, b)
#define WRAP_3(name, begin, end)                                                        \
    WRAP(name, begin, end, CALL_FN_W_WWW, (const void *a, size_t b, size_t c), a, b, c)
#define WRAP_4(name, begin, end)                                                        \
    WRAP(name, begin, end, CALL_FN_W_WWWW, (const void *a, size_t b, size_t c, size_t d), \
         a, b, c, d)

WRAP_3(fairsem_init, begin_init, end)
WRAP_1(fairsem_destroy, begin_sem, end_destroy_sem)
WRAP_3(fairsem_counted_init, begin_init, end)
WRAP_3(fairsem_new, begin_new, end_new)
WRAP_1(fairsem_free, begin_free, end)
WRAP_2(fairsem_acquire, begin_sem, end)
WRAP_2(fairsem_tryacquire, begin_sem, end)
WRAP_2(fairsem_tryacquire_upto, begin_sem, end)
WRAP_3(fairsem_acquire_for, begin_sem, end)
WRAP_4(fairsem_acquire_until, begin_sem, end)
WRAP_3(fairsem_acquire_with, begin_sem, end)
WRAP_2(fairsem_release, begin_sem, end)
WRAP_1(fairsem_capacity, begin_sem, end)
WRAP_2(fairsem_set_capacity, begin_sem, end)
WRAP_2(fairsem_consume, begin_sem, end)
WRAP_2(fairsem_close, begin_sem, end)
WRAP_1(fairsem_closed, begin_sem, end)
WRAP_3(fairsem_drain, begin_sem, end)
WRAP_1(fairsem_available, begin_sem, end)
WRAP_1(fairsem_waiters, begin_sem, end)
WRAP_2(fairsem_would_block, begin_sem, end)
WRAP_2(fairsem_stat, begin_sem, end)
WRAP_2(fairsem_stat_interval, begin_sem, end)
WRAP_2(fairsem_stat_histogram, begin_sem, end)
WRAP_2(fairsem_dump, begin_sem, end)

WRAP_1(fairsem_token_init, begin_token, end)
WRAP_1(fairsem_token_destroy, begin_token, end_destroy_token)
WRAP_2(fairsem_token_cancel, begin_token, end)
WRAP_1(fairsem_token_reason, begin_token, end)

WRAP_2(fairsem_share_init, begin_share, end)
WRAP_1(fairsem_share_destroy, begin_share, end_destroy_share)
WRAP_2(fairsem_share_charge, begin_share, end)

WRAP_1(fairsem_ticket_state, begin_ticket, end)
WRAP_2(fairsem_ticket_wait, begin_ticket, end)
WRAP_2(fairsem_ticket_claim, begin_ticket, end)
WRAP_1(fairsem_ticket_return, begin_ticket, end)

/* No wrappers for fairsem_units_*, fairsem_with, fairsem_*_all: they use plain data and the functions above. */

static void begin_take(const void *ticket, const void *sem)
{
    begin_sem(sem);
    ignore_object(ticket, sizeof(fairsem_ticket_t));
}
#define BEGIN_TAKE(a) begin_take(a, (const void *)b)
WRAP(fairsem_ticket_take, BEGIN_TAKE, end, CALL_FN_W_6W,
     (const void *a, size_t b, size_t c, size_t d, size_t e, size_t f), a, b, c, d, e, f)

#define BEGIN_TAKE_WITH(a) begin_take(a, ((const fairsem_request_t *)b)->sem)
WRAP(fairsem_ticket_take_with, BEGIN_TAKE_WITH, end, CALL_FN_W_5W,
     (const void *a, size_t b, size_t c, size_t d, size_t e), a, b, c, d, e)

/* A fairsem_sem_t begins with its fairsem_t. */
WRAP_3(fairsem_sem_init, begin_init, end)
WRAP_1(fairsem_sem_destroy, begin_sem, end)
WRAP_1(fairsem_sem_wait, begin_sem, end)
WRAP_1(fairsem_sem_trywait, begin_sem, end)
WRAP_2(fairsem_sem_timedwait, begin_sem, end)
WRAP_3(fairsem_sem_clockwait, begin_sem, end)
WRAP_1(fairsem_sem_post, begin_sem, end)
WRAP_2(fairsem_sem_getvalue, begin_sem, end)

#else
typedef int translation_unit_not_empty;
#endif
