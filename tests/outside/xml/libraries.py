#!/usr/bin/env python3
"""Converts random libraries of TOSCA 1.0 to YAML and back: what differs then has to be in the reports.

usage: libraries.py CUVEE [COUNT] [SEED]    (needs lxml)

COUNT libraries over several namespaces are made, each as one document (which becomes an archive, or one document again), as an
archive with a document a namespace, or as a repository with a file a component, and one repository in Winery's style with
several hundred files. Some names mean something else in YAML. What is valid has to be
valid in YAML, and in XML again. lxml reads what there was and what came back into components by kind, namespace and name, each
as values by paths; a path whose value differs has to lie under the path of an entry in a report of the two conversions."""
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from lxml import etree

TOSCA = "http://docs.oasis-open.org/tosca/ns/2011/12"
WINERY = "http://www.opentosca.org/winery/extensions/tosca/2013/02/12"
XS = "http://www.w3.org/2001/XMLSchema"
LIFECYCLE = "http://opentosca.org/interfaces/lifecycle"
COMPONENTS = ["ServiceTemplate", "NodeType", "NodeTypeImplementation", "RelationshipType", "RelationshipTypeImplementation",
              "RequirementType", "CapabilityType", "ArtifactType", "ArtifactTemplate", "PolicyType", "PolicyTemplate"]
# What attributes name: a component of the kind, or of one of the kinds.
NAMES = {"requirementType": "RequirementType", "capabilityType": "CapabilityType", "requiredCapabilityType": "CapabilityType",
         "artifactType": "ArtifactType", "artifactRef": "ArtifactTemplate", "policyType": "PolicyType", "policyRef": "PolicyTemplate",
         "nodeType": "NodeType", "relationshipType": "RelationshipType", "substitutableNodeType": "NodeType", "element": None,
         "nodeTypeImplementationRef": "NodeTypeImplementation", "relationshipTypeImplementationRef": "RelationshipTypeImplementation"}
TYPE_OF = {"NodeTemplate": "NodeType", "RelationshipTemplate": "RelationshipType", "Requirement": "RequirementType",
           "Capability": "CapabilityType", "ArtifactTemplate": "ArtifactType", "PolicyTemplate": "PolicyType"}
DEFAULTS = {("lowerBound", "1"), ("upperBound", "1"), ("minInstances", "1"), ("maxInstances", "1"), ("abstract", "no"),
            ("final", "no"), ("required", "yes"), ("importType", TOSCA)}
# Names that mean something in YAML, or that functions, activities or metadata there could not tell from something else.
STRANGE = {"requirement": ["dependency", "feature", "host", "my need"], "capability": ["feature", "dependency", "host", "a, b"],
           "operation": ["inputs", "operations", "type", "a.b", "create"], "interface": ["Standard", "urn:x:Configure", "inputs"],
           "input": ["inputs", "type", "a b"], "output": ["state", "tosca_id"], "artifact": ["my file", "disk", "by0", "by1"],
           "property": ["state", "name", "get_input", "credential"], "tag": ["abstract", "name", "interface.run", "tag.x", "definitions_id"],
           "policy": ["SELF", "a b"]}
VALUES = [("string", "Tea: 1"), ("int", "-7"), ("boolean", "true"), ("double", "1.5"), ("anyURI", "urn:a"), ("positiveInteger", "8")]


def tag(name, attributes, *content):
    """An element as text; attributes and content that are nothing are left out."""
    said = "".join(f' {key}="{value}"' for key, value in attributes.items() if value is not None)
    content = "".join(it for it in content if it)
    return f"<{name}{said}>{content}</{name}>" if content else f"<{name}{said}/>"


def as_id(name):
    return re.sub(r"[^\w-]", "_", name)


def all_in(name, content):
    return tag(name, {}, *content) if content else ""


class Library:
    """Random components without errors; `several` says how many of each kind there are at most."""

    def __init__(self, rng, shape, several):
        self.rng, self.several = rng, several
        # Alone is a document that is converted to one document, and back to one.
        self.is_alone, self.shape = shape == "alone", "document" if shape == "alone" else shape
        base = "urn:example:" if self.shape == "document" else "http://example.org/lib/"
        spaces = [f"{base}{name}" for name in ["main", "types", "more", "needs", "files"][: rng.randint(2, 5)]]
        self.prefixes = {space: f"n{at}" for at, space in enumerate(spaces)}
        kept = {"ServiceTemplate", "ArtifactTemplate", "PolicyTemplate"} if self.shape == "document" else set()
        self.space = {kind: spaces[0] if kind in kept else rng.choice(spaces) for kind in COMPONENTS}
        self.main = spaces[0]
        self.components, self.parents, self.schemas, self.files = [], {}, {}, {}
        self.fields, self.known = {}, {}
        self.final, self.abstract, self.limited = set(), set(), set()
        self.wanted, self.features, self.interfaces = {}, {}, {}
        self.of_artifact, self.of_template = {}, {}
        self.make()

    def maybe(self, text, chance=.5):
        return text if self.rng.random() < chance else ""

    def named(self, kind, usual, chance=.25):
        """A name: the usual one, or a strange one."""
        return self.rng.choice(STRANGE[kind]) if self.rng.random() < chance else usual

    def name(self, kind, local):
        return f"{self.prefixes[self.space[kind]]}:{local}"

    def some(self, kind, least=1):
        """The names of new components of a kind, each made when those before it are known."""
        letter = {"RequirementType": "QT"}.get(kind, "".join(c for c in kind if c.isupper()))
        for at in range(self.rng.randint(least, max(least, self.several))):
            yield f"{letter}{at}"
            self.known.setdefault(kind, []).append(f"{letter}{at}")

    def add(self, kind, local, attributes, *content):
        said = {"id" if kind.endswith("Template") else "name": local, **attributes}
        self.components.append((kind, self.space[kind], local, said, "".join(it for it in content if it)))

    def derived(self, kind, local, chance=.4):
        """A parent among the known types, and the element that says so."""
        known = [it for it in self.known.get(kind, []) if self.rng.random() < chance and it not in self.final]
        self.parents[kind, local] = known[0] if known else None
        return tag("DerivedFrom", {"typeRef": self.name(kind, known[0])}) if known else ""

    def chain(self, kind, local):
        while local:
            yield local
            local = self.parents[kind, local]

    def properties(self, kind, local):
        """The definition of the properties of a type: elements of a schema, keys of Winery, or nothing."""
        if self.rng.random() < .4:
            return ""
        before = next((self.fields[kind, of] for of in self.chain(kind, local) if (kind, of) in self.fields), None)
        is_keyed = before[3] if before else self.rng.random() < (.8 if self.shape == "repository" else .3)
        space = self.rng.choice(list(self.prefixes)) if is_keyed else self.space[kind]
        root = self.rng.choice([local, f"{local}Properties"])
        letter = f"p{len(list(self.chain(kind, local)))}"
        parts = [(f"{letter}{at}", *self.rng.choice(VALUES)) for at in range(self.rng.randint(1, 3))]
        if letter == "p1":
            parts[0] = (self.named("property", parts[0][0]), *parts[0][1:])
        occurs = self.rng.choice([{}, {"minOccurs": 0}])
        if before and not is_keyed:
            # The schema of a derived type has what that of its parent has, and more.
            parts, occurs = before[2] + parts, before[4]
        self.fields[kind, local] = (space, root, parts, is_keyed, occurs)
        keys = [tag("w:properties", {}, f"<w:key>{name}</w:key><w:type>xsd:{of}</w:type>", "" if occurs or is_keyed else "<w:required>true</w:required>")
                for name, of, _ in parts]
        keys = tag("w:PropertiesDefinition", {"elementname": root, "namespace": space}, *keys)
        if is_keyed:
            return keys
        elements = [tag("xs:element", {"name": name, "type": f"xs:{of}", **occurs}) for name, of, _ in parts]
        element = tag("xs:element", {"name": root}, tag("xs:complexType", {}, all_in("xs:sequence", elements)))
        self.schemas.setdefault((space, local), []).append(element)
        return tag("PropertiesDefinition", {"element": f"{self.prefixes[space]}:{root}"}) + ("" if before else self.maybe(keys, .2))

    def values(self, kind, local, chance=.8):
        for of in self.chain(kind, local):
            if (kind, of) in self.fields and self.rng.random() > chance:
                return ""
            if (kind, of) in self.fields:
                space, root, parts, *_ = self.fields[kind, of]
                prefix = self.prefixes[space]
                parts = [tag(f"{prefix}:{name}", {}, value) for name, _, value in parts if self.rng.random() < .8]
                return tag("Properties", {}, tag(f"{prefix}:{root}", {}, *parts))
        return ""

    def common(self, kind, local):
        about = self.maybe("<documentation>What it &lt;is&gt;.</documentation>", .2)
        tags = self.maybe(all_in("Tags", [tag("Tag", {"name": self.named("tag", "since"), "value": "1.0"})]), .2)
        return about + tags + self.derived(kind, local) + self.properties(kind, local)

    def modality(self, local, abstract=True):
        said = self.rng.choice([{}, {}, {}, {"abstract": "yes"} if abstract else {}, {"final": "yes"}])
        if "final" in said:
            self.final.add(local)
        if "abstract" in said:
            self.abstract.add(local)
        return said

    def make(self):
        for kind in ["CapabilityType", "ArtifactType"]:
            for local in self.some(kind):
                self.add(kind, local, {}, self.common(kind, local))
        for local in self.some("RequirementType"):
            self.requirement_type(local)
        for local in self.some("NodeType", 2):
            self.node_type(local)
        for local in self.some("RelationshipType"):
            self.relationship_type(local)
        for local in self.some("PolicyType"):
            applies = [tag("NodeTypeReference", {"typeRef": self.name("NodeType", "NT0")})]
            about = {"policyLanguage": self.rng.choice([None, "urn:language"])} if not self.known.get("PolicyType") else {}
            self.add("PolicyType", local, about, self.common("PolicyType", local), self.maybe(all_in("AppliesTo", applies), .2) if local == "PT0" else "")
        for local in self.some("ArtifactTemplate", 2):
            self.artifact_template(local)
        for local in self.some("PolicyTemplate"):
            of = self.rng.choice(self.known["PolicyType"])
            self.add("PolicyTemplate", local, {"type": self.name("PolicyType", of)}, self.values("PolicyType", of))
            self.of_template[local] = of
        for kind in ["NodeType", "RelationshipType"]:
            for local in self.known[kind]:
                self.implementation(kind, local)
        for at in range(1 if self.shape == "document" else self.rng.randint(1, 2 + self.several // 20)):
            self.service(f"S{at}")

    def requirement_type(self, local):
        parent = self.derived("RequirementType", local)
        below = self.parents["RequirementType", local]
        wanted = self.wanted.get(below) or self.rng.choice(self.known["CapabilityType"])
        said = {} if below and self.rng.random() < .4 else {"requiredCapabilityType": self.name("CapabilityType", wanted)}
        self.wanted[local] = wanted
        self.add("RequirementType", local, said, parent, self.properties("RequirementType", local) if self.rng.random() < .2 else "")

    def node_type(self, local):
        modality = self.modality(local)
        shared = self.common("NodeType", local)
        requirements, capabilities = {}, {}
        for at in range(self.rng.randint(0, 2)):
            requirements[self.named("requirement", f"needs{at}")] = self.rng.choice(self.known["RequirementType"])
        for at in range(self.rng.randint(0, 2)):
            capabilities[self.named("capability", f"gives{at}")] = self.rng.choice(self.known["CapabilityType"])
        parent = self.parents["NodeType", local]
        if parent:
            # What is inherited may be narrowed only.
            (of_parent, also), inherited = self.features[parent], list(requirements)
            for name in inherited:
                narrower = [it for it in self.known["RequirementType"] if of_parent.get(name, it) in self.chain("RequirementType", it)]
                requirements[name] = self.rng.choice(narrower)
            for name in list(capabilities):
                narrower = [it for it in self.known["CapabilityType"] if also.get(name, it) in self.chain("CapabilityType", it)]
                capabilities[name] = self.rng.choice(narrower)
        own = [tag("RequirementDefinition", {"name": name, "requirementType": self.name("RequirementType", of), "lowerBound": self.rng.choice([None, "0", "0"]),
                                             "upperBound": self.rng.choice([None, "unbounded"])}) for name, of in requirements.items()]
        gives = [tag("CapabilityDefinition", {"name": name, "capabilityType": self.name("CapabilityType", of),
                                              "upperBound": self.rng.choice([None, "unbounded"])}) for name, of in capabilities.items()]
        before = self.features[parent] if parent else ({}, {})
        self.features[local] = ({**before[0], **requirements}, {**before[1], **capabilities})
        states = self.maybe(all_in("InstanceStates", [tag("InstanceState", {"state": f"urn:{it}"}) for it in ["up", "down"]]), .2)
        self.add("NodeType", local, modality, shared, all_in("RequirementDefinitions", own), all_in("CapabilityDefinitions", gives), states,
                 self.behaviour("NodeType", local, "Interfaces"))

    def behaviour(self, kind, local, container):
        """Interfaces, whose operations take and give parameters."""
        written, known = [], self.interfaces.setdefault((kind, local), [])
        for uri in self.rng.sample(["run", "http://example.org/run", LIFECYCLE, "urn:x:stop", self.named("interface", "halt")], self.rng.choice([0, 0, 1, 2])):
            names = ["install", "stop"] if uri == LIFECYCLE else [self.named("operation", "begin"), "end"]
            operations = []
            for name in names[: self.rng.randint(1, 2)]:
                takes = [tag("InputParameter", {"name": self.named("input", "in0") if at == 0 else f"in{at}", "type": self.rng.choice(["xs:string", "xsd:String", "xs:int"]),
                                                "required": self.rng.choice([None, "no"])}) for at in range(self.rng.choice([0, 0, 1, 2]))]
                gives = [tag("OutputParameter", {"name": self.named("output", f"out{at}"), "type": "xs:string"}) for at in range(self.rng.choice([0, 0, 0, 1]))]
                operations.append(tag("Operation", {"name": name}, all_in("InputParameters", takes), all_in("OutputParameters", gives)))
                known.append((uri, name))
            written.append(tag("Interface", {"name": uri}, *operations))
        return all_in(container, written)

    def relationship_type(self, local):
        said = self.modality(local, False)
        shared = self.common("RelationshipType", local)
        source = self.behaviour("RelationshipType", local, "SourceInterfaces")
        target = self.maybe(tag("TargetInterfaces", {}, tag("Interface", {"name": "urn:at-target"}, tag("Operation", {"name": "join"}))), .3)
        ends, parent = "", self.parents["RelationshipType", local]
        if not parent and self.rng.random() < .3:
            ends = tag("ValidTarget", {"typeRef": self.name("CapabilityType", "CT0")})
            self.limited.add(local)
        elif parent in self.limited:
            self.limited.add(local)
        self.add("RelationshipType", local, said, shared, source, target, ends)

    def artifact_template(self, local):
        of = self.rng.choice(self.known["ArtifactType"])
        self.of_artifact[local] = of
        references = []
        for at in range(self.rng.choice([1, 1, 1, 2])):
            space, directory = self.space["ArtifactTemplate"], "files"
            if self.shape == "repository":
                directory = f"artifacttemplates/{quote(space, safe='')}/{local}/files"
            self.files[f"{directory}/{local}-{at}.sh"] = "true\n"
            references.append(tag("ArtifactReference", {"reference": f"{quote(directory)}/{local}-{at}.sh"}))
        name = {"name": self.maybe(f"The {local}", .1) or None}
        self.add("ArtifactTemplate", local, {**name, "type": self.name("ArtifactType", of)}, self.values("ArtifactType", of),
                 all_in("ArtifactReferences", references))

    def artifact(self, element, attributes):
        template = self.rng.choice(self.known["ArtifactTemplate"])
        of = self.name("ArtifactType", self.of_artifact[template])
        return tag(element, {**attributes, "artifactType": of, "artifactRef": self.name("ArtifactTemplate", template)})

    def implementation(self, kind, local):
        if self.rng.random() < .3:
            return
        made = f"{kind}Implementation"
        own = self.interfaces.get((kind, local), [])
        # Where several operations are implemented, the names of artifacts say which are one.
        unnamed = len(own) == 1 and self.rng.random() < .3
        by = [self.artifact("ImplementationArtifact", {"name": None if unnamed else f"by{at}", "interfaceName": uri, "operationName": name})
              for at, (uri, name) in enumerate(own) if self.rng.random() < .7]
        parent, base = "", None
        if self.rng.random() < .15:
            parent = tag("DerivedFrom", {f"{made[0].lower()}{made[1:]}Ref": self.name(made, f"{local}-Base")})
            base = all_in("ImplementationArtifacts", by[:1])
            by = by[1:]
        deployed = []
        if kind == "NodeType" and self.rng.random() < .4:
            deployed = [self.artifact("DeploymentArtifact", {"name": self.named("artifact", "disk")})]
        features = self.maybe(all_in("RequiredContainerFeatures", [tag("RequiredContainerFeature", {"feature": "urn:engine"})]), .1)
        attribute = kind[0].lower() + kind[1:]
        if parent:
            self.add(made, f"{local}-Base", {attribute: self.name(kind, local)}, base)
        self.add(made, f"{local}-By", {attribute: self.name(kind, local)}, parent, features, all_in("ImplementationArtifacts", by),
                 all_in("DeploymentArtifacts", deployed))

    def policy(self, name):
        template = self.rng.choice(self.known["PolicyTemplate"])
        of = self.of_template[template]
        return tag("Policy", {"name": name, "policyType": self.name("PolicyType", of), "policyRef": self.name("PolicyTemplate", template)})

    def service(self, local):
        types = [it for it in self.known["NodeType"] if it not in self.abstract]
        if not types:
            return
        nodes, ends, relationships = [], [], []
        for at in range(self.rng.randint(1, 3 + self.several // 10)):
            id, of = f"{local}n{at}", self.rng.choice(types)
            if at == 0 and self.rng.random() < .1:
                id = {"S0": "SELF", "S1": "HOST"}.get(local, id)
            needs, gives = self.features[of]
            requirements = [(f"{id}_{as_id(name)}", name, kind) for name, kind in needs.items() if self.rng.random() < .7]
            capabilities = [(f"{id}-{as_id(name)}", name, kind) for name, kind in gives.items() if self.rng.random() < .7]
            written = [tag("Requirement", {"id": one, "name": name, "type": self.name("RequirementType", kind)}) for one, name, kind in requirements]
            shown = [tag("Capability", {"id": one, "name": name, "type": self.name("CapabilityType", kind)},
                         self.values("CapabilityType", kind, .3)) for one, name, kind in capabilities]
            policies = [self.policy(self.named("policy", "kept"))] if "NT0" in self.chain("NodeType", of) and self.rng.random() < .2 and "PolicyTemplate" in self.known else []
            deployed = [self.artifact("DeploymentArtifact", {"name": self.named("artifact", "extra")})] if self.rng.random() < .3 else []
            about = self.rng.choice([{}, {}, {"name": "Some: node"}, {"minInstances": "0", "maxInstances": "unbounded"}])
            nodes.append(tag("NodeTemplate", {"id": id, "type": self.name("NodeType", of), **about}, self.values("NodeType", of),
                             all_in("Requirements", written), all_in("Capabilities", shown), all_in("Policies", policies),
                             all_in("DeploymentArtifacts", deployed)))
            link = self.link(id, requirements, ends)
            relationships += [link] if link else []
            ends.append((id, capabilities))
        shown, stands = self.boundary(nodes, ends)
        self.add("ServiceTemplate", local, stands, shown, tag("TopologyTemplate", {}, *nodes, *relationships), self.plans(local))

    def boundary(self, nodes, ends):
        """What a service template shows of its first node, whose type it stands for."""
        if self.rng.random() < .6:
            return "", {}
        of = re.search(r'type="([^"]*)"', nodes[0])[1]
        written = re.findall(r'<Requirement id="([^"]*)" name="([^"]*)"', nodes[0])
        needs = [tag("Requirement", {"name": name, "ref": id}) for id, name in written]
        written = re.findall(r'<Capability id="([^"]*)" name="([^"]*)"', nodes[0])
        gives = [tag("Capability", {"name": name, "ref": id}) for id, name in written]
        policies = [self.policy("whole")] if self.rng.random() < .3 else []
        shown = all_in("Requirements", needs) + all_in("Capabilities", gives) + all_in("Policies", policies)
        return (tag("BoundaryDefinitions", {}, shown), {"substitutableNodeType": of}) if shown else ("", {})

    def link(self, id, requirements, ends):
        """A relationship from a new node to one before it: from its requirement to a capability, or from node to node."""
        free = [it for it in self.known["RelationshipType"] if it not in self.limited]
        if not ends or not free or self.rng.random() < .3:
            return None
        of = self.rng.choice(free)
        fitting = [(one, end) for one, _, kind in requirements for _, capabilities in ends for end, _, given in capabilities
                   if self.wanted[kind] in self.chain("CapabilityType", given)]
        source, target = self.rng.choice(fitting) if fitting and self.rng.random() < .7 else (id, self.rng.choice(ends)[0])
        # A capability may serve one requirement only.
        for _, capabilities in ends:
            capabilities[:] = [it for it in capabilities if it[0] != target]
        said = {"id": f"{id}-by", "type": self.name("RelationshipType", of)}
        return tag("RelationshipTemplate", said, self.values("RelationshipType", of), tag("SourceElement", {"ref": source}), tag("TargetElement", {"ref": target}))

    def plans(self, local):
        if self.rng.random() < .7:
            return ""
        self.files[f"plans/{local}.bpmn"] = "<process/>\n"
        plan = {"id": f"{local}-build", "planType": f"{TOSCA}/PlanTypes/BuildPlan", "planLanguage": "http://www.omg.org/spec/BPMN/20100524/MODEL"}
        takes = all_in("InputParameters", [tag("InputParameter", {"name": "who", "type": "xs:string"})])
        return all_in("Plans", [tag("Plan", plan, takes, tag("PlanModelReference", {"reference": f"plans/{local}.bpmn"}))])

    def write(self, root):
        """Writes the documents below a directory, and says what is to be named."""
        for name, text in self.files.items():
            put(root / name, text)
        if self.shape == "repository":
            self.repository(root)
            return root
        documents = [self.main] if self.shape == "document" else list(self.prefixes)
        for space in documents:
            of = [it for it in self.components if self.shape == "document" or it[1] == space]
            schemas = "".join(self.schema(of, all_of) for of, all_of in self.by_space(space if self.shape == "archive" else None).items())
            imports = [tag("Import", {"namespace": other, "location": f"{self.prefixes[other]}.tosca", "importType": TOSCA})
                       for other in documents if other != space]
            if of:
                text = self.document(f"defs-{self.prefixes[space]}", space, "".join(imports) + all_in("Types", [schemas]), of)
                put(root / "Definitions" / f"{self.prefixes[space]}.tosca", text)
            else:
                put(root / "Definitions" / f"{self.prefixes[space]}.tosca", self.document(self.prefixes[space], space, "", [("CapabilityType", space, "Unused", {"name": "Unused"}, "")]))
        if self.shape == "document":
            (root / "Definitions/n0.tosca").rename(root / "lib.tosca")
            return root / "lib.tosca"
        put(root / "TOSCA-Metadata/TOSCA.meta", "TOSCA-Meta-File-Version: 1.0\nCSAR-Version: 1.0\nCreated-By: me\n")
        return root

    def by_space(self, only):
        spaces = {}
        for (space, _), elements in self.schemas.items():
            if only in (None, space):
                spaces.setdefault(space, []).extend(elements)
        return spaces

    def schema(self, space, elements):
        return tag("xs:schema", {"targetNamespace": space, "elementFormDefault": "qualified"}, *elements)

    def document(self, id, space, head, components):
        declared = {f"xmlns:{prefix}": of for of, prefix in self.prefixes.items()}
        root = {"xmlns": TOSCA, "xmlns:xs": XS, "xmlns:xsd": XS, "xmlns:w": WINERY, **declared, "id": id, "targetNamespace": space}
        written = []
        for kind, of, _, said, content in components:
            own = {"targetNamespace": of} if of != space else {}
            written.append(tag(kind, {**said, **own}, content))
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + tag("Definitions", root, head, *written) + "\n"

    def path(self, kind, space, local):
        return f"{kind.lower()}s/{quote(space, safe='')}/{local}/{kind}.tosca"

    def repository(self, root):
        """A file a component, which imports by relative paths what it uses."""
        kinds = {(kind, space, local): self.path(kind, space, local) for kind, space, local, _, _ in self.components}
        for component in self.components:
            kind, space, local, said, content = component
            imports, path = {}, self.path(kind, space, local)
            for prefix, name in re.findall(r'"(n\d):([\w-]+)"', tag(kind, said, content)):
                of = next(it for it, known in self.prefixes.items() if known == prefix)
                for key in kinds:
                    if key[1:] == (of, name) and key != component[:3]:
                        imports[kinds[key]] = of
            head = [tag("Import", {"namespace": of, "location": "../../../" + quote(to), "importType": TOSCA}) for to, of in imports.items()]
            for (of, owner), elements in self.schemas.items():
                if owner == local and f'"{self.prefixes[of]}:' in content and "PropertiesDefinition element" in content:
                    file = f"imports/{quote(XS, safe='')}/{quote(of, safe='')}/{local}.xsd"
                    put(root / file, f'<xs:schema xmlns:xs="{XS}" targetNamespace="{of}" elementFormDefault="qualified">{"".join(elements)}</xs:schema>\n')
                    head.append(tag("Import", {"namespace": of, "location": "../../../" + quote(file), "importType": XS}))
            put(root / path, self.document(f"winery-defs-for_{self.prefixes[space]}-{local}", space, "".join(head), [component]))


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class Reading:
    """What lxml reads in documents: components by kind, namespace and name, each as values by paths."""

    def __init__(self, root):
        files = [root] if root.is_file() else sorted(it for it in root.rglob("*.tosca"))
        self.components, self.elements, self.files = {}, {}, {}
        schemas = list(root.rglob("*.xsd")) if root.is_dir() else []
        documents = [(path, etree.parse(path).getroot()) for path in files]
        for document in [root for _, root in documents] + [etree.parse(path).getroot() for path in schemas]:
            for schema in document.iter(f"{{{XS}}}schema"):
                space = schema.get("targetNamespace") or document.get("targetNamespace")
                for element in schema.findall(f"{{{XS}}}element") + schema.findall(f"{{{XS}}}complexType"):
                    self.elements[etree.QName(element).localname, space, element.get("name")] = (element, schema)
        for path, document in documents:
            for component in document:
                kind = etree.QName(component).localname if isinstance(component.tag, str) else None
                if kind in COMPONENTS:
                    space = component.get("targetNamespace") or document.get("targetNamespace")
                    key = (kind, space, component.get("id") or component.get("name"))
                    self.components[key] = component
                    self.files[key] = path

    def expanded(self, element, name):
        prefix, _, local = name.rpartition(":")
        return f"{{{element.nsmap.get(prefix or None)}}}{local}"

    def references(self, component):
        """What a component names."""
        for element in component.iter():
            local = etree.QName(element).localname if isinstance(element.tag, str) else ""
            for name, value in element.attrib.items():
                kinds = [NAMES[name]] if NAMES.get(name) else [TYPE_OF[local]] if name == "type" and local in TYPE_OF else []
                if name == "typeRef":
                    own = etree.QName(component).localname
                    kinds = [own] if local == "DerivedFrom" else ["NodeType", "CapabilityType", "RequirementType"]
                space, _, of = self.expanded(element, value)[1:].rpartition("}")
                yield from ((kind, space, of) for kind in kinds)

    def reached(self, service):
        """A service template and all that it needs, with what implements its types."""
        open_, found = [service], set()
        implementations = {}
        for key, component in self.components.items():
            if key[0].endswith("Implementation"):
                for of in self.references(component):
                    if of[0] + "Implementation" == key[0]:
                        implementations.setdefault(of, []).append(key)
        while open_:
            key = open_.pop()
            if key not in found and key in self.components:
                found.add(key)
                open_ += list(self.references(self.components[key])) + implementations.get(key, [])
        return found

    def values(self, key):
        """The values of a component by their paths, without ones that hold anyway."""
        values = {}
        self.collect(self.components[key], f"{key[0]}[{key[2]}]", values)
        return values

    def collect(self, element, path, values):
        space, local = etree.QName(element).namespace, etree.QName(element).localname
        if local == "PropertiesDefinition":
            return self.definition(element, path, values)
        own = space == TOSCA
        for name, value in element.attrib.items():
            if name in ("targetNamespace", "id") or (name, value) in DEFAULTS:
                continue
            is_name = own and (name in NAMES or name == "typeRef" or name == "type" and local in TYPE_OF)
            values[f"{path}/@{name}"] = self.expanded(element, value) if is_name else value
        children = [it for it in element if isinstance(it.tag, str)]
        if not children and (element.text or "").strip():
            values[path] = (None if own else space, element.text.strip())
        elif not children and not element.attrib:
            values[path] = (None if own else space, "")
        seen = Counter()
        for child in children:
            name = child.get("id") or child.get("name")
            step = etree.QName(child).localname + (f"[{name}]" if name else "")
            if child.get("operationName"):
                # An artifact that implements an operation is known by that, whatever its name.
                step = f"{etree.QName(child).localname}({child.get('interfaceName')} {child.get('operationName')})"
            seen[step] += etree.QName(child).localname != "PropertiesDefinition"
            self.collect(child, f"{path}/{step}" + (f"#{seen[step]}" if seen[step] > 1 else ""), values)

    def definition(self, element, path, values):
        """The properties of a type, whether a schema says them or keys of Winery."""
        if etree.QName(element).namespace == WINERY:
            root = f"{{{element.get('namespace')}}}{element.get('elementname')}"
            values[f"{path}/@keys"] = root
            for keys in element:
                parts = {etree.QName(it).localname: it.text for it in keys}
                values[f"{path}/{parts.pop('key')}/key"] = str(sorted(parts.items()))
            return
        name = self.expanded(element, element.get("element"))
        values[f"{path}/@element"] = name
        space, _, local = name[1:].rpartition("}")
        found = self.elements.get(("element", space, local))
        values.update({f"{path}/{name}": it for name, it in self.parts(*found)} if found else {path: "no schema"})

    def parts(self, element, schema):
        of = element.get("type")
        if of and not of.startswith("xs:"):
            space, _, local = self.expanded(element, of)[1:].rpartition("}")
            element, schema = self.elements["complexType", space, local]
        for extension in element.iter(f"{{{XS}}}extension"):
            space, _, local = self.expanded(extension, extension.get("base"))[1:].rpartition("}")
            yield from self.parts(*self.elements["complexType", space, local])
        for part in element.iter(f"{{{XS}}}element", f"{{{XS}}}attribute"):
            if part is not element:
                said = {key: value for key, value in part.attrib.items() if key in ("type", "default", "maxOccurs", "minOccurs")}
                yield part.get("name"), str((schema.get("targetNamespace"), schema.get("elementFormDefault"), sorted(said.items())))


class Reports:
    """What the conversions say of parts without a counterpart."""

    def __init__(self):
        self.paths, self.kinds = [], Counter()

    def add(self, path):
        for entry in json.loads(path.read_text())["entries"]:
            self.paths.append((entry["path"], entry.get("place") or ""))
            self.kinds[entry["kind"]] += 1

    def covers(self, path, file):
        path = re.sub(r"#\d+|\([^)]*\)", "", path)
        return any((path == told or path.startswith(told + "/")) and str(file) in place for told, place in self.paths)


def run(cuvee, *arguments):
    return subprocess.run([cuvee, *map(str, arguments)], capture_output=True, text=True, check=False)


def errors(cuvee, path, what, *more):
    done = run(cuvee, "validate", path, "--message-format", "human", *more)
    return [f"{what}: {line}" for line in done.stderr.splitlines() if line.startswith("error[")]


def there_and_back(cuvee, library, root):
    """What is wrong with a library that is converted to YAML and back."""
    named = library.write(root / "was")
    wrong = errors(cuvee, named, "made wrongly")
    is_strict = not run(cuvee, "validate", named, "--strict").returncode
    was = Reading(named)
    for service in [it for it in was.components if it[0] == "ServiceTemplate"]:
        if wrong:
            return wrong
        ends = [".yaml", ".tosca"] if library.is_alone else ["/", "/"]
        there, back = (f"{root}/{part}-{service[2]}{end}" for part, end in zip(["there", "back"], ends))
        reports = Reports()
        done = run(cuvee, "convert", named, "--service-template", service[2], "-o", there, "--loss", root / "loss.json", "-q")
        if done.returncode:
            return [f"refused: {done.stderr}"]
        reports.add(root / "loss.json")
        yaml = there if library.is_alone else f"{there}{service[2]}.yaml"
        wrong += errors(cuvee, yaml, f"{service[2]} in YAML")
        done = run(cuvee, "convert", yaml, "-o", back, "--loss", root / "loss.json", "-q")
        if done.returncode:
            return wrong + [f"refused on the way back: {done.stderr}"]
        reports.add(root / "loss.json")
        wrong += errors(cuvee, back, f"{service[2]} in XML again", *["--strict"] if is_strict else [])
        wrong += compared(was, Reading(Path(back)), service, library, reports)
    return wrong


def compared(was, back, service, library, reports):
    """What differs, and is in no report."""
    is_part = library.shape == "repository" and sum(it[0] == "ServiceTemplate" for it in was.components) > 1
    wanted = was.reached(service) if is_part else set(was.components)
    wrong = []
    for key in sorted(wanted | set(back.components)):
        path = f"{key[0]}[{key[2]}]"
        if key in wanted and key in back.components:
            before, after = was.values(key), back.values(key)
            differing = [it for it in sorted(before.keys() | after.keys()) if before.get(it) != after.get(it)]
            wrong += [f"differs: {{{key[1]}}}{it}: {before.get(it)} -> {after.get(it)}" for it in differing if not reports.covers(it, was.files[key])]
        elif key in wanted and not reports.covers(path, was.files[key]):
            wrong.append(f"gone: {{{key[1]}}}{path}")
        elif key not in wanted:
            wrong.append(f"new: {{{key[1]}}}{path}")
    return wrong


def main():
    cuvee, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    wrong, shapes = [], ["document", "alone", "archive", "repository"]
    for number in range(seed, seed + count):
        with tempfile.TemporaryDirectory() as directory:
            library = Library(random.Random(number), shapes[number % 4], 4)
            wrong += [f"{number} ({library.shape}): {it}" for it in there_and_back(cuvee, library, Path(directory))]
    print(f"{count} libraries over several namespaces: {len(wrong)} wrong")
    with tempfile.TemporaryDirectory() as directory:
        library, started = Library(random.Random(seed), "repository", 100), time.monotonic()
        wrong += [f"Winery: {it}" for it in there_and_back(cuvee, library, Path(directory))]
        files = sum(1 for _ in Path(directory, "was").rglob("*.tosca"))
    print(f"one library of {files} files: {time.monotonic() - started:.1f} s")
    print("\n".join(wrong[:60]), f"{len(wrong)} wrong" if wrong else "nothing wrong", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
