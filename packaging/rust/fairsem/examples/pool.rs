// SPDX-License-Identifier: MIT
//! pool.rs - eight threads share three connections, in order of arrival, and stop when they are told to.
use fairsem::{Error, Semaphore, Token, Wait};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

fn main() -> Result<(), Error> {
    let connections = Semaphore::new(3)?;
    let stop = Token::new();
    let (busy, most) = (AtomicUsize::new(0), AtomicUsize::new(0));

    let served: usize = thread::scope(|scope| {
        let workers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let wait = Wait { token: Some(&stop), ..Wait::default() };
                    let mut served = 0;
                    // Canceled: the main thread has enough.
                    while let Ok(_connection) = connections.acquire_with(1, &wait) {
                        most.fetch_max(busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::sleep(Duration::from_millis(1));
                        busy.fetch_sub(1, Ordering::SeqCst);
                        served += 1;
                    }
                    served
                })
            })
            .collect();
        thread::sleep(Duration::from_millis(100));
        stop.cancel(0).expect("nobody else cancels");
        workers.into_iter().map(|worker| worker.join().expect("no panic")).sum()
    });

    println!("served {served}, at most {} at a time", most.load(Ordering::SeqCst));
    assert!(served > 0 && most.load(Ordering::SeqCst) <= 3);
    assert_eq!((connections.available(), connections.waiters()), (3, 0));
    Ok(())
}
