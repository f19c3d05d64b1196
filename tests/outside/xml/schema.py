#!/usr/bin/env python3
"""Takes the schema of TOSCA 1.0 out of the text of the specification, with what cannot be meant put right.

usage: schema.py SPECIFICATION > tosca.xsd

Lines of listings bear the number of their line in the document and in the listing."""
import re
import sys


def listing(lines):
    """The lines of appendix D that belong to the schema, without their numbers."""
    start = next(at for at, line in enumerate(lines) if "<xs:schema targetNamespace" in line)
    end = next(at for at in range(start, len(lines)) if "</xs:schema>" in lines[at])
    for line in lines[start : end + 1]:
        numbered = re.match(r"\d{4} \d+(.*)", line)
        if numbered:
            yield numbered.group(1)


def definition(text, name):
    """A complex type, as it stands."""
    start = text.index(f'<xs:complexType name="{name}">')
    following = re.compile(r'<xs:complexType name="|<xs:element name="Definitions"|</xs:schema>').search(text, start + 1)
    return text[start : following.start()]


def upper_bound(type_text):
    """The attribute of how often something may be there, and where it ends for whatever is between."""
    start = type_text.index('<xs:attribute name="upperBound"')
    return type_text[start : type_text.index("</xs:extension>", start)]


def corrected(text):
    text = text.replace('"tEntityTypeTemplate"', '"tEntityTemplate"')
    capability = definition(text, "tCapability")
    text = text.replace(capability, capability.replace('"tEntityType"', '"tEntityTemplate"'))
    # The bound of capabilities is mangled: it is that of requirements.
    right, wrong = (definition(text, name) for name in ("tRequirementDefinition", "tCapabilityDefinition"))
    text = text.replace(wrong, wrong.replace(upper_bound(wrong), upper_bound(right)))
    # The attributes of XML itself are defined elsewhere, where nobody can look.
    text = re.sub(r'<xs:import namespace="http://www.w3.org/XML/1998/namespace"[^>]*/>', "", text)
    xml = '<xs:anyAttribute namespace="http://www.w3.org/XML/1998/namespace" processContents="skip"/>'
    text = re.sub(r'<xs:attribute ref="xml:lang"[^>]*/>', xml, text)
    # What the text lets be empty, and the name that it gives artifacts.
    for name in ("tConstraint", "tBoundaryDefinitions"):
        of = definition(text, name)
        text = text.replace(of, re.sub(r'<xs:any (?!minOccurs="0")', '<xs:any minOccurs="0" ', of))
    # Elements of other namespaces are declared in the document itself.
    text = re.sub(r'<xs:any (?![^>]*processContents)', '<xs:any processContents="lax" ', text)
    artifact = definition(text, "tImplementationArtifact")
    named = artifact.replace("</xs:extension>", '<xs:attribute name="name" type="xs:string"/></xs:extension>', 1)
    return text.replace(artifact, named)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        text = "\n".join(listing(file.read().splitlines()))
    print(corrected(text))
