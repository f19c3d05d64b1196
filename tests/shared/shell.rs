//! Splits a command line as a shell does, as far as the tests need it.

/// The words of a line: separated by blanks, where no quotes keep them together.
pub(crate) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    assert!(quote.is_none(), "a quote is open in `{line}`");
    words.extend(word);
    words
}

#[test]
fn quotes_keep_words_together() {
    assert_eq!(words("a  b=1 'c  d' \"it's\" e'f g' ''"), ["a", "b=1", "c  d", "it's", "ef g", ""]);
}
