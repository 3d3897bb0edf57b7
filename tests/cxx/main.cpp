/* SPDX-License-Identifier: MIT */
/* main.cpp - runs all trials that are linked with it. */
#include "trial.hpp"

#include "../support/hang.h"

#include <vector>

namespace {

struct entry {
    const char *name;
    void (*run)();
};

/* A function, not a static object: trials are added while static objects are being initialized. */
std::vector<entry> &list()
{
    static std::vector<entry> entries;

    return entries;
}

} // namespace

bool trial::add(const char *name, void (*run)())
{
    list().push_back({ name, run });
    return true;
}

int main()
{
    hang_alarm();     /* ends a trial that hangs */
    for (const entry &each : list()) {
        std::printf("%s\n", each.name);
        std::fflush(stdout);
        each.run();
    }
    std::printf("%d trials, C++ %ld\n", static_cast<int>(list().size()), __cplusplus);
    return list().empty();
}
