//! Decides how large the pages of memory are.

use rustix::thread::disable_transparent_huge_pages;
use std::thread;
use std::time::Duration;

/// How long a command runs before it gets huge pages.
const SHORT: Duration = Duration::from_millis(10);

/// Has the system give small pages of memory at first, and huge ones later. Clearing the first huge
/// pages is a fifth of a short command, while large templates are read a quarter faster with them.
pub(crate) fn begin_small() {
    let is_small = disable_transparent_huge_pages(true).is_ok();
    let later = || {
        thread::sleep(SHORT);
        // If the system refuses, a command is only slower.
        let _ = disable_transparent_huge_pages(false);
    };
    if is_small && thread::Builder::new().spawn(later).is_err() {
        later();
    }
}
