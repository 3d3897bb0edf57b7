#!/bin/sh
# SPDX-License-Identifier: MIT
# foreign.sh - run a semaphore of another language, as README.md says:  foreign.sh java|go|tokio
#
# It downloads nothing.  It compiles programs into $FAIRSEM_BENCH_CACHE.
set -u

here=$(cd "$(dirname "$0")" && pwd) || exit 1
cache=${FAIRSEM_BENCH_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/fairsem-bench}

# cannot WHY - print the one line that fairsem-bench reads instead of "ready".
cannot() {
  echo "$*"
  exit 0
}

need() {
  command -v "$1" > /dev/null 2>&1 || cannot "there is no $1"
}

# compile WHAT COMMAND... - its output goes into a log.
compile() {
  what=$1
  shift
  "$@" > "$cache/$what.log" 2>&1 < /dev/null ||
    cannot "$what does not build here: $cache/$what.log"
}

mkdir -p "$cache" || cannot "no directory to compile in: $cache"
case ${1-} in
  java)
    need java
    exec java "$here/FairSemaphore.java"
    ;;
  go)
    need go
    # Without modules: a package of the system is found by its path.
    GOPATH=/usr/share/gocode:$(go env GOPATH) GO111MODULE=off GOFLAGS='' GOCACHE=$cache/go-build
    export GOPATH GO111MODULE GOFLAGS GOCACHE
    go list golang.org/x/sync/semaphore > /dev/null 2>&1 ||
      cannot "no golang.org/x/sync (Debian: golang-golang-x-sync-dev)"
    compile go go build -o "$cache/weighted" "$here/weighted.go"
    exec "$cache/weighted"
    ;;
  tokio)
    need cargo
    registry=/usr/share/cargo/registry
    set -- build --quiet --offline --release --target-dir "$cache/tokio"
    # cargo writes a lock file beside the source, which may be read-only.
    mkdir -p "$cache/tokio-source" || cannot "no directory $cache/tokio-source"
    cp "$here/tokio/Cargo.toml" "$here/tokio/main.rs" "$cache/tokio-source" ||
      cannot "no room in $cache"
    if ls -d $registry/tokio-[0-9]* > /dev/null 2>&1; then
      set -- "$@" --config 'source.crates-io.replace-with="debian"' \
        --config "source.debian.directory=\"$registry\""
    fi
    compile tokio cargo "$@" --manifest-path "$cache/tokio-source/Cargo.toml"
    exec "$cache/tokio/release/tokio-peer"
    ;;
  *)
    echo "usage: foreign.sh java|go|tokio" >&2
    exit 2
    ;;
esac
