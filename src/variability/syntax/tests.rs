use super::*;
use cuvee_text::source::FileId;
use cuvee_text::yaml::{Document, Limits, parse};

fn document(text: &str) -> Document {
    parse(FileId::new(0), text.into(), &Limits::default()).unwrap()
}

fn ids<const N: usize>(parts: ExpressionRange) -> [ExpressionId; N] {
    parts.iter().collect::<Vec<_>>().try_into().unwrap()
}

#[test]
fn every_keyword_is_resolved_to_its_operator() {
    for keyword in ExpressionOperator::keywords() {
        assert_eq!(ExpressionOperator::from_keyword(keyword).unwrap().keyword(), keyword);
    }
    assert!(ExpressionOperator::from_keyword("nand").is_none());
}

#[test]
fn broken_text_gives_a_tree_and_problems_beside_it() {
    let document = document("{and: [true], nand: [{variability_input: a}, {b: {}}]}");
    let syntax = Syntax::new(&[], false);
    let id = syntax.read(document.root());
    let Term::Broken(problem, parts) = syntax.get(id).term else { panic!() };
    assert_eq!(syntax.problem(problem).message, "an expression has to be a map with one operator");
    let [and, nand] = ids(parts);
    assert_eq!(syntax.get(and).application().unwrap().operator.keyword(), "and");
    let Term::Broken(problem, _) = syntax.get(nand).term else { panic!() };
    assert_eq!(syntax.problem(problem).message, "there is no operator `nand`");
    let mut names = Vec::new();
    syntax.each_reference(id, &mut |operator, name| {
        names.push((operator.keyword(), syntax.get(name).text().unwrap()));
    });
    assert_eq!(names, [("variability_input", "a")]);
}

#[test]
fn an_expression_is_read_once() {
    let document = document("[&a {not: [true, 1]}, *a, *a, {not: [true, 1]}, {not: [true, 2]}]");
    let syntax = Syntax::new(&[], false);
    let id = syntax.read(document.root());
    let size = syntax.tree.borrow().len();
    assert_eq!(syntax.read(document.root()), id);
    assert_eq!(syntax.tree.borrow().len(), size);
    let [a, b, c, d, e] = ids(syntax.items(id));
    let operand = |id| syntax.get(id).application().unwrap().operand;
    assert_eq!(operand(b), operand(c));
    for other in [b, c, d] {
        assert_eq!(syntax.canonical(a), syntax.canonical(other));
    }
    assert_ne!(syntax.canonical(a), syntax.canonical(e));
    assert_eq!(syntax.get(a).span(), syntax.get(b).span());
}

#[test]
fn beside_templates_of_tosca_2_0_operators_may_have_a_dollar() {
    let document = document("{$variability_input: a}");
    let name = |is_of_2_0| {
        let syntax = Syntax::new(&[], is_of_2_0);
        let read = syntax.read(document.root());
        syntax.get(read).application().map(|it| it.operator.keyword())
    };
    assert_eq!([name(true), name(false)], [Some("variability_input"), None]);
}
