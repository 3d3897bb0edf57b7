# SPDX-License-Identifier: MIT
# amalgamation.awk - the sources as one file, on standard output; called by amalgamation.sh.
#
#   awk -v root=DIRECTORY -v places="src src/core include" -v version=1.2.3 \
#     -f amalgamation.awk HEAD SOURCE...
#
# HEAD, the sources and the directories of headers (`places`) are paths relative to the root.  The output:
#
#   - Each header of ours comes once, before all sources.
#   - Names that files share (fs_*) become static.
#   - Static names of the sources stay as they are: each is unique among all sources.
#   - A macro that a source defines is undefined at the end of the source.
#   - Sources below src/shared/ are compiled only if HEAD sets FS_HAS_SHARED.

BEGIN {
  if (ARGC < 3)
    stop("usage: amalgamation.awk HEAD SOURCE...")
  print_head(ARGV[1])
  # cleanup.h must come before <pthread.h>.
  put_header(ours("#include \"tools/cleanup.h\"", ""))
  put_header("include/fairsem/shared.h")
  shared = "^src/shared/"
  absent = shared "absent\\.c$"
  put_all(".", shared)
  conditions = 1
  print "\n#if FS_HAS_SHARED"
  put_all(shared, absent)
  print "\n#elif !defined(FAIRSEM_NO_SHARED)"
  put_all(absent, "^$")
  print "#endif"
}

function stop(why) {
  print "amalgamation.awk: " why > "/dev/stderr"
  exit 1
}

# ---------------------------------------------------------------- files
# Read the lines of a file into `lines`; returns how many lines.
function read(path, lines,    n, line, status) {
  while ((status = (getline line < (root "/" path))) > 0)
    lines[++n] = line
  if (status < 0 || n == 0)
    stop("cannot read " path)
  close(root "/" path)
  return n
}

function exists(path,    line, there) {
  if (!(path in found)) {
    there = (getline line < (root "/" path)) > 0
    close(root "/" path)
    found[path] = there
  }
  return found[path]
}

# Returns our own header that a line of the file `from` includes, or "".
function ours(line, from,    name, i, n, list) {
  if (line !~ /^#include ["<]/)
    return ""
  name = line
  sub(/^#include ["<]/, "", name)
  sub(/[">].*/, "", name)
  sub(/\/[^\/]*$/, "", from)
  n = split(line ~ /"/ ? from " " places : "include", list, " ")
  for (i = 1; i <= n; i++)
    if (exists(list[i] "/" name))
      return list[i] "/" name
  if (line ~ /"/)
    stop("there is no " name)
  return ""
}

# ---------------------------------------------------------------- names
# Returns the name that a line at the left margin declares, or "".
function declared(line) {
  gsub(/ *__attribute__\(\([^ ]*\)\) */, " ", line)
  if (line ~ /^(struct|union|enum) [a-z_]*;/ ||
      !match(line, /[ *][A-Za-z_][A-Za-z0-9_]*(\(|\)\(| *[;,=]|\[)/))
    return ""
  line = substr(line, RSTART + 1, RLENGTH - 1)
  sub(/[^A-Za-z0-9_].*/, "", line)
  return line
}

# Returns the line; if it declares or defines a name that files share (fs_*), with "static".
function hide(line) {
  if (line !~ /^(extern )?[a-z_]/ || line ~ /^(static|typedef|return|enum \{)/ ||
      declared(line) !~ /^fs_/)
    return line
  sub(/^extern /, "", line)
  sub(/^FS_HIDDEN /, "", line)
  return "static " line
}

# ---------------------------------------------------------------- output
function put(line) {
  if (line != "" || last != "")
    print line
  last = line
}

function print_head(path,    lines, n, i, license, m, j) {
  n = read(path, lines)
  for (i = 1; i <= n; i++) {
    if (lines[i] == " * @LICENSE@") {
      m = read("LICENSE", license)
      for (j = 1; j <= m; j++)
        put(" *" (license[j] == "" ? "" : " ") license[j])
      continue
    }
    gsub(/@VERSION@/, version, lines[i])
    put(lines[i])
  }
}

# Put a header, after the headers that it needs.
function put_header(path) {
  if (path in there)
    return
  there[path] = 1
  put_needed(path)
  put_text(path)
}

# Put the headers that a file always includes, not those inside an #if.
function put_needed(path,    lines, n, i, depth, header) {
  n = read(path, lines)
  depth = path ~ /\.h$/ ? -1 : 0        # the guard of a header
  for (i = 1; i <= n; i++) {
    if (lines[i] ~ /^#if/)
      depth++
    else if (lines[i] ~ /^#endif/)
      depth--
    else if (depth == 0 && (header = ours(lines[i], path)) != "")
      put_header(header)
  }
}

# Put the sources whose names match `pattern` but not `but`, after the headers that they need.
function put_all(pattern, but,    i) {
  for (i = 2; i < ARGC; i++)
    if (ARGV[i] ~ pattern && ARGV[i] !~ but)
      put_needed(ARGV[i])
  for (i = 2; i < ARGC; i++)
    if (ARGV[i] ~ pattern && ARGV[i] !~ but)
      put_text(ARGV[i])
}

# Put a file without its parts that stand elsewhere: our headers, the license, macros for system headers.
function put_text(path,
    lines, n, i, depth, line, header, is_public, is_source, macros) {
  n = read(path, lines)
  is_public = path ~ /^include\//
  is_source = path ~ /\.c$/
  depth = is_source ? 0 : -1
  put("")
  put("/* ======================================================================== " path " */")
  for (i = 1; i <= n; i++) {
    line = lines[i]
    if (line ~ /^\/\* SPDX-License-Identifier: / || line ~ /^#define _GNU_SOURCE/)
      continue
    if (line ~ /^#if/ && ++depth == 0 && !is_public) {
      i++                               # the guard's second line
      continue
    }
    if (line ~ /^#endif/ && depth-- == 0 && !is_public)
      continue
    if (line ~ /^#include /) {
      header = ours(line, path)
      if (header != "") {
        conditions++                    # a header that is still missing is inside an #if
        put_header(header)
        conditions--
        continue
      }
      if (depth == 0 && !is_public) {
        sub(/ *\/\*.*/, "", line)
        if (line in system_header)
          continue
        if (!conditions)
          system_header[line] = 1
      }
    }
    if (is_source && line ~ /^#define /) {
      header = line
      sub(/^#define */, "", header)
      sub(/[^A-Za-z0-9_].*/, "", header)
      macros[header] = 1
    }
    if (!is_public)
      line = hide(line)
    put(line)
  }
  # Undefine the macros in the order of the file.
  for (i = 1; is_source && i <= n; i++)
    for (line in macros)
      if (lines[i] ~ ("^#define *" line "([^A-Za-z0-9_]|$)")) {
        put("#undef " line)
        delete macros[line]
      }
}
