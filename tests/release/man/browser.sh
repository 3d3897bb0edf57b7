#!/bin/sh
# SPDX-License-Identifier: MIT
# browser.sh - make html, in Chromium: on each page, on a telephone and in a window, no link is
# dead, no picture is missing, no script fails, no letters are tiny, and nobody has to scroll
# sideways.
set -u

: "${top_srcdir:=$(cd "$(dirname "$0")/../../.." && pwd)}" "${top_builddir:=$PWD}"
. "$top_srcdir/tests/support/script.sh"
needs mandoc cmark-gfm python3 chromedriver

# look SITE - what is wrong there goes to $work/found, its last line says how much was looked at.
look() {
  rm -rf "$work/profile"
  mkdir "$work/profile"
  python3 "$top_srcdir/tests/release/man/browser.py" "$1" "$work/profile" > "$work/out" \
    2> "$work/err"
  case $? in
    0) ;;
    3) skip "$(cat "$work/err")" ;;
    *) fail "browser.py" && exit "$status" ;;
  esac
  tail -n 1 "$work/out" > "$work/looked"
  sed '$d' "$work/out" > "$work/found"
  rm "$work/out" "$work/err"
}

# ---------------------------------------------------------------- would it find anything?
mkdir "$work/canary"
cat > "$work/canary/a.html" << '_EOF'
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>a page</title>
<link rel="icon" href="data:,">
</head>
<body>
<p id="here">Links to <a href="a.html#here">this place</a>, <a href="#nowhere">no place</a>,
<a href="b.html#there">another page</a>, <a href="b.html#nowhere">no place there</a>,
<a href="c.html">no page</a> and <a href="https://example.org/">another site</a>.</p>
<p style="font-size: 14px">Letters <b style="font-size: 12px">that are</b> small enough.
<i style="font-size: 12px; display: none">Nobody sees these.</i></p>
<div style="overflow-x: auto"><div style="width: 2000px">a box</div></div>
<img src="dot.svg" alt="a dot"> <img src="missing.svg" alt="nothing">
<script>missing();</script>
</body>
</html>
_EOF
cat > "$work/canary/b.html" << '_EOF'
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>a wide page</title>
<link rel="icon" href="data:,">
</head>
<body><p id="there" style="width: 700px">A line of 700 pixels.</p></body>
</html>
_EOF
sed '/viewport/d; s/there/where/; s/700/70/g' "$work/canary/b.html" > "$work/canary/d.html"
echo '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><circle r="9"/></svg>' \
  > "$work/canary/dot.svg"
cat > "$work/expected" << '_EOF'
link      a.html: a.html#nowhere
link      a.html: b.html#nowhere
link      a.html: c.html
link      a.html: https://example.org/
picture   a.html: missing.svg
script    a.html: a.html 18:8 Uncaught ReferenceError: missing is not defined
script    a.html: missing.svg - Failed to load resource: net::ERR_FILE_NOT_FOUND
small     a.html: 12.0 px: b
wide      b.html: 708 pixels in 360
wide      d.html: 980 pixels in 360
_EOF
look "$work/canary"
# The words of the browser may change, and how wide a margin is, or a page made for desks.
for list in expected found; do
  sed -e 's/^\(script [^:]*\):.*/\1/' -e 's/7[0-9][0-9] pixels/700 pixels/' \
    -e 's/9[0-9][0-9] pixels/980 pixels/' "$work/$list" > "$work/$list.plain"
done
if diff "$work/expected.plain" "$work/found.plain"; then
  echo "ok: finds $(wc -l < "$work/expected") faults in pages that have them"
else
  fail "faults that were not found (<), and others (>), above"
fi

# ---------------------------------------------------------------- the site
sh "$top_srcdir/doc/site/site.sh" "$work/html" 1.2.3 "$top_srcdir" || fail "site.sh"
look "$work/html"
# As many as there were, roughly: a site without its documents has no fault either.
if ! awk '$1 == "looked" && $3 > 70 && $5 > 1000 && $7 > 1 { ok = 1 } END { exit !ok }' \
  "$work/looked"; then
  fail "$(cat "$work/looked")"
elif [ -s "$work/found" ]; then
  cat "$work/found"
  fail "the site"
else
  echo "ok: $(cat "$work/looked")"
fi
exit "$status"
