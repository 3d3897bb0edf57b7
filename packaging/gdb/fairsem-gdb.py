# SPDX-License-Identifier: MIT
"""fairsem-gdb.py - gdb prints semaphores, tokens and tickets, and `info fairsem` who waits.

The script reads memory by the layout below, not by debug information, so a stripped library will do.
tests/release/debug/gdb.sh compares the layout with src/.  A waiting thread has its struct fs_wait on its own stack.
So the script can tell a thread from a ticket, and `info fairsem` finds all waiting threads.

The program may have damaged its data or be in the middle of a change, so all loops are bounded.
"""

import collections
import errno
import itertools
import time

import gdb

# The structs of src/core/*.h.  "a64" is an atomic number: it is aligned to its size on all machines.  "l64" and
# "l32" are atomic numbers at the beginning of a cache line.  "b at a": the fields a and b are a union.
LAYOUT = {
    'fs_list': 'ptr next, ptr prev',
    'fs_tree_node': 'ptr better, ptr worse',
    'fs_waitq_node': 'fs_tree_node in_tree, fs_list in_ring, u64 seq, i32 priority, u8 kind, '
                     'u8 pending, i16 core',
    'fs_waitq': 'ptr front, ptr root, u64 next_seq',
    'fs_waiter': 'fs_waitq_node in_queue, i64 units, i32 reason, i32 state, ptr share, '
                 'i64 enqueued_ns',
    'fs_flow': 'u16 weight, u16 rest, i32 priority, u64 tag, ptr requests',
    'fs_share': 'fs_flow flow, fs_tree_node in_tree, ptr sem, a64 charged, u32 epoch, u32 generation',
    'fs_cancelable': 'fs_list in_token, ptr cancel, ptr token, u32 generation',
    'fs_parking': 'ptr parker, u8 on_word, i32 thread, u8 in_wake_queue, i64 woken_ns',
    'fs_thread_waiter': 'fs_waiter waiter, fs_parking parking',
    'fs_wait': 'fs_thread_waiter thread, fs_waiter waiter at thread, ptr sem, ptr abort, ptr deadline, '
               'u8 competes_when_woken, i64 competes_at_ns, fs_cancelable by_token, '
               'u32 generation, u8 interruptible, u8 interrupted',
    'fs_watcher': 'fs_wait wait, fs_list in_ring, ptr ticket',
    'fs_awake': 'u8 as_front, u8 holders_core, i16 prewake',
    'fs_sem': 'a64 word, a64 limit, mutex mutex, u8 options, u8 resized, fs_awake awake, '
              'u8 before_queue, u8 in_section, fs_waitq queue, u32 waiters, u32 epoch, ptr far, i64 front_since_ns, '
              'i32 closed, u32 tickets, u64 waiting_low, i64 wait_ns_total, i64 grants, i64 wait_ns_max, '
              'i64 wait_ns_max_interval, i64 timeouts, u32 waiters_max_interval, u32 waiters_max, '
              'u32 over_releases, u32 waiting_high, u32 generation, u32 max_waiters, i64 bypass_ns, '
              'i64 aging_ns, i64 aged, fs_flow common at bypass_ns, u64 virtual_time, ptr name',
    'fs_token': 'mutex mutex, fs_list waits, i32 reason, u32 generation',
    'fs_callback': 'fs_waiter waiter, ptr notify, ptr arg, a64 number',
    'fs_ticket': 'fs_callback callback, ptr sem, ptr watchers, u32 generation',
    # Between processes: src/shared/.
    'fairsem_shared': 'ptr segment, ptr processes, ptr slots, ptr flows, i32 max_processes, '
                      'i32 max_waiters, i64 capacity, u8 undo',
    'fs_segment': 'i64 magic, i32 version, u32 flags, i64 size, i64 units, i64 capacity, '
                  'i32 max_waiters, i32 max_processes, i64 aging_ns, l64 word, a64 total, a64 high_water, '
                  'a64 outstanding, l32 lock, i32 handover, i32 damaged, i32 unfinished, i32 head',
    'fs_process': 'i32 state, u32 incarnation, a64 held, a64 pid, a64 unused, a64 since_ns',
    'fs_slot': 'i32 state, i32 process, a64 units, a64 seq, i32 priority, i16 core, '
               'u8 aged, u8 strategy, a64 enqueued_ns, a64 granted_ns, i32 next, i32 prev',
    'fs_shared_wait': 'fs_cancelable by_token, ptr handle, ptr deadline, i32 slot, i64 seq, i32 reason, '
                'i64 enqueued_ns',
}
# Of these structs, the layout has only the first fields.  For elements of arrays, ELEMENT has the size.
BEGINNINGS = ('fs_sem', 'fairsem_shared', 'fs_segment', 'fs_process', 'fs_slot', 'fs_shared_wait')
ELEMENT = 64                    # of the tables in a segment
MAGIC = 0x6d65737269616600      # layout.h
VERSION = 5
QUEUED, PARKED, WOKEN, GRANTED = 1, 2, 3, 4     # waiter.h
IN_QUEUE = (QUEUED, PARKED, WOKEN)
TICKET_STATES = {0: 'idle', QUEUED: 'waiting', GRANTED: 'granted', 5: 'canceled', 6: 'closed',
                 8: 'being taken', 12: 'being claimed', 13: 'being claimed', 14: 'being claimed'}
RETURNS = 1 << 62               # word.h
BOUNDED, ALL_OPTIONS = 1, 63    # sem.h
YOUNG, OLD = 2, 3               # waitq.h
MAX_UNITS = 1 << 60
STACK = 65536                   # bytes of a stack, from its top, in which waits are looked for
MOST = 10000                    # the most waiters of a queue that are shown


# ---------------------------------------------------------------- memory

class Machine:
    """The machine of the program: sizes and alignments of types."""

    def __init__(self):
        self.pointer = gdb.lookup_type('void').pointer().sizeof
        long_align = getattr(gdb.lookup_type('long long'), 'alignof', 8)
        try:
            mutex = gdb.lookup_type('pthread_mutex_t').sizeof
        except gdb.error:       # nothing in the program has debug information
            name = gdb.selected_frame().architecture().name()
            mutex = 24 if self.pointer == 4 else 48 if 'aarch64' in name else 40
        self.types = {
            'ptr': (self.pointer, self.pointer), 'mutex': (mutex, self.pointer),
            'u64': (8, long_align), 'i64': (8, long_align), 'a64': (8, 8), 'l64': (8, 64), 'l32': (4, 64),
            'u32': (4, 4), 'i32': (4, 4), 'u16': (2, 2), 'i16': (2, 2), 'u8': (1, 1),
        }
        order = gdb.execute('show endian', to_string=True)
        self.order = 'big' if 'big endian' in order else 'little'
        self.layouts = {}
        for kind in LAYOUT:
            self.layout(kind)

    def layout(self, kind):
        """Compute the offset and the type of each field."""
        offset, largest, fields = 0, 1, {}
        for field in LAYOUT[kind].split(', '):
            what, name, *at = field.split()
            if at:
                fields[name] = (fields[at[1]][0], what)
                continue
            size, align = self.types[what]
            offset = -(-offset // align) * align
            fields[name] = (offset, what)
            offset += size
            largest = max(largest, align)
        self.layouts[kind] = fields
        self.types[kind] = (-(-offset // largest) * largest, largest)


class Struct:
    """A struct of the library at an address; its fields are numbers, or structs."""

    def __init__(self, machine, kind, address):
        self.machine, self.struct, self.address = machine, kind, address

    def __getattr__(self, field):
        offset, what = self.machine.layouts[self.struct][field]
        address = (self.address + offset) % (1 << 8 * self.machine.pointer)
        if what in LAYOUT:
            return Struct(self.machine, what, address)
        data = gdb.selected_inferior().read_memory(address, self.machine.types[what][0])
        return int.from_bytes(bytes(data), self.machine.order, signed=what[0] in 'ial')

    def at(self, kind, address):
        return Struct(self.machine, kind, address)

    def around(self, kind, field):
        """The struct of which this one is a field."""
        return self.at(kind, self.address - self.machine.layouts[kind][field][0])


# ---------------------------------------------------------------- queues

def kind_of(node):
    """`kind` is a bit-field: the first 7 bits of the byte, which depend on the machine's byte order."""
    return node.kind & 0x7f if node.machine.order == 'little' else node.kind >> 1


def nodes_of(sem, root):
    """The addresses of the nodes of a search tree, in order."""
    before, node, seen = [], root, 0
    while (node or before) and seen < MOST:
        while node and len(before) < MOST:
            before.append(node)
            node = sem.at('fs_tree_node', node).better
        node = before.pop()
        seen += 1
        yield node
        node = sem.at('fs_tree_node', node).worse


def waiters_in(sem, root):
    """The waiters of a tree of rings, by priority."""
    for leader in nodes_of(sem, root):
        waiter = leader
        for _ in range(MOST):
            yield sem.at('fs_waiter', waiter)
            node = sem.at('fs_waitq_node', waiter)
            waiter = sem.at('fs_list', node.in_ring.next).around('fs_waitq_node', 'in_ring').address
            if waiter == leader or kind_of(node) >= YOUNG:
                break


def comes_before(flow, other):
    """Does `flow` come before `other`, as in share.h?  Both flows have requests."""
    if flow.priority != other.priority:
        return flow.priority < other.priority
    if flow.tag != other.tag:
        return (flow.tag - other.tag) % (1 << 64) >= 1 << 63
    first, second = (flow.at('fs_waitq_node', next(nodes_of(flow, each.requests), each.requests))
                     for each in (flow, other))
    return first.seq < second.seq


def flows_of(sem):
    """The flows of a queue with shares, in order."""
    flows = [sem.at('fs_tree_node', node).around('fs_share', 'in_tree').flow
             for node in nodes_of(sem, sem.queue.root)]
    common = sem.common
    if common.requests:
        place = next((i for i, flow in enumerate(flows) if comes_before(common, flow)), len(flows))
        flows.insert(place, common)
    return flows


def waiters_of(sem):
    """The waiters of a semaphore, in the order in which they are served; with shares, flow by flow."""
    trees = [flow.requests for flow in flows_of(sem)] if sem.epoch else [sem.queue.root]
    found = itertools.islice((waiter for tree in trees for waiter in waiters_in(sem, tree)), MOST)
    return sorted(found, key=lambda waiter: (0, waiter.in_queue.seq)
                  if kind_of(waiter.in_queue) == OLD else (1, 0))


def is_linked(links):
    return links.next != 0 and links.at('fs_list', links.next).prev == links.address


def if_readable(test):
    """Make a test return False at unreadable memory: the address of a supposed struct may be anything."""
    def safe(*arguments):
        try:
            return test(*arguments)
        except gdb.MemoryError:
            return False
    return safe


class Line:
    """The queue of a semaphore between processes, seen from its handle."""

    def __init__(self, handle):
        self.handle = handle

    @if_readable
    def is_there(self):
        segment = self.handle.at('fs_segment', self.handle.segment)
        return segment.magic == MAGIC and segment.version == VERSION

    def elements(self, kind, table, length):
        for index in range(min(length, MOST)):
            yield index, self.handle.at(kind, table + index * ELEMENT)

    def holders(self):
        """The processes that use the semaphore."""
        return [process for index, process in self.elements(
            'fs_process', self.handle.processes, self.handle.max_processes) if process.state == 1]

    def waiting(self):
        """The slots of waiters, with their indices, in the order of the queue.  Slots that an unfinished change has
        left out of the queue come last."""
        slots = dict(self.elements('fs_slot', self.handle.slots, self.handle.max_waiters))
        place, index = {}, self.handle.at('fs_segment', self.handle.segment).head
        while index in slots and index not in place:
            place[index] = len(place)
            index = slots[index].next
        return sorted(((index, slot) for index, slot in slots.items() if slot.state == 1),
                      key=lambda slot: (place.get(slot[0], MOST), slot[1].seq))

    def pid_of(self, slot):
        return self.handle.at('fs_process', self.handle.processes + slot.process * ELEMENT).pid


class Program:
    """One stop of the program: its threads, and the clock."""

    def __init__(self):
        self.machine = Machine()
        self.stopped_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.queues = {}
        self.lines = {}
        self.tops = []
        selected = gdb.selected_thread()
        frame = gdb.selected_frame() if selected else None
        for thread in gdb.selected_inferior().threads():
            thread.switch()
            self.tops.append((int(gdb.newest_frame().read_register('sp')), thread))
        if selected:
            selected.switch()
            frame.select()
        self.tops.sort(key=lambda top: top[0])

    def sem(self, address):
        return Struct(self.machine, 'fs_sem', address)

    def thread_of(self, address):
        """The thread on whose stack an address is: of the stacks that begin below, the nearest."""
        below = [thread for top, thread in self.tops if top <= address]
        return below[-1] if below else None

    def queue(self, sem):
        if sem.address not in self.queues:
            self.queues[sem.address] = {w.address: w for w in waiters_of(sem)}
        return self.queues[sem.address]

    @if_readable
    def is_wait(self, wait):
        """Is this a thread's wait in a queue?  Memory that a former wait has left is in no queue."""
        waiter = wait.waiter
        return (waiter.state in IN_QUEUE and wait.sem != 0
                and is_linked(waiter.in_queue.in_ring)
                and waiter.address in self.queue(self.sem(wait.sem)))

    @if_readable
    def is_watcher(self, watcher):
        wait = watcher.wait
        if wait.waiter.state not in IN_QUEUE or not is_linked(watcher.in_ring):
            return False
        ticket = wait.at('fs_ticket', watcher.ticket)
        return ticket.callback.waiter.state == QUEUED and ticket.sem == wait.sem != 0

    def line(self, handle):
        """The Line of a handle; None if the address is not a handle of a semaphore between processes."""
        if handle not in self.lines:
            line = Line(Struct(self.machine, 'fairsem_shared', handle))
            self.lines[handle] = line if line.is_there() else None
        return self.lines[handle]

    def places(self, top):
        """The waits between processes on the stack that begins at `top`: pairs of Line and slot."""
        stack, size = self.stack(top), self.machine.types['fs_shared_wait'][0]
        at = self.machine.layouts['fs_shared_wait']['handle'][0]
        for offset in range(0, len(stack) - size, self.machine.pointer):
            word = stack[offset + at:offset + at + self.machine.pointer]
            handle = int.from_bytes(word, self.machine.order)
            line = self.line(handle) if handle > 4096 and handle % 8 == 0 else None
            if line is None:
                continue
            place = Struct(self.machine, 'fs_shared_wait', top + offset)
            for index, slot in line.waiting():
                if (index, slot.seq, slot.enqueued_ns) == (place.slot, place.seq, place.enqueued_ns):
                    yield line, slot

    def waits(self, top):
        """The waits on the stack that begins at `top`, each with the ticket that it waits for, or None."""
        state = (self.machine.layouts['fs_waiter']['state'][0]
                 + self.machine.layouts['fs_wait']['waiter'][0])
        stack = self.stack(top)
        for offset in range(0, len(stack) - state - 4, self.machine.pointer):
            word = stack[offset + state:offset + state + 4]
            if int.from_bytes(word, self.machine.order) not in IN_QUEUE:
                continue
            wait = Struct(self.machine, 'fs_wait', top + offset)
            watcher = wait.around('fs_watcher', 'wait')
            if self.is_wait(wait):
                yield wait, None
            elif self.is_watcher(watcher):
                yield wait, wait.at('fs_ticket', watcher.ticket)

    def stack(self, top):
        size = STACK
        while size >= 1024:
            try:
                return bytes(gdb.selected_inferior().read_memory(top, size))
            except gdb.MemoryError:
                size //= 2
        return b''

    def now_ns(self):
        """The time on the program's clock, and True.  For a core file or a remote program: the latest time in a
        queue, and False."""
        connection = getattr(gdb.selected_inferior(), 'connection', None)
        if connection is not None and connection.type == 'native':
            return self.stopped_ns, True
        return max((w.enqueued_ns for queue in self.queues.values() for w in queue.values()),
                   default=0), False


# ---------------------------------------------------------------- in words

def count(number, what):
    return '%d %s%s' % (number, what, '' if number == 1 else 's')


def reason_of(number):
    return errno.errorcode.get(number, str(number))


def available_of(word):
    if word >= RETURNS:
        word -= RETURNS
    return word >> 1


def name_of(sem):
    """The name of the semaphore, or else the name of its variable, or else its address."""
    if sem.name == 0:
        symbol = gdb.execute('info symbol 0x%x' % sem.address, to_string=True)
        return symbol.split(' in section')[0] if ' in section' in symbol else hex(sem.address)
    return '"%s"' % gdb.Value(sem.name).cast(gdb.lookup_type('char').pointer()).string(
        errors='replace', length=-1)


def thread_name(thread):
    return 'thread %d (LWP %d)' % (thread.num, thread.ptid[1] or thread.ptid[2])


class Words:
    """Sentences about one stop of the program."""

    def __init__(self):
        self.program = Program()

    def age(self, waiter):
        if waiter.enqueued_ns == 0:
            return 'no time'
        now, exact = self.program.now_ns()
        return '%s%.3f s' % ('' if exact else 'at least ', max(0, now - waiter.enqueued_ns) / 1e9)

    def place(self, waiter, node=None):
        node = node or waiter.in_queue
        return 'number %d, priority %d, for %s' % (node.seq, node.priority, self.age(waiter))

    def line(self, line):
        handle = line.handle
        segment = handle.at('fs_segment', handle.segment)
        return 'fairsem_shared 0x%x: %d of %d available' % (
            handle.address, available_of(segment.word),
            segment.total if handle.undo else handle.capacity)

    def line_members(self, line):
        for process in line.holders():
            if process.held:
                yield 'process %d holds %s' % (process.pid, count(process.held, 'unit'))
        for _, slot in line.waiting():
            yield '%s, %s: process %d' % (self.place(slot, slot), count(slot.units, 'unit'),
                                          line.pid_of(slot))

    def sem(self, sem):
        text = 'fairsem %s: %d' % (name_of(sem), available_of(sem.word))
        if sem.options & BOUNDED:
            text += ' of %d' % sem.limit
        text += ' available'
        if sem.options & BOUNDED and sem.limit == 0:
            text += ', paused'
        if sem.closed:
            text += ', closed with %s' % reason_of(sem.closed)
        queue = self.program.queue(sem).values()
        if sem.waiters:
            units = sum(waiter.units for waiter in queue)
            text += ', %s for %s' % (count(sem.waiters, 'waiter'), count(units, 'unit'))
        shares = {waiter.share for waiter in queue} - {0}
        if shares:
            text += ', ' + count(len(shares), 'share')
        return text

    def waiters(self, sem):
        queue = self.program.queue(sem).values()
        requests = collections.Counter(waiter.share for waiter in queue)
        for waiter in queue:
            wait = waiter.at('fs_wait', waiter.address)
            thread = self.program.thread_of(waiter.address)
            is_thread = thread is not None and wait.sem == sem.address
            text = '%s, %s: %s' % (self.place(waiter), count(waiter.units, 'unit'),
                                   thread_name(thread) if is_thread
                                   else 'ticket 0x%x' % waiter.address)
            if waiter.share:
                flow = waiter.at('fs_share', waiter.share).flow
                text += ', share 0x%x of weight %d with %s' % (
                    waiter.share, flow.weight, count(requests[waiter.share], 'request'))
            yield text

    def ticket(self, ticket):
        state = ticket.callback.waiter.state
        name = TICKET_STATES.get(state, 'damaged')
        text = 'ticket, %s' % name
        if state in (QUEUED, GRANTED):
            sem = self.program.sem(ticket.sem)
            text += ', %s of %s' % (count(ticket.callback.waiter.units, 'unit'), name_of(sem))
        if state == QUEUED:
            self.program.queue(sem)
            text += ', ' + self.place(ticket.callback.waiter)
        return text

    def token(self, token):
        text = 'token, canceled with %s' % reason_of(token.reason) if token.reason else 'token'
        return '%s, %s' % (text, count(len(self.waits_of(token)), 'wait'))

    def waits_of(self, token):
        found, links = [], token.waits.next
        while links not in (0, token.waits.address) and len(found) < MOST:
            found.append(token.at('fs_cancelable', links))
            links = token.at('fs_list', links).next
        return found

    def token_waits(self, token):
        for cancelable in self.waits_of(token):
            thread = self.program.thread_of(cancelable.address)
            wait = cancelable.around('fs_wait', 'by_token')
            text = thread_name(thread) if thread else '0x%x' % cancelable.address
            if self.program.is_wait(wait):
                text += ' for ' + name_of(self.program.sem(wait.sem))
            yield text


# ---------------------------------------------------------------- gdb

class Printer:
    """What `print` shows for a value of one of the public types."""

    def __init__(self, kind, value):
        self.words = Words()
        self.struct = Struct(self.words.program.machine, kind, int(value.address))

    def to_string(self):
        return {'fs_sem': self.words.sem, 'fs_token': self.words.token,
                'fs_ticket': self.words.ticket}[self.struct.struct](self.struct)

    def children(self):
        lines = {'fs_sem': self.words.waiters, 'fs_token': self.words.token_waits}
        if self.struct.struct in lines:
            for index, line in enumerate(lines[self.struct.struct](self.struct)):
                yield '[%d]' % index, line


KINDS = {'fairsem_t': 'fs_sem', 'fairsem_token_t': 'fs_token', 'fairsem_token': 'fs_token',
         'fairsem_ticket_t': 'fs_ticket', 'fairsem_ticket': 'fs_ticket'}


def fairsem_printer(value):
    kind = value.type.unqualified()
    while kind.code == gdb.TYPE_CODE_TYPEDEF and kind.name not in KINDS:
        kind = kind.target().unqualified()
    if kind.name in KINDS and value.address is not None:
        return Printer(KINDS[kind.name], value)
    return None


SEMAPHORES = ('fairsem', 'fairsem_t', 'fs_sem', 'fairsem_shared')


def is_semaphore(kind):
    """Is this type one of SEMAPHORES, or a struct that begins with one, such as fairsem_sem_t or a class of C++?"""
    kind = kind.strip_typedefs().unqualified()
    if kind.code != gdb.TYPE_CODE_STRUCT:
        return False
    return kind.name in SEMAPHORES or any(is_semaphore(field.type) for field in kind.fields()[:1])


def address_of(text):
    """The address that the argument of `info fairsem` means."""
    value = gdb.parse_and_eval(text)
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_REF:
        value = value.referenced_value()
    kind = value.type.strip_typedefs()
    is_pointer = kind.code == gdb.TYPE_CODE_PTR
    pointed = kind.target().strip_typedefs() if is_pointer else kind
    if value.is_optimized_out:
        raise gdb.GdbError('%s is optimized out.' % text)
    if kind.code != gdb.TYPE_CODE_INT and not is_semaphore(pointed) and not (
            is_pointer and pointed.code == gdb.TYPE_CODE_VOID):
        raise gdb.GdbError('%s is no semaphore: its type is %s.' % (text, value.type))
    if kind.code == gdb.TYPE_CODE_STRUCT and value.address is None:
        raise gdb.GdbError('%s has no address.' % text)
    address = int(value.address if kind.code == gdb.TYPE_CODE_STRUCT else value)
    address &= (1 << 8 * gdb.lookup_type('void').pointer().sizeof) - 1
    if address == 0:
        raise gdb.GdbError('%s is NULL.' % text)
    return address


class InfoFairsem(gdb.Command):
    """Which thread waits for which semaphore (fairsem), and the queues of these semaphores.

info fairsem            of all threads
info fairsem SEMAPHORE  one semaphore: a fairsem_t, its address, or a fairsem_shared_t *"""

    def __init__(self):
        super().__init__('info fairsem', gdb.COMMAND_STATUS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        """Raise only GdbError: gdb prints its message alone, but a Python traceback for other exceptions."""
        try:
            self.inform(argument)
        except gdb.MemoryError as error:
            raise gdb.GdbError('%s is no semaphore: %s.' % (argument, error)) from None
        except gdb.error as error:
            raise gdb.GdbError(str(error)) from None

    def inform(self, argument):
        if gdb.selected_thread() is None:
            raise gdb.GdbError('The program is not running, and there is no core file.')
        words = Words()
        if not argument:
            self.threads(words)
            return
        address = address_of(argument)
        line = words.program.line(address)
        if line is not None:
            self.show(words.line(line), words.line_members(line))
            return
        sem = words.program.sem(address)
        if not 0 <= sem.limit <= MAX_UNITS or sem.waiters < 0 or sem.options > ALL_OPTIONS:
            raise gdb.GdbError('%s is no semaphore: 0x%x is something else.' % (argument, address))
        self.show(words.sem(sem), words.waiters(sem))

    def show(self, heading, lines):
        print(heading)
        for line in lines:
            print('  ' + line)

    def threads(self, words):
        sems, lines = {}, {}
        for top, thread in sorted(words.program.tops, key=lambda top: top[1].num):
            for wait, ticket in words.program.waits(top):
                sem = words.program.sem(wait.sem)
                sems[sem.address] = sem
                if ticket is None:
                    print('%s waits for %s of %s, %s' % (
                        thread_name(thread), count(wait.waiter.units, 'unit'), name_of(sem),
                        words.place(wait.waiter)))
                else:
                    print('%s waits for ticket 0x%x of %s' % (
                        thread_name(thread), ticket.address, name_of(sem)))
            for line, slot in words.program.places(top):
                lines[line.handle.address] = line
                print('%s waits for %s of fairsem_shared 0x%x, %s' % (
                    thread_name(thread), count(slot.units, 'unit'), line.handle.address,
                    words.place(slot, slot)))
        if not sems and not lines:
            print('No thread waits for a semaphore of fairsem.')
        for sem in sems.values():
            self.show(words.sem(sem), words.waiters(sem))
        for line in lines.values():
            self.show(words.line(line), words.line_members(line))


# Register the printer once, even if gdb loads this script for two libraries.
gdb.pretty_printers[:] = [printer for printer in gdb.pretty_printers
                          if getattr(printer, '__name__', '') != 'fairsem_printer']
gdb.pretty_printers.append(fairsem_printer)
InfoFairsem()
