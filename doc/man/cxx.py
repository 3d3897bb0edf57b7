# SPDX-License-Identifier: MIT
"""cxx.py HEADERS - prints fairsem.hpp(3), which is made of the headers in the directory HEADERS.

Each declaration for users is there, without its body, but with its comment and the functions of C that the body
calls.  Namespace detail and the private members of classes are left out.
"""

import re
import sys
import textwrap

FILES = ("semaphore", "options", "units", "async", "coroutine", "errors", "place")
TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|^#[^\n]*|//[^\n]*|\n|[{}();]|[^/"#{}();\n]+|.', re.S | re.M)
CLASS = re.compile(r"(?:template <.*?> )?(class|struct|enum class) (\w+)")
LEFT_OUT = re.compile(r"static_assert|class \w+$")

TOP = r""".\" SPDX-License-Identifier: MIT
.\" Made by doc/man/cxx.py from the headers.
.Dd November 29, 2026
.Dt FAIRSEM.HPP 3
.Os
.Sh NAME
.Nm fairsem.hpp%s
.Nd the semaphore in C++
.Sh LIBRARY
libfairsem:
.Li "c++ \-std=c++17 prog.cc $(pkg-config \-\-cflags \-\-libs fairsem)"
.Sh SYNOPSIS
.In fairsem.hpp
.Sh DESCRIPTION
These are the declarations of the headers, all in namespace
.Li fairsem ,
with their comments.
Behind a declaration are the functions of C that it calls, whose own pages have
the contract.
.Pa cxx.md
in the documentation of the package is an introduction.
"""
END = r""".Sh HISTORY
The header has existed since fairsem 1.0,
.Fn fairsem::acquire_all ,
.Fn fairsem::try_acquire_all_for
and
.Fn fairsem::try_acquire_all_until
since 1.1.
"""


class Item:
    """A declaration, or a class with its members."""

    def __init__(self, text, comment, body="", members=None, since=""):
        self.text, self.comment, self.members, self.since = text, comment, members, since
        self.after = ""         # a comment behind it
        self.calls = sorted(set(re.findall(r"\b(fairsem_[a-z_]+)\(", body)))

    def name(self):
        of_class = CLASS.match(self.text)
        return of_class[2] if of_class else re.search(r"(\w+) ?([({=]|$)", self.text)[1]


def cleaned(part):
    """A declaration in one line, without attributes and the initializers of a constructor."""
    part = re.sub(r"\[\[[a-z]*\]\]|FAIRSEM_(API|NONNULL_\w*)\b", "", part)
    part = re.sub(r"\s+", " ", part).strip().removeprefix("inline ")
    return re.sub(r"(\)( const)?( noexcept)?) : .*", r"\1", part.replace("( ", "(").replace("(max)", "max"))


class Reader:
    def __init__(self, text):
        self.tokens, self.at, self.conditions = TOKEN.findall(text), 0, []
        self.outside = {}       # comments at members that are defined outside of their class

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def until(self, left, right):
        """The text up to the bracket that belongs to the last token."""
        text, depth = "", 1
        while depth:
            token = self.next()
            depth += (token == left) - (token == right)
            text += token
        return text

    def scope(self, public=True):
        """The items up to the end of a namespace or a class."""
        items, part, comment, same_line, outer = [], "", "", False, len(self.conditions)

        def add(body="", members=None):
            nonlocal part, comment, same_line
            text = cleaned(part)
            outside = re.search(r" \w+::(\w+)\(", text)
            if outside:
                self.outside[outside[1]] = comment
            elif text and public and (members is not None or not LEFT_OUT.match(text)):
                since = "C++20" if "__cpp_lib" in "".join(self.conditions[outer:]) else ""
                items.append(Item(text, comment, body, members, since))
                same_line = True
            part = comment = ""

        while self.at < len(self.tokens):
            token = self.next()
            if token.startswith("/*"):
                if same_line and items and not part.strip():
                    items[-1].after = token
                elif not part.strip():
                    comment = "" if token.startswith("/* ----") else token
            elif token.startswith("//"):
                continue
            elif token.startswith("#if"):
                self.conditions.append(token)
            elif token.startswith("#"):
                if token.startswith("#endif"):
                    self.conditions.pop()
            elif token == "(":
                part += "(" + self.until("(", ")")
            elif token == "{":
                head = cleaned(part)
                if head.startswith("namespace"):
                    if head.endswith("detail"):
                        self.until("{", "}")
                    else:
                        items += self.scope()
                    part = comment = ""
                elif head.startswith("template <>"):
                    self.until("{", "}")
                    part = ""
                elif head.startswith("enum"):
                    add(members=self.until("{", "}")[:-1])
                elif CLASS.match(head):
                    members = self.scope(public="class " not in head)
                    add(members=[m for m in members if "await_ready" not in [one.name() for one in members]])
                elif "(" in head and not head.endswith("="):
                    add(self.until("{", "}"))
                else:
                    part += "{" + self.until("{", "}")
            elif token == ";":
                add()
            elif token == "}":
                break
            else:
                same_line = same_line and token != "\n"
                part += token
                label = re.match(r"\s*(public|protected|private):(.*)", part, re.S)
                if label:
                    public, part, comment = label[1] == "public", label[2], ""
        return items


# ---------------------------------------------------------------- mdoc
def escaped(line):
    line = line.replace("\\", "\\e").replace("~", "\\(ti").replace("^", "\\(ha").replace("`", "\\(ga")
    return "\\&" + line if line[:1] in (".", "'") else line


def described(comment, prefix):
    """The lines of a comment: text is filled, and what is indented by four columns stays."""
    text = re.sub(r"\s*\*/$", "", re.sub(r"^/\*\s*", "", comment))
    lines, paragraph = [], []
    for line in [re.sub(r"^ *\* ?", "", line) for line in text.split("\n")] + [""]:
        if line and not line.startswith("    "):
            paragraph.append(line)
            continue
        lines += textwrap.wrap(re.sub(r"\.\n", ".  ", "\n".join(paragraph)), 76 - len(prefix))
        paragraph = []
        lines.append(line)
    return [(prefix + line).rstrip() for line in lines[:-1]]


def broken(text, indent):
    """A declaration in lines, broken between arguments, before the name, or behind a template's parameters."""
    template, text = re.match(r"((?:template <.*?> )?)(.*)", text).groups()
    angles, kept = 0, ""
    for i, char in enumerate(text):
        angles += (char == "<") - (char == ">")
        may_break = angles == 0 and (text[i - 1] == "," or "(" not in text[:i] and re.match(r" \w+\(", text[i:]))
        kept += "\0" if char == " " and not may_break else char
    lines = textwrap.wrap(kept, 76, initial_indent=indent, subsequent_indent=indent + "    ",
                          break_long_words=False, break_on_hyphens=False)
    return [indent + template.strip()] * bool(template) + [line.replace("\0", " ") for line in lines]


def printed(item, indent):
    lines = described(item.comment, indent + "// ") if item.comment else []
    behind = [item.since] * bool(item.since) + [call + "(3)" for call in item.calls]
    if item.members is None:
        if item.after:
            lines += described(item.after, indent + "// ")
        lines += broken(item.text + ";", indent)
        if behind and len(lines[-1]) + 4 + len(", ".join(behind)) <= 80:
            lines[-1] += " // " + ", ".join(behind)
        elif behind:
            lines.append(indent + "    // " + ", ".join(behind))
        return lines
    lines += broken(item.text + (" { // " + item.since if item.since else " {"), indent)
    if isinstance(item.members, str):       # of an enum
        return lines + ["    " + re.sub(r" +/\*", " /*", line.strip())
                        for line in item.members.strip().split("\n")] + ["};"]
    for i, member in enumerate(item.members):
        apart = i and any(one.comment or one.after for one in item.members[i - 1:i + 1])
        lines += ["public:"] * (i == 0 and "class " in item.text) + [""] * bool(apart) + printed(member, "    ")
    return lines + ["};"]


def prose(text):
    """A sentence for each line or two; a name with "()" is not marked up."""
    lines = [line for sentence in text.split(".  ") for line in textwrap.wrap(sentence + ".", 78)]
    return "".join(escaped(line).replace("()", "\\&()") + "\n" for line in lines)


def literal(lines):
    return ".Bd -literal\n" + "".join(escaped(line) + "\n" for line in lines) + ".Ed\n"


def main():
    headers = {}
    for name in FILES:
        with open(f"{sys.argv[1]}/fairsem/{name}.hpp", encoding="ascii") as file:
            headers[name] = file.read()
    with open(sys.argv[1] + "/fairsem.hpp", encoding="ascii") as file:
        introduction = file.read()
    reader = Reader("\n".join(headers.values()))
    items = reader.scope()
    for item in items:
        for member in item.members if isinstance(item.members, list) else ():
            member.comment = member.comment or reader.outside.get(member.name(), "")
    groups = {}
    for item in items:
        groups.setdefault(item.name(), []).append(item)
    example, rules = re.search(r" \* Example:\n \*\n(.*?)\n \*\n \* To build.*? \* (WHAT.*?)\*/",
                               introduction, re.S).groups()
    page = TOP % "".join(f" ,\n.Nm fairsem::{name}" for name in groups)
    page += ".Bl -tag -width Standards\n"
    for name, text in re.findall(r"^ \* (\w+)\. +(.*?)(?=^ \* \w+\.  |\Z)", rules, re.M | re.S):
        text = re.sub(r"\s+\*\s*", " ", re.sub(r"\.\n \*\s+", ".  ", text)).strip().rstrip(".")
        page += f".It {name}\n" + prose(text)
    page += ".El\n"
    for name, group in groups.items():
        lines = []
        for i, item in enumerate(group):
            lines += [""] * bool(i) + printed(item, "")
        page += f".Ss fairsem::{name}\n" + literal(lines)
    page += ".Sh EXAMPLES\n" + literal(re.sub(r"^ \* {5}|^ \*", "", line) for line in example.split("\n"))
    called = sorted(set(re.findall(r"\b(fairsem_[a-z_]+)\(", "".join(headers.values()))))
    page += ".Sh SEE ALSO\n" + "".join(f".Xr {call} 3 ,\n" for call in called) + ".Xr fairsem 7\n" + END
    print(page, end="")


if __name__ == "__main__":
    main()
