# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# script.sh - shared functions of the test scripts, which source it first:
#
#   : "${top_srcdir:=...}" "${top_builddir:=$PWD}"
#   . "$top_srcdir/tests/support/script.sh"
#
# It makes an empty directory $work, and removes it when the script ends.  A script prints a line "ok: ..."
# for each thing that it has checked, and ends with `exit "$status"`.  result.sh has the functions with which a
# script skips something, and the limit of time.
# shellcheck disable=SC2034,SC2154 # of the scripts that read this
export LC_ALL=C
# A make within a script must not inherit options and job slots.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
: "${CC:=cc}" "${CXX:=c++}" "${CFLAGS=}" "${MAKE:=make}"
. "$top_srcdir/tests/support/result.sh"

mkdir -p "$top_builddir/tests" &&
  work=$(mktemp -d "$top_builddir/tests/$(basename "$0" .sh).XXXXXX") &&
  work=$(cd "$work" && pwd) || exit 99
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT

# fail WHAT - report a failure, after the output of the last command if the script keeps it in out and err.
fail() {
  cat "$work/out" "$work/err" 2> /dev/null
  echo "FAILED: $*"
  status=1
  # To detect a seeded fault, the first failure is enough.
  [ -z "${STOP_EARLY-}" ] || exit 1
}

# each_compiler COMMAND... - print the compilers that can be run, each once.
each_compiler() {
  for command; do
    ! has "$command" || echo "$command"
  done | sort -u
}

# knows_standard COMPILER LANGUAGE STANDARD - does the compiler know the standard?  If not, print "not here".
knows_standard() {
  # shellcheck disable=SC2086 # a compiler may be several words
  $1 "-std=$3" -x "$2" -fsyntax-only /dev/null > /dev/null 2>&1 && return
  not_here "$1 does not know -std=$3"
  return 1
}

# needs COMMAND... - skip the script if one of the commands is missing.
needs() {
  for tool; do
    has "$tool" || skip "there is no $tool"
  done
}

# gdb_does SAYS OPTION... - does gdb with these options print SAYS, at main of a trivial program?
# The program does not use the library: a fault of the library must not look as if gdb did not work.
gdb_does() {
  says=$1
  shift
  echo 'int main(void) { return 0; }' > "$work/trivial.c"
  # shellcheck disable=SC2086 # lists
  $CC $CFLAGS "$work/trivial.c" -o "$work/trivial" || exit 99
  limited gdb -nx -q -batch -iex 'set startup-with-shell off' -ex 'break main' -ex run "$@" \
    "$work/trivial" 2>&1 | grep -q "$says"
}

# source_files - print the files of the repository, or of the tarball, relative to the top of the source,
# without files that a build or autoreconf has made.
source_files() {
  # Ask git only if .git is at the top of this source: the source may be inside another repository.
  if [ -e "$top_srcdir/.git" ] && has git &&
    git -C "$top_srcdir" ls-files > "$work/tracked" 2> /dev/null && [ -s "$work/tracked" ]; then
    while read -r file; do
      [ ! -f "$top_srcdir/$file" ] || echo "$file"
    done < "$work/tracked"
  else
    packed_files
  fi
}

# packed_files - print the files of the tarball.
packed_files() {
  "$MAKE" -C "$top_builddir" distdir distdir="$work/dist" > "$work/log" 2>&1 &&
    (cd "$work/dist" && find . -type f) | sed 's|^\./||' |
    grep -v -e '^build-aux/' -e '^packaging/m4/l.*\.m4$' -e '^aclocal\.m4$' -e '^configure$' \
      -e '^config\.h\.in$' -e '^Makefile\.in$' | sort
}

# made WORD - print a value that libtool has recorded about the library that was built, such as its dlname.
# A test of installed files takes its list of files from these records, so that it notices a missing file.
made() {
  sed -n "s/^$1='\(.*\)'/\1/p" "$top_builddir/libfairsem.la"
}

# configure_says VARIABLE VALUE - did configure set the variable to this value?
configure_says() {
  grep -q "^$1 = $2\$" "$top_builddir/Makefile"
}

# library - print the path of the library that was built: the static library if there is one.
library() {
  if [ -f "$top_builddir/.libs/libfairsem.a" ]; then
    echo "$top_builddir/.libs/libfairsem.a"
  else
    echo "$top_builddir/.libs/libfairsem.so"
  fi
}
