//! Measures how long it takes to answer questions about all variants of a template: `cargo bench
//! --bench explore`.
//!
//! With numbers as arguments, it only asks about feature models with these numbers of features: `--
//! 2500`. With a directory, it writes their templates there: `-- DIRECTORY/`.

#[path = "templates/features.rs"]
mod features;
#[path = "templates/growth.rs"]
mod growth;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use cuvee::Resolver;
use cuvee::explore::{Goal, Projection, Query, Which};
use cuvee::parts::solve::random::Random;

/// The number of boolean inputs, and of nodes.
const INPUTS: usize = 200;
/// How many runs are made; their median is printed.
const RUNS: usize = 5;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    for directory in arguments.iter().filter(|argument| argument.ends_with('/')) {
        for shape in features::SHAPES {
            let path = Path::new(directory).join(format!("features-{}.yaml", shape.features));
            fs::write(path, features::template(shape))?;
        }
    }
    if arguments.is_empty() {
        one_template()?;
        long_constraints();
    }
    let is_wanted =
        |features: usize| arguments.iter().any(|wanted| *wanted == features.to_string());
    let shapes = features::SHAPES
        .into_iter()
        .filter(|shape| arguments.is_empty() || is_wanted(shape.features));
    feature_models(&shapes.collect::<Vec<_>>())
}

/// A question about a model, with the milliseconds that the answer may take at each size.
struct ModelQuestion {
    name: &'static str,
    ask: Asked,
    goals: [Option<u32>; 4],
}

const MODEL_QUESTIONS: [ModelQuestion; 6] = [
    ModelQuestion {
        name: "open",
        ask: |model| list(model, &Query { limit: 1, ..Query::default() }),
        goals: [None; 4],
    },
    ModelQuestion { name: "count", ask: |model| count(model, &Query::default()), goals: [None; 4] },
    ModelQuestion {
        name: "sample 10",
        ask: |model| list(model, &Query { which: Which::Sample(10, 1), ..Query::default() }),
        goals: [None; 4],
    },
    ModelQuestion { name: "inputs", ask: inputs, goals: [None, Some(1_000), Some(5_000), None] },
    ModelQuestion { name: "analyze", ask: analyze, goals: [None, Some(5_000), Some(30_000), None] },
    ModelQuestion {
        name: "pairwise",
        ask: |model| list(model, &Query { which: Which::Covering(2), ..Query::default() }),
        goals: [None, Some(20_000), None, None],
    },
];

/// Asks each question once about each model, from the text of its template to the answer.
fn feature_models(shapes: &[features::FeatureShape]) -> anyhow::Result<()> {
    heading("features");
    for ModelQuestion { name, ask, goals } in &MODEL_QUESTIONS {
        let mut growing = Growing { name, before: None };
        for shape in shapes {
            let at = features::SHAPES.iter().position(|other| other.features == shape.features);
            let goal = at.and_then(|at| goals[at]);
            growing.row(shape.features, goal, features::template(*shape), *ask);
        }
    }
    Ok(())
}

/// The numbers of inputs of which one constraint speaks, and the milliseconds that each question
/// about the most of them may take.
const OPERANDS: [usize; 3] = [300, 1_000, 3_000];
const OPERANDS_GOAL: u32 = 1_000;

/// The growing templates with one wide choice, or whose alternatives, conditions or nodes depend on
/// one input.
const WIDE: [&str; 6] = [
    "hosts to choose from",
    "alternatives of a property",
    "alternatives of a type",
    "conditions of a node",
    "nodes for a number each",
    "nodes for a listed text each",
];

/// Asks about templates with one constraint over all inputs, and about templates in which one node
/// or its property has this many hosts, alternatives or conditions, or an input has a node for each
/// of this many values.
fn long_constraints() {
    heading("inputs");
    for operator in ["xor", "exo"] {
        long(&format!("one `{operator}`"), &|size| features::one_constraint(operator, size));
    }
    heading("elements");
    let is_asked = |case: &&growth::Case| WIDE.contains(&case.name);
    for case in growth::CASES.iter().filter(is_asked) {
        long(case.name, &case.make);
    }
}

fn long(what: &str, template: &dyn Fn(usize) -> String) {
    for (name, ask) in [("inputs", inputs as Asked), ("analyze", analyze), ("report", report)] {
        let name = format!("{name}, {what}");
        let mut growing = Growing { name: &name, before: None };
        for size in OPERANDS {
            let goal = (size == OPERANDS[2]).then_some(OPERANDS_GOAL);
            growing.row(size, goal, template(size), ask);
        }
    }
}

type Asked = fn(&Resolver) -> Result<String, cuvee::Failure>;

fn heading(what: &str) {
    println!("\n{:<26} {what:>9} {:>9} {:>7} {:>9}  answer", "question", "ms", "growth", "goal");
}

/// The rows of one question about templates of growing size.
struct Growing<'n> {
    name: &'n str,
    /// The size before, and what it took.
    before: Option<(usize, Duration)>,
}

impl Growing<'_> {
    /// Asks once. Beside the time is how much it grew since the size before, in proportion to the
    /// size.
    fn row(&mut self, size: usize, goal: Option<u32>, text: String, ask: Asked) {
        let resolver = Resolver::from_text("features.yaml", text);
        let start = Instant::now();
        // An answer that is refused shows its error.
        let answer = ask(&resolver).unwrap_or_else(|failure| {
            failure.diagnostics.first().map_or_else(String::new, |first| first.message.clone())
        });
        let taken = start.elapsed();
        let growth = self.before.map_or_else(String::new, |(before, time)| {
            let larger = size as f64 / before as f64;
            format!("{:.2}", taken.as_secs_f64() / time.as_secs_f64() / larger)
        });
        let goal = goal.map_or_else(String::new, |goal| goal.to_string());
        println!(
            "{:<26} {size:>9} {:>9.1} {growth:>7} {goal:>9}  {answer}",
            self.name,
            taken.as_secs_f64() * 1e3
        );
        self.before = Some((size, taken));
    }
}

fn one_template() -> anyhow::Result<()> {
    let text = template();
    println!("{INPUTS} boolean inputs, {} KB of template", text.len() / 1000);
    println!("{:<26} {:>9}  answer", "question", "ms");
    let resolver = Resolver::from_text("explore.yaml", text);
    let nodes = Query { projection: Projection::Nodes, ..Query::default() };
    let of = |which| Query { which, ..Query::default() };
    row("resolve", || {
        Ok(format!(
            "{} elements present",
            resolver.resolve()?.presence().filter(|(_, present)| *present).count()
        ))
    })?;
    row("count", || count(&resolver, &Query::default()))?;
    row("count by nodes", || count(&resolver, &nodes))?;
    row("list 100", || list(&resolver, &Query::default()))?;
    row("list 10,000", || list(&resolver, &Query { limit: 10_000, ..Query::default() }))?;
    row("sample 5", || list(&resolver, &of(Which::Sample(5, 1))))?;
    row("pairwise", || list(&resolver, &of(Which::Covering(2))))?;
    row("minimize weight", || list(&resolver, &of(Which::Best(Goal::Weight))))?;
    row("inputs", || inputs(&resolver))?;
    row("analyze", || analyze(&resolver))?;
    row("explain", || {
        let explanation = resolver.explain(&format!("node.n{}", INPUTS / 2))?.result;
        Ok(format!("{} changes", explanation.change.map_or(0, |change| change.len())))
    })?;
    row("export", || Ok(format!("{} clauses", resolver.variants_formula()?.clauses.len())))
}

fn inputs(resolver: &Resolver) -> Result<String, cuvee::Failure> {
    let inputs = resolver.input_report()?.result.inputs;
    let influences: usize = inputs.iter().map(|input| input.influences.len()).sum();
    Ok(format!("{influences} influences"))
}

fn analyze(resolver: &Resolver) -> Result<String, cuvee::Failure> {
    let analysis = resolver.analyze()?.result;
    let (core, dead, constraints) =
        (analysis.core.len(), analysis.dead.len(), analysis.constraints.len());
    Ok(format!("{core} core, {dead} dead, {constraints} constraints in vain"))
}

fn report(resolver: &Resolver) -> Result<String, cuvee::Failure> {
    Ok(format!("{} KB", resolver.report(&[])?.len() / 1000))
}

fn count(resolver: &Resolver, query: &Query) -> Result<String, cuvee::Failure> {
    let count = resolver.count_variants(query)?.result;
    let digits = count.count.len();
    let least = if count.exact { "" } else { "at least " };
    Ok(if digits < 9 {
        format!("{least}{}", count.count)
    } else {
        format!("{least}{}e{}", &count.count[..3], digits - 3)
    })
}

fn list(resolver: &Resolver, query: &Query) -> Result<String, cuvee::Failure> {
    let found = resolver.variants(query)?.result;
    let covered =
        found.covered.map(|covered| format!(" for {covered} combinations")).unwrap_or_default();
    let cost = found.cost.map(|cost| format!(" of cost {cost}")).unwrap_or_default();
    let count = found.variants.len();
    Ok(format!("{count} variant{}{covered}{cost}", if count == 1 { "" } else { "s" }))
}

/// Measures everything from the text to the answer, in each run.
fn row(name: &str, ask: impl Fn() -> Result<String, cuvee::Failure>) -> anyhow::Result<()> {
    let mut times = Vec::new();
    let mut answer = String::new();
    while times.len() < RUNS && times.iter().sum::<Duration>() < Duration::from_secs(10) {
        let start = Instant::now();
        answer = ask()
            .map_err(|failure| anyhow::anyhow!("{name}: {}", failure.diagnostics[0].message))?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    println!("{name:<26} {:>9.1}  {answer}", times[times.len() / 2].as_secs_f64() * 1e3);
    Ok(())
}

/// A template with a node for each input, relations between neighbours, and constraints that only
/// concern neighbours.
fn template() -> String {
    let mut random = Random::new(1);
    let mut below = |bound: usize| (random.next() % bound as u64) as usize;
    let mut text = String::from(
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n    options: { mode: consistent-loose }\n    \
         inputs:\n",
    );
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    (0..INPUTS).for_each(|i| line(format!("      f{i}: {{ type: boolean, default: false }}")));
    line("    constraints:".into());
    for start in 0..INPUTS - 4 {
        let (a, b, c) = (start, start + 1 + below(2), start + 3 + below(2));
        match below(4) {
            0 => line(format!(
                "      - implies: [{{ variability_input: f{a} }}, {{ variability_input: f{b} }}]"
            )),
            1 => line(format!(
                "      - or: [{{ variability_input: f{a} }}, {{ not: {{ variability_input: f{b} }} }}, {{ variability_input: f{c} }}]"
            )),
            2 => line(format!(
                "      - not: {{ and: [{{ variability_input: f{a} }}, {{ node_presence: n{c} }}] }}"
            )),
            _ => {}
        }
    }
    line("  node_templates:".into());
    line("    root:\n      type: Root\n      persistent: true\n      requirements:".into());
    (0..INPUTS).for_each(|i| line(format!("        - has_{i}: n{i}")));
    for i in 0..INPUTS {
        line(format!(
            "    n{i}:\n      type: Node\n      weight: {}\n      conditions: {{ variability_input: f{i} }}",
            1 + i % 3
        ));
        if i > 1 {
            line(format!(
                "      requirements:\n        - uses: {{ node: n{}, conditions: {{ variability_input: f{} }} }}",
                i - 1,
                i - 2
            ));
        }
    }
    text
}
