//! Work on all cores, with results in the order of what is worked on.

use std::num::NonZero;
use std::thread;

/// Fewer items than this are done before threads would have started.
pub const LARGE: usize = 4_096;

/// Does something with each part of a list, as many parts as there are cores; a list that is not large is one part.
pub fn parts<T: Sync, R: Send>(items: &[T], work: impl Fn(&[T]) -> R + Sync) -> Vec<R> {
    let cores = if items.len() < LARGE { 1 } else { thread::available_parallelism().map_or(1, NonZero::get) };
    let mut parts = items.chunks(items.len().div_ceil(cores).max(1));
    let Some(first) = parts.next() else { return Vec::new() };
    thread::scope(|scope| {
        let work = &work;
        let others: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        let mut done = vec![work(first)];
        done.extend(others.into_iter().map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))));
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_in_order() {
        for count in [0, 1, LARGE - 1, LARGE, 3 * LARGE + 1] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(parts(&items, <[usize]>::to_vec).concat(), items);
        }
    }
}
