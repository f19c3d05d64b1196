//! Splits paths to properties, if they consist of names only.

use cuvee_text::xml::is_unprefixed_name;

/// The steps of a path of names. Other XPath expressions are not evaluated, and give nothing.
pub(crate) fn property_steps(path: &str) -> Option<Vec<&str>> {
    let name = |step| {
        let is_attribute = str::starts_with(step, '@');
        let name = step.strip_prefix('@').unwrap_or(step);
        let name = name
            .strip_prefix("*[local-name()=")
            .and_then(|it| it.strip_suffix(']'))
            .map_or(name, |quoted| quoted.trim_matches(['\'', '"']));
        let local = name.rsplit(':').next().unwrap_or(name);
        let is_whole = is_attribute && name == local;
        is_unprefixed_name(local).then_some(if is_whole { step } else { local })
    };
    let all = path.split('/').filter(|step| !matches!(*step, "" | "." | "text()"));
    all.map(name).collect()
}
