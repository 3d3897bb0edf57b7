/* SPDX-License-Identifier: MIT */
/* options.c - see request.h. */
#include "request.h"

#include "run/duration.h"

#include <err.h>
#include <errno.h>
#include <fairsem.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define DURATION_MAX_NS 1e18

static const char usage[] =
    "usage: fairsem-limit [OPTION...] NAME LIMIT -- COMMAND [ARGUMENT...]\n"
    "       fairsem-limit [OPTION...] --hold=FD NAME LIMIT\n"
    "       fairsem-limit [--global] [--watch] --status[=FORMAT] [NAME]\n"
    "       fairsem-limit [--global] [--keep] --set-limit=LIMIT NAME\n"
    "       fairsem-limit [--global] [--force] --remove NAME\n"
    "       fairsem-limit --cluster[=URL,...] ...\n"
    "\n"
    "Run COMMAND when it is its turn: at most LIMIT at a time on this machine, first come\n"
    "first served.  Whatever ends COMMAND, the next one starts.\n"
    "\n"
    "  -n, --units=UNITS        COMMAND counts as so many (1)\n"
    "  -w, --wait=TIME          wait so long at most (30, 0.5, 5m, 2h, 1d), then exit\n"
    "                           with status 124 and a message\n"
    "  -E, --conflict-exit-code=STATUS  with this status instead of 124\n"
    "      --rate=N/s           at most N starts per second, evenly; also N/m and N/h\n"
    "  -q, --quiet              without that message\n"
    "  -p, --priority=PRIORITY  the lower starts first, a whole number (0)\n"
    "      --share=KEY          commands wait in a line for each KEY, a number, and the lines take\n"
    "                           turns; user: the number of this user\n"
    "  -g, --global[=MODE]      NAME is common to all users; without it, each user has\n"
    "                           names of its own.  MODE (666): who may use a new NAME\n"
    "      --keep               NAME stays; without it, its last COMMAND removes it\n"
    "      --dir=DIRECTORY      names are there, for instance in one that containers share\n"
    "      --exec               become COMMAND; without it, stay as its parent\n"
    "      --hold=FD            return when it is our turn; the place is free when nobody has\n"
    "                           the descriptor FD any more\n"
    "      --status[=FORMAT]    print who runs and who waits, since when; FORMAT: json, or\n"
    "                           prometheus, which also has how long commands waited\n"
    "      --watch              with --status: again each second\n"
    "      --set-limit=LIMIT    from now on at most LIMIT, also while NAME is used; 0: none\n"
    "      --remove             remove NAME, if nobody uses it\n"
    "      --force              with --remove: also if somebody does, or it is damaged\n"
    "      --cluster[=URL,...]  etcd keeps NAME, for all machines that use it\n"
    "      --ttl=TIME           the place of a machine that is gone is kept so long (10)\n"
    "      --keep-running       do not end COMMAND when etcd does not answer in time\n"
    "      --version            print the version\n"
    "      --help               print this text\n"
    "\n"
    "The exit status is that of COMMAND; 124: the wait was too long, 125: fairsem-limit\n"
    "itself failed, 126: COMMAND cannot be run, 127: COMMAND was not found.";

enum { KEEP = 256, DIRECTORY, EXEC, FORK, HOLD, RATE, SHARE, STATUS_OPTION, WATCH, SET_LIMIT,
       REMOVE_OPTION, FORCE, CLUSTER, TTL, KEEP_RUNNING, VERSION, HELP };

static const struct option options[] = {
    { "units", required_argument, NULL, 'n' },
    { "wait", required_argument, NULL, 'w' },
    { "priority", required_argument, NULL, 'p' },
    { "quiet", no_argument, NULL, 'q' },
    { "conflict-exit-code", required_argument, NULL, 'E' },
    { "global", optional_argument, NULL, 'g' },
    { "keep", no_argument, NULL, KEEP },
    { "dir", required_argument, NULL, DIRECTORY },
    { "exec", no_argument, NULL, EXEC },
    { "fork", no_argument, NULL, FORK },
    { "hold", required_argument, NULL, HOLD },
    { "rate", required_argument, NULL, RATE },
    { "share", required_argument, NULL, SHARE },
    { "status", optional_argument, NULL, STATUS_OPTION },
    { "watch", no_argument, NULL, WATCH },
    { "set-limit", required_argument, NULL, SET_LIMIT },
    { "remove", no_argument, NULL, REMOVE_OPTION },
    { "force", no_argument, NULL, FORCE },
    { "cluster", optional_argument, NULL, CLUSTER },
    { "ttl", required_argument, NULL, TTL },
    { "keep-running", no_argument, NULL, KEEP_RUNNING },
    { "version", no_argument, NULL, VERSION },
    { "help", no_argument, NULL, HELP },
    { NULL, 0, NULL, 0 },
};

/* ---- Arguments of options.  Each function prints a message and returns false if the text is wrong. ---- */

static bool read_integer(const char *text, int64_t least, int64_t most, const char *what, int64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoimax(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && *value >= least && *value <= most)
        return true;
    warnx("%s: '%s' is not a whole number from %" PRId64 " to %" PRId64, what, text, least, most);
    return false;
}

/* Read a duration as in sleep(1). */
static bool read_duration(const char *text, const char *what, int64_t *ns)
{
    static const struct duration_unit units[] = {
        { "", 1e9 }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 }, { NULL, 0 },
    };
    double duration = duration_read(text, units);

    if (duration < 0) {
        warnx("%s: '%s' is not a time such as 30, 5m, 2h or 1d", what, text);
        return false;
    }
    *ns = (int64_t)(duration < DURATION_MAX_NS ? duration : DURATION_MAX_NS);
    return true;
}

/* Read octal permissions, which must let the owner read and write. */
static bool read_mode(const char *text, mode_t *mode)
{
    char *end;
    unsigned long value = strtoul(text, &end, 8);

    if (end == text || *end != '\0' || value > 0777 || (value & 0600) != 0600) {
        warnx("--global: '%s' is not a mode such as 660 or 666", text);
        return false;
    }
    *mode = (mode_t)value;
    return true;
}

static bool read_ttl(const char *text, int64_t *ns)
{
    if (!read_duration(text, "--ttl", ns))
        return false;
    if (*ns >= SECOND_NS * 2 && *ns <= SECOND_NS * 3600 && *ns % SECOND_NS == 0)
        return true;
    warnx("--ttl: '%s' is not a whole number of seconds from 2 to 3600", text);
    return false;
}

static bool read_rate(const char *text, int64_t *interval_ns)
{
    static const struct { const char *text; int64_t ns; } periods[] = {
        { "/s", SECOND_NS }, { "/m", 60 * SECOND_NS }, { "/h", LONGEST_INTERVAL_NS },
    };
    char *end;
    long starts = strtol(text, &end, 10);

    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; i++) {
        if (strcmp(end, periods[i].text) == 0 && end != text && starts >= 1 && starts <= 1000000) {
            *interval_ns = periods[i].ns / starts;
            return true;
        }
    }
    warnx("--rate: '%s' is not a rate such as 10/s, 30/m or 5/h, with 1 to 1000000 starts", text);
    return false;
}

static bool read_share(const char *text, struct request *r)
{
    char *end;

    r->share = true;
    r->share_key = getuid();
    if (strcmp(text, "user") == 0)
        return true;
    errno = 0;
    r->share_key = strtoull(text, &end, 10);
    if (errno == 0 && *text >= '0' && *text <= '9' && *end == '\0')
        return true;
    warnx("--share: '%s' is neither a whole number from 0 to 18446744073709551615 nor user", text);
    return false;
}

static bool read_descriptor(const char *text, int *fd)
{
    int64_t number;
    bool good = read_integer(text, 0, INT_MAX, "--hold", &number);

    *fd = (int)number;
    return good;
}

/* ---- The command line ---- */

/* Returns false after a message. */
static bool take_option(int option, struct request *r)
{
    switch (option) {
    case 'n':
        return read_integer(optarg, 1, FAIRSEM_MAX_UNITS, "--units", &r->units);
    case 'w':
        return read_duration(optarg, "--wait", &r->wait_ns);
    case 'E':
        return read_integer(optarg, 0, 255, "--conflict-exit-code", &r->busy_status);
    case 'p':
        return read_integer(optarg, INT_MIN, INT_MAX, "--priority", &r->priority);
    case 'g':
        r->global = true;
        r->mode = 0666;
        return optarg == NULL || read_mode(optarg, &r->mode);
    case 'q':           r->quiet = true; return true;
    case KEEP:          r->keep = true; return true;
    case DIRECTORY:     r->directory = optarg; return true;
    case EXEC:          r->exec = true; return true;
    case FORK:          r->exec = false; return true;   /* the default */
    case RATE:          return read_rate(optarg, &r->interval_ns);
    case SHARE:         return read_share(optarg, r);
    case HOLD:          return read_descriptor(optarg, &r->hold_fd);
    case STATUS_OPTION:
        r->what = STATUS;
        r->format = optarg == NULL ? AS_TABLE : strcmp(optarg, "json") == 0 ? AS_JSON : AS_METRICS;
        if (r->format != AS_METRICS || strcmp(optarg, "prometheus") == 0)
            return true;
        warnx("--status: '%s' is neither json nor prometheus", optarg);
        return false;
    case WATCH:         r->watch = true; return true;
    case SET_LIMIT:
        r->what = LIMIT;
        return read_integer(optarg, 0, FAIRSEM_MAX_UNITS, "--set-limit", &r->limit);
    case REMOVE_OPTION: r->what = REMOVE; return true;
    case FORCE:         r->force = true; return true;
    case CLUSTER:
        r->cluster.on = true;
        if (optarg != NULL)
            r->cluster.endpoints = optarg;
        return true;
    case TTL:           return read_ttl(optarg, &r->cluster.ttl_ns);
    case KEEP_RUNNING:  r->cluster.keep_running = true; return true;
    default:            return false;       /* getopt_long has printed a message */
    }
}

/*
 * FAIRSEM_LIMIT_CLUSTER stands for --cluster, unless the command line has an option that is possible only for
 * names of this machine.  Returns NULL, or an error message.
 */
static const char *take_cluster(struct request *r)
{
    const char *variable = getenv("FAIRSEM_LIMIT_CLUSTER");
    bool here = r->global || r->exec || r->hold_fd >= 0 || r->interval_ns != 0 || r->share || r->keep
                || r->force || r->directory != NULL;

    if (variable != NULL && *variable != '\0' && (r->cluster.on || !here)) {
        r->cluster.on = true;
        if (r->cluster.endpoints == NULL)
            r->cluster.endpoints = variable;
    }
    if (r->cluster.endpoints == NULL)
        r->cluster.endpoints = "http://127.0.0.1:2379";
    if (!r->cluster.on)
        return r->cluster.ttl_ns != 0 || r->cluster.keep_running
               ? "--ttl and --keep-running belong to --cluster" : NULL;
    return here ? "not with --cluster: --global, --dir, --keep, --exec, --hold, --rate, --share, --force" : NULL;
}

/* Parse the arguments after the options.  Returns NULL, an error message, or "" after printing a message. */
static const char *take_rest(int argc, char **argv, struct request *r)
{
    const char *wrong = take_cluster(r);

    if (wrong != NULL)
        return wrong;
    if (r->watch && r->what != STATUS)
        return "--watch belongs to --status";
    if (r->watch && r->format == AS_METRICS)
        return "--watch does not go with --status=prometheus";
    if (r->force && r->what != REMOVE)
        return "--force belongs to --remove";
    if (r->what != RUN && argc > 1)
        return "one name at most";
    r->quiet = r->quiet || r->wait_ns <= 0;
    r->name = argv[0];
    if (r->what != RUN)
        return r->what != STATUS && argc == 0 ? "no name" : NULL;
    if (argc < 2)
        return "no name, or no limit";
    if (!read_integer(argv[1], 1, FAIRSEM_MAX_UNITS, "limit", &r->limit))
        return "";
    r->command = argv + 2;
    if (*r->command != NULL && strcmp(*r->command, "--") == 0)
        r->command++;
    if (r->hold_fd >= 0 && (r->exec || *r->command != NULL))
        return "--hold takes no command, and no --exec";
    if (r->hold_fd < 0 && *r->command == NULL)
        return "no command";
    if (r->units <= r->limit)
        return NULL;
    warnx(MORE_UNITS_THAN_LIMIT, r->units, r->name, r->limit);
    return "";
}

bool options_read(int argc, char **argv, struct request *r, int *exit_status)
{
    const char *wrong = NULL;
    int option;

    *r = (struct request){ .what = RUN, .units = 1, .wait_ns = -1, .mode = 0600, .busy_status = TIMED_OUT,
                            .hold_fd = -1 };
    *exit_status = OWN_FAILURE;
    while (wrong == NULL && (option = getopt_long(argc, argv, "+n:w:E:p:gq", options, NULL)) != -1) {
        if (option == HELP || option == VERSION) {
            puts(option == HELP ? usage : "fairsem-limit " FAIRSEM_VERSION_STRING);
            *exit_status = fflush(stdout) == 0 ? 0 : OWN_FAILURE;
            return false;
        }
        if (!take_option(option, r))
            wrong = "";
    }
    if (wrong == NULL)
        wrong = take_rest(argc - optind, argv + optind, r);
    if (r->directory == NULL)
        r->directory = getenv("FAIRSEM_LIMIT_DIR");
    if (r->directory != NULL && *r->directory == '\0')
        r->directory = NULL;
    if (wrong == NULL)
        return true;
    if (*wrong != '\0')
        warnx("%s", wrong);
    fputs("Try 'fairsem-limit --help'.\n", stderr);
    return false;
}
