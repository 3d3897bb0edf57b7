# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# plain.sh - builds the library and its tests without Check and without a build directory, for
# another C library or another machine.  A script that sets top_srcdir and work reads it with `.`.
#
# A COMPILER is a command with its flags, as one argument.
: "${top_srcdir:?}" "${work:?}"

# plain_compile COMPILER ARGUMENT...
plain_compile() {
  compiler=$1
  shift
  # shellcheck disable=SC2086 # a list
  $compiler -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -I"$top_srcdir/include" -I"$top_srcdir/src" \
    -I"$top_srcdir/src/core" \
    -I"$top_srcdir/src/posix" -I"$top_srcdir/tests/support" -I"$top_srcdir/tests/support/plain" \
    "$@" -pthread
}

# plain_library COMPILER DIR - build DIR/libcore.a; a warning is an error.  An archive, because a
# test may itself contain a part of the library.
plain_library() {
  built=yes
  mkdir "$2" || return
  for source in "$top_srcdir"/src/core/*.c "$top_srcdir"/src/shared/*.c "$top_srcdir"/src/posix/*.c \
    "$top_srcdir/tests/support/workers.c"; do
    # It replaces all of src/shared/ where there are no semaphores between processes.
    [ "${source##*/}" != absent.c ] || continue
    plain_compile "$1" -Wall -Wextra -Wpedantic -Werror -c "$source" \
      -o "$2/$(basename "$source" .c).o" || built=no
  done
  [ "$built" = yes ] && ar rcs "$2/libcore.a" "$2"/*.o
}

# plain_test COMPILER DIR SOURCE [KIND] - build and run a test with DIR/libcore.a, and print the
# result.  SOURCE is a file, or the directory of a program of several.  Not with -static: --wrap would
# then replace calls inside the C library, too.
plain_test() {
  with=$1 dir=$2 name=$(basename "$3" .c) kind=${4:+, $4}
  if [ -d "$3" ]; then
    set -- "$3"/*.c
  else
    set -- "$3"
  fi
  link=$("$top_srcdir/tests/support/wraps.sh" "$name")
  # shellcheck disable=SC2086 # a list of options, or nothing
  if plain_compile "$with" "$@" "$dir/libcore.a" $link -o "$dir/$name" > "$work/log" 2>&1 &&
    "$dir/$name" > "$work/log" 2>&1; then
    echo "ok: $name$kind, $(sed -n 's/.*Checks: \([0-9]*\),.*/\1/p' "$work/log") tests"
  else
    echo "FAILED: $name$kind"
    cat "$work/log"
    return 1
  fi
}
