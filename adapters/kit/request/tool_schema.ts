/**
 * Schemas of tool parameters, whose root must be a plain object at most providers.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../../src/core/json.ts";

const ALTERNATIVES = ["anyOf", "oneOf"];
const PARTS = "allOf";
/** Keywords that the root must not have. */
const ROOT_KEYWORDS = [...ALTERNATIVES, PARTS, "$ref", "not", "enum"];

/**
 * Completes a schema of parameters. Alternatives and parts at its root, which providers reject, are merged into one
 * object; the agent validates arguments against the tool's own schema.
 */
export function toToolSchema(schema: JsonSchema): JsonSchema {
  const isPlain = ROOT_KEYWORDS.every((keyword) => schema[keyword] === undefined);
  const { properties = {} } = schema;
  if (isPlain) return { ...schema, type: "object", properties };
  return new RootMerger(schema).merge();
}

/** The properties of an object, and those that are always required. */
interface MergedObject {
  readonly properties: ReadonlyMap<string, unknown>;
  readonly required: ReadonlySet<string>;
}

class RootMerger {
  readonly #root: JsonSchema;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  merge(): JsonSchema {
    const entries = Object.entries(this.#root);
    const rest = Object.fromEntries(
      entries.filter(([keyword]) => !ROOT_KEYWORDS.includes(keyword)),
    );
    const { properties, required } = this.#flatten(this.#root, []);
    const choices = ALTERNATIVES.flatMap((keyword) => asList(this.#root[keyword]));
    return {
      ...rest,
      ...describeChoices(rest["description"], choices),
      type: "object",
      properties: Object.fromEntries(properties),
      ...(required.size > 0 && { required: [...required] }),
    };
  }

  #flatten(schema: unknown, path: readonly string[]): MergedObject {
    if (!isJsonObject(schema)) return { properties: new Map(), required: new Set() };
    const { $ref } = schema;
    if (typeof $ref === "string") {
      const target = path.includes($ref) ? undefined : this.#resolve($ref);
      const { $ref: _ref, ...siblings } = schema;
      return joinParts([this.#flatten(target, [...path, $ref]), this.#flatten(siblings, path)]);
    }
    const own: MergedObject = {
      properties: new Map(Object.entries(asObject(schema["properties"]))),
      required: new Set(asList(schema["required"]).filter((name) => typeof name === "string")),
    };
    const parts = asList(schema[PARTS]).map((part) => this.#flatten(part, path));
    const choices = ALTERNATIVES.map((keyword) =>
      joinChoices(asList(schema[keyword]).map((choice) => this.#flatten(choice, path)))
    );
    return joinParts([own, ...parts, ...choices]);
  }

  #resolve(reference: string): unknown {
    let target: unknown = this.#root;
    for (const step of reference.replace(/^#\/?/, "").split("/").filter((step) => step !== "")) {
      const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
      target = isJsonObject(target) && Object.hasOwn(target, name) ? target[name] : undefined;
    }
    return reference.startsWith("#") ? target : undefined;
  }
}

function joinParts(parts: readonly MergedObject[]): MergedObject {
  return {
    properties: joinProperties(parts),
    required: new Set(parts.flatMap(({ required }) => [...required])),
  };
}

function joinChoices(choices: readonly MergedObject[]): MergedObject {
  const [first, ...others] = choices;
  const required = [...first?.required ?? []].filter((name) =>
    others.every((choice) => choice.required.has(name))
  );
  return { properties: joinProperties(choices), required: new Set(required) };
}

/** Joins properties; one with several schemas accepts all of them. */
function joinProperties(objects: readonly MergedObject[]): ReadonlyMap<string, unknown> {
  const joined = new Map<string, unknown[]>();
  for (const { properties } of objects) {
    for (const [name, schema] of properties) {
      const schemas = joined.get(name) ?? [];
      const isKnown = schemas.some((known) => JSON.stringify(known) === JSON.stringify(schema));
      joined.set(name, isKnown ? schemas : [...schemas, schema]);
    }
  }
  return new Map(
    [...joined].map((
      [name, schemas],
    ) => [name, schemas.length > 1 ? { anyOf: schemas } : schemas[0]]),
  );
}

function describeChoices(description: unknown, choices: readonly unknown[]): JsonObject {
  const names = choices.map((choice) => asList(asObject(choice)["required"]).join(", "));
  const distinct = [...new Set(names)].filter((list) => list !== "");
  if (distinct.length < 2) return {};
  const note = `Requires one of these sets of properties: (${distinct.join("), (")}).`;
  return { description: typeof description === "string" ? `${description}\n\n${note}` : note };
}

function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
