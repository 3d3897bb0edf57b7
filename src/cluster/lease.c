/* SPDX-License-Identifier: MIT */
/* lease.c - see lease.h. */
#include "lease.h"

#include "clock.h"

#include <errno.h>
#include <string.h>

static void lease_renewed(struct fs_lease *lease, int64_t sent)
{
    lease->sent = sent;
    lease->renew_at = sent + lease->length / 3;
    atomic_store(&lease->good_until, sent + lease->length / 4 * 3);
}

static void renewal_answered(struct fs_call *renewal, struct fs_answer *answer)
{
    struct fs_lease *lease = renewal->owner;

    if (answer->error == 0 && renewal->step == FS_RENEW) {
        lease->renewed_sent = answer->sent;
        lease->renewed_term = answer->term;
        lease->asked = *lease->record;
        fs_engine_call(lease->engine, renewal, FS_CONFIRM, &lease->asked, fs_lease_end(lease));
        return;
    }
    atomic_store(&lease->last_error, answer->error);
    lease->gone = answer->error == ESTALE;
    lease->key_changed = answer->error == 0 && !answer->done
                         && lease->asked.seen_revision == lease->record->seen_revision
                         && strcmp(lease->asked.predecessor, lease->record->predecessor) == 0;
    if (answer->error == 0 && answer->term == lease->renewed_term)
        lease_renewed(lease, lease->renewed_sent);
    else
        lease->renew_at = fs_boot_now() + FS_RETRY_DELAY;
}

void fs_lease_begin(struct fs_lease *lease, struct fs_engine *engine, const struct fs_record *record,
                    int64_t sent, int64_t ttl_s)
{
    lease->engine = engine;
    lease->record = record;
    lease->length = fs_earlier(ttl_s, record->ttl_s) * FS_NS_PER_S;
    lease->renewal.done = renewal_answered;
    lease->renewal.owner = lease;
    lease_renewed(lease, sent);
}

void fs_lease_stop(struct fs_lease *lease)
{
    fs_engine_stop(&lease->renewal);
    lease->renew_at = FS_NEVER;
}

int64_t fs_lease_end(const struct fs_lease *lease)
{
    return lease->sent + lease->length;
}

int fs_lease_iterate(struct fs_lease *lease, int64_t now, int64_t *next)
{
    int why = atomic_load(&lease->last_error);

    if (lease->gone || now >= fs_lease_end(lease))
        return why != 0 ? why : ENETUNREACH;
    if (lease->renew_at <= now) {
        lease->renew_at = FS_NEVER;
        fs_engine_call(lease->engine, &lease->renewal, FS_RENEW, lease->record,
                       fs_lease_end(lease));
    }
    *next = fs_earlier(lease->renew_at, fs_lease_end(lease));
    return 0;
}

int fs_lease_lost(struct fs_lease *lease, int64_t now)
{
    int lost = atomic_load(&lease->lost), why = atomic_load(&lease->last_error);

    if (lost != 0 || (why != ESTALE && now < atomic_load(&lease->good_until)))
        return lost;
    if (why == 0)
        why = ENETUNREACH;
    /* A reported loss is final, even if a renewal is answered later. */
    return atomic_compare_exchange_strong(&lease->lost, &lost, why) ? why : lost;
}

int64_t fs_lease_left(struct fs_lease *lease, int64_t now)
{
    return fs_lease_lost(lease, now) == 0 ? atomic_load(&lease->good_until) - now : 0;
}
