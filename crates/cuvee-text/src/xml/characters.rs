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
    let bytes = text.as_bytes();
    let suspect = move |&(at, byte): &(usize, &u8)| match *byte {
        b'\t' | b'\n' | b'\r' => false,
        0..0x20 => true,
        // The characters U+FFFE and U+FFFF.
        0xef => bytes.get(at + 1) == Some(&0xbf) && bytes.get(at + 2).is_some_and(|&b| b >= 0xbe),
        _ => false,
    };
    let found = bytes.iter().enumerate().filter(suspect);
    found.filter_map(|(at, _)| Some((at, text.get(at..)?.chars().next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_found() {
        let text = "a\tb\u{0}c\u{fffe}\u{fffd}\u{1f600}\u{ffff}";
        let found: Vec<_> = forbidden(text).collect();
        assert_eq!(found, [(3, '\u{0}'), (5, '\u{fffe}'), (15, '\u{ffff}')]);
        assert!(text.chars().filter(|&c| !is_allowed(c)).eq(found.iter().map(|&(_, c)| c)));
    }
}
