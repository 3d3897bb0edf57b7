#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""generate.py - all small faults that rules can make in the sources.

  generate.py list [FOLDER...]             all mutants: HASH FILE:LINE FUNCTION OPERATOR  TEXT
  generate.py count [FOLDER...]            how many of each operator
  generate.py sample N SEED [FOLDER...]    N of them, of each operator in turn
  generate.py show HASH...                 as unified diffs
  generate.py apply HASH TREE              change the file in TREE/src
  generate.py written                      do canaries.txt and accepted.txt fit the sources?
  generate.py canary NAME TREE             apply a mutant of canaries.txt to TREE/src

FOLDER is a directory of src/; the default is all of them.  SOURCE=DIRECTORY is the top of the sources.

A mutant's identity is a hash of the function's name, the operator, and the tokens of the statement, in which the
changed tokens are marked; equal mutants are numbered.  So the identity stays when code moves, and changes with the
statement.  Each change keeps the number of lines: a message with a line number, or an object file, differs only if
the code differs.
"""
import difflib
import hashlib
import os
import re
import sys

# Not mutated: sources for other systems or for tools, and checks for tests.
LEFT_OUT = re.compile(r'/(absent|annotate|annotate_valgrind|system_generic'
                      r'|sem_real_time_generic|sem_check|probes|invariant)\.[ch]$')
DEAD_IF = re.compile(r'#\s*if\s+(FS_CHECKED|!defined\(__GNUC__\)|!defined\(__linux__\)|0)\s*$')
# A statement that begins with one of these names is not mutated: it is a check, or for tools only.
SPARED = re.compile(r'(static_)?assert$|_Static_assert$|FS_INVARIANT$|FS_STEP$|fs_stop$|fs_usage_error$'
                    r'|fs_probe_|fs_annotate_|fs_hid')
TOOLS_ONLY = {'fs_instrumented', 'fs_under_valgrind'}
TOKEN = re.compile(r'''(?P<space>\s+|\\\n|//[^\n]*|/\*.*?\*/)
  |(?P<string>[LuU]?"(?:\\.|[^"\\])*")|(?P<char>[LuU]?'(?:\\.|[^'\\])*')
  |(?P<number>\.?[0-9](?:[eEpP][+-]|[.\w])*)|(?P<name>[A-Za-z_]\w*)
  |(?P<mark>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)''', re.X | re.S)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.)*', re.M | re.S)
OPEN, CLOSE = {'(': ')', '[': ']', '{': '}'}, {')', ']', '}'}
ASSIGN = {'=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='}
TYPES = set('''const static struct union enum int char bool void unsigned signed long short float
  double volatile register extern typedef _Atomic _Bool _Thread_local size_t ssize_t pid_t time_t
  mode_t uid_t gid_t sigset_t FILE json_t CURL'''.split())
CONTROL = {'if', 'while', 'for', 'do', 'switch', 'return', 'break', 'continue', 'goto', 'else', 'case',
           'default', 'sizeof'}
RELATIONAL = {'<': ('<=', '>='), '<=': ('<', '>'), '>': ('>=', '<='), '>=': ('>', '<'),
              '==': ('!=',), '!=': ('==',)}
ARITHMETIC = {'+': '-', '-': '+', '*': '/', '/': '*', '%': '*', '++': '--', '--': '++'}
BITWISE = {'&': '|', '|': '&', '^': '&', '<<': '>>', '>>': '<<'}
ASSIGNMENT = {'+=': ('-=', '='), '-=': ('+=', '='), '|=': ('&=', '='), '&=': ('|=', '='),
              '*=': ('/=',), '/=': ('*=',), '^=': ('=',), '<<=': ('>>=',), '>>=': ('<<=',)}


# Functions of the C library with two arguments of one type, whose order matters: the types of their arguments.
LIBC = {'memcpy': ['p', 'p', 'n'], 'memmove': ['p', 'p', 'n'], 'strcpy': ['p', 'p'],
        'rename': ['p', 'p'], 'link': ['p', 'p'], 'kill': ['n', 'n'], 'dup2': ['n', 'n'],
        'sigaction': ['n', 'p', 'p'], 'pthread_sigmask': ['n', 'p', 'p'], 'strcmp': ['p', 'p']}


class Token:
    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)
        self.other = None       # for a bracket: the index of its counterpart


class Mutant:
    def __init__(self, file, line, function, operator, key, start, end, new, text):
        self.file, self.line, self.function, self.operator = file, line, function, operator
        self.key, self.start, self.end, self.text, self.hash = key, start, end, text, None
        lost = text.count('\n', start, end) - new.count('\n')
        self.new = new + '\n' * lost

    def mutated(self):
        return self.text[:self.start] + self.new + self.text[self.end:]

    def diff(self):
        lines = [part.splitlines(True) for part in (self.text, self.mutated())]
        return ''.join(difflib.unified_diff(*lines, 'a/' + self.file, 'b/' + self.file))

    def __str__(self):
        old = ' '.join(self.text[self.start:self.end].split())
        return (f'{self.hash} {self.file}:{self.line} {self.function} {self.operator}'
                f'  {old[:60]} => {" ".join(self.new.split())[:60] or "nothing"}')


def blank(match):
    return re.sub(r'[^\n]', ' ', match.group())


def without_dead(text):
    """The text with blanks for directives, and for code that they exclude from our builds."""
    dead, out, at = [], [], 0
    for match in DIRECTIVE.finditer(text):
        part = text[at:match.start()]
        out.append(re.sub(r'[^\n]', ' ', part) if any(dead) else part)
        out.append(blank(match))
        at, word = match.end(), match.group().strip()
        if re.match(r'#\s*if', word):
            dead.append(bool(DEAD_IF.match(word)))
        elif re.match(r'#\s*(else|elif)', word):
            dead[-1] = False
        elif re.match(r'#\s*endif', word):
            dead.pop()
    return ''.join(out) + text[at:]


def tokenize(text):
    # Comments first: a directive may have one, and a comment may look like a directive.
    plain = re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*',
                   lambda m: blank(m) if m.group().startswith('/') else m.group(), text, flags=re.S)
    tokens = [Token(m.lastgroup, m.group(), m.start())
              for m in TOKEN.finditer(without_dead(plain)) if m.lastgroup != 'space']
    stack = []
    for i, token in enumerate(tokens):
        if token.kind == 'mark' and token.text in OPEN:
            stack.append(i)
        elif token.kind == 'mark' and token.text in CLOSE and stack:
            token.other = stack.pop()
            tokens[token.other].other = i
    return tokens


class Source:
    """One file.  It collects its mutants in `found`."""

    def __init__(self, top, file):
        self.file, self.found, self.signatures = file, [], {}
        with open(os.path.join(top, file), encoding='utf-8') as source:
            self.text = source.read()
        self.t = tokenize(self.text)
        self.bodies = [i for i in self.level(0, len(self.t))
                       if self.at(i) == '{' and i > 0 and self.at(i - 1) == ')']
        for body in self.bodies:
            name, left = self.front_of(body)
            self.signatures[name] = [self.type_of(a, b) for a, b in self.arguments(left)]

    def mutate(self, signatures):
        self.types = {**signatures, **self.signatures}
        for body in self.bodies:
            self.function_at(body)

    def at(self, i):
        return self.t[i].text if 0 <= i < len(self.t) else ''

    def front_of(self, body):
        """For the function whose body begins at this index: its name, and the index of its parameters."""
        left = self.t[body - 1].other
        while self.at(left - 1) == ')':         # an attribute after the parameters
            left = self.t[left - 1].other
        return self.at(left - 1), left

    def arguments(self, left):
        """The begin and the end of each argument in the brackets that begin at `left`."""
        out, first = [], left + 1
        for i in self.level(left + 1, self.t[left].other):
            if self.at(i) == ',':
                out.append((first, i))
                first = i + 1
        return out + [(first, self.t[left].other)]

    def type_of(self, i, end):
        words = [x.text for x in self.t[i:end] if x.text not in ('const', '[', ']')]
        return ' '.join(words[:-1])

    def function_at(self, body):
        """Mutate the function whose body begins at this index."""
        self.function, left = self.front_of(body)
        first = left - 1
        while first > 0 and self.at(first - 1) not in (';', '}'):
            first -= 1
        head = [self.at(i) for i in range(first, left - 1)]
        self.returns = ('pointer' if '*' in head else 'bool' if 'bool' in head
                        else 'none' if 'void' in head or '_Noreturn' in head
                        else 'other' if 'struct' in head else 'number')
        if not SPARED.match(self.function):
            self.block(body + 1, self.t[body].other, None)

    # ------------------------------------------------------------ statements
    def statement(self, i, around):
        """Mutate the statement at i.  `around` is the loop or switch around it.  Returns the index after it."""
        word = self.at(i)
        if word == '{':
            self.block(i + 1, self.t[i].other, around)
            return self.t[i].other + 1
        if word in ('if', 'while', 'for', 'switch') and self.at(i + 1) == '(':
            close = self.t[i + 1].other
            tools = self.spared_condition(i + 2, close)
            if not tools:
                self.head(i, close)
            inner = word if word in ('while', 'for', 'switch') else around
            before = len(self.found)
            i = self.statement(close + 1, inner)
            if tools:
                del self.found[before:]
            if word == 'if' and self.at(i) == 'else':
                i = self.statement(i + 1, around)
            return i
        if word == 'do':
            i = self.statement(i + 1, 'while')
            end = self.t[i + 1].other                   # while ( ... ) ;
            if self.at(i + 2) != '0' or end != i + 3:
                self.head(i, end)
            return end + 2
        if word in ('case', 'default') or self.at(i + 1) == ':' and self.t[i].kind == 'name':
            while self.at(i) != ':':
                i += 1
            return i + 1
        end = self.end_of(i)
        self.simple(i, end, around)
        return end + 1

    def end_of(self, i):
        """The index of the semicolon that ends the statement at i."""
        while self.at(i) not in (';', '}', ''):
            i = self.t[i].other + 1 if self.at(i) in OPEN else i + 1
        return i

    def block(self, i, end, around):
        last = None
        while i < end:
            begin, i = i, self.statement(i, around)
            movable = self.is_effect(begin) and self.end_of(begin) == i - 1
            if movable and last is not None:
                self.swap_statements(last, begin, i)
            last = begin if movable else None

    def spared_condition(self, i, end):
        names = {self.at(k) for k in range(i, end) if self.t[k].kind == 'name'}
        return bool(names & TOOLS_ONLY) and not names - TOOLS_ONLY - {'NULL'}

    def is_declaration(self, i):
        return (self.at(i) in TYPES or re.match(r'\w+_t$', self.at(i)) is not None
                or self.t[i].kind == 'name' and self.t[i + 1].kind == 'name'
                or self.t[i].kind == 'name' and self.at(i + 1) == '*'
                and self.t[i + 2].start == self.t[i + 1].end)

    def is_effect(self, i):
        """Is the statement at i an expression for its effect, which can be omitted?"""
        return (self.at(i) not in CONTROL and self.at(i) not in OPEN.keys() - {'('}
                and self.at(i) not in (';', '}', '') and not SPARED.match(self.at(i))
                and not self.at(i).startswith('pthread_cleanup_') and not self.is_declaration(i)
                and not (self.t[i].kind == 'name' and self.at(i + 1) == ':')
                and not (self.at(i) == '(' and self.at(i + 1) == 'void' and self.at(i + 4) == ';'))

    def head(self, i, end):
        """Mutate the condition of the control statement whose keyword is at i."""
        word = self.at(i) if self.at(i) in ('if', 'while', 'for', 'switch') else 'while'
        first = i
        while self.at(first) != '(':
            first += 1
        if word == 'for':
            parts = [first + 1]
            while self.end_of(parts[-1]) < end and len(parts) < 3:
                parts.append(self.end_of(parts[-1]) + 1)
            first, last = parts[1], parts[2] - 1
        else:
            first, last = first + 1, end
        self.begin, self.end, self.declares = i, end + 1, word == 'for' and self.is_declaration(i + 2)
        if word != 'switch' and first < last:
            self.condition(first, last, word)
        self.expressions(i + 1, end)

    def simple(self, i, end, around):
        self.begin, self.end, self.declares = i, end + 1, False
        word = self.at(i)
        if SPARED.match(word) or end <= i:
            return
        if word == 'break' or word == 'continue':
            self.add('delete', i, end, '')
            if around in ('while', 'for'):
                self.add('break', i, i + 1, 'continue' if word == 'break' else 'break')
            return
        if word == 'goto' or word == 'return' and end == i + 1:
            self.add('delete', i, end, '')
            return
        if word == 'return':
            self.returned(i + 1, end)
        elif self.is_effect(i):
            self.add('delete', i, end, '')
        self.declares = self.is_declaration(i)
        self.expressions(i, end)

    def swap_statements(self, a, b, end):
        self.begin, self.end = a, end
        first, second = self.source(a, b), self.source(b, end)
        if first != second and [x.text for x in self.t[a:b]] != [x.text for x in self.t[b:end]]:
            gap = self.text[self.t[b - 1].end:self.t[b].start]
            self.add('swap-statements', a, end, second + gap + first)

    # ------------------------------------------------------------ expressions
    def source(self, i, end):
        return self.text[self.t[i].start:self.t[end - 1].end]

    def add(self, operator, i, end, new):
        """Add a mutant in which `new` replaces the tokens from i to end."""
        if end <= i or any(self.at(k) in TOOLS_ONLY for k in range(i, end)):
            return
        tokens = [x.text for x in self.t[self.begin:self.end]]
        tokens.insert(i - self.begin, '[')
        tokens.insert(end + 1 - self.begin, ']=> ' + ' '.join(new.split()))
        start, stop = self.t[i].start, self.t[end - 1].end
        self.found.append(Mutant(self.file, self.text.count('\n', 0, start) + 1, self.function, operator,
                                 ' '.join([self.function, operator] + tokens), start, stop, new,
                                 self.text))

    def level(self, i, end):
        """The indices from i to end that are in no inner brackets."""
        while i < end:
            yield i
            i = self.t[i].other + 1 if self.at(i) in OPEN and self.t[i].other else i + 1

    def condition(self, i, end, word):
        marks = {self.at(k) for k in self.level(i, end)}
        # For a single comparison another operator is the same as a negation.
        if marks & {'&&', '||', '?'} or not marks & RELATIONAL.keys() and self.at(i) != '!':
            self.add('negate', i, end, f'!({self.source(i, end)})')
        if self.at(i) in ('true', '1') and end == i + 1:
            return
        if word in ('if', '?'):         # not for loops: any test finds an endless loop
            self.add('true', i, end, '1')
        self.add('false', i, end, '0')

    def returned(self, i, end):
        text = self.source(i, end)
        marks = {self.at(k) for k in self.level(i, end)}
        if end == i + 1 and self.t[i].kind == 'number' or text in ('true', 'false'):
            return                      # a constant
        if self.returns == 'bool':
            self.add('return', i, end, 'true')
            self.add('return', i, end, 'false')
            if marks & {'&&', '||', '?'}:
                self.add('negate', i, end, f'!({text})')
        elif self.returns == 'pointer' and text != 'NULL':
            self.add('return', i, end, 'NULL')
        elif self.returns == 'number':
            self.add('return', i, end, '0')
            if re.match(r'E[A-Z]+$', text):
                self.add('return', i, end, 'EINTR' if text == 'EINVAL' else 'EINVAL')

    def terms(self, k):
        """Drop the operand to the right of the && or || at k; if k is the first of its row, also the left operand."""
        weaker = {'?', ':', ',', ';', 'return'} | ASSIGN | ({'||'} if self.at(k) == '&&' else set())
        left = k
        while left > self.begin and self.at(left - 1) not in weaker and self.at(left - 1) not in OPEN \
                and self.at(left - 1) != self.at(k):
            left -= 1
            if self.at(left) in CLOSE:
                left = self.t[left].other
        right = k + 1
        while self.at(right) not in weaker and self.at(right) not in CLOSE \
                and self.at(right) != self.at(k):
            right = self.t[right].other + 1 if self.at(right) in OPEN else right + 1
        if self.at(left - 1) != self.at(k):
            self.add('drop-term', left, k + 1, '')
        self.add('drop-term', k, right, '')

    def ternary(self, k):
        first = k
        while self.at(first - 1) not in {'?', ':', ',', ';', 'return'} | ASSIGN \
                and self.at(first - 1) not in OPEN:
            first -= 1
            if self.at(first) in CLOSE:
                first = self.t[first].other
        if self.at(first) == '(' and self.t[first].other == k - 1:
            first, k = first + 1, k - 1
        if first < k:
            self.condition(first, k, '?')

    def call(self, k):
        """Swap two arguments of one type."""
        types, arguments = self.types.get(self.at(k), []), self.arguments(k + 1)
        for n in range(min(len(types), len(arguments)) - 1):
            (a, b), (c, d) = arguments[n:n + 2]
            if types[n] == types[n + 1] and self.source(a, b) != self.source(c, d):
                self.add('swap-arguments', a, d, self.source(c, d) + ', ' + self.source(a, b))

    def expressions(self, i, end):
        """Mutate all operators, constants and calls between i and end."""
        equals = next((k for k in self.level(i, end) if self.at(k) == '='), end)
        for k in range(i, end):
            token, text = self.t[k], self.at(k)
            spaced = self.text[token.end:token.end + 1].isspace()   # then it has two operands
            declares = self.declares and k < equals
            if text in ('&&', '||'):
                self.terms(k)
                self.add('logical', k, k + 1, '||' if text == '&&' else '&&')
            elif text == '?':
                self.ternary(k)
            elif text in RELATIONAL:
                for new in RELATIONAL[text]:
                    self.add('relational', k, k + 1, new)
            elif text in ('++', '--') or text in ARITHMETIC and spaced and not declares:
                self.add('arithmetic', k, k + 1, ARITHMETIC[text])
            elif text in BITWISE and (spaced or len(text) > 1):
                self.add('bitwise', k, k + 1, BITWISE[text])
            elif text in ASSIGNMENT:
                for new in ASSIGNMENT[text]:
                    self.add('assignment', k, k + 1, new)
            elif text in ('!', '~'):
                self.add('unary', k, k + 1, '')
            elif token.kind == 'number' and not declares:
                self.number(k)
            elif text in ('true', 'false'):
                self.add('constant', k, k + 1, 'false' if text == 'true' else 'true')
            elif re.match(r'memory_order_(acquire|release|acq_rel|seq_cst)$', text):
                self.add('order', k, k + 1, 'memory_order_relaxed')
            if token.kind == 'name' and self.at(k + 1) == '(' and text not in CONTROL \
                    and not SPARED.match(text):
                self.call(k)

    def number(self, k):
        match = re.match(r'(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)$', self.at(k))
        if not match:
            return
        value, suffix = int(match[1], 0) if match[1] in ('0',) or not match[1].startswith('0') \
            or match[1][1:2] in 'xX' else int(match[1], 8), match[2]
        news = {0: (1,), 1: (0, 2)}.get(value, (value - 1, value + 1))
        for new in news:
            self.add('constant', k, k + 1, (hex(new) if match[1][1:2] in ('x', 'X') else str(new)) + suffix)


# ---------------------------------------------------------------- all mutants
def mutants(top, folders=()):
    """The mutants of these directories of src/.  All files are read: the numbers of equal mutants must not depend on
    the choice."""
    found, seen, hashes = [], {}, set()
    files = []
    for place, _, names in sorted(os.walk(os.path.join(top, 'src'))):
        files += [os.path.relpath(os.path.join(place, n), top) for n in sorted(names) if n[-2:] in ('.c', '.h')]
    sources, signatures = [Source(top, file) for file in files if not LEFT_OUT.search(file)], dict(LIBC)
    for source in sources:
        signatures.update(source.signatures)
    for source in sources:
        source.mutate(signatures)
        texts = set()
        for mutant in source.found:
            change = (mutant.start, mutant.end, mutant.new)
            if change in texts:
                continue
            texts.add(change)
            number = seen[mutant.key] = seen.get(mutant.key, 0) + 1
            mutant.hash = hashlib.sha1(f'{mutant.key} {number}'.encode()).hexdigest()[:8]
            while mutant.hash in hashes:
                mutant.hash = hashlib.sha1(mutant.hash.encode()).hexdigest()[:8]
            hashes.add(mutant.hash)
            if not folders or mutant.file.split('/')[1] in folders:
                found.append(mutant)
    return found


def sample(found, count, seed):
    """Take mutants of all operators in turn.  Within an operator the order is random, but depends only on the seed and
    the hashes, so a changed line does not disturb it."""
    piles = {}
    for mutant in found:
        piles.setdefault(mutant.operator, []).append(mutant)
    for pile in piles.values():
        pile.sort(key=lambda m: hashlib.sha1(f'{seed} {m.hash}'.encode()).digest())
    chosen, turn = [], 0
    while len(chosen) < min(count, len(found)):
        chosen += [pile[turn] for _, pile in sorted(piles.items()) if turn < len(pile)]
        turn += 1
    return chosen[:count]


def emptied(top, function):
    """A mutant that tests the runner itself: the body of this function is empty."""
    for place, _, names in sorted(os.walk(os.path.join(top, 'src'))):
        for name in sorted(n for n in names if n.endswith(('.c', '.h'))):
            source = Source(top, os.path.relpath(os.path.join(place, name), top))
            for body in source.bodies:
                if source.front_of(body)[0] == function:
                    source.function, source.begin, source.end = function, body, body + 1
                    source.add('empty', body, source.t[body].other + 1, '{ }')
                    source.found[0].hash = 'canary'
                    return source.found[0]
    sys.exit(f'generate.py: there is no function {function}')


def written(top, table):
    """The mutants of ideas.txt or canaries.txt; each changes one file.

    A hunk is like a hunk of a patch, but without line numbers: ' ' lines stay, '-' lines go, '+' lines come.  The
    lines that stay or go must be in the file together, exactly once."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), table), encoding='utf-8') as file:
        paragraphs = re.split(r'^mutant ', file.read(), flags=re.M)[1:]
    found = []
    for paragraph in paragraphs:
        name, hunks = paragraph.split()[0], re.split(r'^@ (.*)\n', paragraph, flags=re.M)[1:]
        with open(os.path.join(top, hunks[0]), encoding='utf-8') as file:
            text = file.read()
        new = '\n' + text              # so that each line begins after a newline
        for path, hunk in zip(hunks[::2], hunks[1::2]):
            lines = [line for line in hunk.splitlines(True) if line[0] in ' +-']
            before, after = ('\n' + ''.join(line[1:] for line in lines if line[0] in kinds)
                             for kinds in (' -', ' +'))
            if path != hunks[0] or new.count(before) != 1 or before == after:
                sys.exit(f'{table}: {name} does not apply to {path}')
            new = new.replace(before, after)
        new = new[1:]
        # Replace whole lines: if the new text has fewer lines, Mutant adds empty lines after it.
        a, b = text.splitlines(True), new.splitlines(True)
        first = next(i for i, (old, line) in enumerate(zip(a, b)) if old != line)
        same = next((i for i, (old, line) in enumerate(zip(a[:first - 1:-1], b[:first - 1:-1]))
                     if old != line), min(len(a), len(b)) - first)
        start, end = sum(map(len, a[:first])), sum(map(len, a[:len(a) - same]))
        mutant = Mutant(hunks[0], first + 1, name, 'idea', name, start, end,
                        ''.join(b[first:len(b) - same]), text)
        mutant.hash = name
        found.append(mutant)
    return found


def main(arguments):
    top = os.environ.get('SOURCE') or os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../..')
    command, rest = (arguments + [''])[0], arguments[1:]
    if command == 'list':
        print('\n'.join(map(str, mutants(top, rest))))
    elif command == 'count':
        operators = [m.operator for m in mutants(top, rest)]
        for operator in sorted(set(operators)):
            print(f'{operators.count(operator):6} {operator}')
        print(f'{len(operators):6} in all')
    elif command == 'sample' and len(rest) >= 2:
        print('\n'.join(map(str, sample(mutants(top, rest[2:]), int(rest[0]), rest[1]))))
    elif command in ('show', 'apply') and rest:
        by_hash = {m.hash: m for m in mutants(top)}
        wanted = rest if command == 'show' else rest[:1]
        unknown = [name for name in wanted if name not in by_hash]
        if unknown:
            sys.exit('generate.py: no mutant is called ' + ' '.join(unknown))
        if command == 'show':
            print('\n'.join(f'{by_hash[name]}\n{by_hash[name].diff()}' for name in wanted))
        else:
            mutant = by_hash[rest[0]]
            with open(os.path.join(rest[1], mutant.file), 'w', encoding='utf-8') as out:
                out.write(mutant.mutated())
    elif command == 'written':
        print(f"{len(written(top, 'canaries.txt')):6} in canaries.txt, each of which applies")
        with open(os.path.join(top, 'tests/search/mutants/accepted.txt'), encoding='utf-8') as file:
            listed = [line for line in file if re.match('[0-9a-f]{8} ', line)]
        made = {m.hash for m in mutants(top)}
        gone = [line for line in listed if line.split()[0] not in made]
        if gone:
            sys.exit('accepted.txt: no mutant is like this any more:\n' + ''.join(gone))
        print(f'{len(listed):6} in accepted.txt, each of which is made')
    elif command == 'canary' and len(rest) == 2:
        mutant = {m.hash: m for m in written(rest[1], 'canaries.txt')}[rest[0]]
        with open(os.path.join(rest[1], mutant.file), 'w', encoding='utf-8') as out:
            out.write(mutant.mutated())
    else:
        sys.exit(__doc__)


if __name__ == '__main__':
    main(sys.argv[1:])
