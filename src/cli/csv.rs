//! Writes tables as comma-separated values (RFC 4180).

use std::borrow::Cow;

/// A line of fields, in quotes where they have to be.
pub(super) fn line<T: AsRef<str>>(fields: impl IntoIterator<Item = T>) -> String {
    let fields: Vec<_> = fields.into_iter().map(|text| field(text.as_ref()).into_owned()).collect();
    fields.join(",") + "\n"
}

fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}
