/**
 * Prepares schemas of any origin for ajv.
 *
 * ajv refuses a complete schema for one keyword that it cannot compile. Here such a keyword is removed and reported, and
 * the keywords of older drafts are rewritten as those of draft 2020-12, so that the rest of the schema still applies.
 *
 * @module
 */

import type { IgnoredKeyword } from "./ignored_keyword.ts";
import { escapeKey, isRecord, type JsonRecord } from "./json_object.ts";
import { findKeywordProblem } from "./keyword_problem.ts";
import { isLibrarySchema } from "./library_schema.ts";
import { SchemaDocument } from "./schema_document.ts";
import { mapSubschemas, REFERENCE_COUNTER } from "./subschemas.ts";

/** A schema that ajv can compile. */
export interface NormalizedSchema {
  /** The schema, in draft 2020-12. */
  readonly schema: JsonRecord;
  /** The keywords that were removed. */
  readonly ignored: readonly IgnoredKeyword[];
  /** Whether any schema below the root has a default. */
  readonly hasDefaults: boolean;
  /** Whether any schema in it has an identifier. */
  readonly hasIds: boolean;
  /** The regular expressions in it, with the path of one that is equal. */
  readonly patterns: ReadonlyMap<string, string>;
}

/** Drafts in which keywords next to `$ref` are ignored. */
const REFERENCE_ONLY_DRAFTS = /draft-0[3-7]/;

/** Prepares a schema, whose nesting must be limited; the schema itself stays unchanged. */
export function normalizeSchema(root: JsonRecord): NormalizedSchema {
  const normalizer = new Normalizer(root);
  const schema = normalizer.normalize(root, "");
  const { ignored, patterns, hasDefaults, hasIds, hasReferences } = normalizer;
  const resolved = hasReferences ? markReferences(schema, ignored) : schema;
  return { schema: resolved, ignored, hasDefaults, hasIds, patterns };
}

class Normalizer {
  readonly ignored: IgnoredKeyword[] = [];
  readonly patterns = new Map<string, string>();
  hasDefaults = false;
  hasIds = false;
  hasReferences = false;
  readonly #isReferenceOnly: boolean;
  readonly #isDraft4: boolean;

  constructor(root: JsonRecord) {
    const draft = String(root["$schema"]);
    this.#isReferenceOnly = REFERENCE_ONLY_DRAFTS.test(draft);
    this.#isDraft4 = draft.includes("draft-04");
  }

  normalize(schema: JsonRecord, path: string): JsonRecord {
    const valid: Record<string, unknown> = {};
    for (const [keyword, value] of Object.entries(this.#selectKeywords(schema))) {
      if (value === undefined || keyword === "$schema") continue;
      const problem = findKeywordProblem(keyword, value);
      if (problem) this.#ignore(`${path}/${keyword}`, problem);
      else if (keyword !== "$async") Object.defineProperty(valid, keyword, createProperty(value));
    }
    this.#collect(valid, path);
    const rewritten = this.#checkDefault(rewriteKeywords(valid), path);
    return mapSubschemas(rewritten, (subschema, ...keys) => {
      const subpath = [path, ...keys.map(escapeKey)].join("/");
      return this.#normalizeSubschema(subschema, subpath);
    });
  }

  #normalizeSubschema(subschema: unknown, path: string): JsonRecord | boolean {
    if (typeof subschema === "boolean") return subschema;
    if (isRecord(subschema) && !isLibrarySchema(subschema)) return this.normalize(subschema, path);
    this.#ignore(
      path,
      isLibrarySchema(subschema)
        ? "must be a JSON Schema, not the schema of a library"
        : "must be a schema, true or false",
    );
    return true;
  }

  #selectKeywords(schema: JsonRecord): JsonRecord {
    const { $ref, definitions, $defs, id, ...rest } = schema;
    if (this.#isReferenceOnly && typeof $ref === "string") return { $ref, definitions, $defs };
    return this.#isDraft4 && typeof id === "string" ? { $id: id, ...schema, id: undefined } : {
      ...rest,
      $ref,
      definitions,
      $defs,
      ...(id !== undefined && { id }),
    };
  }

  /** Returns the schema without a default of another type than it accepts, which would reach a tool without a check. */
  #checkDefault(schema: JsonRecord, path: string): JsonRecord {
    const { default: value, ...rest } = schema;
    const { type } = rest;
    if (value === undefined || type === undefined || matchesType(value, type)) return schema;
    this.#ignore(`${path}/default`, `must be ${[type].flat().join(" or ")}`);
    return rest;
  }

  #collect(schema: JsonRecord, path: string): void {
    const { pattern, patternProperties, $id, $ref } = schema;
    if (typeof pattern === "string") this.patterns.set(pattern, `${path}/pattern`);
    if (isRecord(patternProperties)) {
      for (const source of Object.keys(patternProperties)) {
        this.patterns.set(source, `${path}/patternProperties/${escapeKey(source)}`);
      }
    }
    if (typeof $id === "string") this.hasIds = true;
    if ($ref !== undefined) this.hasReferences = true;
    if (schema["default"] !== undefined && path !== "") this.hasDefaults = true;
  }

  #ignore(path: string, message: string): void {
    this.ignored.push({ path, problem: "invalid", message });
  }
}

function createProperty(value: unknown): PropertyDescriptor {
  return { value, enumerable: true, configurable: true, writable: true };
}

function matchesType(value: unknown, type: unknown): boolean {
  if (Array.isArray(type)) return type.some((name) => matchesType(value, name));
  if (type === "integer") return Number.isInteger(value);
  if (value === null) return type === "null";
  return type === (Array.isArray(value) ? "array" : typeof value);
}

/** Rewrites keywords of older drafts and of OpenAPI. */
function rewriteKeywords(schema: JsonRecord): JsonRecord {
  return rewriteNullable(rewriteDependencies(rewriteTuple(rewriteLimits(schema))));
}

/** `exclusiveMinimum: true` and `exclusiveMaximum: true` of draft 4. */
function rewriteLimits(schema: JsonRecord): JsonRecord {
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, ...rest } = schema;
  return {
    ...rest,
    ...selectLimit("minimum", "exclusiveMinimum", minimum, exclusiveMinimum),
    ...selectLimit("maximum", "exclusiveMaximum", maximum, exclusiveMaximum),
  };
}

function selectLimit(
  name: string,
  exclusiveName: string,
  limit: unknown,
  exclusive: unknown,
): JsonRecord {
  if (exclusive === true && limit !== undefined) return { [exclusiveName]: limit };
  return {
    ...(limit !== undefined && { [name]: limit }),
    ...(typeof exclusive === "number" && { [exclusiveName]: exclusive }),
  };
}

/** A list of `items`, and `additionalItems`, of draft 7. */
function rewriteTuple(schema: JsonRecord): JsonRecord {
  const { items, additionalItems, ...rest } = schema;
  if (!Array.isArray(items)) return items === undefined ? rest : { ...rest, items };
  return {
    ...rest,
    ...(items.length > 0 && { prefixItems: items }),
    ...(additionalItems !== undefined && { items: additionalItems }),
  };
}

/** `dependencies` of draft 7. */
function rewriteDependencies(schema: JsonRecord): JsonRecord {
  const { dependencies, dependentRequired, dependentSchemas, ...rest } = schema;
  const entries = isRecord(dependencies) ? Object.entries(dependencies) : [];
  const lists = entries.filter(([, dependency]) => Array.isArray(dependency));
  const schemas = entries.filter(([, dependency]) => !Array.isArray(dependency));
  return {
    ...rest,
    ...mergeEntries("dependentRequired", dependentRequired, lists),
    ...mergeEntries("dependentSchemas", dependentSchemas, schemas),
  };
}

function mergeEntries(
  keyword: string,
  value: unknown,
  added: readonly (readonly [string, unknown])[],
): JsonRecord {
  if (value === undefined && added.length === 0) return {};
  const own = isRecord(value) ? Object.entries(value) : [];
  return { [keyword]: Object.fromEntries([...added, ...own]) };
}

/** `nullable` of OpenAPI. */
function rewriteNullable(schema: JsonRecord): JsonRecord {
  const { nullable, type, ...rest } = schema;
  if (type === undefined) return rest;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  return { ...rest, type: nullable === true ? [...new Set([...types, "null"])] : type };
}

/** Removes the references that the schema itself cannot resolve, and marks the others. */
function markReferences(root: JsonRecord, ignored: IgnoredKeyword[]): JsonRecord {
  const document = new SchemaDocument(root);
  const removed = new Set<JsonRecord>();
  const visit = (schema: unknown, path: string): void => {
    if (!isRecord(schema)) return;
    const { $ref } = schema;
    if (typeof $ref === "string" && document.resolve($ref, schema) === undefined) {
      removed.add(schema);
      ignored.push(createDanglingReference($ref, `${path}/$ref`));
    }
    mapSubschemas(schema, (subschema, ...keys) => {
      visit(subschema, [path, ...keys.map(escapeKey)].join("/"));
    });
  };
  visit(root, "");
  const rewrite = (schema: unknown): unknown => {
    if (!isRecord(schema)) return schema;
    const { $ref, ...rest } = mapSubschemas(schema, rewrite);
    const isKept = $ref !== undefined && !removed.has(schema);
    return isKept ? { ...rest, $ref, [REFERENCE_COUNTER]: true } : rest;
  };
  return rewrite(root) as JsonRecord;
}

function createDanglingReference($ref: string, path: string): IgnoredKeyword {
  const target = JSON.stringify($ref);
  return $ref.startsWith("#")
    ? { path, problem: "invalid", message: `refers to ${target}, which does not exist` }
    : { path, problem: "unsupported", message: `refers to another document: ${target}` };
}
