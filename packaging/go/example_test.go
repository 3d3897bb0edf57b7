// SPDX-License-Identifier: MIT

package fairsem_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"example.org/fairsem"
)

// Eight goroutines share three connections, in order of arrival, until the time is over.
func Example() {
	connections, err := fairsem.New(3)
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer stop()
	var workers sync.WaitGroup
	var busy, served, tooMany int32
	for i := 0; i < 8; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for connections.Acquire(ctx, 1) == nil {
				if atomic.AddInt32(&busy, 1) > 3 {
					atomic.AddInt32(&tooMany, 1)
				}
				time.Sleep(time.Millisecond)
				atomic.AddInt32(&served, 1)
				atomic.AddInt32(&busy, -1)
				connections.Release(1)
			}
		}()
	}
	workers.Wait()
	fmt.Println(served > 0, tooMany, connections.Available(), connections.Waiters())
	// Output: true 0 3 0
}
