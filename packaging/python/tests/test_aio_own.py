# SPDX-License-Identifier: MIT
"""CPython's cases for asyncio.Semaphore and BoundedSemaphore, run with ours: all cases pass except those in the
table of README.md.  The cases are taken from the Python that runs this file, if it is 3.10 or later and has its
tests."""
import asyncio
import importlib
import io
import os
import re
import sys
import unittest
from typing import List, Set
from unittest import mock

import fairsem

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "README.md")


class Semaphore(fairsem.AsyncSemaphore):
    """Our semaphore for the cases: they expect this class name in a message, and two private members."""

    @property
    def _value(self) -> int:
        return self.available

    @property
    def _waiters(self) -> List[None]:
        return [None] * self.waiters


def differing() -> Set[str]:
    """The names in the first column of README.md's table."""
    with open(README, encoding="utf-8") as readme:
        return set(re.findall(r"^\| `(test_\w+)` \|", readme.read(), re.MULTILINE))


@unittest.skipUnless(sys.version_info >= (3, 10), "the cases of older ones pass a loop")
class OfPython(unittest.TestCase):

    def test_all_cases_pass_but_those_of_the_table(self) -> None:
        try:
            cases = importlib.import_module("test.test_asyncio.test_locks").SemaphoreTests
        except ImportError:
            self.skipTest("this Python has not its own tests")
        names = unittest.defaultTestLoader.getTestCaseNames(cases)
        with mock.patch.object(asyncio, "Semaphore", Semaphore), \
                mock.patch.object(asyncio, "BoundedSemaphore", fairsem.AsyncBoundedSemaphore):
            result = unittest.TextTestRunner(io.StringIO()).run(unittest.TestSuite(map(cases, names)))
        self.assertGreater(result.testsRun, 10)
        failed = {case.id().split(".")[-1]: text for case, text in result.failures + result.errors}
        self.assertEqual(set(failed), differing() & set(names), "\n".join(failed.values()))


if __name__ == "__main__":
    unittest.main()
