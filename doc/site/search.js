/* SPDX-License-Identifier: MIT */
/*
 * search.js - a search by name on each page of the site.  site.sh puts the list `names` in front:
 * [name, section, where, what it is].  Documents and their headings have the section "-".  Without
 * JavaScript there is the index.
 *
 * "/" goes to the box, the arrows choose, Enter opens, Escape ends.
 */
(function () {
    "use strict";

    var most = 12;
    var box = document.createElement("input");
    var list = document.createElement("ul");
    var chosen = -1;

    /*
     * How well an entry fits: 0 is not at all.  Of two, a name of the manual comes first, then the
     * shorter one.
     */
    function rank(entry, words) {
        var name = entry[0].toLowerCase();
        var about = entry[3].toLowerCase();
        var result = 1;

        words.forEach(function (word) {
            var at = name.indexOf(word);

            while (at > 0 && /[a-z0-9]/.test(name[at - 1]) && name.indexOf(word, at + 1) > 0)
                at = name.indexOf(word, at + 1);
            if (at === 0 || at > 0 && !/[a-z0-9]/.test(name[at - 1]))
                result *= 4;
            else if (at > 0)
                result *= 2;
            else if (about.indexOf(word) < 0)
                result = 0;
        });
        return result;
    }

    function choose(index) {
        var items = list.children;

        if (items.length === 0)
            return;
        if (chosen >= 0)
            items[chosen].removeAttribute("aria-selected");
        chosen = (index + items.length) % items.length;
        items[chosen].setAttribute("aria-selected", "true");
        items[chosen].scrollIntoView({ block: "nearest" });
        box.setAttribute("aria-activedescendant", items[chosen].id);
    }

    function item(entry, index) {
        var line = document.createElement("li");
        var link = document.createElement("a");
        var about = document.createElement("span");

        line.id = "found-" + index;
        line.setAttribute("role", "option");
        link.href = entry[2];
        link.tabIndex = -1;
        link.textContent = entry[0] + (entry[1] === "-" ? "" : "(" + entry[1] + ")");
        about.textContent = entry[3];
        link.appendChild(about);
        line.appendChild(link);
        list.appendChild(line);
    }

    function clear() {
        list.textContent = "";
        list.hidden = true;
        chosen = -1;
        box.removeAttribute("aria-activedescendant");
        box.setAttribute("aria-expanded", "false");
    }

    function search() {
        var words = box.value.toLowerCase().split(/[^a-z0-9_-]+/).filter(Boolean);

        clear();
        if (words.length === 0)
            return;
        names.map(function (entry) {
            return { entry: entry, rank: rank(entry, words) };
        }).filter(function (found) {
            return found.rank > 0;
        }).sort(function (a, b) {
            return b.rank - a.rank
                || (a.entry[1] === "-") - (b.entry[1] === "-")
                || a.entry[0].length - b.entry[0].length;
        }).slice(0, most).forEach(function (found, index) {
            item(found.entry, index);
        });
        list.hidden = list.children.length === 0;
        box.setAttribute("aria-expanded", String(!list.hidden));
        choose(0);
    }

    function open() {
        if (chosen < 0)
            return;
        location.href = list.children[chosen].firstChild.href;
        clear();
    }

    function key(event) {
        var act = {
            ArrowDown: function () { choose(chosen + 1); },
            ArrowUp: function () { choose(chosen - 1); },
            Enter: open,
            Escape: function () { box.value = ""; clear(); }
        }[event.key];

        if (act) {
            event.preventDefault();
            act();
        }
    }

    box.type = "search";
    box.placeholder = "Search  /";
    box.autocomplete = "off";
    box.spellcheck = false;
    box.setAttribute("role", "combobox");
    box.setAttribute("aria-label", "Search names and headings");
    box.setAttribute("aria-controls", "found");
    box.setAttribute("aria-autocomplete", "list");
    list.id = "found";
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "What was found");
    clear();
    box.addEventListener("input", search);
    box.addEventListener("keydown", key);
    document.addEventListener("keydown", function (event) {
        if (event.key === "/" && document.activeElement !== box) {
            event.preventDefault();
            box.focus();
        }
    });
    /* An entry that leads to another place on this page: it has done its work, too. */
    list.addEventListener("click", clear);
    window.addEventListener("hashchange", function () {
        box.value = "";
        clear();
        box.blur();
    });
    document.getElementById("search").append(box, list);
}());
