//! What characters a text has.

/// Whether a text is all ASCII; nothing where it has characters that mean something of their own to
/// the parser, or nothing good: control characters, line ends of one carriage return, and byte
/// order marks.
pub(super) fn survey(text: &[u8]) -> Option<bool> {
    const CHUNK: usize = 64;
    let is_odd = |byte: u8| (byte < b' ' && byte != b'\n') || byte > b'~';
    let mut ascii = true;
    for (index, chunk) in text.chunks(CHUNK).enumerate() {
        // Without an early end, so that many bytes are looked at at once.
        if !chunk.iter().fold(false, |odd, byte| odd | is_odd(*byte)) {
            continue;
        }
        let rest = text.get(index * CHUNK..).unwrap_or_default();
        for (at, byte) in chunk.iter().enumerate() {
            ascii &= byte.is_ascii();
            if is_odd(*byte) && !is_known(rest.get(at..).unwrap_or_default()) {
                return None;
            }
        }
    }
    Some(ascii)
}

/// Whether a byte that is not printable ASCII is part of something that is known here.
fn is_known(bytes: &[u8]) -> bool {
    match *bytes {
        [b'\t' | b'\n', ..] | [b'\r', b'\n', ..] => true,
        // Controls, but for that of the next line.
        [0xc2, byte @ 0x80..0xa0, ..] => byte == 0x85,
        // A byte order mark, and what is no character.
        [0xef, 0xbb, 0xbf, ..] | [0xef, 0xbf, 0xbe..=0xbf, ..] => false,
        [byte, ..] => !byte.is_ascii(),
        [] => true,
    }
}
