#!/bin/sh
# SPDX-License-Identifier: MIT
# cron-limit.sh - at most two backups at a time, in order of arrival: lines for a crontab, and a
# demonstration.
#
# The lines of the crontab are independent, and all may start in the same minute:
#
#   0 3 * * *  fairsem-limit -w 4h backup 2 -- backup /srv/mail
#   0 3 * * *  fairsem-limit -w 4h backup 2 -- backup /srv/www
#   0 3 * * *  fairsem-limit -w 4h backup 2 -- backup /var/lib
#   0 3 * * *  fairsem-limit -w 4h backup 2 -- backup /etc
#
# If a backup crashes or is killed, the next one begins.  If a backup cannot begin within four hours,
# fairsem-limit exits with 124 and prints which backups run; cron sends this message by mail.  `flock -n`
# would skip a backup that has to wait.  flock without -n would let waiting backups go in any order.
#
#   cron-limit.sh [PROGRAM]    the fairsem-limit to use, if it is not in the path
set -u

limit=${1:-fairsem-limit}
name=cron-limit-example-$$
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"; "$limit" --remove --force "$name" 2> /dev/null' EXIT
: > "$work/log"

# A "backup" runs until the script creates a file for it.
cat > "$work/backup" << '_EOF'
#!/bin/sh
echo "begins $1 $$" >> "$2/log"
until [ -e "$2/done.$1" ]; do sleep 0.02; done
echo "ends $1" >> "$2/log"
_EOF
chmod +x "$work/backup"

# await COMMAND... - return when the command succeeds.
await() {
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    [ "$tries" -lt 3000 ] || { echo "cron-limit.sh: timed out: $*" >&2; exit 1; }
    sleep 0.02
  done
}

# has_arrived NUMBER - succeeds if this many backups have begun or wait.
has_arrived() {
  waiting=$("$limit" --status "$name" 2> /dev/null | sed -n 's/.*, waiting \([0-9]*\)$/\1/p')
  [ $(($(grep -c begins "$work/log") + ${waiting:-0})) -eq "$1" ]
}

has_begun() {
  grep -q "^begins $1" "$work/log"
}

number=0
for directory in mail www lib etc home; do
  # "exec": no shell stays between this script and fairsem-limit.
  (exec "$limit" -w 4h "$name" 2 -- "$work/backup" "$directory" "$work") 2> /dev/null &
  number=$((number + 1))
  await has_arrived "$number"
done
"$limit" --status "$name" | sed -n 1p | sed 's/^[^:]*/backup/'

: > "$work/done.mail"
await has_begun lib
# A backup crashes.  This line is written before the kill: after the kill, the next backup could write first.
echo "crashes www" >> "$work/log"
kill -KILL "$(sed -n 's/^begins www //p' "$work/log")"
await has_begun etc
: > "$work/done.lib"
await has_begun home
: > "$work/done.etc"
: > "$work/done.home"
wait 2> /dev/null

sed 's/ [0-9]*$//' "$work/log"
awk '
  $1 == "begins" { order = order " " $2; if (++now > most) most = now; next }
  { now-- }
  END {
    print "order:" order
    print "most at once: " most
    exit order != " mail www lib etc home" || most > 2
  }' "$work/log"
