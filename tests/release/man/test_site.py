# SPDX-License-Identifier: MIT
"""The site of make html: every link inside it has a target, its index has each name and document, its files have
names that every system accepts, and uninstall removes what install-html has installed."""

import glob
import html.parser
import os
import re
import urllib.parse

import pytest

from cases import TOP_BUILDDIR, TOP_SRCDIR, WORK, needs, run

MAN, SITE = TOP_SRCDIR + "/doc/man/", WORK + "/html"
MADE = TOP_BUILDDIR + "/doc/man/*.3"


class Page(html.parser.HTMLParser):
    """A page: its links, and the places in it that a link can lead to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.places.add(attributes.get("id"))
        self.links.update(attributes[name] for name in ("href", "src") if name in attributes)
        if attributes.get("http-equiv") == "refresh":
            self.links.add(attributes["content"].partition("url=")[2])


@pytest.fixture(scope="module")
def pages():
    needs("mandoc", "cmark-gfm")
    done = run("sh", TOP_SRCDIR + "/doc/site/site.sh", SITE, "1.2.3", TOP_SRCDIR, TOP_BUILDDIR)
    assert done.returncode == 0, done.stderr
    texts = {}
    for path in glob.glob(SITE + "/*.html"):
        with open(path, encoding="utf-8") as text:
            texts[os.path.basename(path)] = text.read()
    assert not [name for name, text in texts.items() if "raw HTML omitted" in text]
    return {name: Page(text) for name, text in texts.items()}


def dead_links(pages):
    for name, page in pages.items():
        for link in page.links:
            to = urllib.parse.urlsplit(link)
            path = urllib.parse.unquote(to.path) or name
            if to.scheme in ("http", "https", "mailto"):
                continue
            if (to.scheme or not os.path.exists(SITE + "/" + path)
                    or to.fragment and urllib.parse.unquote(to.fragment) not in pages[path].places):
                yield name, link


def test_no_link_is_dead(pages):
    assert sum(len(page.links) for page in pages.values()) > 200
    assert not list(dead_links(pages))


def test_a_dead_link_is_found(pages):
    links = {"none.html", "index.html#nowhere", "fairsem::units.3.html", "#nowhere", "ftp://example.org/"}
    page = Page("".join('<a href="%s">' % link for link in (*links, "https://example.org/", "index.html"))
                + '<img src="none.svg"><meta http-equiv="refresh" content="0; url=refreshed.html">')
    assert {link for name, link in dead_links({**pages, "page": page}) if name == "page"} == {
        *links, "none.svg", "refreshed.html"}


def test_the_files_have_names_that_every_system_can_have(pages):
    assert pages and all(re.fullmatch("[A-Za-z0-9_.-]+", name) for name in os.listdir(SITE))


def test_the_index_leads_to_each_name_and_document(pages):
    names = [line.split("\t")[:2] for line in
             run("sh", MAN + "names.sh", *glob.glob(MAN + "*.[137]"), *glob.glob(MADE)).stdout.splitlines()]
    documents = [os.path.basename(path)[:-3] for path in glob.glob(TOP_SRCDIR + "/doc/*.md")]
    assert len(names) > 90 and len(documents) > 8
    expected = {"%s.%s.html" % (name.replace("::", "-"), section) for name, section in names}
    expected.update(name + ".html" for name in (*documents, "README", "NEWS", "CONTRIBUTING"))
    assert expected <= pages["index.html"].links
    assert all(pages[name].links for name in expected)


def test_it_is_installed_and_uninstalled(tmp_path):
    needs("mandoc", "cmark-gfm")
    for target, installed in (("install-html", True), ("uninstall-local", False)):
        done = run(os.environ["MAKE"], "-C", TOP_BUILDDIR, target, "DESTDIR=%s" % tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert any(tmp_path.rglob("fairsem_acquire.3.html")) == any(tmp_path.rglob("*.html")) == installed
