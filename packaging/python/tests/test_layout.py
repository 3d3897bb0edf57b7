# SPDX-License-Identifier: MIT
"""The structs and numbers of the package are those of the headers.  Needs a C compiler."""
import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
import unittest

from fairsem import _library

COMPILER = shlex.split(os.environ.get("CC", "cc"))
FLAGS = shlex.split(os.environ.get("FAIRSEM_CFLAGS", ""))
STRUCTS = [kind for kind in vars(_library).values()
           if isinstance(kind, type) and issubclass(kind, ctypes.Structure)
           and hasattr(kind, "_fields_")]
NUMBERS = {
    "sizeof(fairsem_token_t)": _library.TOKEN_SIZE,
    "sizeof(fairsem_ticket_t)": _library.TICKET_SIZE,
    "sizeof(fairsem_share_t)": _library.SHARE_SIZE,
    "_Alignof(fairsem_token_t)": _library.ALIGNMENT,
    "_Alignof(fairsem_ticket_t)": _library.ALIGNMENT,
    "_Alignof(fairsem_share_t)": _library.ALIGNMENT,
    "FAIRSEM_MAX_UNITS": _library.MAX_UNITS,
    "FAIRSEM_MAX_WEIGHT": _library.MAX_WEIGHT,
    "FAIRSEM_SHARED_MAX": _library.SHARED_MAX,
    "FAIRSEM_NO_SPIN": _library.NO_SPIN,
    "FAIRSEM_WAIT_BUCKETS": _library.WAIT_BUCKETS,
    "FAIRSEM_BOUNDED_BYPASS": _library.BOUNDED_BYPASS,
    "FAIRSEM_SHARED_NO_UNDO": _library.SHARED_NO_UNDO,
    "FAIRSEM_SHARED_NO_SPIN": _library.SHARED_NO_SPIN,
}


@unittest.skipUnless(shutil.which(COMPILER[0]), "there is no C compiler")
class Layout(unittest.TestCase):

    def test_every_member_is_where_the_header_has_it(self) -> None:
        expected = dict(NUMBERS)
        for kind in STRUCTS:
            name = kind.__name__
            expected[f"sizeof({name})"] = ctypes.sizeof(kind)
            for member, *_ in kind._fields_:
                place = getattr(kind, member)
                expected[f"offsetof({name}, {member})"] = place.offset
                expected[f"sizeof((({name} *)0)->{member})"] = place.size
        self.assertEqual(len(STRUCTS), 7)
        lines = [f'    printf("%lld\\n", (long long)({text}));' for text in expected]
        source = "\n".join(["#include <fairsem/shared.h>", "#include <stddef.h>",
                            "#include <stdio.h>", "int main(void)", "{"] + lines + ["}"])
        with tempfile.TemporaryDirectory() as directory:
            program = os.path.join(directory, "layout")
            options = ["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-x", "c", "-", "-o", program]
            subprocess.run(COMPILER + options + FLAGS, input=source, text=True, check=True)
            found = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(dict(zip(expected, map(int, found.split()))), expected)


if __name__ == "__main__":
    unittest.main()
