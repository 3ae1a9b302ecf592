// SPDX-License-Identifier: MIT
//! Calls functions through which panics unwind: on each line "N", N rounds of
//!   handled()     which one leaves that is caught
//!   abandoned()   which one leaves that ends the thread
//! It says of each how often it was called, has returned and has failed, and how many panics and
//! dropped objects there were, in all.

use std::io::BufRead;
use std::panic;
use std::ptr::read_volatile;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

struct Counted {
    calls: AtomicU64,
    returns: AtomicU64,
    failed: AtomicU64,
}

impl Counted {
    const fn new() -> Counted {
        Counted { calls: AtomicU64::new(0), returns: AtomicU64::new(0), failed: AtomicU64::new(0) }
    }

    fn call(&self, function: fn(i32) -> i32, number: i32) {
        self.calls.fetch_add(1, Relaxed);
        let returned = function(number);
        self.returns.fetch_add(1, Relaxed);
        self.failed.fetch_add((returned < 0) as u64, Relaxed);
    }

    fn text(&self) -> String {
        format!("[{}, {}, {}]", self.calls.load(Relaxed), self.returns.load(Relaxed), self.failed.load(Relaxed))
    }
}

static HANDLED: Counted = Counted::new();
static ABANDONED: Counted = Counted::new();
static DROPPED: AtomicU64 = AtomicU64::new(0);

struct Object;

impl Drop for Object {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Relaxed);
    }
}

#[inline(never)]
fn refuse(number: i32) -> i32 {
    match unsafe { read_volatile(&number) } % 3 {
        0 => panic!("refused"),
        1 => -1,
        _ => number,
    }
}

#[no_mangle]
#[inline(never)]
pub fn handled(number: i32) -> i32 {
    let _object = Object;
    refuse(number)
}

#[no_mangle]
#[inline(never)]
pub fn abandoned(number: i32) -> i32 {
    let _object = Object;
    refuse(number) - 1
}

fn main() {
    let (mut caught, mut ended) = (0, 0);

    panic::set_hook(Box::new(|_| {}));
    for line in std::io::stdin().lock().lines() {
        let rounds: i32 = line.unwrap().parse().unwrap();
        for round in 0..rounds {
            caught += panic::catch_unwind(|| HANDLED.call(handled, round)).is_err() as u64;
            ended += thread::spawn(move || ABANDONED.call(abandoned, round)).join().is_err() as u64;
        }
        println!(
            "{{\"handled\": {}, \"abandoned\": {}, \"caught\": {}, \"ended\": {}, \"dropped\": {}}}",
            HANDLED.text(), ABANDONED.text(), caught, ended, DROPPED.load(Relaxed)
        );
    }
}
