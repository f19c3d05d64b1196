/** A place in a text: lines and columns count from zero, columns in units of UTF-16, as strings of JavaScript do. */
export interface Position {
  line: number;
  character: number;
}

/** A range of a text, without its end. */
export interface Range {
  start: Position;
  end: Position;
}

/** A related place. */
export interface Label {
  path: string;
  range: Range;
  message: string;
}

/** A replacement that removes a diagnostic. */
export interface Fix {
  path: string;
  range: Range;
  replacement: string;
}

/** A mistake, a warning or a note. */
export interface Diagnostic {
  severity: "error" | "warning" | "note";
  /** Its kind, such as `unknown-type`. */
  code: string;
  message: string;
  /** The file, and the place in it; null for what has no place, such as a preset that is not there. */
  path: string | null;
  range: Range | null;
  labels: Label[];
  /** What to do. */
  help: string | null;
  /** The section of the specification that is violated. */
  rule: string | null;
  fix: Fix | null;
}

/** What is wrong with a template or with what is chosen. Wrong arguments are a `TypeError`. */
export class CuveeError extends Error {
  readonly name: "CuveeError";
  /** All that is wrong; empty where the module crashed. */
  readonly diagnostics: Diagnostic[];
  /** Whether the module crashed. It was made anew by then: the next question starts afresh. */
  readonly crashed: boolean;
}

/** A value of YAML or JSON. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

/** A value that may be assigned. */
export type Assignable = null | boolean | number | bigint | string | readonly Assignable[] | { readonly [key: string]: Assignable };

/** What is chosen of one variant. */
export interface Choice {
  /** Presets; later ones win. */
  presets?: string | readonly string[] | undefined;
  /** Inputs, which win over presets and files. */
  inputs?: { readonly [name: string]: Assignable } | ReadonlyMap<string, Assignable> | undefined;
  /** Files with inputs, among the files of the template. */
  inputFiles?: string | readonly string[] | undefined;
  /** Variability options, which win over those of the template. */
  options?: { readonly [name: string]: Assignable } | ReadonlyMap<string, Assignable> | undefined;
  /** The time for conditions that ask for it. Nothing else tells the time. */
  now?: string | Date | undefined;
}

export interface ValidateChoice extends Choice {
  /** Whether the types of chapter 9 are there, too. */
  nonNormative?: boolean | undefined;
  /** Whether there are notes on what is valid, and refused by orchestrators. */
  portable?: boolean | undefined;
  /** Where somebody types: what is broken there does not hide what else is wrong. */
  near?: { path: string; position: Position } | undefined;
}

export interface CountChoice extends Choice {
  /** Only variants that fulfil these conditions, which are written in YAML: `{node_presence: cache}`. */
  where?: string | readonly string[] | undefined;
  /** What tells variants apart: all elements, or nodes only. */
  projection?: "all" | "nodes" | undefined;
  /** How many steps counting may take. */
  effort?: number | undefined;
}

export interface VariantsChoice extends CountChoice {
  /** The greatest number of variants; 100 where none is given. */
  limit?: number | undefined;
  /** Draws this many variants at random. */
  sample?: number | undefined;
  /** The seed of the sample. */
  seed?: number | undefined;
  /** A small set that covers every combination of cases of this many inputs. */
  twise?: number | undefined;
  /** Only the best variant. */
  minimize?: "weight" | "count" | "technologies" | undefined;
  /** The variant of each preset. */
  allPresets?: boolean | undefined;
}

export interface MatrixChoice extends Choice {
  elements?: "nodes" | "all" | undefined;
}

export interface TypesChoice extends Choice {
  nonNormative?: boolean | undefined;
}

export interface GraphChoice extends Choice {
  format?: "svg" | "mermaid" | "dot" | "json" | undefined;
  /** Whether what is absent is left out. */
  presentOnly?: boolean | undefined;
  /** Draws the difference between two choices of presets. */
  from?: string | readonly string[] | undefined;
  to?: string | readonly string[] | undefined;
}

/** A resolved variant. */
export interface Resolution {
  /** The resolved template, as its author wrote it. */
  yaml: string;
  /** The identifier of every element, and whether it is present. */
  presence: { [element: string]: boolean };
  /** Whether the variant is proven to be the best. */
  proven: boolean;
  warnings: Diagnostic[];
}

/** What validating found. */
export interface Validation {
  /** Whether there are no errors. */
  valid: boolean;
  diagnostics: Diagnostic[];
}

/** The value of an open input in a variant. */
export interface Assigned {
  name: string;
  /** A value that leads there; null where any does, or none is known. */
  value: Value;
  /** All values that lead there, for people. */
  case: string;
  /** Whether the input has such a value anyway. */
  default: boolean;
}

export interface Variant {
  name: string;
  preset?: string;
  present: string[];
  inputs: Assigned[];
}

export interface Variants {
  version: 1;
  variants: Variant[];
  /** Whether there are more. */
  more: boolean;
  cost?: string;
  covered?: number;
  rejected?: { preset: string; reasons: string[]; void: boolean }[];
}

export interface Count {
  version: 1;
  /** In decimal digits, since it may be larger than a number can be. */
  count: string;
  /** Whether this is all of them; otherwise there are at least so many. */
  exact: boolean;
  fixed?: number;
}

export interface Reason {
  kind: "condition" | "element" | "input" | "end";
  what: string;
  input?: string;
  holds: boolean;
  place: string | null;
  because: Reason[];
}

export interface Change extends Assigned {
  /** The value now. */
  from: Value;
}

export interface Explanation {
  version: 1;
  element: string;
  place: string;
  present: boolean;
  because: Reason[];
  /** The smallest change of inputs that makes it the opposite; null where none does. */
  change: Change[] | null;
}

export interface Case {
  label: string;
  value: Value;
}

export interface Input {
  name: string;
  place: string;
  type: string | null;
  description: string | null;
  constraints: string[];
  default: Value;
  computed: string | null;
  assigned: Value;
  cases: Case[];
  presets: { preset: string; value: Value }[];
  influences: string[];
  values: string[];
  constrained: boolean;
}

export interface Inputs {
  version: 1;
  inputs: Input[];
}

export interface Matrix {
  version: 1;
  columns: { preset: string | null; description: string | null; rejected: string[] }[];
  rows: { identifier: string; kind: string; present: (boolean | null)[] }[];
}

export type Family = "data" | "artifact" | "capability" | "relationship" | "interface" | "node" | "group" | "policy";

export interface Types {
  version: 1;
  types: { family: Family; name: string; derived_from: string | null; place: string }[];
}

export interface Origin {
  type: string;
  place: string;
  refines: { type: string; place: string }[];
}

export interface PropertyDefinition {
  name: string;
  type: string | null;
  required: boolean;
  default: Value;
  value: Value;
  constraints: string[];
  key_schema: SchemaDefinition | null;
  entry_schema: SchemaDefinition | null;
  from: Origin;
}

export interface OperationDefinition {
  name: string;
  implementation: Value;
  inputs: string[];
  outputs: string[];
  from: Origin;
}

/** What keys or entries are. */
export interface SchemaDefinition {
  type: string | null;
  constraints: string[];
}

/** A type with all that it inherits. */
export interface TypeDefinition {
  family: Family;
  name: string;
  derived_from: string | null;
  place: string;
  description: string | null;
  ancestors: string[];
  properties: PropertyDefinition[];
  attributes: PropertyDefinition[];
  capabilities: {
    name: string;
    type: string | null;
    occurrences: string;
    valid_source_types: string[];
    valid_relationship_types: string[];
    properties: PropertyDefinition[];
    attributes: PropertyDefinition[];
    from: Origin;
  }[];
  requirements: {
    name: string;
    capability: string | null;
    node: string | null;
    relationship: string | null;
    occurrences: string;
    node_filters: string[];
    from: Origin;
  }[];
  interfaces: {
    name: string;
    type: string | null;
    inputs: PropertyDefinition[];
    operations: OperationDefinition[];
    notifications: OperationDefinition[];
    from: Origin;
  }[];
  artifacts: { name: string; type: string | null; file: string | null; from: Origin }[];
  inputs: PropertyDefinition[];
  operations: OperationDefinition[];
  notifications: OperationDefinition[];
  mime_type: string | null;
  file_ext: string[];
  triggers: { name: string; definition: Value; from: { type: string; place: string } }[];
  valid_types: string[];
  valid_relationship_types: string[];
  valid_source_node_types: string[];
  valid_target_node_types: string[];
  constraints: string[];
  key_schema: SchemaDefinition | null;
  entry_schema: SchemaDefinition | null;
  scalar: { [keyname: string]: Value };
}

export interface TypesOfName {
  version: 1;
  definitions: TypeDefinition[];
}

export type Difference = { element: string; path: string } & (
  | { kind: "added"; to: Value }
  | { kind: "removed"; from: Value }
  | { kind: "changed"; from: Value; to: Value }
);

export interface Diff {
  version: 1;
  from: string | null;
  to: string | null;
  changes: Difference[];
}

export type DrawnState = "plain" | "present" | "absent" | "removed" | "added" | "changed" | "failed";

export interface Graph {
  version: 1;
  nodes: {
    identifier: string;
    name: string;
    types: string[];
    weight: number;
    conditions: string[];
    place: string;
    persistent: boolean;
    substitutes?: string[];
    state: DrawnState;
  }[];
  relations: {
    identifier: string;
    name: string;
    /** The positions of its ends in `nodes`. */
    source: number;
    target: number | null;
    hosting: boolean;
    conditions: string[];
    place: string;
    state: DrawnState;
  }[];
}

export interface Names {
  presets: { name: string; description: string | null }[];
  inputs: { name: string; description: string | null; values: Case[] }[];
  elements: string[];
}

export interface Suggestion {
  label: string;
  kind: "keyname" | "type" | "name" | "member" | "operator" | "option" | "value";
  /** The text to write, which has a colon behind a key. */
  insert: string;
  detail: string | null;
}

export interface Completion {
  /** What is replaced. */
  range: Range;
  suggestions: Suggestion[];
}

export interface Hover {
  range: Range;
  markdown: string;
}

/** The choices that each question takes. */
export interface Choices {
  resolve: Choice;
  validate: Omit<ValidateChoice, "near">;
  variants: VariantsChoice;
  count: CountChoice;
  explain: Choice & { element: string };
  inputs: Choice;
  matrix: MatrixChoice;
  types: TypesChoice & { name?: string | undefined };
  diff: Choice & { from?: string | readonly string[] | undefined; to?: string | readonly string[] | undefined };
  graph: Omit<GraphChoice, "format">;
}

/** A template and the files around it. All questions are answered at once, so ask long ones in a worker. */
export class Template {
  private constructor();
  /** Resolves the chosen variant. */
  resolve(choice?: Choice): Resolution;
  /** Finds what is wrong with the template; this never throws a `CuveeError` but for a crash and a wrong `now`. */
  validate(choice?: ValidateChoice): Validation;
  /** Lists variants. Inputs that nothing assigns are open, as in all questions below. */
  variants(choice?: VariantsChoice): Variants;
  /** Counts variants. */
  count(choice?: CountChoice): Count;
  /** Says why an element, such as `node.shop`, is present or absent. */
  explain(element: string, choice?: Choice): Explanation;
  /** Lists variability inputs. */
  inputs(choice?: Choice): Inputs;
  /** Shows which elements are present with which preset. */
  matrix(choice?: MatrixChoice): Matrix;
  /** Lists types. */
  types(name?: undefined, choice?: TypesChoice): Types;
  /** Shows the types of a name with all that they inherit. */
  types(name: string, choice?: TypesChoice): TypesOfName;
  /** Compares the variants of two choices of presets. */
  diff(from: string | readonly string[] | undefined, to: string | readonly string[] | undefined, choice?: Choice): Diff;
  /** Draws the topology: all of it, or with what is chosen. */
  graph(choice: GraphChoice & { format: "json" }): Graph;
  graph(choice?: GraphChoice & { format?: "svg" | "mermaid" | "dot" | undefined }): string;
  /** The names in the template, also where it is wrong. */
  names(): Names;
  /** What may be written at a place; null where no file of the template has this path. */
  complete(path: string, position: Position): Completion | null;
  /** What stands at a place, in Markdown. */
  hover(path: string, position: Position): Hover | null;
  /** What the command of this name writes with `--format json`, byte for byte. */
  document<Question extends keyof Choices>(
    question: Question,
    ...choice: {} extends Choices[Question] ? [choice?: Choices[Question]] : [choice: Choices[Question]]
  ): string;
  /** Gives back the memory. */
  free(): void;
  [Symbol.dispose](): void;
}

/**
 * Opens a template.
 *
 * @param files The texts of all files, by their paths, which begin at a common directory. Whatever a template imports has to be among them.
 * @param template The path of the template, of an archive, or of a directory with a template.
 */
export function open(files: { readonly [path: string]: string | Uint8Array } | ReadonlyMap<string, string | Uint8Array>, template: string): Template;
