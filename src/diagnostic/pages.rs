//! Knows where the pages of the documentation are, for messages that lead to them.

use super::Code;

/// The site with the pages of `docs/`: the home page that the package names, if it names one.
const SITE: &str = env!("CARGO_PKG_HOMEPAGE");

/// The address of a page of the site, such as `language`, at one of its headings.
pub(crate) fn page(name: &str, heading: &str) -> Option<String> {
    page_of(SITE, name, heading)
}

fn page_of(site: &str, name: &str, heading: &str) -> Option<String> {
    let site = site.trim_end_matches('/');
    (!site.is_empty()).then(|| format!("{site}/{name}.html#{heading}"))
}

impl Code {
    /// The address of the page that explains the code; `None` as long as the package names no site.
    ///
    /// ```
    /// use cuvee::diagnostic::Code;
    /// let page = Code::UnknownType.page();
    /// assert!(page.is_none_or(|page| page.ends_with("/codes.html#unknown-type")));
    /// ```
    pub fn page(self) -> Option<String> {
        page("codes", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_below_the_site() {
        let page = |site| page_of(site, "codes", "unknown-type");
        assert_eq!(page(""), None);
        for site in ["https://cuvee.example/docs", "https://cuvee.example/docs/"] {
            assert_eq!(page(site).unwrap(), "https://cuvee.example/docs/codes.html#unknown-type");
        }
    }
}
