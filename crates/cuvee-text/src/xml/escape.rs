//! Escapes text for XML.

use std::fmt::{self, Write};

/// A text that is escaped when it is displayed, for content and for attributes. Characters that XML
/// cannot contain, and control characters, are replaced.
///
/// ```
/// use cuvee_text::xml::XmlText;
/// assert_eq!(XmlText("a < \"b\"").to_string(), "a &lt; &quot;b&quot;");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct XmlText<'t>(pub &'t str);

impl fmt::Display for XmlText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '&' => f.write_str("&amp;"),
            '"' => f.write_str("&quot;"),
            '\n' | '\r' | '\t' => write!(f, "&#{};", u32::from(c)),
            '\u{fffe}' | '\u{ffff}' => f.write_char('\u{fffd}'),
            // XML can contain some control characters, but they should not reach terminals.
            _ if c.is_control() => f.write_char('\u{fffd}'),
            _ => f.write_char(c),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_out_of_a_text() {
        assert_eq!(
            XmlText("<a b=\"c\">&'\n\t\u{1b}\u{ffff}é").to_string(),
            "&lt;a b=&quot;c&quot;&gt;&amp;'&#10;&#9;\u{fffd}\u{fffd}é"
        );
    }
}
