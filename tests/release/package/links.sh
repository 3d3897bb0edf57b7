#!/bin/sh
# SPDX-License-Identifier: MIT
# links.sh - no link in the documents is dead, in the source tree and after an installation.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"

# links FILE - print each target on a line.  A link may span lines; code has no links.
links() {
  awk '/^ *```/ { code = !code; next } !code { gsub(/`[^`]*`/, ""); printf "%s ", $0 }' "$1" |
    awk '{
      while (match($0, /\]\([^() ]*\)/)) {
        print substr($0, RSTART + 2, RLENGTH - 3)
        $0 = substr($0, RSTART + RLENGTH)
      }
    }'
}

# headings FILE - print the anchors of its headings, as forges make them.
headings() {
  awk '/^ *```/ { code = !code; next } !code && /^#+ / { sub(/^#+ /, ""); print tolower($0) }' "$1" |
    sed -e 's/[^a-z0-9 _-]//g' -e 's/ /-/g'
}

# dead_links DIRECTORY - print "file: target" for each link of a document there that is dead.
dead_links() {
  # Skip build directories, also that of make distcheck, and the directories of other tests.
  (cd "$1" && find . -name '*.md' ! -path './build*' ! -path './_*' ! -path './.git/*' \
    ! -path '*/tests/*.??????/*') |
    sed 's|^\./||' | while read -r file; do
    links "$1/$file" | while read -r target; do
      path=${target%%#*}
      case $target in
        http://* | https://* | mailto:*) continue ;;
        \#*) leads_to=$1/$file ;;
        *) leads_to=$(dirname "$1/$file")/$path ;;
      esac
      if [ ! -e "$leads_to" ]; then
        echo "$file: $target"
      elif [ "$target" != "$path" ] && ! headings "$leads_to" | grep -qFx -e "${target#*#}"; then
        echo "$file: $target"
      fi
    done
  done
}

# living WHAT DIRECTORY MINIMUM - it has at least that many documents, and no dead links.
living() {
  count=$(find "$2" -name '*.md' | wc -l)
  dead_links "$2" > "$work/dead"
  if [ "$count" -lt "$3" ]; then
    fail "$1: only $count documents"
  elif [ -s "$work/dead" ]; then
    echo "FAILED: dead links in $1:"
    cat "$work/dead"
    status=1
  else
    echo "ok: $1: no dead links in $count documents"
  fi
}

# First a document with dead links, which must be found.
mkdir -p "$work/canary/doc"
cat > "$work/canary/page.md" <<'_EOF'
# A heading, `and` more
[file](doc/missing.c), [folder](doc), [heading](#a-heading-and-more), [no heading](#another)
[two
lines](doc/missing.svg) ![a picture](doc/other.svg) `[code](doc/code.c)` [far](https://example.org/)
```
[code](doc/block.c)
```
[there](doc/there.md#nowhere)
_EOF
echo '# Somewhere' > "$work/canary/doc/there.md"
cat > "$work/expected" <<'_EOF'
page.md: #another
page.md: doc/missing.c
page.md: doc/missing.svg
page.md: doc/other.svg
page.md: doc/there.md#nowhere
_EOF
dead_links "$work/canary" | sort > "$work/found"
if ! LC_ALL=C sort "$work/expected" | diff - "$work/found"; then
  fail "dead links that were not found (<), living ones that were (>)"
fi

living "the source tree" "$top_srcdir" 8

"$MAKE" -C "$top_builddir" install DESTDIR="$work/root" > "$work/log" 2>&1 || {
  cat "$work/log"
  echo "FAILED: make install"
  exit 1
}
living "what is installed" "$work/root" 6

# The installed README must still link to other installed files.
readme=$(find "$work/root" -path '*/fairsem*/README.md' ! -path '*/foreign/*')
for target in doc/comparison.md doc/victim.svg examples examples/prefork-server.c; do
  if ! links "$readme" | grep -qFx "$target"; then
    fail "the installed README has no link to $target"
  fi
done
exit "$status"
