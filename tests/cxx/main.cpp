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

/* Not a static object: the trials are added while those are initialized. */
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
    hang_alarm();     /* a trial that hangs ends */
    for (const entry &each : list()) {
        std::printf("%s\n", each.name);
        std::fflush(stdout);
        each.run();
    }
    std::printf("%d trials, C++ %ld\n", static_cast<int>(list().size()), __cplusplus);
    return list().empty();
}
