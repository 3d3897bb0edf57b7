#!/bin/sh
# SPDX-License-Identifier: MIT
# completion.sh - what bash and zsh propose for fairsem-limit and fairsem-run.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
. "$top_srcdir/tests/limit/common.sh"
completion=$(cd "$top_srcdir/packaging/completion" && pwd)
complete=$(cd "$top_srcdir" && pwd)/tests/limit/complete.py
mkdir "$work/bin"
ln -s "$built/fairsem-limit" "$built/fairsem-run" "$work/bin"    # not the programs that nobody calls
PATH=$work/bin:$PATH
export PATH
mkdir "$FAIRSEM_LIMIT_DIR/other"
"$limit" backup 3 -- true
"$limit" build 4 -- true
"$limit" --global together 5 -- true
"$limit" --dir="$FAIRSEM_LIMIT_DIR/other" elsewhere 6 -- true
"$limit" --remove "$name"

# ---------------------------------------------------------------- bash
cat > "$work/propose" << '_EOF'
# propose FILE COMMAND WORD... - print what is proposed for the last word.
. "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
[[ $(complete -p "$1") =~ -F\ ([a-z_]*)\ "$1"$ ]] || exit 1
"${BASH_REMATCH[1]}" "$1" "${!#}" 2> /dev/null
echo "${COMPREPLY[*]}"
_EOF

# proposes EXPECTED WORD... - for the words after fairsem-limit.
proposes() {
  expected=$1
  shift
  bash --norc "$work/propose" "$completion/$completed.bash" "$completed" "$@" > "$work/out" 2> "$work/err"
  if [ "$(cat "$work/out")" = "$expected" ]; then
    echo "ok: $completed $*"
  else
    fail "$completed $*: not '$expected'"
  fi
}

if has bash; then
  completed=fairsem-limit
  proposes 'backup build' ''
  proposes 'backup' ba
  proposes 'build' -n 2 bu
  proposes 'backup build' --units = 2 -w 5m --keep ''
  proposes 'together' -g ''
  proposes 'together' --global = 660 ''
  proposes 'elsewhere' --dir = "$FAIRSEM_LIMIT_DIR/other" ''
  proposes '3' backup ''
  proposes '5' --global together ''
  proposes '' together ''
  proposes 'backup build' --status ''
  proposes 'json' --status = j
  proposes 'backup build' --status = json ''
  proposes 'backup' --remove --force ba
  proposes 'backup build' --set-limit = 7 ''
  proposes '' --remove backup ''
  proposes '--priority=' --pr
  proposes "$FAIRSEM_LIMIT_DIR/other" --dir = "$FAIRSEM_LIMIT_DIR/o"
  proposes '' -n ''
  proposes '' --cluster ''
  proposes '' --cluster = http://127.0.0.1:1 --ttl = ''
  proposes '' --cluster backup ''
  proposes 'fairsem-limit' --cluster backup 3 fairsem-limi
  proposes 'fairsem-limit' backup 3 fairsem-limi
  proposes 'fairsem-limit' -w 5m backup 3 -- fairsem-limi
  proposes "$work/propose" backup 3 -- cat "$work/prop"
  if [ -x "$top_builddir/fairsem-run" ]; then
    completed=fairsem-run
    proposes '--stats' --st
    proposes 'fairsem-limit' --stats fairsem-limi
    proposes 'fairsem-limit' --bypass = 10ms fairsem-limi
  fi
  # Each option of --help is proposed.
  for program in limit run; do
    [ -x "$top_builddir/fairsem-$program" ] || continue
    "$top_builddir/fairsem-$program" --help |
      sed -n 's/^ *\(-., \)*\(--[a-z][a-z-]*\).*/\2/p' | sort -u > "$work/options"
    while read -r option; do
      grep -qw -e "$option" "$completion/fairsem-$program.bash" ||
        fail "fairsem-$program.bash does not know $option"
      grep -qw -e "$option" "$completion/_fairsem-$program" ||
        fail "_fairsem-$program does not know $option"
    done < "$work/options"
    [ -s "$work/options" ] || fail "no options of fairsem-$program"
  done
else
  not_tried "bash"
fi

# ---------------------------------------------------------------- zsh
if has zsh && has python3; then
  if (cd "$work/bin" && python3 "$complete" "$completion" "$FAIRSEM_LIMIT_DIR/other"); then
    echo "ok: zsh"
  else
    fail "zsh"
  fi
else
  not_tried "zsh"
fi
exit "$status"
