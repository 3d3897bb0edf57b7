# SPDX-License-Identifier: MIT
"""pyproject.toml describes the package.  This file only makes setuptools build in a temporary directory."""
import tempfile

from setuptools import setup

with tempfile.TemporaryDirectory() as work:
    setup(options={"build": {"build_base": work}, "egg_info": {"egg_base": work}})
