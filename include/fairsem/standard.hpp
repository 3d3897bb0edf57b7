/* SPDX-License-Identifier: MIT */
/*
 * standard.hpp - private: whether this is C++17; included first by all others.  They are empty if
 * it is not, so the line below is all that the compiler says.
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
