/* SPDX-License-Identifier: MIT */
/*
 * fairsem.hpp - fairsem for C++: a fair semaphore with the interface of std::counting_semaphore.
 *
 * It needs C++17 and fairsem.h, and nothing else.  All of it is inline: a program links libfairsem
 * as a C program does.  fairsem.h is the contract; these headers say what differs in C++.
 *
 *     fairsem/semaphore.hpp   semaphore, counting_semaphore, binary_semaphore
 *     fairsem/options.hpp     attributes, wait_options, token, share
 *     fairsem/units.hpp       units: a guard that knows what it holds, and can be moved
 *     fairsem/async.hpp       std::future<units>; with C++20: co_await
 *     fairsem/errors.hpp      errors by name, and their category
 *
 * Example:
 *
 *     #include <fairsem.hpp>
 *     #include <thread>
 *     #include <vector>
 *
 *     static fairsem::counting_semaphore<4> slots(4);     // in place of std::counting_semaphore
 *     static fairsem::semaphore bytes(1 << 20);           // the same class, any number of units
 *
 *     int main()
 *     {
 *         std::vector<std::thread> threads;
 *
 *         for (int i = 0; i < 8; i++)
 *             threads.emplace_back([] {
 *                 slots.acquire();
 *                 {
 *                     fairsem::units held(bytes, 4096);   // released at the end of the block
 *                 }
 *                 slots.release();
 *             });
 *         for (std::thread &thread : threads)
 *             thread.join();
 *         return bytes.available() == 1 << 20 ? 0 : 1;
 *     }
 *
 * To build it:  c++ -std=c++17 prog.cc $(pkg-config --cflags --libs fairsem)
 *
 * WHAT HOLDS FOR EVERY FUNCTION, unless its comment says otherwise
 *
 * Errors.     A noexcept function cannot fail, or its result tells that it failed.  Any other function
 *             throws std::system_error.  The code() of this error has one of the errno values that
 *             fairsem.h lists for the function of the same name, and the category fairsem::category().
 *             A function that throws has changed nothing.  Without exceptions (-fno-exceptions), the
 *             function prints the error and aborts the program.
 * Callbacks.  A call that grants waiting requests runs their callbacks.  A coroutine that the call
 *             resumes runs in its request's callback.  An exception of a callback propagates to the
 *             caller of a function that releases, closes, cancels, or acquires and may wait; such an
 *             acquire has then taken nothing.  The exception never propagates from try_acquire,
 *             try_acquire_upto, acquire_future, co_await, a guard that only tries, or a destructor:
 *             these drop the exception, and their result is not affected.  A stop callback cannot drop
 *             an exception: the program ends.  The callbacks of this header throw only if the promise
 *             of a coroutine throws in unhandled_exception.
 * Cancel.     A wait is a cancellation point for pthread_cancel.  The stack is unwound as by an
 *             exception; a canceled thread holds no units.
 * Standards.  Programs may mix sources that are compiled as C++17, C++20 and C++23: the classes
 *             have the same layout, and only have more members in later standards.
 */
#ifndef FAIRSEM_HPP
#define FAIRSEM_HPP

#include <fairsem/standard.hpp>

#if defined(FAIRSEM_CXX17_)

#include <fairsem/errors.hpp>

#include <fairsem/semaphore.hpp>

#include <fairsem/units.hpp>

#include <fairsem/async.hpp>

#endif
#endif
