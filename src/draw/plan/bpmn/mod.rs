//! Writes a plan as a process of BPMN 2.0, with its diagram.

mod diagram;
mod process;

use super::picture::{BoxKind, step_box};
use super::words::{operation, shown};
use crate::draw::layout::{Point, Size};
use crate::draw::svg::Length;
use crate::orchestrate::plan::{Guard, Plan, PlanStepIndex};
use cuvee_text::xml::XmlText;
use cuvee_text::yaml::write_flow;
use diagram::Diagram;
use indexmap::IndexMap;
use process::{FlowNode, Process, ProcessEnd, SequenceFlow, When};
use std::fmt::Write;

/// A plan as a process of BPMN 2.0 with its diagram. A service task is a call, a call activity is
/// something that the orchestrator does by itself, and any other task only states something. The
/// process is not executable. Sensitive values are only shown with `reveal`.
///
/// ```
/// use cuvee::deploy::plan::PlanQuery;
/// let plan = cuvee::Resolver::new("examples/shop").preset("dev").plan(&PlanQuery::default())?.result;
/// assert!(cuvee::output::draw::plan::bpmn(&plan, false).contains("<bpmn:serviceTask "));
/// # Ok::<(), cuvee::Failure>(())
/// ```
pub fn bpmn(plan: &Plan, reveal: bool) -> String {
    let process = Process::of(plan);
    let titles: Vec<_> = process.nodes.iter().map(|node| title(plan, *node)).collect();
    let diagram = Diagram::of(&process, &titles);
    let file = ProcessFile {
        plan,
        process: &process,
        ids: process.nodes.iter().enumerate().map(|(index, node)| id(*node, index)).collect(),
        titles: &titles,
        delegates: delegates(plan, &process),
        reveal,
    };
    let mut out = String::from(HEAD);
    file.write_delegates(&mut out);
    file.write_process(&mut out);
    file.write_diagram(&diagram, &mut out);
    out.push_str("</bpmn:definitions>\n");
    out
}

/// Names without a prefix belong to the namespace that the file defines.
const HEAD: &str = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<bpmn:definitions xmlns=\"urn:cuvee:xml:1\"
    xmlns:bpmn=\"http://www.omg.org/spec/BPMN/20100524/MODEL\"
    xmlns:bpmndi=\"http://www.omg.org/spec/BPMN/20100524/DI\"
    xmlns:dc=\"http://www.omg.org/spec/DD/20100524/DC\"
    xmlns:di=\"http://www.omg.org/spec/DD/20100524/DI\"
    id=\"definitions\" targetNamespace=\"urn:cuvee:xml:1\" exporter=\"cuvee\">
";

/// The id of a node in the file.
fn id(node: FlowNode, index: usize) -> String {
    match node {
        FlowNode::Start => "start".to_owned(),
        FlowNode::Task(_) => format!("task_{index}"),
        FlowNode::Failure(_) => format!("failure_{index}"),
        FlowNode::Choice(_) => format!("choice_{index}"),
        FlowNode::Merge | FlowNode::Parallel | FlowNode::Inclusive => format!("gateway_{index}"),
        FlowNode::End(ProcessEnd::Done) => "done".to_owned(),
        FlowNode::End(ProcessEnd::Failed) => "failed".to_owned(),
        FlowNode::End(ProcessEnd::Refused) => "refused".to_owned(),
    }
}

/// The title of a node.
fn title(plan: &Plan, node: FlowNode) -> String {
    match node {
        FlowNode::Start => plan.workflow.clone(),
        FlowNode::Task(id) => step_box(plan, id).title,
        FlowNode::Failure(_) => "fails".to_owned(),
        FlowNode::Choice(_) => "Does it hold?".to_owned(),
        FlowNode::Merge | FlowNode::Parallel | FlowNode::Inclusive => String::new(),
        FlowNode::End(ProcessEnd::Done) => "done".to_owned(),
        FlowNode::End(ProcessEnd::Failed) => "failed".to_owned(),
        FlowNode::End(ProcessEnd::Refused) => "does not begin".to_owned(),
    }
}

/// The BPMN element of a node.
fn tag(plan: &Plan, node: FlowNode) -> &'static str {
    match node {
        FlowNode::Start => "startEvent",
        FlowNode::Task(id) => match BoxKind::of(plan, id) {
            BoxKind::Call => "serviceTask",
            BoxKind::Delegate => "callActivity",
            BoxKind::State | BoxKind::Nothing => "task",
        },
        FlowNode::Failure(_) => "boundaryEvent",
        FlowNode::Choice(_) | FlowNode::Merge => "exclusiveGateway",
        FlowNode::Parallel => "parallelGateway",
        FlowNode::Inclusive => "inclusiveGateway",
        FlowNode::End(_) => "endEvent",
    }
}

/// The workflows that the orchestrator performs by itself, numbered by name.
fn delegates<'p>(plan: &'p Plan, process: &Process) -> IndexMap<&'p str, usize> {
    let mut delegates = IndexMap::new();
    for node in &process.nodes {
        if let FlowNode::Task(id) = *node
            && BoxKind::of(plan, id) == BoxKind::Delegate
        {
            let next = delegates.len() + 1;
            delegates.entry(operation(plan, id)).or_insert(next);
        }
    }
    delegates
}

fn line(out: &mut String, indent: usize, content: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{:1$}{content}", "", 2 * indent);
}

fn documentation(out: &mut String, indent: usize, text: &str) {
    let text = XmlText(text);
    line(out, indent, format_args!("<bpmn:documentation>{text}</bpmn:documentation>"));
}

/// The data that a file is written from.
struct ProcessFile<'p> {
    plan: &'p Plan,
    process: &'p Process,
    ids: Vec<String>,
    titles: &'p [String],
    delegates: IndexMap<&'p str, usize>,
    reveal: bool,
}

impl ProcessFile<'_> {
    /// Writes the global tasks that call activities refer to.
    fn write_delegates(&self, out: &mut String) {
        for (name, number) in &self.delegates {
            let name = XmlText(name);
            line(
                out,
                1,
                format_args!("<bpmn:globalTask id=\"workflow_{number}\" name=\"{name}\">"),
            );
            documentation(out, 2, "Something else does this by itself, such as the orchestrator.");
            line(out, 1, format_args!("</bpmn:globalTask>"));
        }
    }

    fn write_process(&self, out: &mut String) {
        let name = &self.plan.workflow;
        line(
            out,
            1,
            format_args!(
                "<bpmn:process id=\"process\" name=\"{}\" isExecutable=\"false\">",
                XmlText(name)
            ),
        );
        documentation(
            out,
            2,
            &format!(
                "The order in which the workflow `{name}` does what it does, for people and tools to read. It is not executable: it does not say how anything is called."
            ),
        );
        let mut arriving = vec![Vec::new(); self.process.nodes.len()];
        let mut leaving = arriving.clone();
        for (index, flow) in self.process.flows.iter().enumerate() {
            leaving[flow.source].push(index);
            arriving[flow.target].push(index);
        }
        for (index, (arriving, leaving)) in arriving.iter().zip(&leaving).enumerate() {
            self.write_node(index, arriving, leaving, out);
        }
        for (index, flow) in self.process.flows.iter().enumerate() {
            self.write_flow(index, *flow, out);
        }
        line(out, 1, format_args!("</bpmn:process>"));
    }

    fn write_node(&self, index: usize, arriving: &[usize], leaving: &[usize], out: &mut String) {
        let node = self.process.nodes[index];
        let (tag, id) = (tag(self.plan, node), &self.ids[index]);
        let name = match &*self.titles[index] {
            "" => String::new(),
            title => format!(" name=\"{}\"", XmlText(title)),
        };
        let more = self.attributes(node, arriving, leaving);
        line(out, 2, format_args!("<bpmn:{tag} id=\"{id}\"{name}{more}>"));
        if let FlowNode::Task(id) = node {
            documentation(out, 3, &about(self.plan, id, self.reveal));
        }
        for (tag, flows) in [("incoming", arriving), ("outgoing", leaving)] {
            for flow in flows {
                line(out, 3, format_args!("<bpmn:{tag}>flow_{flow}</bpmn:{tag}>"));
            }
        }
        if let FlowNode::Failure(_) | FlowNode::End(ProcessEnd::Failed | ProcessEnd::Refused) = node
        {
            line(out, 3, format_args!("<bpmn:errorEventDefinition id=\"error_{id}\"/>"));
        }
        line(out, 2, format_args!("</bpmn:{tag}>"));
    }

    /// The attributes that only some nodes have.
    fn attributes(&self, node: FlowNode, arriving: &[usize], leaving: &[usize]) -> String {
        match node {
            FlowNode::Task(id) => match BoxKind::of(self.plan, id) {
                // The default would be a web service.
                BoxKind::Call => " implementation=\"##unspecified\"".to_owned(),
                BoxKind::Delegate => {
                    let workflow = self.delegates[operation(self.plan, id)];
                    format!(" calledElement=\"workflow_{workflow}\"")
                }
                BoxKind::State | BoxKind::Nothing => String::new(),
            },
            FlowNode::Failure(task) => format!(" attachedToRef=\"{}\"", self.ids[task]),
            FlowNode::Choice(_) => {
                let is_default = |flow: &&usize| self.process.flows[**flow].when == When::NotMet;
                let default = leaving.iter().find(is_default);
                let default = default.map(|flow| format!(" default=\"flow_{flow}\""));
                format!(" gatewayDirection=\"Diverging\"{}", default.unwrap_or_default())
            }
            FlowNode::Merge | FlowNode::Parallel | FlowNode::Inclusive => {
                let direction = match (arriving.len() > 1, leaving.len() > 1) {
                    (true, true) => "Mixed",
                    (true, false) => "Converging",
                    (false, _) => "Diverging",
                };
                format!(" gatewayDirection=\"{direction}\"")
            }
            FlowNode::Start | FlowNode::End(_) => String::new(),
        }
    }

    fn write_flow(&self, index: usize, flow: SequenceFlow, out: &mut String) {
        let (source, target) = (&self.ids[flow.source], &self.ids[flow.target]);
        let name = match flow.when {
            When::Always => "",
            When::Met => " name=\"yes\"",
            When::NotMet => " name=\"no\"",
        };
        let condition = match (flow.when, self.process.nodes[flow.source]) {
            (When::Met, FlowNode::Choice(Some(written))) => {
                Some(&self.plan.workflow_steps[written as usize].guards)
            }
            (When::Met, FlowNode::Choice(None)) => Some(&self.plan.preconditions),
            _ => None,
        };
        let end = if condition.is_some() { "" } else { "/" };
        line(
            out,
            2,
            format_args!(
                "<bpmn:sequenceFlow id=\"flow_{index}\"{name} sourceRef=\"{source}\" targetRef=\"{target}\"{end}>"
            ),
        );
        if let Some(guards) = condition {
            let said = conditions(self.plan, guards);
            let said = XmlText(&said);
            line(
                out,
                3,
                format_args!("<bpmn:conditionExpression>{said}</bpmn:conditionExpression>"),
            );
            line(out, 2, format_args!("</bpmn:sequenceFlow>"));
        }
    }

    fn write_diagram(&self, diagram: &Diagram, out: &mut String) {
        line(out, 1, format_args!("<bpmndi:BPMNDiagram id=\"diagram\">"));
        line(out, 2, format_args!("<bpmndi:BPMNPlane id=\"plane\" bpmnElement=\"process\">"));
        for (index, shape) in diagram.shapes.iter().enumerate() {
            self.write_shape(index, shape, out);
        }
        for (index, way) in diagram.ways.iter().enumerate() {
            let id = format!("flow_{index}");
            line(out, 3, format_args!("<bpmndi:BPMNEdge id=\"edge_{id}\" bpmnElement=\"{id}\">"));
            for point in way {
                let (x, y) = (Length(point.x), Length(point.y));
                line(out, 4, format_args!("<di:waypoint x=\"{x}\" y=\"{y}\"/>"));
            }
            line(out, 3, format_args!("</bpmndi:BPMNEdge>"));
        }
        line(out, 2, format_args!("</bpmndi:BPMNPlane>"));
        line(out, 1, format_args!("</bpmndi:BPMNDiagram>"));
    }

    fn write_shape(&self, index: usize, (corner, size): &(Point, Size), out: &mut String) {
        let id = &self.ids[index];
        // Without this attribute, editors omit the cross in the gateway.
        let marker = match self.process.nodes[index] {
            FlowNode::Choice(_) | FlowNode::Merge => " isMarkerVisible=\"true\"",
            _ => "",
        };
        line(
            out,
            3,
            format_args!("<bpmndi:BPMNShape id=\"shape_{id}\" bpmnElement=\"{id}\"{marker}>"),
        );
        let (x, y) = (Length(corner.x), Length(corner.y));
        let (width, height) = (Length(size.width), Length(size.height));
        line(
            out,
            4,
            format_args!("<dc:Bounds x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"),
        );
        line(out, 3, format_args!("</bpmndi:BPMNShape>"));
    }
}

/// The details of a step, one a line: its identifier first, its inputs last.
fn about(plan: &Plan, id: PlanStepIndex, reveal: bool) -> String {
    let mut about = step_box(plan, id).about;
    for input in plan.call_of(id).into_iter().flat_map(|call| &call.inputs) {
        let value = write_flow(&shown(&input.value, input.is_sensitive && !reveal));
        about.extend(["\n", &*input.name, " = ", &*value]);
    }
    about
}

/// The conditions, one a line.
fn conditions(plan: &Plan, guards: &[Guard]) -> String {
    let line = |guard: &Guard| {
        let element = guard.element.map(|element| &*plan.element(element).identifier);
        let element = element.map(|element| format!("{element}: ")).unwrap_or_default();
        format!("{element}{}", write_flow(&guard.condition))
    };
    guards.iter().map(line).collect::<Vec<_>>().join("\n")
}
