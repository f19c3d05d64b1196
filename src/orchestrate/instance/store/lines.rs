//! Reads the lines of a file of any size, one at a time and without copying them.

use super::StoreReader;
use std::io::{self, ErrorKind, Read};
use std::ops::Range;

/// How many bytes are read at once. The buffer grows for longer lines.
const CHUNK: usize = 256 << 10;

/// The lines between two positions of a file.
pub(super) struct LogLines<'s> {
    source: StoreReader<'s>,
    buffer: Vec<u8>,
    /// The part of the buffer that was read and not returned yet.
    open: Range<usize>,
    /// The end of the part in which no line break was found.
    searched: usize,
    /// How many bytes may still be read.
    left: u64,
    /// Whether the file ended before that.
    is_short: bool,
}

impl<'s> LogLines<'s> {
    /// Reads at most this many bytes of a file, or all of it.
    pub(super) fn new(source: StoreReader<'s>, bytes: Option<u64>) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            open: 0..0,
            searched: 0,
            left: bytes.unwrap_or(u64::MAX),
            is_short: false,
        }
    }

    /// The range of the next complete line in [`LogLines::bytes`], without its line break; `None`
    /// after the last one.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Range<usize>>> {
        loop {
            if let Some(at) = memchr::memchr(b'\n', &self.buffer[self.searched..self.open.end]) {
                let line = self.open.start..self.searched + at;
                self.open.start = line.end + 1;
                self.searched = self.open.start;
                return Ok(Some(line));
            }
            self.searched = self.open.end;
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    pub(super) fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.buffer[range]
    }

    /// The bytes after the last line break, once there is no further line.
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.open.clone()]
    }

    /// Whether the file had fewer bytes than were to be read.
    pub(super) fn is_short(&self) -> bool {
        self.is_short
    }

    /// Reads more bytes; returns false at the end.
    fn fill(&mut self) -> io::Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        self.make_room();
        let room = &mut self.buffer[self.open.end..];
        let most = usize::try_from(self.left).map_or(room.len(), |left| left.min(room.len()));
        let read = loop {
            match self.source.read(&mut room[..most]) {
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        if read == 0 {
            self.is_short = self.left != u64::MAX;
            self.left = 0;
            return Ok(false);
        }
        self.open.end += read;
        if self.left != u64::MAX {
            self.left -= read as u64;
        }
        Ok(true)
    }

    fn make_room(&mut self) {
        if self.open.start > 0 {
            self.buffer.copy_within(self.open.clone(), 0);
            self.searched -= self.open.start;
            self.open = 0..self.open.len();
        }
        // The rest of a short file needs no larger buffer.
        let needed = usize::try_from(self.left).unwrap_or(CHUNK).min(CHUNK);
        if self.buffer.len() - self.open.end < needed.div_ceil(2) {
            self.buffer.resize((self.buffer.len() * 2).max(needed), 0);
        }
    }
}
