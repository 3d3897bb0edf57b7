# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# rows.sh - long checks as rows of one table; sourced by tests/verify.sh and packaging/release_check.sh.
#
#   rows_of TARGET                       the target of make that runs this table
#   row NAME ROOMS BUDGET COMMAND...     one check: its name, the directories of src/ that it belongs to, the
#                                        seconds that it may take on two quiet cores
#   tests NAME...                        a COMMAND: these tests of `make check`
#   end_of_rows                          prints the table, and exits
#
# ROWS="NAME..." chooses rows by name, ONLY=DIRECTORY by directory.  A row that fails does not stop the others.
# The result of a row is
#
#   ok         if the row succeeded, and printed "ok: ..." for what it checked
#   not tried  if the row checked nothing, and printed the reason: "skipped: ..."
#   FAILED     otherwise, even if the row succeeded but printed neither
#
# A row that is named in ROWS must try everything (FAIRSEM_TRY_ALL): it fails at each "not tried: ...", and at
# each "not here: ..." that tests/not_here.txt does not list.  For other rows, these lines stand after the
# table.
#
# The output of each row stays in TARGET.logs/ of the build directory, and its seconds in
# TARGET.logs/seconds, which the next run prints.
# shellcheck disable=SC2154 # top_builddir and MAKE, of the scripts that read this
export LC_ALL=C
# A make within a row must not inherit options and job slots.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR

rows_of() {
  target=$1 began_all=$(date +%s) begun='' failed=0 untried=0
  : "${ROWS=}" "${ONLY=}" "${SEED:=1}"
  logs=$top_builddir/$target.logs
  table=$logs/table missed=$logs/not-tried seconds=$logs/seconds
  mkdir -p "$logs" && : > "$table" && : > "$missed" && touch "$seconds" || exit 2
  FAIRSEM_SEED=$SEED
  FAIRSEM_TRY_ALL=${ROWS:+yes}
  export FAIRSEM_SEED FAIRSEM_TRY_ALL
}

# chosen NAME ROOMS - do ROWS and ONLY choose this row?
chosen() {
  [ -z "$ROWS" ] || case " $ROWS " in *" $1 "*) ;; *) return 1 ;; esac
  [ -z "$ONLY" ] || case " $2 " in *" $ONLY "*) ;; *) return 1 ;; esac
}

# last_seconds NAME - print the seconds of the row's last run, or nothing.
last_seconds() {
  awk -v name="$1" '$1 == name { print $2 }' "$seconds"
}

# note_seconds NAME SECONDS
note_seconds() {
  { grep -v "^$1 " "$seconds"; echo "$1 $2"; } > "$seconds.new"
  mv "$seconds.new" "$seconds"
}

# print_untried LOG - print the lines of the log that say what the row could not try.
print_untried() {
  sed -nE 's/^(-- ([^ :]*): )?(not tried|skipped): /\2 /p' "$1"
  sed -nE 's/^(-- ([^ :]*): )?not here: /\2 not here: /p' "$1" | while read -r line; do
    expected "$line" || echo "$line"
  done
}

# expected LINE - does tests/not_here.txt list the line for the row $name?
expected() {
  while read -r of text; do
    if [ "$of" = "$name" ]; then
      case $1 in *"not here: $text"*) return 0 ;; esac
    fi
  done < "$top_srcdir/tests/not_here.txt"
  return 1
}

row() {
  name=$1 rooms=$2 budget=$3 log=$logs/$1.log
  shift 3
  all_names="${all_names-} $name"
  chosen "$name" "$rooms" || return 0
  begun="$begun $name"
  last=$(last_seconds "$name")
  printf -- '-- %s (%s)\n' "$name" "${last:+it took $last s the last time; }budget $budget s"
  began=$(date +%s)
  # Results of the row's last run would count as results of this run.
  rm -f "$logs/$name.results"
  # In a subshell, because the command may be a function that exits.
  ("$@") > "$log" 2>&1 < /dev/null
  code=$?
  took=$(($(date +%s) - began))
  print_untried "$log" | sort -u > "$logs/untried"
  sed "s/^ */$name: /" "$logs/untried" >> "$missed"
  said=$(grep . "$log" | tail -n 1 | cut -c 1-60)
  checked=$(grep -c '^ok: ' "$log")
  case $code:$checked in
    77:* | 0:0)
      outcome='not tried'
      [ -s "$logs/untried" ] || { outcome=FAILED && echo 'it checked nothing: no line "ok: ..."' >> "$log"; }
      ;;
    0:*) outcome=ok ;;
    *) outcome=FAILED ;;
  esac
  if [ "$FAIRSEM_TRY_ALL:$outcome" = 'yes:not tried' ] ||
    { [ -n "$ROWS" ] && [ "$outcome" = ok ] && [ -s "$logs/untried" ]; }; then
    outcome=FAILED
    sed 's/^ */must be tried, and was not: /' "$logs/untried" >> "$log"
  fi
  case $outcome in
    ok) note_seconds "$name" "$took" ;;
    FAILED)
      failed=$((failed + 1))
      tail -n 60 "$log"
      said="again: make $target ROWS=$name SEED=$SEED"
      ;;
    *) untried=$((untried + 1)) ;;
  esac
  print_row "$name" "$outcome" "$took" "${last:--}" "$budget" "$SEED" "$said" | tee -a "$table"
}

print_row() {
  printf '%-15s %-9s %7s %6s %6s %5s  %s\n' "$@"
}

# tests NAME... - a command of rows: run these tests of `make check`.
tests() {
  "$MAKE" -C "$top_builddir" check TESTS="$*" > "$logs/make" 2>&1
  ended=$? skipped=0
  for test; do
    cat "$top_builddir/${test%.*}.log" 2> /dev/null || cat "$logs/make"
    # make does not count a skipped test as a failure, so count it here.
    case $(sed -n 's/^:test-result: //p' "$top_builddir/${test%.*}.trs") in
      PASS*) echo "ok: $test" ;;
      SKIP*) skipped=$((skipped + 1)) ;;
    esac
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
  echo
  print_row row result seconds last budget seed "what it said last, or the command that repeats it"
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
