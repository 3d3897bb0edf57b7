// SPDX-License-Identifier: MIT

// weighted.go - Go's x/sync Weighted, for fairsem-bench: see README.md and ../arena.c.
package main

import (
	"context"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	warmUp = iota
	counting
	over
)

type arena struct {
	sem      *semaphore.Weighted
	threads  int
	hold     time.Duration
	services int64
	phase    int32
}

type member struct {
	served, passed int64
	longest        time.Duration
	waits          []time.Duration // of those that are counted
}

func (m *member) note(a *arena, phase int32, waited time.Duration, others int64) {
	if phase == warmUp {
		return
	}
	if waited > m.longest {
		m.longest = waited
	}
	if phase == over {
		return
	}
	m.served++
	m.waits = append(m.waits, waited)
	if others > int64(a.threads-1) {
		m.passed++
	}
}

func (m *member) run(a *arena, gate <-chan struct{}) {
	ctx := context.Background()
	<-gate
	left := time.Now()
	for phase := int32(warmUp); phase != over; {
		before := atomic.LoadInt64(&a.services)
		if a.sem.Acquire(ctx, 1) != nil {
			return
		}
		got := time.Now()
		after := atomic.AddInt64(&a.services, 1) - 1
		phase = atomic.LoadInt32(&a.phase)
		waited := got.Sub(left)
		left = got
		for left.Sub(got) < a.hold {
			left = time.Now()
		}
		a.sem.Release(1)
		m.note(a, phase, waited, after-before)
	}
}

// cpu is the processor time of the process.
func cpu() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

func quantile(sorted []time.Duration, p float64) int64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(p*float64(len(sorted)-1))].Nanoseconds()
}

func sum(members []member, cpu, duration int64) {
	var holds, passed int64
	var longest time.Duration
	var waits []time.Duration
	least := members[0].served
	for i := range members {
		m := &members[i]
		holds += m.served
		passed += m.passed
		waits = append(waits, m.waits...)
		if m.longest > longest {
			longest = m.longest
		}
		if m.served < least {
			least = m.served
		}
	}
	share := 0.0
	if holds > 0 {
		share = float64(least) * float64(len(members)) / float64(holds)
	}
	sort.Slice(waits, func(i, j int) bool { return waits[i] < waits[j] })
	fmt.Println(holds, longest.Nanoseconds(), quantile(waits, 0.5), quantile(waits, 0.99), share,
		passed, cpu, duration)
}

func run(hold time.Duration, threads int, units int64, warm, duration time.Duration) {
	a := &arena{sem: semaphore.NewWeighted(units), threads: threads, hold: hold}
	members := make([]member, threads)
	gate := make(chan struct{})
	var all sync.WaitGroup
	for i := range members {
		all.Add(1)
		go func(m *member) {
			defer all.Done()
			m.run(a, gate)
		}(&members[i])
	}
	close(gate)
	time.Sleep(warm)
	used, began := cpu(), time.Now()
	atomic.StoreInt32(&a.phase, counting)
	time.Sleep(duration)
	atomic.StoreInt32(&a.phase, over)
	took := time.Since(began).Nanoseconds()
	used = cpu() - used
	all.Wait()
	sum(members, used, took)
}

func main() {
	var threads int
	var units int64
	var hold, warm, duration time.Duration
	fmt.Println("ready")
	for {
		n, _ := fmt.Scan(&hold, &threads, &units, &warm, &duration)
		if n != 5 {
			return
		}
		run(hold, threads, units, warm, duration)
	}
}
