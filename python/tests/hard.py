"""Templates whose questions take longer than anyone waits."""

from __future__ import annotations


def pigeons(count: int, *, decided_by: str) -> str:
    """More pigeons than holes: there is no variant, and to see that takes ever so long. What is
    open is the presence of nodes, or are inputs."""
    holes = range(count - 1)
    names = [[f"p{pigeon}h{hole}" for hole in holes] for pigeon in range(count)]
    key = "node_presence" if decided_by == "nodes" else "variability_input"

    def sits(name: str) -> str:
        return f"{{{key}: {name}}}"

    rules = [f"or: [{', '.join(map(sits, row))}]" for row in names]
    rules += [
        f"not: {{and: [{sits(names[one][hole])}, {sits(names[other][hole])}]}}"
        for hole in holes
        for one in range(count)
        for other in range(one)
    ]
    if decided_by == "nodes":
        head = "    options: {type_default_condition: true, optimization_topology_unique: false}\n"
        nodes = [f"    {it}: {{type: T, conditions: {sits(it)}}}\n" for row in names for it in row]
    else:
        head = "    options: {mode: semantic-loose}\n    inputs:\n"
        head += "".join(f"      {name}: {{type: boolean}}\n" for row in names for name in row)
        nodes = [f"    n: {{type: T, conditions: {sits('p0h0')}}}\n"]
    return (
        "tosca_definitions_version: tosca_variability_1_0\ntopology_template:\n  variability:\n"
        + head
        + "    constraints:\n"
        + "".join(f"    - {{{rule}}}\n" for rule in rules)
        + "  node_templates:\n"
        + "".join(nodes)
    )
