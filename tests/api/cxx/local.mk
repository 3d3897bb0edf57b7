# SPDX-License-Identifier: MIT
# tests/api/cxx/local.mk - fairsem.hpp, held to what its headers and the standard promise; included by
# ../../local.mk.  Scripts build them: make itself compiles no C++.

test_scripts += \
	tests/api/cxx/cxx.sh \
	tests/api/cxx/docs.sh
EXTRA_DIST += \
	tests/api/cxx/main.cpp \
	tests/api/cxx/t_async.cpp \
	tests/api/cxx/t_semaphore.cpp \
	tests/api/cxx/t_standard.cpp \
	tests/api/cxx/t_units.cpp \
	tests/api/cxx/trial.hpp
