/* SPDX-License-Identifier: MIT */
/* peers.h - all peers of the benchmarks.  To add one, include its header and add one X(...). */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "peer_bounded.h"
#include "peer_cxx.h"
#include "peer_fairsem.h"
#include "peer_parker.h"
#include "peer_posix.h"
#include "peer_sysv.h"
#include "peer_textbook.h"

/* fairsem first: the others are compared with it. */
#define FOR_EACH_PEER(X) \
    X(fairsem) IF_OTHER_PARKER(X) X(bounded) X(posix) X(textbook) X(sysv) IF_CXX(X)

#define PEER_COUNT_ONE(peer) +1
enum { PEERS = 0 FOR_EACH_PEER(PEER_COUNT_ONE) };

#endif /* BENCH_PEERS_H */
