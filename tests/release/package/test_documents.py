# SPDX-License-Identifier: MIT
"""Each program in the headers, in README.md and in the manual pages builds without a warning, runs, and exits
with 0.  The C++ of doc/cxx.md compiles.  The headers list their declarations.  No link in a document is dead, in the
source tree or after an installation."""

import glob
import os
import re
import sys

import pytest

from cases import NOT_HERE, TOP_BUILDDIR, TOP_SRCDIR, WORK, needs, run
from compiled import CC, CXX, LIBS, STRICT, compiles, file, needs_standard, works

IN_C, IN_CXX = " ".join(CC), " ".join([*CXX, "-std=c++17"])
HEADERS = ("fairsem.h", "fairsem/shared.h", "fairsem/cluster.h")
HAS_20 = """#include <version>
#if !defined(__cpp_lib_jthread) || !defined(__cpp_lib_coroutine)
#error
#endif
"""
MARKS = {"aq": "'", "ga": "`", "ha": "^", "ti": "~"}


def text_of(path):
    with open(TOP_SRCDIR + "/" + path, encoding="utf-8") as text:
        return text.read()


def in_header(name):
    """The blocks of comments after a line "Example:"."""
    return [re.sub("^ \\*(     )?", "", block, flags=re.M) for block in
            re.findall("^ \\* Example:\n((?: \\*(?:     .*)?\n)+)", text_of("include/" + name), re.M)]


def in_markdown(name, language):
    return re.findall("^```%s\n(.*?)^```" % language, text_of(name), re.M | re.S)


def in_page(name):
    """The displays that begin with #include, as a reader sees them."""
    return [re.sub("\\\\(?:([&-])|\\((..)|(e))",
                   lambda mark: (mark[1] or "").replace("&", "") or MARKS.get(mark[2], "\\"), block)
            for block in re.findall("^\\.Bd -literal.*\n(#include.*\n(?:.*\n)*?)\\.Ed", text_of(name),
                                    re.M)]


PAGES = sorted(os.path.relpath(path, TOP_SRCDIR) for path in glob.glob(TOP_SRCDIR + "/doc/man/*.[37]"))
PROGRAMS = {"README.md": in_markdown("README.md", "c"), **{page: in_page(page) for page in PAGES}}
for header in (*HEADERS, "fairsem/posix.h", "fairsem.hpp"):
    PROGRAMS["include/" + header] = in_header(header)


@pytest.mark.parametrize("document", PROGRAMS)
def test_it_has_a_program(document):
    assert PROGRAMS[document]


@pytest.mark.parametrize("document, number", [(document, number) for document in PROGRAMS
                                              for number in range(len(PROGRAMS[document]))])
def test_the_program_works(document, number):
    text, more = PROGRAMS[document][number], []
    if sys.platform != "linux" and "#include <fairsem/" in text:
        pytest.skip(NOT_HERE + "its functions return ENOSYS")
    if "#include <fairsem/cluster.h>" in text:
        more.append(LIBS + "/libfairsem-cluster.so")
        if not os.path.exists(more[0]):
            pytest.skip("libfairsem-cluster was not built")
    if ".hpp" in document:
        needs(CXX[0])
    source = file("program.cc" if ".hpp" in document else "program.c", text)
    compiler = IN_CXX if ".hpp" in document else IN_C
    # The program of cluster.h would need etcd.
    if document == "include/fairsem/cluster.h":
        compiles(compiler, *STRICT, "-c", source, "-o", WORK + "/object")
    else:
        works(compiler, source, *more)


def test_the_cxx_of_the_page_compiles():
    """Compile all blocks as one source, with a namespace for each block."""
    needs(CXX[0])
    needs_standard(" ".join(CXX), "c++", "c++20", HAS_20)
    blocks = in_markdown("doc/cxx.md", "cpp")
    assert blocks
    text = "#include <fairsem.hpp>\n"
    for number, block in enumerate(blocks):
        text += "namespace block%d {\n%s}\n" % (number, re.sub("^#include.*\n", "", block, flags=re.M))
    compiles(" ".join(CXX), *STRICT, "-std=c++20", "-fsyntax-only", file("page.cc", text))


# ---------------------------------------------------------------- what the headers list
@pytest.mark.parametrize("name", HEADERS)
def test_the_first_comment_lists_all_functions_each_in_the_section_that_declares_it(name):
    text = text_of("include/" + name)
    listed, declared = set(), set()
    section = None
    for line in text[:text.index("\n#")].split("\n"):
        if found := re.match(r" \*     (\d+)  [a-z]", line):
            section = found[1]
        if section and (found := re.match(r" \*         (fairsem_\S*)", line)):
            listed.add((section, found[1]))
    for line in text.split("\n"):
        if found := re.match(r" \*  (\d+)  [A-Z]", line):
            section = found[1]
        if found := re.match(r"FAIRSEM_API [^(]*?(\w+)\(", line):
            declared.add((section, found[1]))
    assert listed and listed == declared


# ---------------------------------------------------------------- links
def prose(path):
    """The text without code, which has neither links nor headings."""
    with open(path, encoding="utf-8") as text:
        return re.sub("^ *```.*?^ *```.*?$", "", text.read(), flags=re.M | re.S)


def links(path):
    return re.findall("\\]\\(([^() ]*)\\)", re.sub("`[^`\n]*`", "", prose(path)).replace("\n", " "))


def anchors(path):
    """The anchors of the headings, as forges make them."""
    return {re.sub("[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall("^#+ (.*)", prose(path), re.M)}


def documents(top):
    """The documents, except those in build directories and in directories of other tests."""
    for place, folders, names in os.walk(top):
        folders[:] = [name for name in folders if not re.match("[._]|build", name) and "." not in name]
        yield from (os.path.join(place, name) for name in names if name.endswith(".md"))


def dead_links(top):
    for document in documents(top):
        for target in links(document):
            path, _, anchor = target.partition("#")
            there = os.path.join(os.path.dirname(document), path) if path else document
            if not re.match("https?://|mailto:", target) and (
                    not os.path.exists(there) or anchor and anchor not in anchors(there)):
                yield "%s: %s" % (os.path.relpath(document, top), target)


def test_a_dead_link_is_found(tmp_path):
    (tmp_path / "doc").mkdir()
    (tmp_path / "doc/there.md").write_text("# Somewhere\n")
    (tmp_path / "page.md").write_text("""# A heading, `and` more
[file](doc/missing.c), [folder](doc), [heading](#a-heading-and-more), [no heading](#another)
[two
lines](doc/missing.svg) ![a picture](doc/other.svg) `[code](doc/code.c)` [far](https://example.org/)
```
[code](doc/block.c)
```
[there](doc/there.md#nowhere)
""")
    assert sorted(dead_links(tmp_path)) == ["page.md: " + target for target in (
        "#another", "doc/missing.c", "doc/missing.svg", "doc/other.svg", "doc/there.md#nowhere")]


def test_no_link_is_dead_in_the_source_tree():
    assert len(list(documents(TOP_SRCDIR))) >= 8
    assert not list(dead_links(TOP_SRCDIR))


def test_no_link_is_dead_after_an_installation(tmp_path):
    """README's links lead to installed files, too."""
    done = run(os.environ["MAKE"], "-C", TOP_BUILDDIR, "install", "DESTDIR=%s" % tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(documents(tmp_path))) >= 6
    assert not list(dead_links(tmp_path))
    readme = next(path for path in documents(tmp_path) if path.endswith("/fairsem/README.md"))
    assert {"doc/comparison.md", "doc/victim.svg", "examples",
            "examples/prefork-server.c"} <= set(links(readme))
