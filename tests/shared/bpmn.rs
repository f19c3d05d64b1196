//! Reads processes of BPMN and plays them as its specification says: what tasks, gateways and
//! events do with the tokens that reach them. Shares no code with the library that writes them.

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The order of steps: for each step all steps that have to be over before it.
pub(crate) type Order = BTreeMap<String, BTreeSet<String>>;

/// An element of XML, named without its prefix.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    fn read(xml: &str) -> Self {
        let mut reader = quick_xml::Reader::from_str(xml);
        let mut open = vec![Self::default()];
        loop {
            let event = reader.read_event().unwrap_or_else(|error| panic!("{error}\n{xml}"));
            let text = &mut open.last_mut().unwrap().text;
            match event {
                Event::Start(start) => open.push(Self::of(&start)),
                Event::Empty(start) => {
                    let element = Self::of(&start);
                    open.last_mut().unwrap().children.push(element);
                }
                Event::End(_) => {
                    let element = open.pop().unwrap();
                    open.last_mut().unwrap().children.push(element);
                }
                Event::Text(said) => text.push_str(&said.xml10_content()),
                Event::GeneralRef(reference) => match reference.resolve_char_ref().unwrap() {
                    Some(c) => text.push(c),
                    None => text
                        .push_str(resolve_predefined_entity(&reference.xml10_content()).unwrap()),
                },
                Event::Decl(_) => {}
                Event::Eof => break,
                other => panic!("{other:?}"),
            }
        }
        let mut root = open.pop().unwrap();
        assert!(open.is_empty() && root.children.len() == 1, "{xml}");
        root.children.pop().unwrap()
    }

    fn of(start: &BytesStart<'_>) -> Self {
        let local = |name: &str| name.split_once(':').map_or(name, |(_, local)| local).to_owned();
        let attribute = |found: quick_xml::events::attributes::Attribute<'_>| {
            let value = found.normalized_value(XmlVersion::Implicit1_0).unwrap().into_owned();
            (found.key.as_ref().to_owned(), value)
        };
        Self {
            name: local(start.name().as_ref()),
            attributes: start.attributes().map(|it| attribute(it.unwrap())).collect(),
            ..Self::default()
        }
    }

    fn all<'e>(&'e self, name: &str) -> impl Iterator<Item = &'e Self> + use<'e> {
        let name = name.to_owned();
        self.children.iter().filter(move |child| child.name == name)
    }

    fn only(&self, name: &str) -> &Self {
        let mut found = self.all(name);
        let one = found.next().unwrap_or_else(|| panic!("no {name} in {self:?}"));
        assert!(found.next().is_none(), "several {name} in {self:?}");
        one
    }

    fn attribute(&self, name: &str) -> &str {
        self.attributes.get(name).unwrap_or_else(|| panic!("no {name} at {self:?}"))
    }

    fn number(&self, name: &str) -> f64 {
        self.attribute(name).parse().unwrap()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Start,
    Task,
    Boundary,
    Exclusive,
    Parallel,
    Inclusive,
    End,
    ErrorEnd,
}

#[derive(Debug)]
struct Node {
    kind: Kind,
    id: String,
    /// The step that a task does.
    step: String,
    incoming: Vec<usize>,
    outgoing: Vec<usize>,
    default: Option<usize>,
    /// The event that catches the failure of a task.
    boundary: Option<usize>,
}

/// A process whose file has been read and checked.
pub(crate) struct Process {
    nodes: Vec<Node>,
    /// Each flow, as the nodes that it leads from and to.
    flows: Vec<(usize, usize)>,
}

/// What happens in one play of a process.
#[derive(Default, Clone, Copy)]
pub(crate) struct Rules<'r> {
    /// A step that is never done.
    pub(crate) blocked: Option<&'r str>,
    /// A step that fails.
    pub(crate) fails: Option<&'r str>,
    /// Whether no condition holds.
    pub(crate) is_unmet: bool,
}

/// The result of a play.
#[derive(Debug)]
pub(crate) struct Played {
    /// The steps that were done.
    pub(crate) done: BTreeSet<String>,
    /// The ends that were reached.
    pub(crate) ends: Vec<String>,
    /// How many tokens were left in the end.
    pub(crate) left: usize,
}

impl Process {
    /// Reads a file, and asserts that each element is where it belongs.
    pub(crate) fn read(xml: &str) -> Self {
        let definitions = Element::read(xml);
        assert_eq!(definitions.name, "definitions");
        let process = definitions.only("process");
        assert_eq!(process.attribute("isExecutable"), "false");
        assert!(process.only("documentation").text.contains("not executable"));
        let callable: BTreeSet<_> =
            definitions.all("globalTask").map(|task| task.attribute("id")).collect();
        let mut ids = BTreeSet::new();
        unique(&definitions, &mut ids);
        let elements: Vec<_> =
            process.children.iter().filter_map(|it| Some((kind(it)?, it))).collect();
        let index: BTreeMap<_, _> =
            elements.iter().enumerate().map(|(at, (_, it))| (it.attribute("id"), at)).collect();
        let written: Vec<_> = process.all("sequenceFlow").collect();
        assert_eq!(process.children.len(), 1 + elements.len() + written.len());
        let names: BTreeMap<_, _> =
            written.iter().enumerate().map(|(at, flow)| (flow.attribute("id"), at)).collect();
        let flow = |flow: &&Element| {
            (index[flow.attribute("sourceRef")], index[flow.attribute("targetRef")])
        };
        let flows: Vec<_> = written.iter().map(flow).collect();
        let mut nodes: Vec<_> =
            elements.iter().map(|(kind, element)| node(*kind, element, &names)).collect();
        for (at, (kind, element)) in elements.iter().enumerate() {
            if element.name == "callActivity" {
                assert!(callable.contains(element.attribute("calledElement")));
            }
            if *kind == Kind::Boundary {
                element.only("errorEventDefinition");
                let task = &mut nodes[index[element.attribute("attachedToRef")]];
                assert!(task.kind == Kind::Task && task.boundary.replace(at).is_none());
            }
        }
        let read = Self { nodes, flows };
        read.is_wired(&written);
        read.is_drawn(definitions.only("BPMNDiagram").only("BPMNPlane"), &written);
        read
    }

    /// Asserts that nodes list their flows, and that only gateways have several on one side.
    fn is_wired(&self, written: &[&Element]) {
        for (at, node) in self.nodes.iter().enumerate() {
            let of = |end: fn(&(usize, usize)) -> usize| -> Vec<usize> {
                (0..self.flows.len()).filter(|&flow| end(&self.flows[flow]) == at).collect()
            };
            assert_eq!(node.outgoing, of(|flow| flow.0), "{node:?}");
            assert_eq!(node.incoming, of(|flow| flow.1), "{node:?}");
            let counts = (node.incoming.len(), node.outgoing.len());
            let is_right = match node.kind {
                Kind::Start | Kind::Boundary => counts == (0, 1),
                Kind::Task => counts == (1, 1),
                Kind::End | Kind::ErrorEnd => counts == (1, 0),
                // A gateway with one flow in and one out would have no effect.
                Kind::Parallel | Kind::Exclusive | Kind::Inclusive => {
                    counts.0 > 0 && counts.1 > 0 && counts.0 + counts.1 > 2
                }
            };
            assert!(is_right, "{node:?}");
            let is_choice = node.kind == Kind::Exclusive && counts.1 > 1;
            assert_eq!(node.default.is_some(), is_choice, "{node:?}");
            for &flow in &node.outgoing {
                let has_condition = written[flow].all("conditionExpression").count() == 1;
                assert_eq!(has_condition, is_choice && node.default != Some(flow), "{node:?}");
            }
        }
    }

    /// Asserts that each node has a shape, that each flow has an edge between the shapes of its
    /// ends, and that no shapes overlap.
    fn is_drawn(&self, plane: &Element, written: &[&Element]) {
        assert_eq!(plane.attribute("bpmnElement"), "process");
        let shapes = BTreeMap::from_iter(plane.all("BPMNShape").map(|shape| {
            let bounds = shape.only("Bounds");
            let [x, y, width, height] = ["x", "y", "width", "height"].map(|it| bounds.number(it));
            assert!(width > 0.0 && height > 0.0);
            (shape.attribute("bpmnElement"), [x, y, x + width, y + height])
        }));
        assert_eq!(plane.all("BPMNShape").count(), shapes.len());
        let ids = BTreeSet::from_iter(self.nodes.iter().map(|node| &*node.id));
        assert_eq!(BTreeSet::from_iter(shapes.keys().copied()), ids);
        let edges = BTreeMap::from_iter(plane.all("BPMNEdge").map(|edge| {
            let point = |point: &Element| [point.number("x"), point.number("y")];
            (edge.attribute("bpmnElement"), edge.all("waypoint").map(point).collect::<Vec<_>>())
        }));
        assert_eq!(plane.all("BPMNEdge").count(), edges.len());
        assert_eq!(edges.len(), self.flows.len());
        for (flow, (source, target)) in written.iter().zip(&self.flows) {
            let way = &edges[flow.attribute("id")];
            assert!(way.len() > 1, "{flow:?}");
            for (end, node) in [(way[0], source), (way[way.len() - 1], target)] {
                assert!(touches(end, shapes[&*self.nodes[*node].id]), "{flow:?} {way:?}");
            }
        }
        let firm: Vec<_> = self.nodes.iter().filter(|node| node.kind != Kind::Boundary).collect();
        for (at, one) in firm.iter().enumerate() {
            for other in &firm[..at] {
                let (a, b) = (shapes[&*one.id], shapes[&*other.id]);
                let apart = a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1];
                assert!(apart, "{one:?} lies on {other:?}");
            }
            if let Some(boundary) = one.boundary {
                let (task, [left, top, right, bottom]) =
                    (shapes[&*one.id], shapes[&*self.nodes[boundary].id]);
                assert!(touches([(left + right) / 2.0, (top + bottom) / 2.0], task));
            }
        }
    }

    /// The steps that the tasks do.
    pub(crate) fn steps(&self) -> BTreeSet<String> {
        let tasks: Vec<_> = self.nodes.iter().filter(|node| node.kind == Kind::Task).collect();
        let steps: BTreeSet<_> = tasks.iter().map(|node| node.step.clone()).collect();
        assert_eq!(steps.len(), tasks.len(), "two tasks are one step");
        steps
    }

    /// Plays the process until no token moves any more.
    pub(crate) fn play(&self, rules: Rules<'_>) -> Played {
        let mut tokens = vec![0usize; self.flows.len()];
        let mut played = Played { done: BTreeSet::new(), ends: Vec::new(), left: 0 };
        let mut open: Vec<usize> = Vec::new();
        for node in self.nodes.iter().filter(|node| node.kind == Kind::Start) {
            node.outgoing.iter().for_each(|&flow| tokens[flow] += 1);
            open.extend(node.outgoing.iter().map(|&flow| self.flows[flow].1));
        }
        // Gateways that wait for all tokens on their way go on when nothing else can.
        let mut patient = BTreeSet::new();
        while let Some(at) = open.pop().or_else(|| patient.pop_first()) {
            let node = &self.nodes[at];
            let arrived = |flow: &&usize| tokens[**flow] > 0;
            let is_ready = match node.kind {
                Kind::Parallel => node.incoming.iter().all(|flow| arrived(&flow)),
                _ => node.incoming.iter().any(|flow| arrived(&flow)),
            };
            if !is_ready || node.kind == Kind::Task && rules.blocked == Some(&node.step) {
                continue;
            }
            if node.kind == Kind::Inclusive && !open.is_empty() {
                patient.insert(at);
                continue;
            }
            let taken: Vec<_> = match node.kind {
                Kind::Parallel => node.incoming.clone(),
                Kind::Inclusive => node.incoming.iter().filter(arrived).copied().collect(),
                _ => node.incoming.iter().find(arrived).into_iter().copied().collect(),
            };
            taken.iter().for_each(|&flow| tokens[flow] -= 1);
            // The node may have tokens left to take.
            open.push(at);
            if matches!(node.kind, Kind::End | Kind::ErrorEnd) {
                played.ends.push(node.id.clone());
                if node.kind == Kind::ErrorEnd {
                    return played;
                }
            }
            for flow in self.passed_on(node, rules, &mut played) {
                tokens[flow] += 1;
                open.push(self.flows[flow].1);
            }
        }
        played.left = tokens.iter().sum();
        played
    }

    /// Chooses the flows on which a node that has been reached puts tokens.
    fn passed_on(&self, node: &Node, rules: Rules<'_>, played: &mut Played) -> Vec<usize> {
        let met = |flow: &usize| node.default.is_none_or(|it| (it == *flow) == rules.is_unmet);
        match node.kind {
            Kind::Exclusive => node.outgoing.iter().copied().filter(met).collect(),
            Kind::Task if rules.fails == Some(&node.step) => {
                let boundary = node.boundary.into_iter();
                boundary.flat_map(|boundary| self.nodes[boundary].outgoing.clone()).collect()
            }
            Kind::Task => {
                assert!(played.done.insert(node.step.clone()), "{} is done twice", node.step);
                node.outgoing.clone()
            }
            _ => node.outgoing.clone(),
        }
    }

    /// For each step that is done in a play, the steps without which it would not be done.
    pub(crate) fn order(&self, rules: Rules<'_>) -> Order {
        let all = self.play(rules).done;
        let mut order: Order = all.iter().map(|step| (step.clone(), BTreeSet::new())).collect();
        for step in &all {
            let rest = self.play(Rules { blocked: Some(step), ..rules }).done;
            for later in all.difference(&rest).filter(|later| *later != step) {
                order.get_mut(later).unwrap().insert(step.clone());
            }
        }
        order
    }
}

fn kind(element: &Element) -> Option<Kind> {
    Some(match &*element.name {
        "startEvent" => Kind::Start,
        "task" | "serviceTask" | "callActivity" => Kind::Task,
        "boundaryEvent" => Kind::Boundary,
        "exclusiveGateway" => Kind::Exclusive,
        "parallelGateway" => Kind::Parallel,
        "inclusiveGateway" => Kind::Inclusive,
        "endEvent" if element.all("errorEventDefinition").count() > 0 => Kind::ErrorEnd,
        "endEvent" => Kind::End,
        _ => return None,
    })
}

fn node(kind: Kind, element: &Element, flows: &BTreeMap<&str, usize>) -> Node {
    let named = |tag| element.all(tag).map(|flow| flows[&*flow.text]).collect();
    let step = match kind {
        Kind::Task => element.only("documentation").text.lines().next().unwrap().to_owned(),
        _ => String::new(),
    };
    Node {
        kind,
        id: element.attribute("id").to_owned(),
        step,
        incoming: named("incoming"),
        outgoing: named("outgoing"),
        default: element.attributes.get("default").map(|flow| flows[&**flow]),
        boundary: None,
    }
}

/// Asserts that each identifier is a name of XML without a colon, and that none occurs twice.
fn unique<'e>(element: &'e Element, ids: &mut BTreeSet<&'e str>) {
    if let Some(id) = element.attributes.get("id") {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        assert!(id.starts_with(|c: char| c.is_ascii_alphabetic()) && id.chars().all(is_name));
        assert!(ids.insert(id), "{id} is there twice");
    }
    element.children.iter().for_each(|child| unique(child, ids));
}

/// Whether a point is in a box or on its edge, up to rounding.
fn touches([x, y]: [f64; 2], [left, top, right, bottom]: [f64; 4]) -> bool {
    let within = |value: f64, from: f64, to: f64| from - 0.2 <= value && value <= to + 0.2;
    within(x, left, right) && within(y, top, bottom)
}

/// The order of the given steps in a plan, by its JSON.
pub(crate) fn waits(plan: &Value, steps: &BTreeSet<String>) -> Order {
    let mut before: Order = BTreeMap::new();
    for step in plan["steps"].as_array().unwrap() {
        let mut all = BTreeSet::new();
        for wait in step["after"].as_array().unwrap() {
            let wait = wait.as_str().unwrap();
            all.insert(wait.to_owned());
            all.extend(before[wait].iter().cloned());
        }
        before.insert(step["id"].as_str().unwrap().to_owned(), all);
    }
    let is_known = steps.iter().all(|step| before.contains_key(step));
    assert!(is_known, "{steps:?} are not all in {plan}");
    before.retain(|step, _| steps.contains(step));
    before.values_mut().for_each(|all| all.retain(|step| steps.contains(step)));
    before
}

/// The steps of a plan that run something, by its JSON.
pub(crate) fn runs(plan: &Value) -> BTreeSet<String> {
    let steps = plan["steps"].as_array().unwrap().iter();
    let runs =
        steps.filter(|step| step.get("implementation").is_some() || step["kind"] == "delegate");
    runs.map(|step| step["id"].as_str().unwrap().to_owned()).collect()
}
