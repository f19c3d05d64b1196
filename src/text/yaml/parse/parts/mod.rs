//! Reads files by all cores: several files beside each other, and large ones in parts.
//!
//! A part is a run of entries of one block map, cut out of the text by [`cut`] at a guess and read
//! by a [`Builder`] of its own, which leaves open what is open at the end. A part fits behind
//! another one that was read to its end without an error if there, after what stands further right
//! is closed, the innermost collection is a block map in the part's column, reached by the keys
//! that were guessed: then no scalar and no flow collection reaches over the cut, since those in a
//! map go on only further right. Joined parts are what one builder would have made of the whole.
//! Where anything is wrong, or just unusual, the file is read again as a whole, so that errors and
//! their places do not depend on where it was cut.

use super::cut::{EntryRun, cut};
use super::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Bytes that are worth a thread.
const WORTH: usize = 64 << 10;

/// Smaller parts cost more than they save.
const SMALLEST: usize = 128 << 10;

/// Parts for each thread, so that none waits long for another one at the end, and few nodes wait
/// for being joined.
const PARTS: usize = 16;

/// How the work is shared.
#[derive(Clone, Copy)]
pub(super) struct Share {
    threads: usize,
    /// How large a part is at least.
    size: usize,
}

impl Share {
    /// Among as many threads as there are cores, up to `most`.
    pub(super) fn of_machine(jobs: &[Job<'_>], most: usize) -> Self {
        let total: usize = jobs.iter().map(|job| job.text.len()).sum();
        let most = most.min(total / WORTH);
        // Asking for the cores takes as long as reading a small file.
        let threads = if most > 1 {
            std::thread::available_parallelism().map_or(1, usize::from).min(most)
        } else {
            1
        };
        Self { threads, size: (total / (threads * PARTS)).max(SMALLEST) }
    }
}

/// Reads all of these; the documents come in the order of the jobs.
pub(super) fn read_all(
    jobs: &[Job<'_>],
    limits: &Limits,
    share: Share,
) -> Vec<Result<Document, Diagnostic>> {
    if share.threads < 2 {
        return jobs.iter().map(|job| read(job, limits)).collect();
    }
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    // The largest files first, so that no thread is left alone with one at the end.
    order.sort_by_key(|&index| std::cmp::Reverse(jobs[index].text.len()));
    let files: Vec<_> = jobs.iter().map(|job| Parted::new(job, limits, share)).collect();
    let tasks: Vec<(&Parted<'_>, usize)> = order
        .iter()
        .map(|&index| &files[index])
        .flat_map(|file| (0..file.parts.len()).map(move |part| (file, part)))
        .collect();
    run(tasks.len(), share.threads, |task| tasks[task].0.read(tasks[task].1, limits));
    let whole: Vec<usize> =
        order.into_iter().filter(|&index| files[index].document.get().is_none()).collect();
    run(whole.len(), share.threads, |index| {
        let index = whole[index];
        // Nobody else has it.
        let _ = files[index].document.set(read(&jobs[index], limits));
    });
    let documents = files.into_iter().zip(jobs);
    documents
        .map(|(file, job)| file.document.into_inner().unwrap_or_else(|| read(job, limits)))
        .collect()
}

/// Does the tasks, in their order, by so many threads.
fn run(tasks: usize, threads: usize, task: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(index) =
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&index| index < tasks)
        {
            task(index);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(tasks) {
            // Where there is no thread to be had, the others do its work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

/// A file and what has been read of it.
struct Parted<'j> {
    job: &'j Job<'j>,
    parts: Vec<EntryRun<'j>>,
    /// Whether it has to be read as a whole.
    failed: AtomicBool,
    progress: Mutex<JoinProgress<'j>>,
    document: OnceLock<Result<Document, Diagnostic>>,
}

/// Parts are joined in their order, while others are still being read.
struct JoinProgress<'j> {
    read: Vec<Option<Builder<'j>>>,
    /// How many are joined, or are being joined.
    joined: usize,
    joining: bool,
    whole: Option<Builder<'j>>,
}

impl<'j> Parted<'j> {
    fn new(job: &'j Job<'j>, limits: &Limits, share: Share) -> Self {
        let large =
            job.text.len() / 2 >= share.size && job.text.len() as u64 <= limits.most_bytes();
        Self::of(
            job,
            if large {
                cut(&job.text, share.size, job.keep)
            } else {
                vec![EntryRun::whole(&job.text)]
            },
        )
    }

    fn of(job: &'j Job<'j>, parts: Vec<EntryRun<'j>>) -> Self {
        let read = parts.iter().map(|_| None).collect();
        let progress = Mutex::new(JoinProgress { read, joined: 0, joining: false, whole: None });
        Self { job, parts, failed: AtomicBool::new(false), progress, document: OnceLock::new() }
    }

    fn read(&self, index: usize, limits: &Limits) {
        if let [_] = *self.parts {
            // Nobody else reads it.
            let _ = self.document.set(read(self.job, limits));
        } else if !self.failed.load(Ordering::Relaxed) && self.read_part(index, limits).is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
    }

    /// Reads a part, and joins what can be joined unless another thread is at it.
    fn read_part(&self, index: usize, limits: &Limits) -> Result<(), Stop> {
        let Some(part) = self.parts.get(index) else { return Ok(()) };
        let built = Builder::of_part(self.job, part, limits)?;
        let mut progress = self.progress();
        if let Some(read) = progress.read.get_mut(index) {
            *read = Some(built);
        }
        if progress.joining {
            return Ok(());
        }
        progress.joining = true;
        while let Some(next) = progress.next() {
            let whole = progress.whole.take();
            drop(progress);
            let whole = match whole {
                Some(whole) => whole.append(next)?,
                None => next.with_room(self.job.text.len()),
            };
            progress = self.progress();
            progress.whole = Some(whole);
        }
        progress.joining = false;
        if progress.joined == self.parts.len()
            && let Some(whole) = progress.whole.take()
        {
            drop(progress);
            let document = whole.complete()?;
            // Only one thread joins the last part.
            let _ =
                self.document.set(Ok(Document { text: Arc::clone(&self.job.text), ..document }));
        }
        Ok(())
    }

    fn progress(&self) -> MutexGuard<'_, JoinProgress<'j>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'j> JoinProgress<'j> {
    /// The part that is to be joined next, when it has been read.
    fn next(&mut self) -> Option<Builder<'j>> {
        let next = self.read.get_mut(self.joined)?.take()?;
        self.joined += 1;
        Some(next)
    }
}

impl<'t> Builder<'t> {
    fn of_part(job: &'t Job<'t>, part: &EntryRun<'t>, limits: &Limits) -> Result<Self, Stop> {
        let text = job.text.get(..part.range.end).unwrap_or_default();
        let from = part.range.start;
        Self::filled(|| Self {
            from,
            path: part.path.clone(),
            ending: Some(Ending::default()),
            gaps: Gaps::new(text, from),
            ..Self::new(job.file, text, limits, job.keep, Omitted::Skip)
        })
    }

    /// Makes room for the rest of a text of this length, as far as it is like the start.
    fn with_room(mut self, len: usize) -> Self {
        let rest = len.saturating_sub(self.text.len()) as u64;
        let more = |had: usize| (had as u64 * rest / self.text.len().max(1) as u64) as usize;
        let (nodes, children) = (more(self.nodes.len()), more(self.nodes.len()));
        self.nodes.reserve_exact(nodes + nodes / 8);
        self.children.reserve_exact(children + children / 8);
        self
    }

    /// What one builder would have that had read on; an error where it might not.
    fn append(mut self, next: Self) -> Result<Self, Stop> {
        self.end_before(&next)?;
        let Some((root, open)) = next.frames.split_first() else { return Err(Stop::Unfit) };
        let first =
            next.nodes.get(1).is_some_and(|first| first.start as usize == next.from + root.column);
        // The map around the part is there already.
        let base = Base {
            nodes: self.nodes.len() as u32 - 1,
            children: self.children.len() as u32,
            cooked: self.cooked.len() as u32,
        };
        let pending = self.pending.len();
        if let Some(frame) = self.frames.last_mut() {
            frame.continue_with(root, &base);
        }
        self.frames.extend(open.iter().map(|frame| Frame {
            id: base.node(frame.id),
            base: pending + frame.base,
            entry: base.node(frame.entry),
            ..*frame
        }));
        self.nodes.extend(next.nodes.iter().skip(1).map(|record| base.record(*record)));
        self.children.extend(next.children.iter().map(|&id| base.node(id)));
        self.pending.extend(next.pending.iter().map(|&id| base.node(id)));
        self.cooked.push_str(&next.cooked);
        self.tags.extend(next.tags.into_iter().map(|(id, tag)| (base.node(id), tag)));
        self.gaps.append(next.gaps, if first { base.node(1) } else { NOBODY }, |id| base.node(id));
        self.margins.bottom = next.margins.bottom;
        self.indentation.map = self.indentation.map.or(next.indentation.map);
        self.indentation.list = self.indentation.list.or(next.indentation.list);
        (self.text, self.end, self.ending) = (next.text, next.end, next.ending);
        self.expanded.add(next.expanded);
        self.collection_keys |= next.collection_keys;
        Ok(self)
    }

    /// Closes what ends before a part; an error where it does not continue what is open then.
    fn end_before(&mut self, next: &Self) -> Result<(), Stop> {
        let column = match &*next.frames {
            [root, ..] if root.map && !root.flow => root.column,
            _ => return Err(Stop::Unfit),
        };
        let Some(Ending { collections: Some(place), document: Some(document) }) =
            self.ending.take()
        else {
            return Err(Stop::Unfit);
        };
        while self
            .frames
            .last()
            .is_some_and(|frame| frame.column > column || (frame.column == column && !frame.map))
        {
            self.close_frame(&place)?;
        }
        let continues = self.frames.last().is_some_and(|frame| {
            frame.map && !frame.flow && frame.key_due && frame.column == column
        }) && self.frames.len() == next.path.len() + 1
            && self.keys() == next.path
            && next.margins.top.is_empty();
        let marked = document.start < self.text.len()
            || self.margins.top.lines().any(|line| line.starts_with('%'));
        let mut expanded = self.expanded;
        expanded.add(next.expanded);
        let few = expanded.nodes <= FREE_EXPANSION && expanded.bytes <= self.limits.most_bytes();
        let small = u32::try_from(self.cooked.len() + next.cooked.len()).is_ok();
        if continues && !marked && few && small { Ok(()) } else { Err(Stop::Unfit) }
    }

    /// Closes what is open at the end of the last part.
    fn complete(mut self) -> Result<Document, Stop> {
        let Some(Ending { collections: Some(place), document: Some(document) }) =
            self.ending.take()
        else {
            return Err(Stop::Unfit);
        };
        while !self.frames.is_empty() {
            self.close_frame(&place)?;
        }
        self.end_document(&document);
        Ok(self.finish())
    }
}

impl Frame {
    /// The entries of a part follow, whose map is `part`.
    fn continue_with(&mut self, part: &Self, base: &Base) {
        self.extent.nodes = self.extent.nodes.saturating_add(part.extent.nodes - 1);
        self.extent.bytes = self.extent.bytes.saturating_add(part.extent.bytes);
        self.extent.height = self.extent.height.max(part.extent.height);
        self.merges |= part.merges;
        self.tangled |= part.tangled;
        self.key_due = part.key_due;
        self.entry = base.node(part.entry);
    }
}

/// Where the numbers of a part start in the whole.
struct Base {
    nodes: u32,
    children: u32,
    cooked: u32,
}

impl Base {
    fn node(&self, id: u32) -> u32 {
        if id == NOBODY { id } else { id + self.nodes }
    }

    fn record(&self, record: Record) -> Record {
        let first = match record.shape {
            NodeStyle::Alias => self.node(record.first),
            NodeStyle::BlockMap
            | NodeStyle::FlowMap
            | NodeStyle::BlockList
            | NodeStyle::FlowList => record.first + self.children,
            _ if record.cooked => record.first + self.cooked,
            _ => record.first,
        };
        Record { first, ..record }
    }
}

#[cfg(test)]
mod tests;
