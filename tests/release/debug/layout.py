# SPDX-License-Identifier: MIT
"""layout.py - compares the layout in packaging/gdb/fairsem-gdb.py with the layout of the library.  Runs in gdb, see
gdb.sh.

gdb has sourced fairsem-gdb.py before, which defines LAYOUT, Machine and other names that this file uses.
"""

import gdb

# ruff: noqa: F821
machine = Machine()
wrong = fields = 0


def size(text):
    return int(gdb.parse_and_eval('(long)' + text))


for kind in LAYOUT:
    for field, (offset, what) in machine.layouts[kind].items():
        fields += 1
        there = size('&((struct %s *)0)->%s' % (kind, field))
        width = size('sizeof ((struct %s *)0)->%s' % (kind, field))
        if (there, width) != (offset, machine.types[what][0]):
            wrong += 1
            print('FAILED: %s.%s is %d bytes at %d, not %d at %d' % (
                kind, field, width, there, machine.types[what][0], offset))
    if kind not in BEGINNINGS and size('sizeof (struct %s)' % kind) != machine.types[kind][0]:
        wrong += 1
        print('FAILED: %s is %d bytes' % (kind, size('sizeof (struct %s)' % kind)))

for kind in ('fs_process', 'fs_slot'):
    if size('sizeof (struct %s)' % kind) != ELEMENT:
        wrong += 1
        print('FAILED: an element of a table, %s, is not %d bytes' % (kind, ELEMENT))

if not wrong and fields > 70:
    print('ok: all %d fields are where the library has them' % fields)
