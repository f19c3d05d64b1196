//! Measures how long it takes to count, draw and list models, and to find covering sets and
//! backbones: `cargo bench --bench count`.

use std::time::Instant;

use cuvee::parts::count::compile;
use cuvee::parts::formula::{Lit, Var};
use cuvee::parts::solve::backbone::{backbone, equivalences};
use cuvee::parts::solve::covering::covering;
use cuvee::parts::solve::random::Random;
use cuvee::parts::solve::{Models, SolverKind};

fn main() {
    let problems = [
        ("chain 200", chain(200)),
        ("chain 2000", chain(2000)),
        ("features 200", features(200, 6)),
        ("features 500", features(500, 10)),
        ("features 2000", features(2000, 10)),
        ("grid 6x30", grid(6, 30)),
        ("choices 100x8", choices(100, 8)),
        ("free 200", Problem::boolean(200, Vec::new())),
    ];
    for (name, problem) in &problems {
        count(name, problem);
    }
    for (name, problem) in [
        ("chain 100000", chain(100_000)),
        ("features 100000", features(100_000, 100)),
        ("tangle 300", tangle(300)),
    ] {
        count(name, &problem);
    }
    for (name, problem) in &problems {
        common(name, problem);
        for t in [2, 3] {
            cover(t, name, problem);
        }
    }
}

struct Problem {
    vars: u32,
    clauses: Vec<Vec<Lit>>,
    /// The cases of each factor; exactly one of them is true in each model.
    factors: Vec<Vec<Lit>>,
}

impl Problem {
    /// A problem in which each variable is a factor with two cases.
    fn boolean(vars: u32, clauses: Vec<Vec<Lit>>) -> Self {
        Self {
            vars,
            clauses,
            factors: (0..vars).map(|var| vec![Var(var).negative(), Var(var).positive()]).collect(),
        }
    }
}

fn below(bound: usize, random: &mut Random) -> u32 {
    (random.next() % bound as u64) as u32
}

/// Clauses of two to four variables, from windows of five.
fn chain(vars: u32) -> Problem {
    let mut random = Random::new(1);
    let clauses = (0..vars - 4).map(|start| {
        let length = 2 + below(3, &mut random);
        let mut clause: Vec<_> =
            (0..length).map(|_| Lit(2 * start + below(10, &mut random))).collect();
        // The problem has a model: the one in which all variables are true.
        clause[0] = clause[0].var().positive();
        clause
    });
    Problem::boolean(vars, clauses.collect())
}

/// A tree of features that are mandatory, optional, alternatives or any of a group, with some
/// constraints across the tree.
fn features(vars: u32, across: u32) -> Problem {
    let mut random = Random::new(2);
    let mut children = vec![Vec::new(); vars as usize];
    for var in 1..vars {
        children[below(var as usize, &mut random) as usize].push(Var(var));
    }
    let mut clauses = vec![vec![Var(0).positive()]];
    for (parent, children) in (0..).map(Var).zip(&children) {
        clauses.extend(children.iter().map(|child| vec![child.negative(), parent.positive()]));
        let kind = below(3, &mut random);
        if children.len() > 1 && kind > 0 {
            clauses.push(
                children.iter().map(|child| child.positive()).chain([parent.negative()]).collect(),
            );
        }
        if kind == 1 {
            let pairs = children
                .iter()
                .enumerate()
                .flat_map(|(index, a)| children[..index].iter().map(move |b| [a, b]));
            clauses.extend(pairs.map(|pair| pair.map(|var| var.negative()).to_vec()));
        } else if kind == 0 {
            let mandatory: Vec<_> =
                children.iter().filter(|_| below(3, &mut random) == 0).collect();
            clauses.extend(
                mandatory.into_iter().map(|child| vec![parent.negative(), child.positive()]),
            );
        }
    }
    let leaves: Vec<_> =
        (0..vars).filter(|&var| children[var as usize].is_empty()).map(Var).collect();
    for _ in 0..across {
        let [a, b] = [0, 1].map(|_| leaves[below(leaves.len(), &mut random) as usize]);
        clauses.push(vec![a.negative(), b.positive().negate_if(below(2, &mut random) == 1)]);
    }
    Problem::boolean(vars, clauses)
}

/// Clauses of two or three variables that are neighbours in a grid.
fn grid(width: u32, height: u32) -> Problem {
    let mut random = Random::new(3);
    let mut clauses = Vec::new();
    for row in 0..height {
        for column in 0..width {
            let var = |row: u32, column: u32| Var((row % height) * width + column % width);
            let mut sign = |var: Var| var.positive().negate_if(below(2, &mut random) == 1);
            let (here, right, under) =
                (var(row, column), var(row, column + 1), var(row + 1, column));
            match (column + 1 < width, row + 1 < height) {
                (true, true) => clauses.push(vec![sign(here), sign(right), sign(under)]),
                (true, false) => clauses.push(vec![sign(here), sign(right)]),
                (false, true) => clauses.push(vec![sign(here), sign(under)]),
                (false, false) => {}
            }
        }
    }
    Problem::boolean(width * height, clauses)
}

/// Clauses of any three variables, so that the problem has no independent parts.
fn tangle(vars: u32) -> Problem {
    let mut random = Random::new(5);
    let clauses =
        (0..3 * vars).map(|_| (0..3).map(|_| Lit(below(2 * vars as usize, &mut random))).collect());
    Problem::boolean(vars, clauses.collect())
}

/// Inputs with several cases. Each case excludes a case of one of the next three inputs.
fn choices(inputs: u32, cases: u32) -> Problem {
    let mut random = Random::new(4);
    let factors: Vec<Vec<_>> = (0..inputs)
        .map(|input| (0..cases).map(|case| Var(input * cases + case).positive()).collect())
        .collect();
    let mut clauses = factors.clone();
    for factor in &factors {
        clauses.extend(
            factor
                .iter()
                .enumerate()
                .flat_map(|(index, &a)| factor[..index].iter().map(move |&b| vec![!a, !b])),
        );
    }
    for input in 0..inputs as usize - 3 {
        for case in 0..cases as usize {
            let other = &factors[input + 1 + below(3, &mut random) as usize];
            clauses.push(vec![
                !factors[input][case],
                !other[below(other.len(), &mut random) as usize],
            ]);
        }
    }
    Problem { vars: inputs * cases, clauses, factors }
}

fn count(name: &str, problem: &Problem) {
    let projection: Vec<_> = (0..problem.vars).map(Var).collect();
    let half: Vec<_> = projection.iter().copied().filter(|var| var.0 % 2 == 0).collect();
    for (projected, projection) in [("", &projection), ("half of ", &half)] {
        let start = Instant::now();
        let slices = problem.clauses.iter().map(Vec::as_slice);
        let Some(compiled) = compile(problem.vars as usize, slices, projection, 10_000_000) else {
            println!("{projected}{name}: given up after {:.1?}", start.elapsed());
            continue;
        };
        let elapsed = start.elapsed();
        let count = compiled.count().to_string();
        let nodes = compiled.nodes();
        println!(
            "{projected}{name}: {}e{} models, {nodes} nodes in {elapsed:.1?}",
            &count[..count.len().min(3)],
            count.len().saturating_sub(3)
        );
        let mut random = Random::new(1);
        let start = Instant::now();
        let drawn = (0..1000).filter(|_| compiled.sample(&mut || random.next()).is_some()).count();
        print!("  {drawn} drawn in {:.1?}", start.elapsed());
        let start = Instant::now();
        print!(", {} listed in ", compiled.models().take(10_000).count());
        println!("{:.1?}", start.elapsed());
    }
}

fn models(problem: &Problem) -> Models {
    Models::new(
        problem.vars as usize,
        problem.clauses.iter().map(Vec::as_slice),
        SolverKind::default(),
    )
}

fn common(name: &str, problem: &Problem) {
    let all: Vec<_> = (0..problem.vars).map(|var| Var(var).positive()).collect();
    let start = Instant::now();
    let found = backbone(&all, &mut models(problem)).unwrap_or_default();
    print!(
        "{name}: {} always, {} never true, found in {:.1?}",
        found.always.len(),
        found.never.len(),
        start.elapsed()
    );
    let start = Instant::now();
    let classes = equivalences(&all, &mut models(problem)).unwrap_or_default();
    println!("; {} sets of equals in {:.1?}", classes.len(), start.elapsed());
}

/// Prints the size of a covering set beside a bound that every set reaches without constraints: the
/// product of the numbers of cases of the `t` largest factors.
fn cover(t: usize, name: &str, problem: &Problem) {
    let start = Instant::now();
    let Some(found) = covering(t, &problem.factors, &mut models(problem)) else {
        println!("{name}, {t}-wise: too many choices");
        return;
    };
    let mut sizes: Vec<_> = problem.factors.iter().map(Vec::len).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let bound: usize = sizes[..t].iter().product();
    println!(
        "{name}, {t}-wise: {} models (unconstrained at least {bound}), {} feasible, {} not, in {:.1?}",
        found.models.len(),
        found.feasible,
        found.infeasible,
        start.elapsed()
    );
}
