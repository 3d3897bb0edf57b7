# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# rows.sh - long checks as rows of one table; sourced by tests/verify.sh and packaging/release_check.sh.
#
#   rows_of TARGET                  the target of make that runs this table
#   row NAME ROOMS COMMAND...       one check: what it is called, which rooms of src/ it belongs to
#   tests NAME...                   a COMMAND: these tests of `make check`
#   end_of_rows                     prints the table, and exits
#
# ROWS="NAME..." chooses by name, ONLY=ROOM by room.  A row ends as `ok`, `FAILED`, or `not tried`:
# something is missing here, and the table says what.  Where the row was asked for by name, that is a
# failure, also inside it: FAIRSEM_TRY_ALL.  A row that fails does not stop the others.  The output of
# each row stays in TARGET.logs/ of the build directory.
# shellcheck disable=SC2154 # top_builddir and MAKE, of the scripts that read this
export LC_ALL=C
# A make in a row must not inherit options and job slots.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR

rows_of() {
  target=$1 began_all=$(date +%s) begun='' failed=0 untried=0
  : "${ROWS=}" "${ONLY=}" "${SEED:=1}"
  logs=$top_builddir/$target.logs
  table=$logs/table missed=$logs/not-tried
  mkdir -p "$logs" && : > "$table" && : > "$missed" || exit 2
  FAIRSEM_SEED=$SEED
  FAIRSEM_TRY_ALL=${ROWS:+yes}
  export FAIRSEM_SEED FAIRSEM_TRY_ALL
}

# chosen NAME ROOMS - is this row asked for?
chosen() {
  [ -z "$ROWS" ] || case " $ROWS " in *" $1 "*) ;; *) return 1 ;; esac
  [ -z "$ONLY" ] || case " $2 " in *" $ONLY "*) ;; *) return 1 ;; esac
}

row() {
  name=$1 rooms=$2 log=$logs/$1.log
  shift 2
  all_names="${all_names-} $name"
  chosen "$name" "$rooms" || return 0
  begun="$begun $name"
  printf -- '-- %s\n' "$name"
  began=$(date +%s)
  # What the row left the last time it would take for its own.
  rm -f "$logs/$name.results"
  # In a shell of its own: a step that is a function may exit.
  ("$@") > "$log" 2>&1 < /dev/null
  code=$?
  took=$(($(date +%s) - began))
  # What a part of the row could not try, it has said in a line of its own.
  sed -n -e "s/^not tried: /$name: /p" -e "s/^skipped: /$name: /p" "$log" | sort -u >> "$missed"
  said=$(grep . "$log" | tail -n 1 | cut -c 1-80)
  case $code:$FAIRSEM_TRY_ALL in
    0:*) outcome=ok ;;
    77:yes) outcome=FAILED ;;
    77:*) outcome='not tried' untried=$((untried + 1)) ;;
    *) outcome=FAILED ;;
  esac
  if [ "$outcome" = FAILED ]; then
    failed=$((failed + 1))
    tail -n 60 "$log"
    said="again: make $target ROWS=$name SEED=$SEED"
  fi
  printf '%-15s %-9s %5d s  %4s  %s\n' "$name" "$outcome" "$took" "$SEED" "$said" | tee -a "$table"
}

# tests NAME... - what a row can do: these programs or scripts of the tests.
tests() {
  "$MAKE" -C "$top_builddir" check TESTS="$*" > "$logs/make" 2>&1
  ended=$? skipped=0
  for test; do
    cat "$top_builddir/${test%.*}.log" 2> /dev/null || cat "$logs/make"
    # It is no failure for make.
    ! grep -q '^:test-result: SKIP' "$top_builddir/${test%.*}.trs" || skipped=$((skipped + 1))
  done
  [ "$ended" -eq 0 ] || return 1
  echo "$(($# - skipped)) of $# ran"
  [ "$skipped" -lt $# ] || return 77
}

end_of_rows() {
  for name in $ROWS; do
    case " $all_names " in
      *" $name "*) ;;
      *) echo "$target: there is no row $name, but$all_names" >&2 && exit 2 ;;
    esac
  done
  [ -n "$begun" ] || { echo "$target: nothing is for ONLY='$ONLY' ROWS='$ROWS'" >&2 && exit 2; }
  printf '\n%-15s %-9s %7s  %4s  %s\n' row result seconds seed "what it said last, or the command that repeats it"
  cat "$table"
  if [ -s "$missed" ]; then
    printf '\nnot tried in these rows:\n'
    sed 's/^/  /' "$missed"
  fi
  # shellcheck disable=SC2086 # a list
  set -- $begun
  printf '\n%d passed, %d failed, %d not tried, in %d s\n' "$(($# - failed - untried))" "$failed" \
    "$untried" "$(($(date +%s) - began_all))"
  [ "$failed" -eq 0 ] && [ $# -gt "$untried" ]
  exit
}
