# SPDX-License-Identifier: MIT
# tests/cxx/local.mk - tests that fairsem.hpp keeps the promises of its headers and of the standard; included by
# ../local.mk.  A script builds them: make itself compiles no C++.

test_scripts += tests/cxx/cxx.sh
EXTRA_DIST += \
	tests/cxx/main.cpp \
	tests/cxx/t_async.cpp \
	tests/cxx/t_exceptions.cpp \
	tests/cxx/t_semaphore.cpp \
	tests/cxx/t_standard.cpp \
	tests/cxx/t_units.cpp \
	tests/cxx/trial.hpp
