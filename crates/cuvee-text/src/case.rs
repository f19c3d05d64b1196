//! What letters are, and how they are in lower case.

/// The text in lower case, by the rules of Unicode.
///
/// ```
/// assert_eq!(cuvee_text::case::lower_case("GRÖSSE"), "grösse");
/// ```
#[cfg(not(cuvee_npm))]
pub fn lower_case(text: &str) -> String {
    text.to_lowercase()
}

/// The text in lower case. The rules of Unicode are those that JavaScript has: the table of the
/// standard library takes six kilobytes of the package for npm, packed.
#[cfg(cuvee_npm)]
pub fn lower_case(text: &str) -> String {
    js_sys::JsString::from(text).to_lower_case().into()
}

/// Whether this is a letter. In the package for npm, which has no table of letters, whatever is
/// beyond ASCII counts as one.
///
/// ```
/// use cuvee_text::case::{is_letter, is_letter_or_digit};
/// assert!(is_letter('ö') && !is_letter('7') && is_letter_or_digit('7') && !is_letter('-'));
/// ```
pub fn is_letter(c: char) -> bool {
    if cfg!(cuvee_npm) { c.is_ascii_alphabetic() || !c.is_ascii() } else { c.is_alphabetic() }
}

/// Whether this is a letter or a digit.
pub fn is_letter_or_digit(c: char) -> bool {
    if cfg!(cuvee_npm) { is_letter(c) || c.is_ascii_digit() } else { c.is_alphanumeric() }
}
