/**
 * Schemas of tool parameters, whose root must be a plain object at most providers.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../../src/core/json/json.ts";
import { inlineMovedReferences } from "./moved_references.ts";
import { resolvePointer } from "./resolve_pointer.ts";
import { toValidSchema } from "./valid_schema.ts";

const ALTERNATIVES = ["anyOf", "oneOf"];
const PARTS = "allOf";
/** Keywords that the root must not have. */
const ROOT_KEYWORDS = [...ALTERNATIVES, PARTS, "$ref", "not", "enum"];

/** Completed schemas, since each request has the tools of the previous one. */
const toolSchemas = new WeakMap<JsonSchema, JsonSchema>();

/**
 * Completes a schema of parameters, in draft 2020-12. Alternatives and parts at its root, which providers reject, are merged
 * into one object; the agent validates arguments against the tool's own schema.
 */
export function toToolSchema(schema: JsonSchema): JsonSchema {
  const known = toolSchemas.get(schema);
  if (known) return known;
  const valid = toValidSchema(schema);
  const completed = inlineMovedReferences(completeRoot(valid), {
    original: valid,
    convert: (part) => part,
  });
  toolSchemas.set(schema, completed);
  return completed;
}

function completeRoot(schema: JsonSchema): JsonSchema {
  const isPlain = ROOT_KEYWORDS.every((keyword) => schema[keyword] === undefined);
  const { properties = {} } = schema;
  if (isPlain) return { ...schema, type: "object", properties };
  return new RootMerger(schema).merge();
}

/** The properties of an object, and those that are always required. */
interface MergedObject {
  readonly properties: ReadonlyMap<string, Alternatives>;
  readonly required: ReadonlySet<string>;
}

/** The different schemas of a property by their texts. */
type Alternatives = ReadonlyMap<string, unknown>;

const EMPTY: MergedObject = { properties: new Map(), required: new Set() };

class RootMerger {
  readonly #root: JsonSchema;
  /** The merged targets of references; each is merged once, also if it is referred to often or by itself. */
  readonly #targets = new Map<string, MergedObject>();

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  merge(): JsonSchema {
    const entries = Object.entries(this.#root);
    const rest = Object.fromEntries(
      entries.filter(([keyword]) => !ROOT_KEYWORDS.includes(keyword)),
    );
    const { properties, required } = this.#flatten(this.#root);
    const choices = ALTERNATIVES.flatMap((keyword) => asList(this.#root[keyword]));
    return {
      ...rest,
      ...describeChoices(rest["description"], choices),
      type: "object",
      properties: Object.fromEntries([...properties].map(([name, alternatives]) => {
        const [schema, ...others] = alternatives.values();
        return [name, others.length > 0 ? { anyOf: [schema, ...others] } : schema];
      })),
      ...(required.size > 0 && { required: [...required] }),
    };
  }

  #flatten(schema: unknown): MergedObject {
    if (!isJsonObject(schema)) return EMPTY;
    const { $ref, ...siblings } = schema;
    if (typeof $ref === "string") {
      return joinParts([this.#flattenTarget($ref), this.#flatten(siblings)]);
    }
    const own: MergedObject = {
      properties: new Map(
        Object.entries(asObject(schema["properties"])).map(([name, property]) => [
          name,
          new Map([[JSON.stringify(property), property]]),
        ]),
      ),
      required: new Set(asList(schema["required"]).filter((name) => typeof name === "string")),
    };
    const parts = asList(schema[PARTS]).map((part) => this.#flatten(part));
    const choices = ALTERNATIVES.map((keyword) =>
      joinChoices(asList(schema[keyword]).map((choice) => this.#flatten(choice)))
    );
    return joinParts([own, ...parts, ...choices]);
  }

  #flattenTarget(reference: string): MergedObject {
    const known = this.#targets.get(reference);
    if (known) return known;
    this.#targets.set(reference, EMPTY);
    const merged = this.#flatten(resolvePointer(this.#root, reference));
    this.#targets.set(reference, merged);
    return merged;
  }
}

function joinParts(parts: readonly MergedObject[]): MergedObject {
  const filled = parts.filter((part) => part !== EMPTY);
  if (filled.length === 1) return filled[0] ?? EMPTY;
  return {
    properties: joinProperties(filled),
    required: new Set(filled.flatMap(({ required }) => [...required])),
  };
}

function joinChoices(choices: readonly MergedObject[]): MergedObject {
  const [first, ...others] = choices;
  if (!first) return EMPTY;
  const required = [...first.required].filter((name) =>
    others.every((choice) => choice.required.has(name))
  );
  return { properties: joinProperties(choices), required: new Set(required) };
}

/** Joins properties; one with several schemas accepts all of them. */
function joinProperties(objects: readonly MergedObject[]): ReadonlyMap<string, Alternatives> {
  const joined = new Map<string, Map<string, unknown>>();
  for (const { properties } of objects) {
    for (const [name, alternatives] of properties) {
      const known = joined.get(name) ?? new Map<string, unknown>();
      for (const [text, schema] of alternatives) known.set(text, schema);
      joined.set(name, known);
    }
  }
  return joined;
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
