"""Reads a model of an instance by the text of "TOSCA Instance Model 1.0" alone: `read.py MODEL [TEMPLATE [TYPES]]`.

Checks what chapters 5.5 and 5.6 ask of the structure, follows every reference within the document and into the template, and prints the graph:
a line a node with its state, and below it where its requirements lead. What is wrong comes on lines that begin with `!`, and ends it with 1.
"""

import json
import sys
from pathlib import Path
from urllib.parse import unquote

VERSIONS = {"tosca_simple_yaml_1_0", "toscasimpleyaml_1_0"}
STATES = "initial creating created configuring configured starting started stopping deleting error".split()
FUNCTIONS = set("get_input get_property get_attribute get_operation_output get_nodes_of_type get_artifact concat join token".split())
SECTIONS = {"nodes": "node_templates", "groups": "groups", "policies": "policies", "relations": "relationship_templates"}
WRONG = []


def load(path):
    text = Path(path).read_text()
    if Path(path).suffix == ".json":
        return json.loads(text)
    import yaml

    return yaml.safe_load(text)


def expect(holds, where, what):
    if not holds:
        WRONG.append(f"{where}: {what}")
    return holds


def resolve(document, pointer):
    """What a path of keys and positions leads to, and nothing where that is not there."""
    for part in pointer.strip("/").split("/"):
        part = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(document, list) and part.isdigit() and int(part) < len(document):
            document = document[int(part)]
        elif isinstance(document, dict) and part in document:
            document = document[part]
        elif isinstance(document, list):
            document = next((item[part] for item in document if isinstance(item, dict) and part in item), None)
        else:
            return None
    return document


def entity_of(model, reference, where):
    """The name of the entity that an InstanceReference names; of those elsewhere all of it."""
    if not expect(isinstance(reference, dict) and list(reference) == ["$ref"], where, "an InstanceReference is a map with `$ref`"):
        return "?"
    document, _, path = reference["$ref"].partition("#")
    if document:
        return reference["$ref"]
    expect(resolve(model, path) is not None, where, f"nothing is at `{reference['$ref']}`")
    return path.rsplit("/", 1)[-1].replace("~1", "/").replace("~0", "~")


def check_origin(entity, where, section, template):
    """Sections 5.6.1, 5.6.6, 5.6.9: `template` and `type` exclude each other."""
    if not expect(("template" in entity) != ("type" in entity), where, "has `template` or `type`, never both and never neither"):
        return None
    if "type" in entity:
        reference = entity["type"]
        key = f"$dsl-{section.rstrip('s') if section != 'policies' else 'policy'}-types"
        return expect(list(reference) in ([key], ["$externalToscaRef"]), where, f"a type is named by `{key}` or by its place") and None
    return check_template(entity["template"], where, section, template)


def check_template(reference, where, section, template):
    """Section 5.5.2.1.2.2: a place in the template, which is there."""
    place = reference.get("$externalToscaRef", "")
    expect("#/" in place, where, "a template is named by its place in TOSCA")
    path = place.partition("#")[2]
    expect(path.startswith(f"/topology_template/{SECTIONS[section]}/"), where, f"`{path}` is no template of {section}")
    if template is not None:
        expect(resolve(template, path) is not None, where, f"the template has nothing at `{path}`")
    return path.rsplit("/", 1)[-1]


def check_values(values, where):
    """Section 5.6.1: all values are defined, nothing is left to evaluate."""
    expect(isinstance(values, dict), where, "is a map from names to values")
    for name, value in values.items():
        expect(value is not None, f"{where}/{name}", "has no value")
        is_call = isinstance(value, dict) and len(value) == 1 and FUNCTIONS & set(value)
        expect(not is_call, f"{where}/{name}", "is a function, and no value")
    expect(list(values) == sorted(values, key=lambda name: name.encode()), where, "is in no defined order")


def definitions(types, name, part):
    """What a type of ours and those that it derives from define; what is not ours defines nothing here."""
    found = {}
    while name in types:
        all_of = types[name].get(part, {})
        all_of = all_of if isinstance(all_of, dict) else {key: value for one in all_of for key, value in one.items()}
        found = {**all_of, **found}
        name = types[name].get("derived_from")
    return found


def check_node(model, name, node, template, types):
    where = f"nodes/{name}"
    expect(set(node) <= {"template", "type", "properties", "attributes", "capabilities", "requirements", "links", "metadata"}, where, f"has {sorted(node)}")
    made_of = check_origin(node, where, "nodes", template)
    check_values(node.get("properties", {}), f"{where}/properties")
    attributes = node.get("attributes", {})
    for attribute in ("tosca_id", "tosca_name", "state"):
        expect(attribute in attributes, f"{where}/attributes", f"lacks `{attribute}`")
    if made_of is not None:
        expect(attributes.get("tosca_name") == made_of, where, "`tosca_name` is not the name of its template")
    expect(attributes.get("state") in STATES, where, f"`{attributes.get('state')}` is no state")
    runtime, _, deployment = attributes.get("tosca_id", "").partition("#")
    expect(runtime.count("/") == 2, where, "its URI is not scoped by runtime, tenant and deployment")
    own = "/nodes/" + name.replace("~", "~0").replace("/", "~1")
    expect(deployment.partition("?")[0] == own, where, "its URI does not lead to it")
    for capability, value in node.get("capabilities", {}).items():
        at = f"{where}/capabilities/{capability}"
        expect(set(value) <= {"name", "type", "properties", "attributes", "metadata"}, at, f"has {sorted(value)}")
        check_values(value.get("properties", {}), f"{at}/properties")
    for requirement, value in node.get("requirements", {}).items():
        at = f"{where}/requirements/{requirement}"
        expect(isinstance(value.get("targets"), list), at, "has no list of targets")
        for relation in value.get("relations", []):
            expect("." in relation.get("relationship", "."), at, f"`{relation.get('relationship')}` is the name of no type")
            if "template" in relation:
                check_template(relation["template"], at, "relations", template)
    if template is not None and made_of is not None:
        kind = template["topology_template"]["node_templates"].get(made_of, {}).get("type")
        for part in ("properties", "requirements", "capabilities"):
            for defined in definitions(types, kind, part):
                expect(defined in node.get(part, {}), f"{where}/{part}", f"lacks `{defined}` of its type")


def check(model, template, types):
    expect(set(model) <= {"metadata", "nodes", "groups", "inputs", "outputs", "policies"}, "the model", f"has {sorted(model)}")
    version = model.get("metadata", {}).get("tosca_instance_version")
    expect(version in VERSIONS, "metadata", f"`{version}` is no version of the schema")
    for name, node in model["nodes"].items():
        check_node(model, name, node, template, types)
    identities = [node.get("attributes", {}).get("tosca_id") for node in model["nodes"].values()]
    expect(len(set(identities)) == len(identities), "nodes", "two have one `tosca_id`")
    for section, key in (("groups", "members"), ("policies", "targets")):
        for name, entity in model.get(section, {}).items():
            check_origin(entity, f"{section}/{name}", section, template)
            check_values(entity.get("properties", {}), f"{section}/{name}/properties")
            expect(isinstance(entity.get(key), list), f"{section}/{name}", f"has no list of {key}")
    for section in ("inputs", "outputs"):
        check_values(model.get(section, {}), section)
        if template is not None:
            declared = template["topology_template"].get(section, {})
            known = set(model.get(section, {}))
            # An output may come to nothing before all is there.
            holds = known <= set(declared) and (section == "outputs" or known == set(declared))
            expect(holds, section, "are not those of the template")
    for section in ("nodes", "groups", "policies"):
        names = list(model.get(section, {}))
        expect(names == sorted(names, key=lambda name: name.encode()), section, "are in no defined order")


def graph(model):
    """Each relation once where it starts and once where it ends."""
    incoming = {}
    for name, node in model["nodes"].items():
        for requirement, value in node.get("requirements", {}).items():
            for target in value["targets"]:
                incoming.setdefault(entity_of(model, target, f"nodes/{name}"), []).append((name, requirement))
    for name, node in model["nodes"].items():
        yield f"{name} {node.get('attributes', {}).get('state', '?')}"
        for requirement, value in node.get("requirements", {}).items():
            for target in value["targets"]:
                yield f"  {requirement} -> {entity_of(model, target, name)}"
        for source, requirement in incoming.get(name, []):
            yield f"  <- {requirement} of {source}"
    for section, key in (("groups", "members"), ("policies", "targets")):
        for name, entity in model.get(section, {}).items():
            yield f"{section}/{name}: " + ", ".join(entity_of(model, one, f"{section}/{name}") for one in entity[key])


def main(path, template=None, types=None):
    model = load(path)
    template = template and load(template)
    types = load(types).get("node_types", {}) if types else {}
    check(model, template, types)
    lines = list(graph(model))
    print("\n".join(lines + [f"! {wrong}" for wrong in WRONG]))
    return 1 if WRONG else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
