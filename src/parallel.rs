//! Uses a second core for what does not wait for the rest.

use std::thread::{Builder, scope};

/// The size of a thread's stack in bytes. It is what systems give the first thread of a process,
/// since the same may run in either.
const STACK: usize = 8 << 20;

/// Runs `one` in parallel with `other`, which gets a function that waits for its result. Where no
/// thread can be started, waiting runs it.
pub(crate) fn beside<A: Send, B>(
    one: impl Fn() -> A + Sync,
    other: impl FnOnce(Box<dyn FnOnce() -> A + '_>) -> B,
) -> B {
    // WebAssembly has no threads.
    if cfg!(target_family = "wasm") {
        return other(Box::new(one));
    }
    scope(|scope| {
        let thread = Builder::new().stack_size(STACK).spawn_scoped(scope, &one).ok();
        other(Box::new(|| thread.and_then(|thread| thread.join().ok()).unwrap_or_else(&one)))
    })
}

#[cfg(test)]
mod tests {
    use super::beside;
    use std::sync::mpsc::channel;

    #[test]
    fn both_run_at_the_same_time() {
        let (ask, asked) = channel();
        let (answer, answered) = channel();
        let asked = std::sync::Mutex::new(asked);
        let one = || answer.send(asked.lock().unwrap().recv().unwrap() + 1).is_ok();
        let other = beside(one, |one| {
            ask.send(1).unwrap();
            let other = answered.recv().unwrap();
            (one(), other)
        });
        assert_eq!(other, (true, 2));
    }

    #[test]
    fn nobody_has_to_wait() {
        assert_eq!(beside(|| 1, |_| 2), 2);
    }
}
