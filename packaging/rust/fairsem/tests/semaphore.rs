// SPDX-License-Identifier: MIT
use fairsem::{acquire_all, acquire_all_with, Options, Semaphore, Token, Wait};
use std::io::ErrorKind;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

fn await_waiters(sem: &Semaphore, count: i64) {
    let began = Instant::now();
    while sem.waiters() != count {
        assert!(began.elapsed() < Duration::from_secs(60), "{} wait, not {count}", sem.waiters());
        thread::yield_now();
    }
}

#[test]
fn units_go_to_waiters_in_order_of_arrival() {
    let sem = Semaphore::new(0).unwrap();
    let order = Mutex::new(Vec::new());

    thread::scope(|scope| {
        for i in 0..5 {
            let (sem, order) = (&sem, &order);
            scope.spawn(move || {
                let units = sem.acquire(1).unwrap();
                order.lock().unwrap().push(i);
                drop(units); // to the next
            });
            await_waiters(sem, i + 1);
        }
        sem.release(1).unwrap();
    });
    assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
    assert_eq!(sem.available(), 1);
}

#[test]
fn a_lower_priority_comes_first() {
    let sem = Semaphore::new(0).unwrap();
    let wait = |priority| {
        sem.acquire_with(1, &Wait { priority, ..Wait::default() }).unwrap().forget();
    };

    thread::scope(|scope| {
        let late = scope.spawn(|| wait(1));
        await_waiters(&sem, 1);
        let soon = scope.spawn(|| wait(-1));
        await_waiters(&sem, 2);
        sem.release(1).unwrap();
        soon.join().unwrap();
        assert_eq!(sem.waiters(), 1);
        sem.release(1).unwrap();
        late.join().unwrap();
    });
}

#[test]
fn units_come_back_at_the_end_of_the_scope_unless_forgotten() {
    let sem = Semaphore::new(3).unwrap();
    {
        let _units = sem.acquire(2).unwrap();
        assert_eq!(sem.available(), 1);
    }
    assert_eq!(sem.available(), 3);
    assert_eq!(sem.acquire(2).unwrap().forget(), 2);
    assert_eq!(sem.available(), 1);
    sem.release(2).unwrap();
}

#[test]
fn a_wait_that_times_out_leaves_the_queue() {
    let sem = Semaphore::new(1).unwrap();
    for timeout in [Duration::ZERO, Duration::from_millis(20)] {
        let wait = Wait { timeout: Some(timeout), ..Wait::default() };
        let began = Instant::now();
        assert_eq!(sem.acquire_with(2, &wait).err().unwrap().kind(), ErrorKind::TimedOut);
        assert!(began.elapsed() >= timeout);
        assert!(sem.acquire_with(1, &wait).is_ok());
    }
    assert_eq!(sem.try_acquire(2).err().unwrap().kind(), ErrorKind::WouldBlock);
    assert_eq!((sem.waiters(), sem.available()), (0, 1));
}

#[test]
fn a_token_ends_waits_on_several_semaphores() {
    let (sems, token) = ([Semaphore::new(0).unwrap(), Semaphore::new(0).unwrap()], Token::new());
    let wait = Wait { token: Some(&token), ..Wait::default() };

    thread::scope(|scope| {
        for sem in &sems {
            scope.spawn(|| assert_eq!(sem.acquire_with(1, &wait).err().unwrap().errno(), 4711));
            await_waiters(sem, 1);
        }
        token.cancel(4711).unwrap();
    });
    assert!(token.cancel(0).is_err());
}

#[test]
fn close_ends_a_wait_with_its_reason() {
    let sem = Semaphore::new(0).unwrap();

    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(sem.acquire(1).err().unwrap().errno(), 4711));
        await_waiters(&sem, 1);
        sem.close(4711).unwrap();
    });
    assert_eq!(sem.try_acquire(1).err().unwrap().errno(), 4711);
}

#[test]
fn the_options_reach_the_library() {
    let name = std::ffi::CStr::from_bytes_with_nul(b"slots\0").unwrap();
    let options = Options {
        name: Some(name),
        capacity: Some(2),
        max_waiters: Some(1),
        no_spin: true,
        aging: Some(Duration::from_secs(1)),
    };
    let sem = Semaphore::with(2, &options).unwrap();
    let held = sem.acquire(2).unwrap();

    let error = sem.acquire(3).err().unwrap();
    assert_eq!(error.to_string(), "more units than the semaphore can ever have");
    thread::scope(|scope| {
        scope.spawn(|| drop(sem.acquire(1).unwrap()));
        await_waiters(&sem, 1);
        assert_eq!(sem.acquire(1).err().unwrap().to_string(), "the queue is full");
        drop(held);
    });
    assert!(sem.release(1).is_err());
    assert!(Semaphore::with(3, &options).is_err());
    assert!(Semaphore::with(0, &Options { capacity: Some(0), ..Options::default() }).is_err());
}

#[test]
fn several_semaphores_are_acquired_together() {
    let (files, bytes) = (Semaphore::new(2).unwrap(), Semaphore::new(100).unwrap());
    {
        let [memory, file, more] = acquire_all([(&bytes, 60), (&files, 1), (&bytes, 10)]).unwrap();
        assert_eq!((files.available(), bytes.available()), (1, 30));
        drop(memory);
        assert_eq!((files.available(), bytes.available()), (1, 90));
        file.forget();
        more.forget();
    }
    assert_eq!((files.available(), bytes.available()), (1, 90));
    let nothing: [_; 0] = acquire_all([]).unwrap();
    assert!(nothing.is_empty());
}

#[test]
fn if_one_of_several_fails_none_is_held() {
    let (files, bytes) = (Semaphore::new(2).unwrap(), Semaphore::new(100).unwrap());
    let token = Token::new();
    let fails = |files_wanted, bytes_wanted, wait: &Wait<'_>| {
        let error = acquire_all_with([(&files, files_wanted), (&bytes, bytes_wanted)], wait).err();
        assert_eq!((files.available(), bytes.available()), (2, 100));
        error.unwrap()
    };
    let soon = Wait { timeout: Some(Duration::from_millis(1)), ..Wait::default() };
    let canceled = Wait { token: Some(&token), ..Wait::default() };

    assert_eq!(fails(1, 101, &soon).kind(), ErrorKind::TimedOut);
    assert_eq!(fails(3, 1, &soon).kind(), ErrorKind::TimedOut);
    assert_eq!(fails(1, -1, &soon).errno(), 22);
    token.cancel(9).unwrap();
    assert_eq!(fails(1, 1, &canceled).errno(), 9);
    bytes.close(32).unwrap();
    assert_eq!(fails(1, 1, &soon).errno(), 32);
}

#[test]
fn threads_that_name_them_in_different_orders_do_not_deadlock() {
    let sems = [Semaphore::new(1).unwrap(), Semaphore::new(1).unwrap()];

    thread::scope(|scope| {
        for i in 0..2 {
            let (one, other) = (&sems[i], &sems[1 - i]);
            scope.spawn(move || {
                for _ in 0..1000 {
                    drop(acquire_all([(one, 1), (other, 1)]).unwrap());
                }
            });
        }
    });
    assert_eq!((sems[0].available(), sems[1].available()), (1, 1));
}
