/* SPDX-License-Identifier: MIT */
/* trust.c - damage, and the numbers of units; see trust.h. */
#include "shared/trust.h"

#include <errno.h>

int fs_shared_is_damaged(fairsem_shared_t *h)
{
    FS_PUT(&h->segment->damaged, 1);
    /* From now on no process uses the fast path.  Release order: see fs_shared_section_end(). */
    atomic_fetch_or_explicit(&h->segment->word, FS_SLOW, memory_order_release);
    return ENOTRECOVERABLE;
}

void fs_load_count(struct fs_shared_section *in)
{
    const fairsem_shared_t *h = in->handle;
    struct fs_segment *s = h->segment;

    FS_STEP("set SLOW");
    in->available = fs_word_lock(&s->word);
    if (!h->undo) {
        in->total = in->most = h->capacity;
        in->available = fs_checked(in, in->available, 0, h->capacity);
        return;
    }
    in->most = fs_checked(in, FS_GET(&s->most), 0, FAIRSEM_MAX_UNITS);
    in->total = fs_checked(in, FS_GET(&s->total), 0, in->most);
    /* If a repair is due, it may be any number, and so may `out`. */
    if (FS_GET(&s->unfinished) == 0 && in->available != in->total - fs_load_units(in, &s->out))
        fs_damaged(in);
}
