/* SPDX-License-Identifier: MIT */
/*
 * interposed_faults.c - semaphores in memory that a handler of SIGSEGV has to make accessible, as in dirty
 * tracking or in an incremental collector.  The handler uses another semaphore.
 *
 * Each access faults.  The handler of SIGSEGV makes the memory accessible and sets the trap flag, so the
 * processor raises SIGTRAP after the instruction.  The handler of SIGTRAP protects the memory again.
 */
#include "interposed.h"

#include <ucontext.h>

#if defined(__x86_64__) && defined(REG_EFL)

enum { TRAP_FLAG = 0x100 };

static char *page;
static size_t page_size;
static sem_t other;
static int accesses;

/* Each time, the new semaphore is a number first, and then moves into a cell. */
static void use_other(void)
{
    MUST(sem_init(&other, 0, 0) == 0);
    MUST_FAIL(sem_timedwait(&other, &past), ETIMEDOUT);
    MUST(sem_post(&other) == 0 && value_of(&other) == 1);
    MUST(sem_wait(&other) == 0 && sem_destroy(&other) == 0);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;
    int before = errno;

    (void)sig;
    MUST((uintptr_t)info->si_addr - (uintptr_t)page < page_size);
    accesses++;
    use_other();
    MUST(mprotect(page, page_size, PROT_READ | PROT_WRITE) == 0);
    interrupted->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    errno = before;
}

static void on_trap(int sig, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;
    int before = errno;

    (void)sig;
    (void)info;
    use_other();
    MUST(mprotect(page, page_size, PROT_NONE) == 0);
    interrupted->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    errno = before;
}

BEHAVIOR(faults)
{
    sem_t *sem, *copy;

    page_size = (size_t)sysconf(_SC_PAGESIZE);
    page = mmap(NULL, page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(page != MAP_FAILED);
    sem = (sem_t *)(void *)page;
    copy = sem + 1;
    handle_info(SIGSEGV, on_fault, 0);
    handle_info(SIGTRAP, on_trap, 0);
    MUST(sem_init(sem, 0, 1) == 0);
    MUST(sem_wait(sem) == 0);
    MUST_FAIL(sem_trywait(sem), EAGAIN);
    MUST_FAIL(sem_timedwait(sem, &past), ETIMEDOUT);    /* in a cell from here */
    MUST_FAIL(sem_trywait(sem), EAGAIN);
    MUST(sem_post(sem) == 0 && value_of(sem) == 1);
    memcpy(copy, sem, sizeof *copy);
    MUST(value_of(copy) == 1 && sem_wait(copy) == 0);
    MUST_FAIL(sem_timedwait(copy, &past), ETIMEDOUT);
    MUST(sem_wait(sem) == 0 && sem_post(sem) == 0);
    MUST(sem_destroy(sem) == 0);
    MUST(sem_trywait(sem) == 0 && sem_post(sem) == 0 && value_of(sem) == 1);
    MUST(sem_destroy(copy) == 0 && value_of(copy) == 0);
    MUST(accesses > 50);
}

#else

BEHAVIOR(faults)
{
    exit(program_not_here("no trap flag is known for this processor"));
}

#endif
