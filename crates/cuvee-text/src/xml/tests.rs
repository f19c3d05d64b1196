#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::diagnostic::CodeName;
use crate::source::SourceMap;

fn read(text: &str, limits: &XmlLimits) -> Result<XmlDocument, Vec<String>> {
    let sources = SourceMap::default();
    let file = sources.add("a.xml", text);
    parse(file, text.into(), limits).map_err(|found| {
        assert!(found.0.iter().all(|error| error.code == CodeName::SYNTAX));
        let told = found.0.iter().map(|error| {
            let at = sources.location(error.span.unwrap());
            format!("{}:{}: {}", at.line, at.column, error.message)
        });
        told.collect()
    })
}

/// The content of a tree, independent of how it is written.
fn said(element: XmlElement<'_>) -> String {
    let attributes: Vec<_> =
        element.attributes().map(|it| format!(" {}={:?}", it.name(), it.value())).collect();
    let inside: Vec<_> = element
        .nodes()
        .map(|node| match node {
            XmlNode::Element(element) => said(element),
            XmlNode::Text(text, _) => format!("{text:?}"),
            XmlNode::Unescaped(text, _) => format!("![{text}]"),
            XmlNode::Comment(text, _) => format!("!--{text}"),
            XmlNode::Instruction(text, _) => format!("?{text}"),
        })
        .collect();
    format!("({}{} {})", element.name(), attributes.concat(), inside.join(" "))
}

#[test]
fn trees_say_what_their_texts_do() {
    let cases = [
        ("<a/>", "(a )"),
        (
            "\u{feff}<?xml version='1.0' encoding='utf-8'?>\n<!-- c --><a>b</a>\n<?p q?>",
            "(a \"b\")",
        ),
        ("<a b='c' d=\"e 'f'\"  />", "(a b=\"c\" d=\"e 'f'\" )"),
        (
            "<a><b/>t&lt;u<![CDATA[<v>]]><!-- w --><?x y?></a>",
            "(a (b ) \"t&lt;u\" ![<v>] !-- w  ?x y)",
        ),
        ("<p:a xmlns:p='urn:p' p:b='1' b='2'/>", "({urn:p}a {urn:p}b=\"1\" b=\"2\" )"),
        (
            "<a xmlns='u'><b xmlns=''/><c xmlns='v' d='e'/><f/></a>",
            "({u}a (b ) ({v}c d=\"e\" ) ({u}f ))",
        ),
        (
            "<a xml:lang='de' b='1&#10;2&#x41;\n3\t4&amp;'/>",
            "(a {http://www.w3.org/XML/1998/namespace}lang=\"de\" b=\"1\\n2A 3 4&\" )",
        ),
        ("<é\u{300} ü='ß'/>", "(é\u{300} ü=\"ß\" )"),
        ("<a  ></a  >", "(a )"),
    ];
    for (text, expected) in cases {
        let document = read(text, &XmlLimits::default()).unwrap();
        assert_eq!(said(document.root()), expected, "{text}");
    }
}

#[test]
fn texts_mean_what_they_stand_for() {
    let text = "<a>1\r\n2\r3 &amp;<b>no</b>&#13;<![CDATA[&amp;\r\n]]></a>";
    let document = read(text, &XmlLimits::default()).unwrap();
    assert_eq!(document.root().text(), "1\n2\n3 &\r&amp;\n");
}

#[test]
fn everything_knows_where_it_stands() {
    let text = "<a>\n  <p:b xmlns:p='u' c='d'>e</p:b>\n</a>";
    let document = read(text, &XmlLimits::default()).unwrap();
    let slice = |span: crate::source::Span| &text[span.start as usize..span.end as usize];
    let b = document.root().elements().next().unwrap();
    assert_eq!((slice(b.span()), b.written_name()), ("p:b", "p:b"));
    assert_eq!(slice(b.whole_span()), "<p:b xmlns:p='u' c='d'>e</p:b>");
    let c = b.attribute("c").unwrap();
    assert_eq!((slice(c.span()), slice(c.value_span())), ("c", "d"));
    assert_eq!(b.declarations().collect::<Vec<_>>(), [("p", "u".into())]);
    assert_eq!((b.namespace("p").unwrap(), b.namespace("q")), ("u".into(), None));
    assert_eq!(b.parent().unwrap().written_name(), "a");
    let Some(XmlNode::Text(_, span)) = b.nodes().next() else { panic!() };
    assert_eq!(slice(span), "e");
}

#[test]
fn what_is_not_well_formed_is_said_at_its_place() {
    let cases: &[(&str, &[&str])] = &[
        ("", &["1:1: the document has no root element"]),
        ("<!-- only -->", &["1:14: the document has no root element"]),
        ("<a/><b/>", &["1:5: there is a second root element"]),
        ("<a/>b", &["1:5: text cannot stand outside of the root element"]),
        ("a<b/>", &["1:1: text cannot stand outside of the root element"]),
        ("<a/><![CDATA[x]]>", &["1:5: text cannot stand outside of the root element"]),
        ("<a/>&amp;", &["1:5: text cannot stand outside of the root element"]),
        ("<a>", &["1:1: `<a>` is never closed"]),
        ("<a>\n<b></a>", &["2:4: `<b>` is closed as `</a>`"]),
        ("<a></b></a>", &["1:4: `<a>` is closed as `</b>`"]),
        ("\u{feff}\u{feff}p:<a/>", &["1:2: there is another byte order mark behind the first"]),
        ("<a>\n<b></c>\n</a>", &["2:4: `<b>` is closed as `</c>`"]),
        ("<a><b></c></d></a>", &["1:7: `<b>` is closed as `</c>`"]),
        ("<a/></a>", &["1:5: `</a>` closes nothing"]),
        (
            "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
            &["1:1: a document type is not allowed", "1:34: there is no entity `b`"],
        ),
        ("<a><!DOCTYPE a></a>", &["1:4: a document type is not allowed"]),
        ("<a b='&c;'/>", &["1:7: there is no entity `c`"]),
        ("<a b='c & d'/>", &["1:9: a reference has to end with `;`"]),
        (
            "<a>&#0;&#xFFFE;&#x110000;&#+1;</a>",
            &[
                "1:4: `&#0;` is no character that XML can hold",
                "1:8: `&#xFFFE;` is no character that XML can hold",
                "1:16: `&#x110000;` is no character that XML can hold",
                "1:26: `&#+1;` is no character that XML can hold",
            ],
        ),
        ("<a b='1' b='2'/>", &["1:10: the attribute `b` is there twice"]),
        (
            "<a xmlns:p='u' xmlns:q='u' p:b='' q:b=''/>",
            &["1:35: the attribute `q:b` is there twice"],
        ),
        ("<a b='<'/>", &["1:7: `<` cannot stand in the value of an attribute"]),
        ("<a>]]></a>", &["1:4: `]]>` cannot stand in a text"]),
        ("<a><!-- -- --></a>", &["1:9: `--` cannot stand in a comment"]),
        ("<a><!-- ---></a>", &["1:9: `--` cannot stand in a comment"]),
        ("<p:a/>", &["1:2: no namespace is declared for the prefix `p`"]),
        ("<a p:b=''/>", &["1:4: no namespace is declared for the prefix `p`"]),
        ("<a xmlns:p=''/>", &["1:4: the prefix `p` needs a namespace"]),
        ("<a xmlns:xml='u'/>", &["1:4: XML itself fixes the meaning of the prefix `xml`"]),
        ("<a xmlns:xmlns='u'/>", &["1:4: XML itself fixes the meaning of the prefix `xmlns`"]),
        (
            "<a xmlns='http://www.w3.org/2000/xmlns/'/>",
            &["1:4: XML itself fixes the prefix of the namespace http://www.w3.org/2000/xmlns/"],
        ),
        (
            "<a xmlns:='u' xmlns:1='v'/>",
            &["1:4: `xmlns:` declares no prefix", "1:15: `xmlns:1` declares no prefix"],
        ),
        (
            "<?xml version='1.0' ncoding='UTF-8'?><a/>",
            &["1:1: the declaration of XML is `<?xml version=\"1.0\" encoding=\"UTF-8\"?>`"],
        ),
        ("<1a/>", &["1:2: `1a` is no name"]),
        ("<a:b:c xmlns:a='u'/>", &["1:2: `a:b:c` is no name"]),
        ("<a b/>", &["1:5: an attribute needs a value: `name=\"value\"`"]),
        ("<a b=c/>", &["1:6: values of attributes stand in quotes"]),
        ("<a b='1'c='2'/>", &["1:9: there has to be a blank before an attribute"]),
        (
            "\n<?xml version='1.0'?><a/>",
            &["2:1: the declaration of XML has to stand at the start of the file"],
        ),
        (
            "<?xml version='1.0'?><?xml version='1.0'?><a/>",
            &["1:22: the declaration of XML has to stand at the start of the file"],
        ),
        ("<?xml version='1.1'?><a/>", &["1:1: XML 1.1 is not supported, only XML 1.0"]),
        (
            "<?xml version='1.0' encoding='latin-1'?><a/>",
            &["1:1: the file says that it is written in latin-1"],
        ),
        ("<a><?XML x?></a>", &["1:6: `XML` is no name of a processing instruction"]),
        ("<a>\u{1}</a>", &["1:4: XML cannot hold the character U+0001"]),
    ];
    for (text, expected) in cases {
        let found = read(text, &XmlLimits::default()).unwrap_err();
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn limits_hold_from_one_below_to_one_above() {
    let limits = XmlLimits { bytes: 100, depth: 3, attributes: 2, bindings: 2, name: 4 };
    let fine = [
        format!("<a>{}</a>", "x".repeat(93)),
        "<a><b><c/></b></a>".to_owned(),
        "<a b='' c=''/>".to_owned(),
        "<a xmlns='u'><b xmlns:p='v'/><c xmlns:q='v'/></a>".to_owned(),
        "<abcd/>".to_owned(),
    ];
    for text in &fine {
        read(text, &limits).unwrap();
    }
    let beyond = [
        format!("<a>{}</a>", "x".repeat(94)),
        "<a><b><c><d/></c></b></a>".to_owned(),
        "<a b='' c='' d=''/>".to_owned(),
        "<a xmlns='u'><b xmlns:p='v' xmlns:q='v'/></a>".to_owned(),
        "<abcde/>".to_owned(),
    ];
    let found: Vec<_> = beyond.iter().map(|text| read(text, &limits).unwrap_err()).collect();
    assert_eq!(
        found.concat(),
        [
            "1:1: the file has 101 bytes, more than 100",
            "1:10: elements stand in each other more than 3 deep",
            "1:14: an element has more than 2 attributes",
            "1:29: more than 2 namespaces are declared here",
            "1:2: the name is longer than 4 bytes",
        ]
    );
}
