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

func TestSeveralSemaphoresAreAcquiredTogether(t *testing.T) {
	files, bytes := newSem(t, 2, fairsem.Options{}), newSem(t, 100, fairsem.Options{})
	needed := []fairsem.Request{{bytes, 60}, {files, 1}, {bytes, 10}}
	wantError(t, fairsem.AcquireAll(ctx, needed...), nil)
	wantFree(t, files, 1)
	wantFree(t, bytes, 30)
	waits := async(func() error { return fairsem.AcquireAllWith(ctx, -1, needed...) })
	awaitWaiters(t, bytes, 1)
	wantError(t, fairsem.ReleaseAll(needed...), nil)
	wantError(t, <-waits, nil)
	wantError(t, fairsem.ReleaseAll(needed...), nil)
	wantFree(t, files, 2)
	wantFree(t, bytes, 100)
	wantError(t, fairsem.AcquireAll(ctx), nil)
}

func TestIfOneOfSeveralFailsNoneIsHeld(t *testing.T) {
	files := newSem(t, 2, fairsem.Options{Capacity: 2})
	bytes := newSem(t, 100, fairsem.Options{Capacity: 100})
	fails := func(ctx context.Context, wanted error, requests ...fairsem.Request) {
		t.Helper()
		wantError(t, fairsem.AcquireAll(ctx, requests...), wanted)
		wantFree(t, files, 2)
		wantFree(t, bytes, 100)
	}
	one := fairsem.Request{files, 1}
	fails(ctx, fairsem.ErrTooMany, one, fairsem.Request{bytes, 101})
	fails(ctx, fairsem.ErrTooMany, one, one, fairsem.Request{bytes, 1}, one)
	fails(ctx, fairsem.ErrInvalid, one, fairsem.Request{bytes, -1})
	fails(ctx, fairsem.ErrInvalid, one, fairsem.Request{bytes, 1 << 60}, fairsem.Request{bytes, 1})
	fails(ctx, fairsem.ErrInvalid, one, fairsem.Request{nil, 1})
	wantError(t, files.Acquire(ctx, 2), nil)
	wantError(t, bytes.Acquire(ctx, 100), nil)
	short, stop := context.WithTimeout(ctx, 10*time.Millisecond)
	defer stop()
	wantError(t, fairsem.AcquireAll(short, one, fairsem.Request{bytes, 1}), context.DeadlineExceeded)
	wantFree(t, files, 0)
	wantFree(t, bytes, 0)
	// The second fails, and the others are released all the same.
	err := fairsem.ReleaseAll(fairsem.Request{files, 1}, fairsem.Request{files, 2}, one,
		fairsem.Request{bytes, 100}, fairsem.Request{nil, 1})
	wantError(t, err, fairsem.ErrOverflow)
	fails(short, context.DeadlineExceeded, one)
	bytes.Close()
	fails(ctx, fairsem.ErrClosed, fairsem.Request{bytes, 1}, one)
}

func TestGoroutinesThatNameThemInDifferentOrdersDoNotDeadlock(t *testing.T) {
	one := fairsem.Request{newSem(t, 1, fairsem.Options{}), 1}
	other := fairsem.Request{newSem(t, 1, fairsem.Options{}), 1}
	take := func(requests ...fairsem.Request) func() error {
		return func() error {
			for i := 0; i < 1000; i++ {
				if err := fairsem.AcquireAll(ctx, requests...); err != nil {
					return err
				}
				if err := fairsem.ReleaseAll(requests...); err != nil {
					return err
				}
			}
			return nil
		}
	}
	forward, backward := async(take(one, other)), async(take(other, one))
	wantError(t, <-forward, nil)
	wantError(t, <-backward, nil)
	wantFree(t, one.From, 1)
	wantFree(t, other.From, 1)
}

func TestASemaphoreThatNobodyUsesIsFreed(t *testing.T) {
	for i := 0; i < 1000; i++ {
		newSem(t, 1, fairsem.Options{Name: "short"}).Acquire(ctx, 1)
	}
	runtime.GC()
}
