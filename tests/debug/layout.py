# SPDX-License-Identifier: MIT
"""layout.py - is the layout in gdb/fairsem-gdb.py that of the library?  For gdb; see gdb.sh.

It has sourced fairsem-gdb.py before, so LAYOUT and Machine are known here.
"""

import gdb

machine = Machine()     # noqa: F821
wrong = fields = 0


def size(text):
    return int(gdb.parse_and_eval('(long)' + text))


for kind in LAYOUT:     # noqa: F821
    for field, (offset, what) in machine.layouts[kind].items():
        fields += 1
        there = size('&((struct %s *)0)->%s' % (kind, field))
        width = size('sizeof ((struct %s *)0)->%s' % (kind, field))
        if (there, width) != (offset, machine.types[what][0]):
            wrong += 1
            print('FAILED: %s.%s is %d bytes at %d, not %d at %d' % (
                kind, field, width, there, machine.types[what][0], offset))
    # Of the semaphore only the first fields are known.
    if kind != 'fs_sem' and size('sizeof (struct %s)' % kind) != machine.types[kind][0]:
        wrong += 1
        print('FAILED: %s is %d bytes' % (kind, size('sizeof (struct %s)' % kind)))

if not wrong and fields > 70:
    print('ok: all %d fields are where the library has them' % fields)
