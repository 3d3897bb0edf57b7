/* SPDX-License-Identifier: MIT */
/* victim.c - the hog and the victim (hog_victim.c), all peers in turn. */
#define _POSIX_C_SOURCE 200809L

#include "clock.h"
#include "die.h"
#include "hog_victim.h"
#include "peers.h"
#include "report.h"
#include "stats.h"
#include "workloads.h"

#include <errno.h>

void victim_run(bool quick)
{
#define OPS(peer) &ops_##peer,
    static const struct sem_ops *const ops[PEERS] = { FOR_EACH_PEER(OPS) };

    for (int i = 0; i < (quick ? 2 : 5) * PEERS; i++) {
        const struct sem_ops *peer = ops[i % PEERS];
        struct hog_victim_result r;
        int err = hog_victim_run(peer, (quick ? 60 : 1000) * NS_PER_MS, NULL, NULL, &r);
        const char *setting = r.pinned ? "two cores" : "not pinned";

        if (err == ENOSYS)
            continue;
        if (err)
            die("cannot run the two threads", err);
        if (r.victim_served > 0)
            REPORT("victim", setting, peer->name,
                   { "longest_wait_ns", r.waits[r.victim_served - 1] },
                   { "median_wait_ns", stats_quantile(r.waits, r.victim_served, 0.5) },
                   { "victim_share", hog_victim_share(&r) }, { "passed", (double)r.passes },
                   { "waits_passed", (double)r.waits_passed });
        report_list("victim", setting, peer->name, "waits_ns", r.waits, r.victim_served);
        hog_victim_free(&r);
    }
}
