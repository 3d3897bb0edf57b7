/* SPDX-License-Identifier: MIT */
/*
 * standard.hpp - private: checks for C++17.  All other C++ headers include this one first, and are empty
 * before C++17, so the error below is the only one.
 */
#ifndef FAIRSEM_STANDARD_HPP
#define FAIRSEM_STANDARD_HPP

#if defined(__cplusplus) && __cplusplus >= 201703L
#define FAIRSEM_CXX17_

#include <fairsem_private.h>

FAIRSEM_CHECK_LAYOUT_(fairsem_cxx);

#else
#error "fairsem.hpp needs C++17: compile with -std=c++17 or later; fairsem.h needs C++11"
#endif

#endif
