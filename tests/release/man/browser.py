# SPDX-License-Identifier: MIT
"""
browser.py SITE PROFILE - open each page of the site in Chromium, as on a telephone (360 pixels
wide) and in a window of 1200 pixels, and print a line for each thing that is wrong there:

    link      it leads to no file, or to no place in that file
    picture   it is not shown
    script    an error, or anything else that the browser complains about
    wide      the page has to be scrolled sideways; tables and programs may, in boxes of their own
    small     letters of less than 14 pixels

and at the end "looked at N pages, L links, P pictures".  It speaks to chromedriver by WebDriver and
needs nothing else.  Exit status 3: the browser does not start here.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request

LOOK = """
const places = Array.from(document.querySelectorAll("[id]"), (e) => e.id);
const links = Array.from(document.links, (a) => a.href);
const pictures = Array.from(document.images, (i) => [i.src, i.complete && i.naturalWidth > 0]);
const small = new Set();
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim();
    const of = walk.currentNode.parentElement;
    const size = parseFloat(getComputedStyle(of).fontSize);
    if (text !== "" && size < 13.99 && of.getClientRects().length > 0)
        small.add(size.toFixed(1) + " px: " + of.tagName.toLowerCase());
}
const page = document.scrollingElement;
return { places, links, pictures, small: Array.from(small), has: page.clientWidth,
         needs: page.scrollWidth };
"""


class Browser:
    """A session of chromedriver: a page of a given width."""

    def __init__(self, profile, width):
        # The driver says which port it has got.
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True,
                                       env={**os.environ, "HOME": profile})
        port = None
        for line in self.driver.stdout:
            port = re.search(r"started successfully on port (\d+)", line)
            if port is not None:
                break
        if port is None:
            raise RuntimeError("chromedriver ended")
        self.url = f"http://127.0.0.1:{port[1]}/session"
        options = {
            "args": ["--headless=new", "--disable-gpu", "--disable-dev-shm-usage",
                     f"--user-data-dir={profile}/{width}", f"--window-size={width},900"]
            + (["--no-sandbox"] if os.geteuid() == 0 else []),
        }
        for name in ["chromium", "chromium-browser", "google-chrome"]:
            if shutil.which(name):
                options["binary"] = shutil.which(name)
                break
        if width < 500:
            options["mobileEmulation"] = {
                "deviceMetrics": {"width": width, "height": 740, "pixelRatio": 2, "touch": True}}
        try:
            session = self.post("", {"capabilities": {"alwaysMatch": {
                "browserName": "chrome", "goog:chromeOptions": options,
                "goog:loggingPrefs": {"browser": "ALL"}}}})
        except Exception:
            self.driver.kill()
            raise
        self.url += "/" + session["sessionId"]

    def post(self, path, body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"].splitlines()[0]) from None

    def open(self, url):
        self.post("/url", {"url": url})

    def run(self, script):
        return self.post("/execute/sync", {"script": script, "args": []})

    def complaints(self):
        return [entry["message"] for entry in self.post("/se/log", {"type": "browser"})]

    def close(self):
        try:
            urllib.request.urlopen(urllib.request.Request(self.url, method="DELETE"), timeout=60)
        except OSError:
            pass
        self.driver.terminate()
        self.driver.wait()


def search(browser, site):
    """Type into the box, as somebody with a keyboard does; print what is wrong."""
    browser.open((site / "index.html").as_uri())
    box = list(browser.post("/element", {"using": "css selector",
                                         "value": "#search input"}).values())[0]
    browser.post(f"/element/{box}/value", {"text": "fairsem_drain"})
    if browser.run("""const list = document.querySelector("#found").getBoundingClientRect();
                      return list.left < 0 || list.right > innerWidth || list.height === 0;"""):
        print("search    what was found is not in sight")
    browser.post(f"/element/{box}/value", {"text": "\ue007"})
    found = browser.run("return location.href").rsplit("/", 1)[1]
    if found != "fairsem_close.3.html#fairsem_drain":
        print(f"search    Enter leads to {found}")


def main(site, profile):
    site = pathlib.Path(site).resolve()
    files = sorted(site.glob("*.html"))
    root = site.as_uri() + "/"
    links, pictures, places, wrong = set(), set(), {}, set()
    for width in (360, 1200):
        try:
            browser = Browser(profile, width)
        except (OSError, RuntimeError) as error:
            print(f"the browser does not start: {error}", file=sys.stderr)
            return 3
        try:
            for file in files:
                name = file.name
                browser.open(file.as_uri())
                seen = browser.run(LOOK)
                places.setdefault(name, set()).update(seen["places"])
                links.update((name, link) for link in seen["links"])
                for source, shown in seen["pictures"]:
                    pictures.add(source)
                    if not shown:
                        wrong.add(f"picture   {name}: {source.removeprefix(root)}")
                if seen["needs"] > min(seen["has"], width):
                    wrong.add(f"wide      {name}: {seen['needs']} pixels in {width}")
                wrong.update(f"small     {name}: {what}" for what in seen["small"])
                wrong.update(f"script    {name}: {message.replace(root, '')}"
                             for message in browser.complaints())
            if (site / "search.js").exists():
                search(browser, site)
        finally:
            browser.close()
    for name, link in links:
        if not link.startswith(root):
            if not link.startswith("https://man7.org/linux/man-pages/"):
                wrong.add(f"link      {name}: {link}")
            continue
        target, _, place = urllib.parse.unquote(link.removeprefix(root)).partition("#")
        if not (site / target).is_file() or place and place not in places.get(target, ()):
            wrong.add(f"link      {name}: {link.removeprefix(root)}")
    for line in sorted(wrong):
        print(line)
    print(f"looked at {len(files)} pages, {len(links)} links, {len(pictures)} pictures")
    return 0


sys.exit(main(*sys.argv[1:]))
