# SPDX-License-Identifier: MIT
"""The headers and the manual pages agree: each function has a page with the same prototype and the same
results, and the structs and the declarations of C++ are the same.  The header has the short contract and
names the page; the page has the rest.  No sentence stands in a header and in a page."""

import glob
import os
import re

import pytest

from cases import TOP_BUILDDIR, TOP_SRCDIR, needs, run

RESULT = "(?:E[A-Z0-9]+|the close reason|the token's reason)"
LISTED = ("fairsem.h", "fairsem/shared.h")
CXX = "doc/man/fairsem.hpp.3"     # made of the headers


def text_of(path):
    with open(TOP_SRCDIR + "/" + path, encoding="utf-8") as text:
        return text.read()


def paths(pattern):
    found = (os.path.relpath(path, TOP_SRCDIR) for path in glob.glob(TOP_SRCDIR + "/" + pattern))
    return sorted(path for path in found if path != CXX)


PAGES = paths("doc/man/*.3")
# The name, section and page of each name that a page describes.
NAMES = [line.split("\t")[:3] for line in
         run("sh", TOP_SRCDIR + "/doc/man/names.sh", *PAGES, cwd=TOP_SRCDIR).stdout.splitlines()]
EXPORTED = set(re.findall("^ *(fairsem_[a-z_]*)\\*?;", text_of("src/fairsem.map"), re.M))


def of_page(page):
    return {name for name, _, where in NAMES
            if where == os.path.basename(page) and name.startswith("fairsem_")}


# ---------------------------------------------------------------- headers
def declared_name(prototype):
    return re.search("(\\w+)\\(", prototype)[1]


def in_header(text):
    """Returns the prototypes; for each function, the results that its comment lists; and for each function, the
    other functions whose results it has, too.  A result is an errno value, or "close" or "token" for the close
    reason and the token's reason."""
    prototypes, results, others = [], {}, {}
    found, like, gathered, inside = set(), set(), None, False
    for line in text.splitlines():
        if line.startswith("/*"):
            found, like, inside = set(), set(), True
        if inside:
            comment = re.sub(" *\\*/$", "", re.sub("^ ?/?\\*+ ?", "", line))
            first = re.match("%s(?:, %s)*" % (RESULT, RESULT), comment)
            found.update(re.findall(RESULT, first[0]) if first else ())
            like.update(re.findall("^As (fairsem_[a-z_]+), and", comment))
            # Results in the middle of a line, such as "EINTR: a signal handler ran."
            found.update(re.findall(" (E[A-Z0-9]+):(?= )", " " + comment))
            inside = "*/" not in line
            continue
        if re.match("FAIRSEM_API|typedef void fairsem_", line):
            gathered = ""
        if gathered is not None:
            gathered += " " + line
            if ";" in line:
                prototype = re.sub("[ \t]+", " ", gathered)
                prototype = re.sub(" FAIRSEM_(TIME64|NONNULL|FAILS_IF)_\\([a-z0-9_!=, ]*\\)", "",
                                   prototype)
                prototype = re.sub("^ (FAIRSEM_API )?", "", prototype.replace(" FAIRSEM_FAILS_", ""))
                prototypes.append(prototype)
                name = declared_name(prototype)
                # Other functions return no errno value; their comments may name the errors of other functions.
                if re.match("int|fairsem_sem_t \\*", prototype):
                    results[name] = {re.sub("the (\\w+).*", "\\1", each) for each in found}
                    others[name] = like
                gathered = None
    return prototypes, results, others


# ---------------------------------------------------------------- pages
def words(line):
    """The arguments of a macro; an argument in quotes may have blanks."""
    return [word.replace('"', "") for word in re.findall('"[^"]*"|[^ ]+', line)][1:]


def results_in(line):
    found = set()
    if re.match("\\.(It (Bq )?)?Er ", line):
        found.update(word for word in words(line) if re.fullmatch("E[A-Z0-9]+", word))
    found.update(re.findall("the (close) reason|the (token)'s reason", line))
    return {each if isinstance(each, str) else "".join(each) for each in found}


def in_page(text):
    """Returns the prototypes, the results of each function in the table, and the results that are explained."""
    prototypes, table, explained = [], {}, set()
    section = kind = name = row = ""
    arguments, in_table = [], False
    for line in text.splitlines():
        macro = line.split(" ")[0]
        if macro == ".Sh":
            section = line[4:]
        if section == "SYNOPSIS":
            if macro == ".Ft":
                kind = " ".join(words(line))
            elif macro in (".Fn", ".Fo"):
                name, *arguments = words(line)
            elif macro == ".Fa":
                arguments.append(words(line)[0])
            if macro in (".Fn", ".Fc"):
                prototypes.append("%s%s%s(%s);" % (kind, "" if kind[-1:] == "*" else " ", name,
                                                   ", ".join(arguments)))
        elif section == "ERRORS":
            if macro == ".Bl" and "-compact" in line:
                in_table = True
            elif macro == ".El":
                in_table, row = False, ""
            if in_table and line.startswith((".It Fn ", ".It each function")):
                row = words(line)[1] if macro == ".It" and "Fn" in line else "each"
            elif in_table:
                if row:
                    table.setdefault(row, set()).update(results_in(line))
            else:
                explained |= results_in(line)
    return prototypes, table, explained


HEADER = in_header("".join(text_of("include/" + name) for name in (*LISTED, "fairsem/posix.h")))
DESCRIBED = {page: in_page(text_of(page)) for page in PAGES}


def test_each_exported_function_is_described():
    assert EXPORTED and EXPORTED == {name for page in PAGES for name in of_page(page)}


def test_prototypes():
    described = sorted(text for page in PAGES for text in DESCRIBED[page][0])
    assert described and sorted(HEADER[0]) == described


@pytest.mark.parametrize("page", PAGES)
def test_each_prototype_is_on_the_page_that_has_its_name(page):
    assert {declared_name(text) for text in DESCRIBED[page][0] if "_fn(" not in text} == of_page(page)


# ---------------------------------------------------------------- results
def test_results():
    _, results, others = HEADER
    # Functions whose comments refer to others without "As fairsem_..., and".
    for name, *more in (("fairsem_units_acquire", "fairsem_acquire_with"),
                        ("fairsem_units_tryacquire", "fairsem_tryacquire"),
                        ("fairsem_with", "fairsem_acquire", "fairsem_release")):
        others[name] = others[name].union(more)
    # A function may refer to a function that itself refers to another function: at most four steps.
    for _ in range(4):
        for name, like in others.items():
            results[name] = results[name].union(*(results[other] for other in like))
    in_headers = {(name, result) for name, found in results.items() for result in found}
    assert in_headers and in_headers == {(name, result) for page in PAGES for name, found in DESCRIBED[page][1].items()
                          for result in found if name != "each"}


@pytest.mark.parametrize("page", PAGES)
def test_the_results_in_the_table_are_explained(page):
    _, table, explained = DESCRIBED[page]
    assert set().union(*(found for name, found in table.items() if name != "each")) == explained


@pytest.mark.parametrize("page", paths("doc/man/fairsem_shared*.[37]"))
def test_results_of_each_function_between_processes(page):
    """The header has these results in its first comment."""
    text, header = text_of(page), text_of("include/fairsem/shared.h")
    listed = re.search("^ \\* Results\\..*\n((?: \\* [^A-Z].*\n| \\*\n)*)", header, re.M)[1]
    if page.endswith(".7"):
        errors = text[text.index("\n.Sh ERRORS"):text.index("\n.Sh SEE")]
        rows = re.findall("^\\.It B[qo] (.*)", errors, re.M)
        found = set(re.findall("E[A-Z]+", "\n".join(rows)))
    else:
        found = DESCRIBED[page][1].get("each", set())
    assert found and found == set(re.findall("E[A-Z]+", listed))


# ---------------------------------------------------------------- one home for each sentence
@pytest.mark.parametrize("header", LISTED)
def test_the_heading_of_a_section_names_the_pages_of_its_functions(header):
    page_of, pages = {name: page for name, _, page in NAMES}, []
    for heading, name in re.findall("^ \\*  [0-9]+  [A-Z].*\n \\*? *(.*)|^FAIRSEM_API [^(]*?(\\w+)\\(",
                                    text_of("include/" + header), re.M):
        if heading:
            pages = re.findall("(\\w+)\\(3\\)", heading)
        else:
            assert page_of[name][:-2] in pages


def phrases(runs):
    """Each ten words in a row.  Errno values do not count, because lists of them are alike everywhere."""
    found = {}
    for run_of_lines in runs:
        row = [(word.lower(), number) for number, line in run_of_lines
               for word in re.sub("(^| )E[A-Z0-9]+", " ", re.sub("[^A-Za-z0-9_]+", " ", line)).split()]
        for end in range(10, len(row) + 1):
            found[" ".join(word for word, _ in row[end - 10:end])] = row[end - 1][1]
    return found


def runs_of_page(text):
    runs, display = [[]], False
    for number, line in enumerate(text.splitlines(), 1):
        display = (display or line.startswith(".Bd")) and not line.startswith(".Ed")
        if display or re.match('\\.(\\\\"|Sh|Ss|Pp|It|Bl|El|Ed)', line):
            runs.append([])
            continue
        line = re.sub("(^\\.|(^| ))(Dv|Dq|Em|Er|Fa|Fn|Ft|Ic|Li|No|Ns|Pa|Pq|Ql|Va|Vt|Xr) ", " ", line)
        runs[-1].append((number, re.sub("\\\\[-&]", "", re.sub(" [1378]( |$)", " ", line))))
    return runs


def runs_of_header(text, begun):
    """The comments after the first example.  The introduction before it may use the words of the manual."""
    runs, comment, example = [[]], False, False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith(" * Example:"):
            example = begun = True
            continue
        if example and re.match(" \\*(     .*)?$", line):
            continue
        example = False
        if "/*" in line:
            comment = True
            runs.append([])
        if comment and begun:
            comment = "*/" not in line
            line = re.sub("\\([1378]\\)", "", re.sub("\\*/.*", "", re.sub("^.*/\\*", "", line)))
            if not line.strip(" *"):
                runs.append([])
            runs[-1].append((number, line))
    return runs


ON_PAGES = {phrase for page in paths("doc/man/*.[37]")
            for phrase in phrases(runs_of_page(text_of(page)))}


@pytest.mark.parametrize("header", [*LISTED, "fairsem/posix.h", *(
    path[len("include/"):] for path in paths("include/fairsem/*.hpp"))])
def test_no_sentence_stands_in_a_manual_page(header):
    here = phrases(runs_of_header(text_of("include/" + header), header.endswith(".hpp")))
    assert here and ON_PAGES
    assert {phrase: number for phrase, number in here.items() if phrase in ON_PAGES} == {}


# ---------------------------------------------------------------- C++
HEADERS_OF_CXX = "".join(text_of(path) for path in paths("include/fairsem/*.hpp"))


@pytest.fixture(scope="module")
def cxx_page():
    """The page of C++ as a reader sees it.  In a tarball, the page is in the source tree, not in the build."""
    needs("mandoc")
    made = [top + "/" + CXX for top in (TOP_SRCDIR, TOP_BUILDDIR) if os.path.exists(top + "/" + CXX)]
    return re.sub(".\b", "", run("mandoc", "-T", "utf8", made[0]).stdout)


def test_the_page_of_cxx_has_each_public_class_and_member(cxx_page):
    public = re.sub("^namespace (fairsem::)?detail {$.*?^} // namespace [a-z:]*detail$", "", HEADERS_OF_CXX,
                    flags=re.M | re.S)
    classes = re.findall(r"^(?:class|struct|enum class) (?:\[\[\w+\]\] |FAIRSEM_API )?(\w+)[^;]*$", public, re.M)
    members = [name for text in public.split("\n};\n") if "await_ready" not in text
               for name in re.findall(r"^    [\w\[][^(\n]* (\w+)\(.*$",
                                      re.split("^(?:protected|private):$", text.partition("\npublic:\n")[2],
                                               flags=re.M)[0], re.M)]
    assert len(classes) > 10 and len(members) > 30
    assert not [name for name in classes
                if not re.search("^ +(class|struct|enum class) " + name + r"\b.*{", cxx_page, re.M)]
    assert not [name for name in members if not re.search(r"(?<!\w)" + name + r"\(", cxx_page)]
    assert "private:" not in cxx_page and "must(" not in cxx_page


def test_the_page_of_cxx_names_the_functions_of_c(cxx_page):
    called = EXPORTED.intersection(re.findall(r"(fairsem_[a-z_]*)\(", HEADERS_OF_CXX))
    assert called and not [name for name in called if name + "(3)" not in cxx_page]


# ---------------------------------------------------------------- structs
def bare(text):
    """The text in one line, without comments."""
    return re.sub("\\s+", " ", re.sub("/\\*.*?\\*/", "", text, flags=re.S)).strip()


def test_structs():
    everything = bare("".join(text_of("include/" + name) for name in (*LISTED, "fairsem/posix.h")))
    structs = [text for page in PAGES
               for text in re.findall("^typedef struct(?:.*\n)*?}.*", text_of(page), re.M)]
    assert structs and [text for text in structs if bare(text) not in everything] == []
