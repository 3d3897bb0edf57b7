/* SPDX-License-Identifier: MIT */
/*
 * search_test.js - types into the search of the site, for site.sh: which names are found, and where
 * Enter leads.  The browser is played by what search.js needs of one.
 */
"use strict";

const fs = require("fs");
const path = require("path");

let failed = 0;

function element(tag) {
    const handlers = {};
    const attributes = {};

    return {
        tag, children: [], hidden: false, value: "", attributes,
        text: "",
        get textContent() { return this.text; },
        set textContent(text) { this.text = text; this.children = []; },
        get firstChild() { return this.children[0]; },
        setAttribute(name, value) { attributes[name] = value; },
        removeAttribute(name) { delete attributes[name]; },
        appendChild(child) { this.children.push(child); },
        append(...children) { this.children.push(...children); },
        addEventListener(name, handler) { handlers[name] = handler; },
        send(name, event) { handlers[name](event || {}); },
        scrollIntoView() {},
        focus() { document.activeElement = this; },
        blur() { document.activeElement = null; }
    };
}

const place = element("div");
const handlers = {};
const document = {
    activeElement: null,
    createElement: element,
    getElementById: () => place,
    addEventListener(name, handler) { handlers[name] = handler; }
};
const window = { addEventListener() {} };
const location = { href: "" };
const source = fs.readFileSync(path.join(__dirname, "search.js"), "utf8");

new Function("document", "window", "location", source)(document, window, location);
const [box, list] = place.children;

function press(key) {
    box.send("keydown", { key, preventDefault() {} });
}

function expect(what, found, expected) {
    if (found === expected) {
        console.log("ok: " + what);
    } else {
        console.log("FAILED: " + what + ": " + found + ", not " + expected);
        failed = 1;
    }
}

function type(text) {
    box.value = text;
    box.send("input");
    return list.children.map((line) => line.firstChild.text);
}

handlers.keydown({ key: "/", preventDefault() {} });
expect("/ goes to the box", document.activeElement, box);
expect("a name without its beginning", type("drain")[0], "fairsem_drain(3)");
expect("the whole name", type("fairsem_acquire")[0], "fairsem_acquire(3)");
expect("a macro", type("scoped")[0], "FAIRSEM_SCOPED(3)");
expect("a command", type("limit")[0], "fairsem-limit(1)");
expect("words of the description",
       type("blocked thread").some((text) => text.startsWith("fairsem_ticket_")), true);
expect("the beginning of a word comes before its middle",
       type("wait").indexOf("fairsem_shared_waiters(3)")
       < type("wait").indexOf("fairsem_sem_trywait(3)"), true);
if (source.includes("cxx.html"))
    expect("a heading of a document", type("blocked thread")[0], "Without a blocked thread");
expect("nothing", type("xyzzy").length, 0);
expect("nothing is shown", list.hidden, true);

type("acquire");
press("ArrowDown");
expect("the arrow chooses", list.children[1].attributes["aria-selected"], "true");
press("ArrowUp");
press("Enter");
expect("Enter opens", location.href, "fairsem_acquire.3.html#fairsem_acquire");
press("Escape");
expect("Escape ends", list.hidden && box.value === "", true);
process.exit(failed);
