// SPDX-License-Identifier: MIT
// main.rs - tokio's Semaphore, for fairsem-bench: see ../README.md and ../../arena.c.

use std::io::BufRead;
use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;

const WARM_UP: u8 = 0;
const COUNTING: u8 = 1;
const OVER: u8 = 2;

struct Arena {
    semaphore: Semaphore,
    threads: i64,
    hold: Duration,
    services: AtomicI64,
    phase: AtomicU8,
}

#[derive(Default)]
struct Member {
    passed: i64,
    longest: u64,
    waits: Vec<u64>, // of those that are counted
}

impl Member {
    fn note(&mut self, arena: &Arena, phase: u8, waited: Duration, others: i64) {
        if phase == WARM_UP {
            return;
        }
        let waited = waited.as_nanos() as u64;
        self.longest = self.longest.max(waited);
        if phase == COUNTING {
            self.waits.push(waited);
            self.passed += i64::from(others > arena.threads - 1);
        }
    }
}

async fn member(arena: Arc<Arena>) -> Member {
    let mut me = Member::default();
    let mut left = Instant::now();
    loop {
        let before = arena.services.load(Ordering::Relaxed);
        let permit = arena.semaphore.acquire().await.expect("never closed");
        let got = Instant::now();
        let after = arena.services.fetch_add(1, Ordering::Relaxed);
        let phase = arena.phase.load(Ordering::Relaxed);
        let waited = got - left;
        left = got;
        while left - got < arena.hold {
            left = Instant::now();
        }
        drop(permit);
        me.note(&arena, phase, waited, after - before);
        if phase == OVER {
            return me;
        }
    }
}

#[repr(C)]
struct Timespec {
    seconds: std::ffi::c_long,
    nanoseconds: std::ffi::c_long,
}

extern "C" {
    fn clock_gettime(clock: std::ffi::c_int, time: *mut Timespec) -> std::ffi::c_int;
}

// The processor time of the process.
fn cpu_ns() -> i64 {
    const CLOCK_PROCESS_CPUTIME_ID: std::ffi::c_int = 2;
    let mut t = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: t is what the function writes to.
    unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.seconds as i64 * 1_000_000_000 + t.nanoseconds as i64
}

fn quantile(sorted: &[u64], p: f64) -> u64 {
    match sorted.len() {
        0 => 0,
        n => sorted[(p * (n - 1) as f64) as usize],
    }
}

fn sum(members: Vec<Member>, cpu: i64, duration: Duration) {
    let least = members.iter().map(|m| m.waits.len()).min().unwrap_or(0);
    let longest = members.iter().map(|m| m.longest).max().unwrap_or(0);
    let passed: i64 = members.iter().map(|m| m.passed).sum();
    let threads = members.len();
    let mut waits: Vec<u64> = members.into_iter().flat_map(|m| m.waits).collect();
    waits.sort_unstable();
    let holds = waits.len();
    let share = (least * threads) as f64 / holds.max(1) as f64;
    println!(
        "{} {} {} {} {:.4} {} {} {}",
        holds,
        longest,
        quantile(&waits, 0.5),
        quantile(&waits, 0.99),
        share,
        passed,
        cpu,
        duration.as_nanos()
    );
}

fn run(runtime: &Runtime, order: &[u64]) {
    let arena = Arc::new(Arena {
        semaphore: Semaphore::new(order[2] as usize),
        threads: order[1] as i64,
        hold: Duration::from_nanos(order[0]),
        services: AtomicI64::new(0),
        phase: AtomicU8::new(WARM_UP),
    });
    let tasks: Vec<_> =
        (0..order[1]).map(|_| runtime.spawn(member(arena.clone()))).collect();
    std::thread::sleep(Duration::from_nanos(order[3]));
    let cpu = cpu_ns();
    let began = Instant::now();
    arena.phase.store(COUNTING, Ordering::Relaxed);
    std::thread::sleep(Duration::from_nanos(order[4]));
    arena.phase.store(OVER, Ordering::Relaxed);
    let duration = began.elapsed();
    let cpu = cpu_ns() - cpu;
    let members = tasks
        .into_iter()
        .map(|task| runtime.block_on(task).expect("a task has failed"))
        .collect();
    sum(members, cpu, duration);
}

fn main() {
    let runtime = Runtime::new().expect("no runtime");
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("standard input");
        let order: Vec<u64> = line.split_whitespace().filter_map(|w| w.parse().ok()).collect();
        if order.len() == 5 {
            run(&runtime, &order);
        }
    }
}
