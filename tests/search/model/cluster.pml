/* SPDX-License-Identifier: MIT */
/*
 * cluster.pml - the limit between machines: clients of an engine with transactions and leases.
 *
 * The engine is etcd, which has a revision.  Each transaction is one step here.  A client's request is applied at
 * some moment after it was sent.  Its answer may be lost, and the request may be applied late, even long after
 * the client has read the result.  Clients may be killed at any moment; their keys are deleted when their lease
 * ends.  A waiting client watches a key, and is told of deletions after a revision; a watch may break.
 *
 * A client has one request, with one lease, whose number is the client's.  q[i] is the revision that created its
 * waiting key, r[i] the one that created its running key, or 0 if there is no such key.
 *
 *     CLIENTS             number of clients, at most 3
 *     UNITS               the limit
 *     NEED0 NEED1 NEED2   the units of each client
 *     PRIO0 PRIO1 PRIO2   their priorities; the lower is the better
 *     LIMIT2              the limit that client 2 asks for
 *     DEATHS              number of clients that are killed
 *     LOSSES              number of answers that are lost
 *     DEADLINES           number of waits that time out
 *     BREAKS              number of watches that break
 *     LOWERS              number of times that somebody lowers the limit, perhaps to 0, and raises it later
 *     REMOVES             number of keys that somebody deletes by hand
 *     REFUSALS            number of requests that are refused because a token has expired
 *     TIMEOUTS            number of requests at the start or the end that are given up unanswered
 *     NESTED              client 2 is a command inside that of client 0, which waits for its end
 *     HOLDS_LONG          commands end only when nothing else can happen
 *     CLOCKS              number of clients with clocks, whose leases may end while they live
 *     BUG                 a seeded fault, see below
 *
 * With a clock, a lease has eight ticks of the engine's clock, after which it may end.  A client must stop running
 * when six ticks of its own clock have passed since it sent the last answered renewal.  Since that moment its clock
 * may omit one tick, which is more than the tenth of a lease that is allowed for.  A client may be stopped for any
 * time.  Its clock goes on then, so the clock, not a step of the client, says that it must no longer run.
 *
 * The process that is killed is the supervisor of a command.  The kernel then kills the command, a moment
 * later but before the lease ends.  Not modeled is a supervisor that is stopped alone: its command runs at the same
 * time as the next one, and only the fence is safe from that.
 *
 * Not modeled is a lease that the engine itself ends too early, as releases of etcd before 3.4.31 and 3.5.13 may
 * after their leader was stopped.  Only the fence is safe from that.
 */
#define N 3

#ifndef CLIENTS
#define CLIENTS N
#endif
#ifndef UNITS
#define UNITS 2
#endif
#ifndef NEED0
#define NEED0 1
#endif
#ifndef NEED1
#define NEED1 1
#endif
#ifndef NEED2
#define NEED2 1
#endif
#ifndef PRIO0
#define PRIO0 1
#endif
#ifndef PRIO1
#define PRIO1 1
#endif
#ifndef PRIO2
#define PRIO2 1
#endif
#ifndef LIMIT2
#define LIMIT2 UNITS
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#ifndef DEADLINES
#define DEADLINES 0
#endif
#ifndef BREAKS
#define BREAKS 0
#endif
#ifndef LOWERS
#define LOWERS 0
#endif
#ifndef REMOVES
#define REMOVES 0
#endif
#ifndef REFUSALS
#define REFUSALS 0
#endif
#ifndef TIMEOUTS
#define TIMEOUTS 0
#endif
#define NEED(i)  ((i) == 0 -> NEED0 : ((i) == 1 -> NEED1 : NEED2))
#define PRIO(i)  ((i) == 0 -> PRIO0 : ((i) == 1 -> PRIO1 : PRIO2))
#define ASKED(i) ((i) == 2 -> LIMIT2 : UNITS)

/* Seeded faults. */
#define NONE               0
#define OWN_UNCHECKED      1    /* BEGIN does not check that my key still exists */
#define BETTER_UNCHECKED   2    /* ... that nobody of a better priority waits */
#define EARLIER_UNCHECKED  3    /* ... that nobody of my priority came before me */
#define RUNNING_UNCHECKED  4    /* ... that nobody began since my read */
#define LIMIT_UNCHECKED    5    /* ... that the limit is the one that I read */
#define READ_TOO_NEW       6    /* "since my read" means since the revision of a later answer */
#define JOINS_TWICE        7    /* JOIN does not check that I do not wait yet; its answer counts */
#define JOINS_RUNNING      8    /* ... that I do not run yet */
#define LIMIT_OF_RUNNING   9    /* JOIN sets another limit while somebody runs */
#define LIMIT_OF_WAITING  10    /* ... while somebody waits */
#define DEAD_FOR_EVER     11    /* keys have no lease */
#define ASSUMES_FAILED    12    /* a BEGIN whose answer is lost counts as not applied */
#define FENCE_OF_READ     13    /* the fence of such a BEGIN is the revision of the read that found it */
#define REVOKES_FIRST     14    /* the lease is given back before the command has ended */
#define WATCHES_LATE      15    /* a watch begins when it is made, not at the revision of the read */
#define RESUMES_BLINDLY   16    /* a watch after a broken one begins when it is made */
#define ASSUMES_HEAD      17    /* a client is the head when its predecessor has gone */
#define BETTER_NOT_SEEN   18    /* the first of its priority does not watch the better ones */
#define ALL_WATCH_RUNNING 19    /* a waiting client watches only running ones */
#define FROM_ANSWER       20    /* a lease counts from the answer */
#define BEGIN_RENEWS      21    /* a lease counts from the BEGIN */
#define STOPS_AT_THE_END  22    /* a client runs until its lease has ended by its own clock */
#define TERM_UNCHECKED    23    /* a renewal counts although a former leader has answered it */
#define OUTLIVES_PARENT   24    /* nobody kills the command of a killed supervisor */
#define TOKEN_IS_A_NO     25    /* an expired token counts as a refusal */
#define OUTER_OF_ENGINE   26    /* an inner command asks the engine who the outer one is */
#define GIVES_UP_AWAKE    27    /* a lease whose end is unanswered is still renewed */
#define JOIN_GIVEN_UP     28    /* a client that gives up its join does not end its lease */
#define LIMIT_NOT_WATCHED 29    /* the head watches only running clients */
#define REPLACES_LIMIT    30    /* JOIN replaces an unexpected limit that nobody uses */
#ifndef BUG
#define BUG NONE
#endif

/* ---- The engine ---- */

byte rev = 1;
byte limit, first, limit_rev;   /* the limit, the name's first limit (or 0), and the revision that set the limit */
byte q[N], r[N];                /* the keys of each client: the revisions that created them */
bit  lease[N];
byte q_gone[N];                 /* the last revision that deleted its waiting key */
byte r_gone;                    /* the last revision that deleted a running key */

/* Requests that will be applied although nobody waits for their answers. */
byte late_join[N];              /* the expected limit when it was sent, or 0 for no request */
byte late_begin[N];             /* the read revision when it was sent, or 0 for no request */

/* ---- Ghosts ---- */

bit LIMIT = 1, ORDER = 1, FENCE = 1, STUCK = 1, PLACE = 1, KEPT = 1;  /* names of oracles, for pan's output */
bit wrong;
#define HOLDS(name, condition) wrong = !(condition); assert(!wrong || !name)

byte expects[N];                /* each client's belief about the limit, as LIMITS */
bit  drained;                   /* the limit is 0 */
bit  killed[N], waits[N], runs[N], removed[N];
bit  unknown[N];                /* it runs although somebody has deleted its key */
byte fence[N], begun[N];        /* the fence that it was told, and the real number of its BEGIN */
byte created[N];                /* each client's belief about its q[i] */
byte begins, deaths, losses, deadlines, breaks, lowers, removes, refusals, timeouts;
bit  dropped[N];                /* its lease is no longer renewed */
bit  inner_over;

#define ANY(P)     (P(0) || P(1) || P(2))
#define SUM(P)     (P(0) + P(1) + P(2))
#define ANY2(P, i) (P(i, 0) || P(i, 1) || P(i, 2))

#define WAITING(k)    (q[k] != 0)
#define IN_USE(k)     (q[k] != 0 || r[k] != 0)
#define RUNNING(k)    (r[k] != 0)
#define HAS_LEASE(k)  lease[k]
#define TAKEN(k)      (r[k] != 0 -> NEED(k) : 0)
#define BETTER(i, k)  (q[k] != 0 && PRIO(k) < PRIO(i))
#define EARLIER(i, k) (q[k] != 0 && PRIO(k) == PRIO(i) && q[k] < q[i])
#define BEFORE(i, k)  (BETTER(i, k) || EARLIER(i, k))

/* The units of commands that may still run. */
#define USES(i)       (runs[i] && !unknown[i] && MAY_RUN(i) -> NEED(i) : 0)

/* Nobody renews its lease. */
#define IS_LEFT(i)    ((killed[i] && (!runs[i] || BUG == OUTLIVES_PARENT)) || dropped[i])

/* ---- Clocks ---- */

#ifdef CLOCKS
#define TTL  8
#define STOP (BUG == STOPS_AT_THE_END -> TTL : 6)

byte age[N];                    /* the engine's ticks since the last renewal that it has applied */
byte since[N];                  /* the client's ticks since it sent the last answered renewal */
byte sent[N];                   /* the client's ticks since it sent the renewal that is under way */
bit  under_way[N], applied[N], stale[N];
bit  slipped[N], slips[N];      /* its clock has omitted a tick since these moments */

#define MAY_RUN(i)   ((i) >= CLOCKS || since[i] < STOP)
#define ENDS(i)      (age[i] >= TTL || ((i) >= CLOCKS && IS_LEFT(i)))
#define OLDER(x, by) x = ((x) < TTL -> (x) + by : TTL)

/* A tick of one client's clock: `by` is 1, or 0 for the tick that it omits. */
inline pass(i, by)
{
    OLDER(since[i], by);
    OLDER(sent[i], by);
    if
    :: by == 0 -> slipped[i] = 1; slips[i] = 1
    :: else
    fi
}

#define TICKS(i) ((i) < CLOCKS && (lease[i] || (runs[i] && MAY_RUN(i))))

inline tick(i)
{
    OLDER(age[i], 1);
    if
    :: pass(i, 1)
    :: !slipped[i] && !slips[i] && lease[i] -> pass(i, 0)
    fi
}

/* A late renewal is applied when nobody waits for it any longer, and only makes the lease last longer. */
inline renew(i)
{
    if
    :: atomic { (i) < CLOCKS && lease[i] && !killed[i] && !under_way[i] && MAY_RUN(i) ->
                under_way[i] = 1; applied[i] = 0; stale[i] = 0; sent[i] = 0; slips[i] = 0 }
    :: atomic { under_way[i] && !applied[i] && lease[i] -> applied[i] = 1; age[i] = 0 }
    :: atomic { under_way[i] && !applied[i] -> applied[i] = 1; stale[i] = 1 }
    /* The answer, which does not count if it is a former leader's. */
    :: atomic { under_way[i] && applied[i] && !killed[i] ->
                if
                :: stale[i] && BUG != TERM_UNCHECKED
                :: (!stale[i] || BUG == TERM_UNCHECKED) && MAY_RUN(i) ->
                    since[i] = (BUG == FROM_ANSWER -> 0 : sent[i]); slipped[i] = slips[i]
                :: else
                fi;
                under_way[i] = 0; applied[i] = 0; stale[i] = 0; sent[i] = 0; slips[i] = 0 }
    fi
}

proctype clock()
{
end:
    do
    :: atomic { TICKS(0) ->
                tick(0);
                if
                :: TICKS(1) -> tick(1)
                :: else
                fi }
    :: renew(0)
    :: renew(1)
    od
}
#else
#define MAY_RUN(i) true
#define ENDS(i)    (IS_LEFT(i) && BUG != DEAD_FOR_EVER)
#endif

/* ---- Transactions ---- */

#define FITS(i)   (SUM(TAKEN) + NEED(i) <= limit)

inline delete_keys(i)
{
    rev++;
    if
    :: q[i] != 0 -> q_gone[i] = rev
    :: else
    fi;
    if
    :: r[i] != 0 -> r_gone = rev
    :: else
    fi;
    q[i] = 0; r[i] = 0; lease[i] = 0; late_join[i] = 0; late_begin[i] = 0
}

#define LIMITS        (limit * 8 + first)
#define FOLLOWS(i, e) (ASKED(i) == (e) / 8 || ASKED(i) == (e) % 8)
#define UNUSED        ((!ANY(WAITING) || BUG == LIMIT_OF_WAITING) && \
                       (!ANY(RUNNING) || BUG == LIMIT_OF_RUNNING))

#define EXPECTED(e)   (LIMITS == (e) || BUG == REPLACES_LIMIT)

inline join(i, e)
{
    if
    :: lease[i] && (q[i] == 0 || BUG == JOINS_TWICE) &&
       (r[i] == 0 || BUG == JOINS_RUNNING) &&
       (first == 0 || (LIMITS == e && FOLLOWS(i, e)) || (EXPECTED(e) && !FOLLOWS(i, LIMITS) && UNUSED)) ->
        rev++;
        if
        :: first == 0 || !FOLLOWS(i, LIMITS) ->
            HOLDS(LIMIT, SUM(USES) == 0 && !drained);
            limit = ASKED(i);
            first = ASKED(i);
            limit_rev = rev
        :: else
        fi;
        /* A put to an existing key does not create it. */
        q[i] = (q[i] == 0 -> rev : q[i])
    :: else
    fi
}

#define MAY_BEGIN(i, read) (                                            \
    (q[i] == created[i] || BUG == OWN_UNCHECKED) &&                                 \
    (!ANY2(BETTER, i) || BUG == BETTER_UNCHECKED) &&                             \
    (!ANY2(EARLIER, i) || BUG == EARLIER_UNCHECKED) &&                           \
    ((r[0] <= read && r[1] <= read && r[2] <= read) || BUG == RUNNING_UNCHECKED) && \
    (limit_rev <= read || BUG == LIMIT_UNCHECKED))

inline begin(i, read)
{
    if
    :: lease[i] && MAY_BEGIN(i, read) ->
        HOLDS(ORDER, !ANY2(BEFORE, i));
        HOLDS(PLACE, !removed[i]);
        rev++;
        q_gone[i] = rev;
        q[i] = 0;
        r[i] = rev;
        begins++;
        begun[i] = begins;
#ifdef CLOCKS
        if
        :: BUG == BEGIN_RENEWS -> since[i] = 0
        :: else
        fi;
#endif
        HOLDS(LIMIT, SUM(TAKEN) <= limit)
    :: else
    fi
}

/* Requests that are under way and that nobody waits for. */
proctype wire()
{
end:
    do
    :: atomic { late_join[0] != 0 -> join(0, late_join[0]); late_join[0] = 0 }
    :: atomic { late_join[1] != 0 -> join(1, late_join[1]); late_join[1] = 0 }
    :: atomic { late_begin[0] != 0 -> begin(0, late_begin[0]); late_begin[0] = 0 }
    :: atomic { late_begin[1] != 0 -> begin(1, late_begin[1]); late_begin[1] = 0 }
    :: atomic { lease[0] && ENDS(0) -> delete_keys(0) }
    :: atomic { lease[1] && ENDS(1) -> delete_keys(1) }
    :: atomic { lease[2] && ENDS(2) -> delete_keys(2) }
    od
}

/* ---- A client ---- */

/* An answer is lost.  The request has been applied, or will be. */
#define LOSE losses < LOSSES -> losses++

/* The last created key among those of my priority before me, or else a key of a better priority. */
#define LATER(i, j, k)     (EARLIER(i, j) && q[j] > q[k])
#define LAST_EARLIER(i, k) (EARLIER(i, k) && \
                            !(LATER(i, 0, k) || LATER(i, 1, k) || LATER(i, 2, k)))
#define PICK(P, i)         (P(i, 0) -> 1 : (P(i, 1) -> 2 : (P(i, 2) -> 3 : 0)))
#define PREDECESSOR(i)     (ANY2(EARLIER, i) -> PICK(LAST_EARLIER, i) : \
                            (BUG == BETTER_NOT_SEEN -> 0 : PICK(BETTER, i)))

/* One read of the running keys, of the limit, and of the key to watch. */
inline look()
{
    read = rev;
    before = (BUG == ALL_WATCH_RUNNING || (BUG == ASSUMES_HEAD && woken) -> 0 : PREDECESSOR(me));
    fits = FITS(me)
}

#define LIMIT_SET (limit_rev > read && BUG != LIMIT_NOT_WATCHED)
#define IS_GONE (before == 0 -> r_gone > read || LIMIT_SET : q_gone[before - 1] > read)

/* STUCK: a client waits although nobody waits before it and there is room for it. */
#define WAITS_BEFORE(i, k) (waits[k] && BEFORE(i, k))
#define STUCK_ONE(i)       (waits[i] && !killed[i] && !ANY2(WAITS_BEFORE, i) && FITS(i))

#ifdef HOLDS_LONG
#define COMMAND_ENDS timeout
#else
#define COMMAND_ENDS true
#endif

#define FENCE_WRONG(i, k) \
    (fence[k] != 0 && k != i && (begun[k] < begun[i]) != (fence[k] < fence[i]))

proctype client(byte me)
{
    byte read, before, told;
    bit fits, woken, failed, changed, excused;

    {
#ifdef NESTED
        if
        :: me == 2 ->
end_inner:  runs[0];
            if
            :: BUG != OUTER_OF_ENGINE || r[0] != 0 -> inner_over = 1; goto over
            :: atomic { BUG == OUTER_OF_ENGINE && LOSE }    /* the engine does not answer */
            fi
        :: else
        fi;
#endif
        d_step {
            lease[me] = 1;
            expects[me] = ASKED(me) * 8 + ASKED(me);
#ifdef CLOCKS
            age[me] = 0; since[me] = 0; slipped[me] = 0
#endif
        }
join_again:
        if
        :: atomic { join(me, expects[me]); created[me] = (BUG == JOINS_TWICE -> rev : q[me]); told = LIMITS };
            if
            :: created[me] == 0 && (told == expects[me] || (told / 8 == 0 && !FOLLOWS(me, told))) ->
                goto leave                          /* another limit */
            :: created[me] == 0 && told != expects[me] && (told / 8 != 0 || FOLLOWS(me, told)) ->
                expects[me] = told; goto join_again
            :: else
            fi
        :: atomic { LOSE; join(me, expects[me]) }; goto find_out
        :: atomic { me < 2 && LOSE; late_join[me] = expects[me] }; goto find_out
        fi;
        waits[me] = 1;
read_again:
        atomic { look(); failed = 0 };
        if
        :: atomic { r[me] != 0 && BUG != ASSUMES_FAILED ->
                    fence[me] = (BUG == FENCE_OF_READ -> read : r[me]) }; goto granted
        :: r[me] == 0 && q[me] == 0 -> goto leave
        :: else
        fi;
decide:
        if
        :: !MAY_RUN(me) -> excused = 1; goto leave
        :: MAY_RUN(me) && fits && (!failed || (before == 0 && changed)) ->
            if
            :: atomic { true ->
                        if
                        :: BUG == READ_TOO_NEW -> read = rev
                        :: else
                        fi;
                        begin(me, read);
                        fence[me] = r[me];
                        changed = (rev != read);
                        look() };
                if
                :: fence[me] != 0 -> goto granted
                :: fence[me] == 0 && q[me] == 0 -> goto leave
                :: else -> failed = 1; goto decide
                fi
            :: atomic { LOSE; begin(me, read) }; goto read_again
            :: atomic { me < 2 && LOSE; late_begin[me] = read }; goto read_again
            :: atomic { refusals < REFUSALS -> refusals++ };
                if
                :: BUG == TOKEN_IS_A_NO -> goto leave
                :: else -> goto read_again
                fi
            fi
        :: else
        fi;
        if
        :: BUG == WATCHES_LATE -> read = rev
        :: else
        fi;
        do
        :: atomic { IS_GONE -> woken = 1 }; goto read_again
        :: atomic { breaks < BREAKS -> breaks++ };
            if
            :: BUG == RESUMES_BLINDLY -> read = rev
            :: else -> goto read_again
            fi
        :: atomic { deadlines < DEADLINES -> deadlines++; excused = 1 }; goto leave
#ifdef CLOCKS
        :: !MAY_RUN(me) -> excused = 1; goto leave
#endif
        od;
find_out:
        if
        :: atomic { q[me] != 0 -> created[me] = q[me]; waits[me] = 1 }; goto read_again
        :: q[me] == 0 && lease[me] -> goto join_again
        :: q[me] == 0 && !lease[me] -> goto leave
        :: atomic { timeouts < TIMEOUTS -> timeouts++; excused = 1 };
            if
            :: BUG == JOIN_GIVEN_UP -> goto over
            :: else -> goto leave
            fi
        fi;
granted:
        atomic {
            waits[me] = 0;
            if
            :: !MAY_RUN(me) -> excused = 1; goto leave
            :: else
            fi;
            runs[me] = 1;
            HOLDS(FENCE, !ANY2(FENCE_WRONG, me));
            HOLDS(LIMIT, LOWERS || SUM(USES) <= limit)
        }
        atomic {
#ifdef NESTED
            me != 0 || inner_over;
#endif
            COMMAND_ENDS ->
#ifdef HOLDS_LONG
            HOLDS(STUCK, !ANY(STUCK_ONE))
#endif
        }
        if
        :: BUG == REVOKES_FIRST && lease[me] -> delete_keys(me)
        :: else
        fi;
        runs[me] = 0;
leave:
        atomic {
            waits[me] = 0;
            HOLDS(KEPT, q[me] == 0 || excused);
            if
            :: lease[me] -> delete_keys(me)
            :: atomic { lease[me] && timeouts < TIMEOUTS -> timeouts++ };
                dropped[me] = (BUG != GIVES_UP_AWAKE)
            :: else
            fi
        };
over:
        skip
    } unless { killed[me] };
    d_step { runs[me] = 0; waits[me] = 0 }
}

/* Kills clients, lowers and raises the limit, and deletes keys. */
proctype others()
{
end:
    do
    :: atomic { deaths < DEATHS && lease[0] && !killed[0] -> killed[0] = 1; deaths++ }
    :: atomic { deaths < DEATHS && lease[1] && !killed[1] -> killed[1] = 1; deaths++ }
    :: atomic { lowers < LOWERS && limit > 0 ->
                lowers++; rev++; limit_rev = rev;
                if
                :: limit = 0; drained = 1
                :: limit = limit - 1
                fi }
    :: atomic { limit < first -> rev++; limit_rev = rev; limit = first; drained = 0 }
    :: atomic { removes < REMOVES && q[0] != 0 ->
                removes++; rev++; q_gone[0] = rev; q[0] = 0; removed[0] = 1 }
    :: atomic { removes < REMOVES && r[0] != 0 ->
                removes++; rev++; r_gone = rev; r[0] = 0; unknown[0] = 1 }
    od
}

init
{
    atomic {
        run wire(); run others();
        run client(0); run client(1);
        if
        :: CLIENTS > 2 -> run client(2)
        :: else
        fi;
#ifdef CLOCKS
        run clock()
#endif
    }
}
