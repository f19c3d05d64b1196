//! Reads files on all cores: several files at the same time, and large ones in parts.
//!
//! A part is a run of entries of one block map. [`cut`] guesses where to cut it out of the text.
//! Each part has a [`Builder`] of its own, which leaves open what is open at the end of the part. A
//! part fits behind the part before it under these conditions: the part before it was read to its
//! end without an error. After closing what is further right, its innermost collection is a block
//! map in the column of the new part. The keys that lead to this map are those that were guessed.
//! Then no scalar and no flow collection extends over the cut, because in a map these continue only
//! further right. Joined parts are the same as what one builder would have made of the whole. Where
//! anything is wrong or unusual, the file is read again as a whole, so that errors and their places
//! do not depend on the cuts.

use super::cut::{EntryRun, cut};
use super::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// How many bytes are worth a thread.
const WORTH: usize = 64 << 10;

/// The least bytes of a part. Smaller parts cost more than they save.
const SMALLEST: usize = 128 << 10;

/// The number of parts per thread. With many parts, no thread waits long for another one at the
/// end, and few nodes wait to be joined.
const PARTS: usize = 16;

/// How work is distributed.
#[derive(Clone, Copy)]
pub(super) struct Share {
    threads: usize,
    /// The least size of a part.
    size: usize,
}

impl Share {
    /// Uses as many threads as there are cores, but at most `most`.
    pub(super) fn of_machine(jobs: &[Job<'_>], most: usize) -> Self {
        let total: usize = jobs.iter().map(|job| job.text.len()).sum();
        let most = most.min(total / WORTH);
        // Finding out the number of cores takes as long as reading a small file.
        let threads = if most > 1 {
            std::thread::available_parallelism().map_or(1, usize::from).min(most)
        } else {
            1
        };
        Self { threads, size: (total / (threads * PARTS)).max(SMALLEST) }
    }
}

/// Reads all files. The documents are in the order of the jobs.
pub(super) fn read_all(
    jobs: &[Job<'_>],
    limits: &Limits,
    share: Share,
) -> Vec<Result<Document, Diagnostic>> {
    // WebAssembly has no threads, and needs none of what is below.
    if share.threads < 2 || cfg!(target_family = "wasm") {
        return jobs.iter().map(|job| read(job, limits)).collect();
    }
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    // The largest files come first, so that at the end no thread is left alone with one.
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
        // No other thread sets this document.
        let _ = files[index].document.set(read(&jobs[index], limits));
    });
    let documents = files.into_iter().zip(jobs);
    documents
        .map(|(file, job)| file.document.into_inner().unwrap_or_else(|| read(job, limits)))
        .collect()
}

/// Runs the tasks in their order on some threads.
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
            // If no thread can be started, the others do its work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

/// A file with the parts of it that have been read.
struct Parted<'j> {
    job: &'j Job<'j>,
    parts: Vec<EntryRun<'j>>,
    /// Whether the file has to be read as a whole.
    failed: AtomicBool,
    progress: Mutex<JoinProgress<'j>>,
    document: OnceLock<Result<Document, Diagnostic>>,
}

/// The state of joining. Parts are joined in their order while others are still being read.
struct JoinProgress<'j> {
    read: Vec<Option<Builder<'j>>>,
    /// How many parts are joined or being joined.
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
            // No other thread reads it.
            let _ = self.document.set(read(self.job, limits));
        } else if !self.failed.load(Ordering::Relaxed) && self.read_part(index, limits).is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
    }

    /// Reads a part. Then joins the parts that can be joined, unless another thread does so.
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
            let _ = self.document.set(Ok(Document { text: self.job.text.clone(), ..document }));
        }
        Ok(())
    }

    fn progress(&self) -> MutexGuard<'_, JoinProgress<'j>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'j> JoinProgress<'j> {
    /// The next part to be joined, if it has been read.
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

    /// Reserves memory for the rest of a text of this length, assuming that it is like the start.
    fn with_room(mut self, len: usize) -> Self {
        let rest = len.saturating_sub(self.text.len()) as u64;
        let more = |had: usize| (had as u64 * rest / self.text.len().max(1) as u64) as usize;
        let (nodes, children) = (more(self.nodes.len()), more(self.nodes.len()));
        self.nodes.reserve_exact(nodes + nodes / 8);
        self.children.reserve_exact(children + children / 8);
        self
    }

    /// Appends a part. The result is what one builder would have made. Fails where that is not
    /// certain.
    fn append(mut self, next: Self) -> Result<Self, Stop> {
        self.end_before(&next)?;
        let Some((root, open)) = next.frames.split_first() else { return Err(Stop::Unfit) };
        let first =
            next.nodes.get(1).is_some_and(|first| first.start as usize == next.from + root.column);
        // The map around the part already exists.
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

    /// Closes the collections that end before a part. Fails where the part does not continue the
    /// map that is open then.
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

    /// Closes the collections that are open at the end of the last part.
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
    /// Adds the sizes of a part, whose map is `part`, to the map that its entries continue.
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

/// The offsets of the numbers of a part in the whole document.
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
