//! Checks which characters a text contains.

/// Whether a text is all ASCII. `None` where it contains characters that are special to the parser,
/// or invalid: control characters, carriage returns alone, and byte order marks.
pub(super) fn survey(text: &[u8]) -> Option<bool> {
    const CHUNK: usize = 64;
    let is_odd = |byte: u8| (byte < b' ' && byte != b'\n') || byte > b'~';
    let mut ascii = true;
    for (index, chunk) in text.chunks(CHUNK).enumerate() {
        // There is no early exit, so that many bytes are compared at once.
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

/// Whether bytes that are not printable ASCII start a character that the quick reader knows.
fn is_known(bytes: &[u8]) -> bool {
    match *bytes {
        [b'\t' | b'\n', ..] | [b'\r', b'\n', ..] => true,
        // Control characters other than U+0085, the next line.
        [0xc2, byte @ 0x80..0xa0, ..] => byte == 0x85,
        // A byte order mark, U+FFFE and U+FFFF.
        [0xef, 0xbb, 0xbf, ..] | [0xef, 0xbf, 0xbe..=0xbf, ..] => false,
        [byte, ..] => !byte.is_ascii(),
        [] => true,
    }
}
