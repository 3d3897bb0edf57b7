// SPDX-License-Identifier: MIT

// Package fairsem is a fair counting semaphore: a unit that becomes free goes to the goroutine that has
// waited longest, and nobody who comes later can take it first.
//
// A goroutine that waits blocks no thread.
package fairsem

/*
#cgo pkg-config: fairsem
#include <fairsem.h>
#include <stdlib.h>
#include <string.h>

extern void fairsemGranted(fairsem_ticket_t *ticket, void *handle);

static fairsem_ticket_t *ticket_new(void)
{
    fairsem_ticket_t *ticket = aligned_alloc(_Alignof(fairsem_ticket_t), sizeof *ticket);

    return ticket != NULL ? memset(ticket, 0, sizeof *ticket) : NULL;
}

static int ticket_take(fairsem_ticket_t *ticket, fairsem_t *sem, int64_t n, int priority,
                       uintptr_t handle)
{
    return fairsem_ticket_take(ticket, sem, n, priority, fairsemGranted, (void *)handle);
}

// The guard's units are the caller's.
static int ticket_claim(fairsem_ticket_t *ticket)
{
    fairsem_units_t units = { 0 };

    return fairsem_ticket_claim(ticket, &units);
}
*/
import "C"

import (
	"context"
	"runtime"
	"runtime/cgo"
	"sort"
	"syscall"
	"time"
	"unsafe"
)

// An Error is an errno value that the header lists for the function.
type Error syscall.Errno

const (
	ErrClosed    = Error(syscall.ESHUTDOWN) // Close was called
	ErrTooMany   = Error(syscall.E2BIG)     // more than the capacity
	ErrQueueFull = Error(syscall.ENOBUFS)   // Options.MaxWaiters wait already
	ErrInvalid   = Error(syscall.EINVAL)    // a number out of range
	ErrOverflow  = Error(syscall.EOVERFLOW) // units were released that nobody had taken
)

func (e Error) Error() string {
	return C.GoString(C.fairsem_strerror(C.int(e)))
}

func result(code C.int) error {
	if code == 0 {
		return nil
	}
	return Error(code)
}

// Options say what kind of semaphore it is; all zero is an unbounded one.
type Options struct {
	Name       string // for those who debug
	Capacity   int64  // the most units that can be free; 0: unbounded
	MaxWaiters int64  // the longest queue; 0: no limit

	// Who has waited longer comes before better priorities; 0: never.
	Aging time.Duration
}

// A Semaphore is made by New or NewWith.
type Semaphore struct {
	sem  *C.fairsem_t
	name *C.char
}

// New makes an unbounded semaphore with so many free units.
func New(units int64) (*Semaphore, error) {
	return NewWith(units, Options{})
}

// NewWith makes a semaphore with so many free units.
func NewWith(units int64, options Options) (*Semaphore, error) {
	s := &Semaphore{}
	if options.Name != "" {
		s.name = C.CString(options.Name)
	}
	attr := C.fairsem_attr_t{
		name:        s.name,
		capacity:    C.int64_t(options.Capacity),
		max_waiters: C.int64_t(options.MaxWaiters),
		aging_ns:    C.int64_t(options.Aging),
	}
	if code := C.fairsem_new(&s.sem, C.int64_t(units), &attr); code != 0 {
		C.free(unsafe.Pointer(s.name))
		return nil, Error(code)
	}
	// Nobody waits then: who waits holds s.
	runtime.SetFinalizer(s, func(s *Semaphore) {
		C.fairsem_free(s.sem)
		C.free(unsafe.Pointer(s.name))
	})
	return s, nil
}

// Acquire takes n units, all at once; it waits in the queue while that is impossible.  The error is
// that of the context if the wait is over before.
func (s *Semaphore) Acquire(ctx context.Context, n int64) error {
	return s.AcquireWith(ctx, n, 0)
}

// AcquireWith does the same with a priority: lower numbers come first.
func (s *Semaphore) AcquireWith(ctx context.Context, n int64, priority int) error {
	defer runtime.KeepAlive(s)
	if err := ctx.Err(); err != nil {
		return err
	}
	code := C.fairsem_tryacquire(s.sem, C.int64_t(n))
	if code == C.int(syscall.EAGAIN) {
		code = s.wait(ctx, n, priority)
	}
	if code == contextIsDone {
		return ctx.Err()
	}
	return result(code)
}

const contextIsDone = -1

func (s *Semaphore) wait(ctx context.Context, n int64, priority int) C.int {
	ticket := C.ticket_new()
	if ticket == nil {
		return C.int(syscall.ENOMEM)
	}
	granted := make(chan struct{}, 1)
	handle := cgo.NewHandle(granted)
	defer func() {
		// Its callback is over afterwards, or does not come.  Units that it has been granted, and
		// that are not claimed, go to the next.
		C.fairsem_ticket_return(ticket)
		handle.Delete()
		C.free(unsafe.Pointer(ticket))
	}()
	code := C.ticket_take(ticket, s.sem, C.int64_t(n), C.int(priority), C.uintptr_t(handle))
	if code == C.int(syscall.EINPROGRESS) {
		select {
		case <-granted:
		case <-ctx.Done():
			return contextIsDone
		}
	} else if code != 0 {
		return code
	}
	return C.ticket_claim(ticket)
}

// fairsemGranted is the callback of a ticket that has left the queue, granted or not.
//
//export fairsemGranted
func fairsemGranted(_ *C.fairsem_ticket_t, handle unsafe.Pointer) {
	cgo.Handle(uintptr(handle)).Value().(chan struct{}) <- struct{}{}
}

// TryAcquire takes n units without a wait; false: too few are free, or somebody waits, or never.
func (s *Semaphore) TryAcquire(n int64) bool {
	defer runtime.KeepAlive(s)
	return C.fairsem_tryacquire(s.sem, C.int64_t(n)) == 0
}

// Release gives n units back: the oldest waiters get them.  In a correct program it cannot fail.
func (s *Semaphore) Release(n int64) error {
	defer runtime.KeepAlive(s)
	return result(C.fairsem_release(s.sem, C.int64_t(n)))
}

// A Request is for units of one semaphore.
type Request struct {
	From  *Semaphore
	Units int64
}

// AcquireAll takes units of several semaphores, all of them or none.  Callers that name them in
// different orders do not deadlock, nor do those in C: fairsem_acquire_all(3).
func AcquireAll(ctx context.Context, requests ...Request) error {
	return AcquireAllWith(ctx, 0, requests...)
}

// AcquireAllWith does the same with a priority, which counts in each queue.
//
// As fairsem_acquire_all() does, it takes one semaphore after the other, in the order of their
// addresses, but blocks no thread.
func AcquireAllWith(ctx context.Context, priority int, requests ...Request) error {
	each, err := inOrder(requests)
	if err != nil {
		return err
	}
	for i, one := range each {
		if err := one.From.AcquireWith(ctx, one.Units, priority); err != nil {
			for ; i > 0; i-- {
				each[i-1].From.Release(each[i-1].Units)
			}
			return err
		}
	}
	return nil
}

// What is asked of each semaphore, in the order of their addresses in C.
func inOrder(requests []Request) ([]Request, error) {
	sums := make(map[*Semaphore]int64)
	for _, one := range requests {
		if one.From == nil || one.Units < 0 || one.Units > C.FAIRSEM_MAX_UNITS-sums[one.From] {
			return nil, ErrInvalid
		}
		sums[one.From] += one.Units
	}
	each := make([]Request, 0, len(sums))
	for sem, units := range sums {
		each = append(each, Request{sem, units})
	}
	sort.Slice(each, func(i, j int) bool {
		return uintptr(unsafe.Pointer(each[i].From.sem)) < uintptr(unsafe.Pointer(each[j].From.sem))
	})
	return each, nil
}

// ReleaseAll gives units of several semaphores back.  The error is that of the first that fails; the
// others are released all the same.
func ReleaseAll(requests ...Request) error {
	var first error
	for _, one := range requests {
		err := error(ErrInvalid)
		if one.From != nil {
			err = one.From.Release(one.Units)
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// Close ends all waits, and all later acquires, with ErrClosed; a release still works.
func (s *Semaphore) Close() {
	defer runtime.KeepAlive(s)
	C.fairsem_close(s.sem, 0)
}

// Available says how many units are free.
func (s *Semaphore) Available() int64 {
	defer runtime.KeepAlive(s)
	return int64(C.fairsem_available(s.sem))
}

// Waiters says how many requests are in the queue.
func (s *Semaphore) Waiters() int64 {
	defer runtime.KeepAlive(s)
	return int64(C.fairsem_waiters(s.sem))
}
