# SPDX-License-Identifier: MIT
"""pyproject.toml says what the package is; this, that setuptools leaves nothing beside it."""
import tempfile

from setuptools import setup

with tempfile.TemporaryDirectory() as work:
    setup(options={"build": {"build_base": work}, "egg_info": {"egg_base": work}})
