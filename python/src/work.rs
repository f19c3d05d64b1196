//! Runs a question on a thread of its own, so that whoever asked can tell of its progress, and
//! leave it at any time.

use cuvee::explore::progress::Progress;
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// The stack of a question, which is that of a command's main thread. Threads that Python starts
/// may have less.
const STACK: usize = 8 << 20;

/// What is heard of a question.
pub enum Heard<T> {
    /// A phase begins.
    Phase(&'static str),
    /// The answer.
    Answer(T),
    /// A panic, in its own words.
    Panic(String),
}

/// A question that is being answered. Where this is dropped, the question stops as soon as it can.
pub struct Work<T> {
    heard: Mutex<Receiver<Heard<T>>>,
    stop: Arc<AtomicBool>,
}

impl<T: Send + 'static> Work<T> {
    /// Begins to answer a question.
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn begin(question: impl FnOnce(Watcher<T>) -> T + Send + 'static) -> io::Result<Self> {
        let (teller, heard) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let watcher = Watcher { teller: teller.clone(), stop: Arc::clone(&stop) };
        let answer = move || {
            let answer = catch_unwind(AssertUnwindSafe(|| question(watcher)));
            let heard = answer.map_or_else(|panic| Heard::Panic(words(&*panic)), Heard::Answer);
            // Whoever has left hears nothing.
            let _ = teller.send(heard);
        };
        Builder::new().name("cuvee".into()).stack_size(STACK).spawn(answer)?;
        Ok(Self { heard: Mutex::new(heard), stop })
    }

    /// Waits so long for the next that is heard; `None` where it is nothing yet.
    pub fn wait(&self, time: Duration) -> Option<Heard<T>> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        match heard.recv_timeout(time) {
            Ok(heard) => Some(heard),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Heard::Panic("no answer".into())),
        }
    }
}

impl<T> Drop for Work<T> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Tells of a question, and ends it where nobody waits any more: where it searches by
/// [`Watcher::stop`], else when it next tells something.
pub struct Watcher<T> {
    teller: Sender<Heard<T>>,
    stop: Arc<AtomicBool>,
}

impl<T> Watcher<T> {
    /// The flag that is set when nobody waits any more.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    fn go_on(&self) {
        if self.stop.load(Ordering::Relaxed) {
            // Unlike a panic this prints nothing.
            resume_unwind(Box::new("nobody waits"));
        }
    }
}

impl<T: Send> Progress for Watcher<T> {
    fn phase(&mut self, name: &'static str) {
        self.go_on();
        let _ = self.teller.send(Heard::Phase(name));
    }

    fn counted(&mut self, _: &'static str, _: usize) {
        self.go_on();
    }

    fn bounds(&mut self, _: usize, _: u64, _: u64) {
        self.go_on();
    }
}

fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
