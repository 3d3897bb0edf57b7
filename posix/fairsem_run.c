/* SPDX-License-Identifier: MIT */
/*
 * fairsem_run.c - fairsem-run(1): run a program with fair semaphores.
 *
 * The loader ignores a module that it cannot preload, or that a program must not have, with
 * at most a warning.  That would be an unfair run that looks like a fair one.  So whatever
 * can be seen before is looked at before, and is an error here.
 */
#define _GNU_SOURCE
#include "program.h"
#include "records_print.h"
#include "slots.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODULE_ENV "FAIRSEM_MODULE"     /* instead of the installed one */

/* As env(1), nice(1) and their like: what is wrong, if not the program. */
enum { OWN_FAILURE = 125, CANNOT_RUN = 126, NOT_FOUND = 127 };

static void usage(FILE *file)
{
    fputs("usage: fairsem-run [--stats[=FILE]] PROGRAM [ARGUMENT...]\n"
          "       fairsem-run --check\n"
          "\n"
          "Run PROGRAM with its unnamed, process-private semaphores (sem_init) made fair.\n"
          "\n"
          "  --stats[=FILE]  when it has ended, say how long it waited: to stderr, or FILE\n"
          "  --check         only find out whether it would work here\n"
          "  --version\n"
          "  --help\n"
          "\n"
          "The exit status is that of PROGRAM; 125: fairsem-run itself failed, 126: PROGRAM\n"
          "cannot be run, or not fairly, 127: PROGRAM was not found.\n", file);
}

static void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void complain(const char *format, ...)
{
    va_list args;

    fputs("fairsem-run: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* The module that will be preloaded, after a look whether it can be; NULL: it cannot. */
static const char *module_path(void)
{
    const char *path = getenv(MODULE_ENV);
    void *module, *libc, *found;

    if (path == NULL || *path == '\0')
        path = FAIRSEM_MODULE_PATH;
    /* The loader separates the names in LD_PRELOAD at these. */
    if (strpbrk(path, " :") != NULL) {
        complain("%s: a path with a space or a colon cannot be preloaded", path);
        return NULL;
    }
    module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module == NULL) {
        complain("the interposer cannot be loaded: %s", dlerror());
        return NULL;
    }
    /* dlsym also looks into what the module depends on: it may be libc's that is found. */
    libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    found = dlsym(module, "sem_wait");
    if (found == NULL || (libc != NULL && found == dlsym(libc, "sem_wait"))) {
        complain("%s is not the interposer", path);
        return NULL;
    }
    return path;
}

/* In front of what is preloaded already. */
static bool set_preload(const char *module)
{
    const char *others = getenv("LD_PRELOAD");
    char *list;
    bool done;

    if (others == NULL || *others == '\0')
        return setenv("LD_PRELOAD", module, 1) == 0;
    if (asprintf(&list, "%s:%s", module, others) < 0)
        return false;
    done = setenv("LD_PRELOAD", list, 1) == 0;
    free(list);
    return done;
}

/* ---- --check ---- */

/* In a process that was started with the module: does sem_init reach it? */
static int say_whether_active(void)
{
    sem_t sem;
    int value = -1;
    uint32_t first;

    memset(&sem, 0, sizeof sem);
    if (sem_init(&sem, 0, 3) != 0 || sem_wait(&sem) != 0 || sem_getvalue(&sem, &value) != 0
        || value != 2)
        return 1;
    memcpy(&first, &sem, sizeof first);
    return first == FS_SLOT_MAGIC ? 0 : 1;
}

static int check(const char *module)
{
    int status;
    pid_t child;

    signal(SIGCHLD, SIG_DFL);       /* where it is ignored nobody can be waited for */
    child = fork();
    if (child == 0) {
        if (set_preload(module))
            execl("/proc/self/exe", "fairsem-run", "--is-it-active", (char *)NULL);
        _exit(1);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        complain("%s", strerror(errno));
        return OWN_FAILURE;
    }
    if (status != 0) {
        complain("%s was preloaded and is not active", module);
        return OWN_FAILURE;
    }
    printf("fairsem-run: active: %s\n", module);
    return fflush(stdout) == 0 ? 0 : OWN_FAILURE;
}

/* ---- --stats ---- */

static struct fs_records *records;
static pid_t program;

/* The file exists as long as the program runs: its children open it, too. */
static char records_path[4096];

static bool make_records(void)
{
    const char *directory = getenv("TMPDIR");
    int fd;

    if (directory == NULL || *directory == '\0')
        directory = "/tmp";
    if (snprintf(records_path, sizeof records_path, "%s/fairsem-stats-XXXXXX", directory)
        >= (int)sizeof records_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    fd = mkostemp(records_path, O_CLOEXEC);
    if (fd < 0)
        return false;
    /* Not sparse: a program must not die of a full file system when it writes to the map. */
    if ((errno = posix_fallocate(fd, 0, sizeof *records)) == 0)
        records = mmap(NULL, sizeof *records, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (records == NULL || records == MAP_FAILED) {
        unlink(records_path);
        return false;
    }
    records->version = FS_RECORDS_VERSION;
    return setenv(FS_RECORDS_ENV, records_path, 1) == 0;
}

static void hand_on(int sig)
{
    kill(program, sig);
}

/* Die of what the program died of, without a core of our own. */
static int end_like(int status)
{
    if (WIFSIGNALED(status)) {
        const struct rlimit none = { 0, 0 };
        sigset_t this_one;

        setrlimit(RLIMIT_CORE, &none);
        signal(WTERMSIG(status), SIG_DFL);
        sigemptyset(&this_one);
        sigaddset(&this_one, WTERMSIG(status));
        raise(WTERMSIG(status));
        sigprocmask(SIG_UNBLOCK, &this_one, NULL);
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

/* exec, or say why not and return the exit status for that. */
static int become(const char *path, char **argv)
{
    int count = 0;

    execv(path, argv);
    if (errno == ENOEXEC) {     /* a script without #!: as execvp */
        char **shell_argv;

        while (argv[count] != NULL)
            count++;
        shell_argv = calloc((size_t)count + 2, sizeof *shell_argv);
        if (shell_argv != NULL) {
            shell_argv[0] = (char *)(uintptr_t)"sh";
            shell_argv[1] = (char *)(uintptr_t)path;
            for (int i = 1; i < count; i++)
                shell_argv[i + 1] = argv[i];
            execv("/bin/sh", shell_argv);
        }
    }
    complain("%s: %s", path, strerror(errno));
    return CANNOT_RUN;
}

static int run_with_stats(const char *path, char **argv, const char *file_name)
{
    static const int to_hand_on[] = { SIGHUP, SIGTERM, SIGUSR1, SIGUSR2 };
    struct sigaction on_child;
    sigset_t all, before;
    FILE *file = stderr;
    int status;

    if (file_name != NULL && (file = fopen(file_name, "we")) == NULL) {
        complain("%s: %s", file_name, strerror(errno));
        return OWN_FAILURE;
    }
    if (!make_records()) {
        complain("no place for statistics: %s", strerror(errno));
        return OWN_FAILURE;
    }
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    /* Where it is ignored nobody can be waited for.  The program inherits it as it was. */
    sigaction(SIGCHLD, NULL, &on_child);
    signal(SIGCHLD, SIG_DFL);
    program = fork();
    if (program == 0) {
        sigaction(SIGCHLD, &on_child, NULL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        _exit(become(path, argv));
    }
    if (program < 0) {
        complain("%s", strerror(errno));
        unlink(records_path);
        return OWN_FAILURE;
    }
    for (size_t i = 0; i < sizeof to_hand_on / sizeof to_hand_on[0]; i++)
        signal(to_hand_on[i], hand_on);
    /* From the terminal the program gets these as well. */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    sigprocmask(SIG_SETMASK, &before, NULL);
    while (waitpid(program, &status, 0) != program) {
        if (errno != EINTR) {
            complain("%s", strerror(errno));
            unlink(records_path);
            return OWN_FAILURE;
        }
    }
    /* Its number may soon be somebody else's. */
    sigprocmask(SIG_BLOCK, &all, NULL);
    unlink(records_path);
    if (records->processes == 0 && WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_RUN)
        return CANNOT_RUN;      /* it was never run, which has been said */
    if (records->processes == 0)
        complain("%s did not load the interposer: it ran unfairly", path);
    records_print(file, records);
    if (fflush(file) != 0 || ferror(file)) {
        complain("%s: %s", file_name != NULL ? file_name : "stderr", strerror(errno));
        return OWN_FAILURE;
    }
    return end_like(status);
}

int main(int argc, char **argv)
{
    const char *module, *file_name = NULL, *reason;
    bool stats = false, only_check = false;
    char *path;
    int i;

    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--") == 0) {
            i++;
            break;
        }
        if (strcmp(argv[i], "--help") == 0) {
            usage(stdout);
            return 0;
        }
        if (strcmp(argv[i], "--version") == 0) {
            puts("fairsem-run " FAIRSEM_VERSION_STRING);
            return 0;
        }
        if (strcmp(argv[i], "--is-it-active") == 0)
            return say_whether_active();
        if (strcmp(argv[i], "--check") == 0) {
            only_check = true;
        } else if (strcmp(argv[i], "--stats") == 0) {
            stats = true;
        } else if (strncmp(argv[i], "--stats=", 8) == 0) {
            stats = true;
            file_name = argv[i] + 8;
        } else {
            complain("unknown option %s", argv[i]);
            usage(stderr);
            return OWN_FAILURE;
        }
    }
    if (!only_check && i == argc) {
        usage(stderr);
        return OWN_FAILURE;
    }
    module = module_path();
    if (module == NULL)
        return OWN_FAILURE;
    if (only_check)
        return check(module);

    path = program_find(argv[i]);
    if (path == NULL) {
        int error = errno;

        complain("%s: %s", argv[i], strerror(error));
        return error == ENOENT ? NOT_FOUND : CANNOT_RUN;
    }
    reason = program_not_interposable(path);
    if (reason != NULL) {
        complain("%s: %s", path, reason);
        return CANNOT_RUN;
    }
    if (!set_preload(module)) {
        complain("%s", strerror(errno));
        return OWN_FAILURE;
    }
    return stats ? run_with_stats(path, argv + i, file_name) : become(path, argv + i);
}
