//! Letters in lower case.

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
