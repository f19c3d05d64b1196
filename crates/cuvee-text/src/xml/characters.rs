//! Classifies characters and names of XML (XML 1.0, sections 2.2 and 2.3).

/// Whether a text is an XML name.
///
/// ```
/// use cuvee_text::xml::is_name;
/// assert!(is_name("tosca:Node-1") && !is_name("1st") && !is_name(""));
/// ```
pub fn is_name(text: &str) -> bool {
    // Nearly all names consist of these characters.
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:".contains(&byte)) {
        return text.starts_with(is_name_start);
    }
    let mut chars = text.chars();
    chars.next().is_some_and(is_name_start) && chars.all(is_name_char)
}

/// Whether a text is a name without a colon: an `xs:NCName`.
pub fn is_unprefixed_name(text: &str) -> bool {
    is_name(text) && !text.contains(':')
}

fn is_name_start(c: char) -> bool {
    matches!(c,
        ':' | '_' | 'A'..='Z' | 'a'..='z'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}'
        | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}'
        | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

fn is_name_char(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// Whether XML can contain a character.
pub fn is_allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// Whether a character is white space in XML, which has less white space than Unicode.
pub fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// The characters of a text that XML cannot contain, with their positions.
pub(super) fn forbidden(text: &str) -> impl Iterator<Item = (usize, char)> {
    // Without branches, many bytes are looked at together. U+FFFE and U+FFFF begin with 0xef.
    let suspect = |byte: u8| {
        (byte < 0x20) & (byte != b'\t') & (byte != b'\n') & (byte != b'\r') | (byte == 0xef)
    };
    let chunks = text.as_bytes().chunks(CHUNK).enumerate();
    let suspicious =
        chunks.filter(move |(_, chunk)| chunk.iter().fold(false, |any, &it| any | suspect(it)));
    let found = suspicious.flat_map(move |(number, chunk)| {
        let bytes = chunk.iter().enumerate().filter(move |(_, byte)| suspect(**byte));
        bytes.filter_map(move |(at, _)| {
            let at = number * CHUNK + at;
            Some((at, text.get(at..)?.chars().next()?))
        })
    });
    found.filter(|&(_, c)| !is_allowed(c))
}

/// How many bytes are looked at together.
const CHUNK: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_found() {
        let text = &format!("a\tb\u{0}c\u{fffe}\u{fffd}\u{1f600}\u{ffff}{:100}\u{1}", "");
        let found: Vec<_> = forbidden(text).collect();
        assert_eq!(found, [(3, '\u{0}'), (5, '\u{fffe}'), (15, '\u{ffff}'), (118, '\u{1}')]);
        assert!(text.chars().filter(|&c| !is_allowed(c)).eq(found.iter().map(|&(_, c)| c)));
    }
}
