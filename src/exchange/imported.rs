//! Converts a feature model to variability inputs with the same configurations.

use super::model::{
    Feature, FeatureGroup, FeatureId, FeatureModel, FeatureType, GroupKind, Proposition,
};
use super::{read_feature_ide, read_uvl};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::variability::inputs::input_name;
use cuvee_text::answer::Failure;
use cuvee_text::files::Files;
use cuvee_text::source::{FileId, FileSystem, Span};
use cuvee_text::value::Value;
use cuvee_text::xml;
use cuvee_text::yaml::{self, Document, Limits, Node, Out, OutKey, write_yaml};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::Path;

/// Reads a feature model, `model.xml` of FeatureIDE or UVL, and writes it as the `variability` of a
/// template, with `inputs` and `constraints`.
///
/// ```
/// use cuvee::source::MemoryFiles;
/// let files = MemoryFiles::from([("shop.uvl", "features\n\tshop {abstract}\n\t\toptional\n\t\t\t\"Gift Cards\"\n")]);
/// assert_eq!(cuvee::output::exchange::import(&files, "shop.uvl".as_ref())?, "\
/// topology_template:
///   variability:
///     inputs:
///       gift_cards:
///         type: boolean
///         description: Gift Cards
///         default: false
/// ");
/// # Ok::<(), cuvee::Failure>(())
/// ```
///
/// # Errors
/// A [`Failure`] if the file cannot be read, is not a feature model, contains something that
/// variability inputs cannot express, or has features whose inputs would share a name.
pub fn import(files: &dyn FileSystem, path: &Path) -> Result<String, Failure> {
    written(files, path, FeatureModel::to_inputs)
}

/// Reads a feature model and writes it as a whole template. Each feature that is an input becomes a
/// node, which is present if the feature is selected.
///
/// ```
/// use cuvee::source::MemoryFiles;
/// let files = MemoryFiles::from([("shop.uvl", "features\n\tshop {abstract}\n\t\toptional\n\t\t\tcard\n")]);
/// let template = cuvee::output::exchange::import_template(&files, "shop.uvl".as_ref())?;
/// let shop = cuvee::Resolver::from_text("shop.yaml", template).input("card", true).resolve()?;
/// assert!(shop.to_yaml().contains("card:"));
/// # Ok::<(), cuvee::Failure>(())
/// ```
///
/// # Errors
/// As [`import`].
pub fn import_template(files: &dyn FileSystem, path: &Path) -> Result<String, Failure> {
    written(files, path, FeatureModel::to_template)
}

fn written(
    files: &dyn FileSystem,
    path: &Path,
    write: fn(&FeatureModel) -> Result<String, Diagnostic>,
) -> Result<String, Failure> {
    let texts = Files::default();
    let imported = texts.read(files, path).map_err(Diagnostics::from).and_then(|file| {
        let text = texts.text(file);
        if let Some(at) = template_key(text) {
            let span = Span { file, start: at, end: at + TEMPLATE_KEY.len() as u32 };
            return Err(no_model(span).into());
        }
        let is_xml = xml::is_xml(text);
        let model = if is_xml { read_feature_ide(text, file)? } else { read_uvl(text, file)? };
        Ok(write(&model)?)
    });
    imported.map_err(|Diagnostics(diagnostics)| Failure {
        diagnostics,
        sources: texts.sources().clone(),
    })
}

/// The key that every TOSCA template has and no feature model.
const TEMPLATE_KEY: &str = "tosca_definitions_version";

/// The position of this key, if the text is a TOSCA template.
fn template_key(text: &str) -> Option<u32> {
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').map(|line| {
        let start = at;
        at += line.len();
        (start, line)
    });
    let is_key = |line: &str| {
        line.strip_prefix(TEMPLATE_KEY).is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    lines.find(|(_, line)| is_key(line)).and_then(|(start, _)| u32::try_from(start).ok())
}

fn no_model(span: Span) -> Diagnostic {
    Diagnostic::error(Code::Syntax, "this is a TOSCA template, and no feature model")
        .at(span)
        .help("`cuvee export --format uvl` writes the feature model of its inputs")
}

/// The counterpart of a feature.
#[derive(Clone)]
enum Role {
    /// The feature is always selected, and not an input.
    Always,
    /// A boolean input of this name, true if the feature is selected.
    Input(String),
    /// An input of this name with these values.
    Choice(String, Vec<Value>),
    /// A value of the input of this name.
    Value(String, Value),
    /// An input of this name that holds the value of the feature.
    Typed(String),
}

impl FeatureModel {
    /// The model as the `variability` of a template, in YAML.
    ///
    /// A feature becomes a boolean input, and its groups become feature keywords of the input. A
    /// constraint makes the root true; an abstract root is left out. A mandatory feature `name =`
    /// below the root with alternatives `name = value` becomes an input with `valid_values`.
    ///
    /// # Errors
    /// `duplicate` if two inputs would have the same name.
    pub fn to_inputs(&self) -> Result<String, Diagnostic> {
        Ok(self.imported()?.write(false))
    }

    /// The model as a whole template, with a node for each feature that is an input or a value of
    /// one.
    ///
    /// # Errors
    /// As [`FeatureModel::to_inputs`].
    pub fn to_template(&self) -> Result<String, Diagnostic> {
        Ok(self.imported()?.write(true))
    }

    fn imported(&self) -> Result<ImportedModel<'_>, Diagnostic> {
        Ok(ImportedModel { model: self, roles: self.roles()?, constraints: Vec::new() })
    }

    fn roles(&self) -> Result<Vec<Role>, Diagnostic> {
        let mut roles: Vec<Option<Role>> = vec![None; self.features.len()];
        let mut names = FxHashMap::default();
        let top = self.features.first().map(|root| &root.groups[..]).unwrap_or_default();
        let top = top
            .iter()
            .filter(|group| group.kind == GroupKind::Mandatory)
            .flat_map(|group| group.members.iter().copied());
        let top: FxHashSet<FeatureId> = top.collect();
        let shared = self.shared_names();
        let own = |name: &str| match input_name(name) {
            shared_name if shared.contains(&shared_name) => name.to_owned(),
            name => name,
        };
        for (id, feature) in self.features() {
            let role = match roles[id.index()].take() {
                Some(role) => role,
                None if id == self.root() && feature.is_bare() => Role::Always,
                None if feature.kind != FeatureType::Boolean => Role::Typed(own(&feature.name)),
                None => match self.choice(feature).filter(|_| top.contains(&id)) {
                    Some((base, values)) => {
                        for (member, value) in &values {
                            roles[member.index()] = Some(Role::Value(base.clone(), value.clone()));
                        }
                        Role::Choice(base, values.into_iter().map(|(_, value)| value).collect())
                    }
                    None => Role::Input(own(&feature.name)),
                },
            };
            if let Role::Input(name) | Role::Choice(name, _) | Role::Typed(name) = &role
                && let Some(first) = names.insert(name.clone(), feature)
            {
                return Err(clash(name, first, feature));
            }
            roles[id.index()] = Some(role);
        }
        Ok(roles.into_iter().map(|role| role.unwrap_or(Role::Always)).collect())
    }

    /// The input names that several features would share; these features keep their original names.
    fn shared_names(&self) -> FxHashSet<String> {
        let mut once = FxHashSet::default();
        let names = self.features.iter().map(|feature| input_name(&feature.name));
        names.filter(|name| !once.insert(name.clone())).collect()
    }

    /// The input and the values that a feature represents, by its name and those of its
    /// alternatives.
    fn choice(&self, feature: &Feature) -> Option<(String, Vec<(FeatureId, Value)>)> {
        let base = feature.name.strip_suffix(" =")?;
        let [FeatureGroup { kind: GroupKind::Alternative, members }] = &feature.groups[..] else {
            return None;
        };
        let value = |&member: &FeatureId| {
            let feature = self.feature(member).filter(|feature| feature.groups.is_empty())?;
            let text = feature.name.strip_prefix(base)?.strip_prefix(" = ")?;
            Some((member, parsed(text)?.root().to_value()))
        };
        Some((input_name(base), members.iter().map(value).collect::<Option<_>>()?))
    }
}

fn clash(name: &str, first: &Feature, second: &Feature) -> Diagnostic {
    let message = format!(
        "the features `{}` and `{}` would both be the input `{name}`",
        first.name, second.name
    );
    let error =
        Diagnostic::error(Code::Duplicate, message).at(second.span).help("rename one of them");
    first
        .span
        .into_iter()
        .fold(error, |error, span: Span| error.label(span, "this is the other one"))
}

/// Parses YAML that is not from a file.
fn parsed(text: &str) -> Option<Document> {
    yaml::parse(FileId::DETACHED, text.into(), &Limits::default()).ok()
}

type OutEntries<'o> = Vec<(OutKey<'o>, Out<'o>)>;

struct ImportedModel<'m> {
    model: &'m FeatureModel,
    roles: Vec<Role>,
    constraints: Vec<Proposition>,
}

impl ImportedModel<'_> {
    /// Writes the inputs and constraints; with `is_template`, also a whole template with nodes.
    fn write(mut self, is_template: bool) -> String {
        // Lists and conditions are written on one line, in the style of this example.
        let style = parsed("[{ a: b }]");
        let style = style.as_ref().map(Document::root);
        let style = ListStyle { list: style, map: style.and_then(|list| list.items().next()) };
        let mut inputs = Vec::new();
        let mut selected = vec![false; self.roles.len()];
        for (id, feature) in self.model.features() {
            selected[id.index()] |= id == self.model.root();
            let always = selected[id.index()];
            let mandatory =
                feature.groups.iter().filter(|group| group.kind == GroupKind::Mandatory);
            mandatory
                .flat_map(|group| &group.members)
                .for_each(|member| selected[member.index()] |= always);
            inputs.extend(self.input(id, feature, always, &style));
        }
        if let Some(Role::Input(_)) = self.roles.first() {
            self.constraints.insert(0, Proposition::Feature(self.model.root()));
        }
        let own = std::mem::take(&mut self.constraints);
        let all =
            own.iter().chain(&self.model.constraints).map(|constraint| self.settled(constraint));
        let constraints = all.filter(|constraint| *constraint != Proposition::Constant(true));
        let constraints: Vec<_> =
            constraints.map(|constraint| (None, self.condition(&constraint, &style))).collect();
        let mut variability = Vec::new();
        if !inputs.is_empty() {
            variability.push(entry("inputs", block(inputs)));
        }
        if !constraints.is_empty() {
            variability
                .push(entry("constraints", Out::Seq { items: constraints.into(), like: None }));
        }
        let mut topology = vec![entry("variability", block(variability))];
        let mut template = Vec::new();
        if is_template {
            let nodes = self.model.features();
            let nodes = nodes.filter_map(|(id, feature)| self.node(id, feature, &style));
            topology.push(entry("node_templates", block(nodes.collect())));
            template.push(entry(TEMPLATE_KEY, Out::String("tosca_variability_1_0".into())));
        }
        template.push(entry("topology_template", block(topology)));
        write_yaml(&block(template))
    }

    /// The node for a feature, with the condition that the feature is selected.
    fn node<'o>(
        &self,
        id: FeatureId,
        feature: &Feature,
        style: &ListStyle<'o>,
    ) -> Option<(OutKey<'o>, Out<'o>)> {
        let (name, is_selected) = match self.roles.get(id.index())? {
            Role::Always | Role::Choice(..) => return None,
            Role::Typed(name) => (name, false),
            Role::Input(name) => (name, true),
            Role::Value(..) => (&feature.name, true),
        };
        let mut body = vec![entry("type", Out::String("tosca.nodes.Root".into()))];
        if is_selected {
            let selected = self.condition(&Proposition::Feature(id), style);
            body.push(entry("conditions", selected));
        }
        Some((OutKey::New(name.clone().into()), block(body)))
    }

    /// The declaration of an input. `always` means that the tree alone implies that the feature is
    /// selected in all configurations.
    fn input<'o>(
        &mut self,
        id: FeatureId,
        feature: &Feature,
        always: bool,
        style: &ListStyle<'o>,
    ) -> Option<(OutKey<'o>, Out<'o>)> {
        let (name, original, kind) = match &self.roles[id.index()] {
            Role::Always => {
                self.groups(id, feature, &mut Vec::new(), style);
                return None;
            }
            Role::Value(..) => return None,
            Role::Input(name) => (name.clone(), &*feature.name, Some("boolean")),
            Role::Choice(name, values) => (
                name.clone(),
                feature.name.trim_end_matches(" ="),
                feature.value_type.as_deref().or(type_of(values)),
            ),
            Role::Typed(name) => (
                name.clone(),
                &*feature.name,
                Some(feature.value_type.as_deref().unwrap_or(feature.kind.value_type())),
            ),
        };
        let mut body: OutEntries<'o> = Vec::new();
        body.extend(kind.map(|kind| entry("type", Out::String(kind.to_owned().into()))));
        let renamed = (name != original).then_some(original);
        let description = match (renamed, feature.description.as_deref()) {
            (Some(original), Some(text)) => Some(format!("{original}: {text}")),
            (original, text) => original.or(text).map(str::to_owned),
        };
        body.extend(description.map(|text| entry("description", Out::String(text.into()))));
        if !feature.attributes.is_empty() {
            let said = feature.attributes.iter();
            let said =
                said.map(|(name, value)| (OutKey::New(name.clone().into()), flow(value, style)));
            body.push(entry("metadata", Out::Map { entries: said.collect(), like: style.map }));
        }
        match &self.roles[id.index()] {
            Role::Input(_) => {
                let default =
                    feature.default.clone().filter(|default| matches!(default, Value::Bool(_)));
                body.push(entry("default", Out::Value(default.unwrap_or(always.into()))));
                self.groups(id, feature, &mut body, style);
            }
            Role::Choice(_, values) => {
                body.extend(
                    feature.default.clone().map(|default| entry("default", Out::Value(default))),
                );
                let clauses = vec![(
                    None,
                    block(vec![entry("valid_values", flow(&values.clone().into(), style))]),
                )];
                body.push(entry("constraints", Out::Seq { items: clauses.into(), like: None }));
            }
            _ => {
                body.extend(
                    feature.default.clone().map(|default| entry("default", Out::Value(default))),
                );
                let clauses: Vec<_> =
                    feature.clauses.iter().map(|one| (None, clause(one, style))).collect();
                if !clauses.is_empty() {
                    body.push(entry("constraints", Out::Seq { items: clauses.into(), like: None }));
                }
            }
        }
        Some((OutKey::New(name.into()), block(body)))
    }

    /// Writes the groups of a feature as keywords of its input. They become constraints if the
    /// keyword is already used or the feature is not an input.
    fn groups<'o>(
        &mut self,
        id: FeatureId,
        feature: &Feature,
        body: &mut OutEntries<'o>,
        style: &ListStyle<'o>,
    ) {
        let is_input = matches!(self.roles[id.index()], Role::Input(_));
        let (mut mandatory, mut optional) = (Vec::new(), Vec::new());
        let (mut choices, mut alternatives) = (Vec::new(), Vec::new());
        for group in &feature.groups {
            let members = group
                .members
                .iter()
                .copied()
                .filter(|member| matches!(self.roles[member.index()], Role::Input(_)));
            let members: Vec<FeatureId> = members.collect();
            let list = match group.kind {
                GroupKind::Mandatory => &mut mandatory,
                _ => &mut optional,
            };
            list.extend(members.iter().copied());
            let propositions =
                members.iter().map(|&member| Proposition::Feature(member)).collect::<Vec<_>>();
            let parent = || Proposition::Feature(id);
            match group.kind {
                GroupKind::Mandatory if !is_input => self.constraints.extend(propositions),
                GroupKind::Or if is_input && choices.is_empty() => choices = members,
                GroupKind::Alternative if is_input && alternatives.is_empty() => {
                    alternatives = members
                }
                GroupKind::Or => {
                    self.constraints.push(parent().implies(Proposition::or(propositions)))
                }
                GroupKind::Alternative => {
                    self.constraints.push(parent().implies(Proposition::exactly_one(propositions)))
                }
                GroupKind::Mandatory | GroupKind::Optional => {}
            }
        }
        let keywords = [
            ("mandatory", mandatory),
            ("optional", optional),
            ("choices", choices),
            ("alternatives", alternatives),
        ];
        for (keyword, members) in keywords.into_iter().filter(|(_, members)| !members.is_empty()) {
            let names = members.iter().filter_map(|member| match &self.roles[member.index()] {
                Role::Input(name) => Some((None, Out::String(name.clone().into()))),
                _ => None,
            });
            body.push(entry(keyword, Out::Seq { items: names.collect(), like: style.list }));
        }
    }

    /// A proposition with the features that are always selected replaced by true.
    fn settled(&self, proposition: &Proposition) -> Proposition {
        proposition.folded(&|id| match self.roles.get(id.index()) {
            Some(Role::Input(_) | Role::Value(..)) => Proposition::Feature(id),
            _ => Proposition::Constant(true),
        })
    }

    fn condition<'o>(&self, proposition: &Proposition, style: &ListStyle<'o>) -> Out<'o> {
        let all = |operands: &[Proposition]| {
            let items =
                operands.iter().map(|operand| (None, self.condition(operand, style))).collect();
            Out::Seq { items, like: style.list }
        };
        let operator = |keyword, operand| Out::Map {
            entries: vec![entry(keyword, operand)].into(),
            like: style.map,
        };
        match proposition {
            Proposition::Constant(value) => Out::Value((*value).into()),
            Proposition::Feature(id) => match self.roles.get(id.index()) {
                Some(Role::Input(name)) => {
                    operator("variability_input", Out::String(name.clone().into()))
                }
                Some(Role::Value(name, value)) => {
                    let input = operator("variability_input", Out::String(name.clone().into()));
                    operator(
                        "equal",
                        Out::Seq {
                            items: vec![(None, input), (None, Out::Value(value.clone()))].into(),
                            like: style.list,
                        },
                    )
                }
                _ => Out::Value(true.into()),
            },
            Proposition::Not(inner) => operator("not", self.condition(inner, style)),
            Proposition::And(operands) => operator("and", all(operands)),
            Proposition::Or(operands) => operator("or", all(operands)),
            Proposition::AtMostOne(operands) => operator("amo", all(operands)),
            Proposition::Implies(pair) => operator("implies", all(&pair[..])),
            Proposition::Iff(pair) => operator("not", operator("xor", all(&pair[..]))),
        }
    }
}

/// Nodes whose style is used for lists and maps.
struct ListStyle<'o> {
    list: Option<Node<'o>>,
    map: Option<Node<'o>>,
}

fn block<'o>(entries: OutEntries<'o>) -> Out<'o> {
    Out::Map { entries: entries.into(), like: None }
}

fn entry<'o>(key: &'static str, value: Out<'o>) -> (OutKey<'o>, Out<'o>) {
    (OutKey::New(key.into()), value)
}

/// A value on one line.
fn flow<'o>(value: &Value, style: &ListStyle<'o>) -> Out<'o> {
    match value {
        Value::List(items) => Out::Seq {
            items: items.iter().map(|item| (None, flow(item, style))).collect(),
            like: style.list,
        },
        other => Out::Value(other.clone()),
    }
}

/// A constraint clause with its operand on one line.
fn clause<'o>(clause: &Value, style: &ListStyle<'o>) -> Out<'o> {
    match clause {
        Value::Map(entries) => block(
            entries
                .iter()
                .map(|(key, operand)| (OutKey::New(key.to_string().into()), flow(operand, style)))
                .collect(),
        ),
        other => Out::Value(other.clone()),
    }
}

/// The type of all values, if they have the same.
fn type_of(values: &[Value]) -> Option<&'static str> {
    let all = |is: fn(&Value) -> bool| values.iter().all(is);
    if all(|value| matches!(value, Value::String(_))) {
        Some("string")
    } else if all(|value| matches!(value, Value::Number(number) if number.as_int().is_some())) {
        Some("integer")
    } else if all(|value| matches!(value, Value::Number(_))) {
        Some("float")
    } else {
        None
    }
}
