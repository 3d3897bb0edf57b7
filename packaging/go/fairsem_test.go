// SPDX-License-Identifier: MIT

package fairsem_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"example.org/fairsem"
)

var ctx = context.Background()

func newSem(t *testing.T, units int64, options fairsem.Options) *fairsem.Semaphore {
	t.Helper()
	sem, err := fairsem.NewWith(units, options)
	if err != nil {
		t.Fatal(err)
	}
	return sem
}

func awaitWaiters(t *testing.T, sem *fairsem.Semaphore, count int64) {
	t.Helper()
	for end := time.Now().Add(time.Minute); sem.Waiters() != count; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d wait, not %d", sem.Waiters(), count)
		}
	}
}

// async calls in another goroutine.
func async(call func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- call() }()
	return result
}

func wantError(t *testing.T, found, wanted error) {
	t.Helper()
	if !errors.Is(found, wanted) {
		t.Errorf("the error is %v, not %v", found, wanted)
	}
}

func wantFree(t *testing.T, sem *fairsem.Semaphore, units int64) {
	t.Helper()
	if sem.Available() != units || sem.Waiters() != 0 {
		t.Errorf("%d are free, not %d; %d wait", sem.Available(), units, sem.Waiters())
	}
}

func TestUnitsGoToWaitersInOrderOfArrival(t *testing.T) {
	sem, order := newSem(t, 0, fairsem.Options{}), []int{}
	var last <-chan error
	for i := 0; i < 5; i++ {
		i := i
		last = async(func() error {
			err := sem.Acquire(ctx, 1)
			order = append(order, i)
			sem.Release(1) // to the next
			return err
		})
		awaitWaiters(t, sem, int64(i+1))
	}
	sem.Release(1)
	wantError(t, <-last, nil)
	if len(order) != 5 {
		t.Fatalf("the last of five came after %v", order)
	}
	for i, who := range order {
		if who != i {
			t.Fatalf("the order is %v", order)
		}
	}
	wantFree(t, sem, 1)
}

func TestALowerPriorityComesFirst(t *testing.T) {
	sem := newSem(t, 0, fairsem.Options{})
	late := async(func() error { return sem.AcquireWith(ctx, 1, 1) })
	awaitWaiters(t, sem, 1)
	soon := async(func() error { return sem.AcquireWith(ctx, 1, -1) })
	awaitWaiters(t, sem, 2)
	sem.Release(1)
	wantError(t, <-soon, nil)
	awaitWaiters(t, sem, 1)
	sem.Release(1)
	wantError(t, <-late, nil)
}

func TestNobodyPassesABigRequest(t *testing.T) {
	sem := newSem(t, 2, fairsem.Options{})
	big := async(func() error { return sem.Acquire(ctx, 3) })
	awaitWaiters(t, sem, 1)
	if sem.TryAcquire(1) {
		t.Error("a small request passed")
	}
	sem.Release(1)
	wantError(t, <-big, nil)
	wantFree(t, sem, 0)
}

func TestTheContextEndsAWaitAndLosesNoUnit(t *testing.T) {
	sem := newSem(t, 0, fairsem.Options{})
	short, stop := context.WithTimeout(ctx, 10*time.Millisecond)
	defer stop()
	wantError(t, sem.Acquire(short, 1), context.DeadlineExceeded)
	canceled, cancel := context.WithCancel(ctx)
	waits := async(func() error { return sem.Acquire(canceled, 1) })
	awaitWaiters(t, sem, 1)
	cancel()
	wantError(t, <-waits, context.Canceled)
	sem.Release(1)
	wantError(t, sem.Acquire(canceled, 1), context.Canceled)
	wantFree(t, sem, 1)
}

// The grant comes at every moment of the wait's end: the unit is the caller's, or free.
func TestAGrantBesideTheEndOfAContextLosesNoUnit(t *testing.T) {
	sem := newSem(t, 0, fairsem.Options{})
	for i := 0; i < 2000; i++ {
		canceled, cancel := context.WithCancel(ctx)
		waits := async(func() error { return sem.Acquire(canceled, 1) })
		go cancel()
		sem.Release(1)
		if <-waits == nil {
			sem.Release(1)
		}
		if !sem.TryAcquire(1) {
			t.Fatal("a unit is lost")
		}
		cancel()
	}
	wantFree(t, sem, 0)
}

// With go test -race, the detector must not call this a race.
func TestWritesBeforeAReleaseAreSeenAfterTheAcquire(t *testing.T) {
	sem, count := newSem(t, 1, fairsem.Options{}), 0
	add := func() error {
		for i := 0; i < 1000; i++ {
			for i%2 == 0 && !sem.TryAcquire(1) {
				runtime.Gosched()
			}
			if i%2 != 0 {
				if err := sem.Acquire(ctx, 1); err != nil {
					return err
				}
			}
			count++
			sem.Release(1)
		}
		return nil
	}
	one, other := async(add), async(add)
	wantError(t, <-one, nil)
	wantError(t, <-other, nil)
	if count != 2000 {
		t.Errorf("counted to %d", count)
	}
}

func TestCloseEndsAWait(t *testing.T) {
	sem := newSem(t, 0, fairsem.Options{})
	waits := async(func() error { return sem.Acquire(ctx, 1) })
	awaitWaiters(t, sem, 1)
	sem.Close()
	wantError(t, <-waits, fairsem.ErrClosed)
	wantError(t, sem.Acquire(ctx, 1), fairsem.ErrClosed)
}

func TestTheOptionsReachTheLibrary(t *testing.T) {
	options := fairsem.Options{Name: "slots", Capacity: 2, MaxWaiters: 1}
	sem := newSem(t, 0, options)
	wantError(t, sem.Acquire(ctx, 3), fairsem.ErrTooMany)
	wantError(t, sem.Acquire(ctx, -1), fairsem.ErrInvalid)
	waits := async(func() error { return sem.Acquire(ctx, 1) })
	awaitWaiters(t, sem, 1)
	wantError(t, sem.Acquire(ctx, 1), fairsem.ErrQueueFull)
	sem.Release(1)
	wantError(t, <-waits, nil)
	wantError(t, sem.Release(3), fairsem.ErrOverflow)
	_, err := fairsem.NewWith(3, options)
	wantError(t, err, fairsem.ErrInvalid)
}

func TestASemaphoreThatNobodyUsesIsFreed(t *testing.T) {
	for i := 0; i < 1000; i++ {
		newSem(t, 1, fairsem.Options{Name: "short"}).Acquire(ctx, 1)
	}
	runtime.GC()
}
