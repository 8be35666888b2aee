/**
 * The JSON Schema of files with cases.
 *
 * @module
 */

import type { JsonSchema } from "../../core/json/json.ts";

/** Ids are also names of files. Those of a case can be as long as those of benchmarks, which contain two hashes. */
export const CASE_ID_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/;

/** The id of a set is part of the name of a directory, together with a time and a model. */
const SET_ID = { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$" };

/** Maximum number of repetitions of a case. */
const MAX_REPETITIONS = 1_000;

const CASE_ID = { type: "string", pattern: CASE_ID_PATTERN.source };
const TEXT = { type: "string" };
/** An expectation of an empty text would accept each one. */
const PART = { type: "string", minLength: 1 };
const SCHEMA = { type: "object" };

const MATCHER = union({
  equals: { value: {} },
  contains: { text: TEXT },
  regex: { pattern: TEXT },
  schema: { schema: SCHEMA },
  ignore: {},
});

const CALL = object({
  tool: TEXT,
  arguments: { type: "object" },
  matchers: { type: "object", additionalProperties: MATCHER },
}, ["tool"]);

/** Without calls, only `exact` expects something. */
const TRAJECTORY = {
  ...object({
    match: { enum: ["exact", "in_order", "any_order"] },
    calls: { type: "array", items: CALL },
    subAgents: { type: "boolean" },
  }, ["match", "calls"]),
  if: { type: "object", properties: { match: { enum: ["in_order", "any_order"] } } },
  then: { type: "object", properties: { calls: { type: "array", minItems: 1 } } },
};

const RESPONSE = union({
  exact: { text: TEXT },
  contains: { text: PART },
  regex: { pattern: PART },
  schema: { schema: SCHEMA },
});

const FILE = union({
  exists: { path: PART },
  missing: { path: PART },
  equals: { path: PART, text: TEXT },
  contains: { path: PART, text: PART },
  regex: { path: PART, pattern: PART },
});

/** A budget without a limit would accept each run. */
const BUDGET = {
  ...object({
    maxCost: { type: "number", minimum: 0 },
    maxTokens: { type: "integer", minimum: 0 },
    maxTurns: { type: "integer", minimum: 1 },
    maxDurationMs: { type: "number", minimum: 0 },
  }, []),
  minProperties: 1,
};

/** JSON Schema of a case. */
export const CASE_SCHEMA: JsonSchema = object({
  id: CASE_ID,
  description: TEXT,
  systemPrompt: TEXT,
  userMessages: { type: "array", items: TEXT, minItems: 1 },
  fixture: TEXT,
  tools: { type: "array", items: TEXT },
  model: TEXT,
  expectedTrajectory: TRAJECTORY,
  expectedResponse: RESPONSE,
  expectedFiles: { type: "array", items: FILE, minItems: 1 },
  budget: BUDGET,
  evaluators: {
    type: "array",
    items: object({
      name: TEXT,
      metric: TEXT,
      weight: { type: "number", exclusiveMinimum: 0 },
      options: { type: "object" },
    }, ["name"]),
  },
  tags: { type: "array", items: TEXT },
  repetitions: { type: "integer", minimum: 1, maximum: MAX_REPETITIONS },
}, ["id", "userMessages"]);

/** JSON Schema (draft 2020-12) of a file with an `EvalSet`, for editors and for `loadEvalSet()`. */
export const evalSetSchema: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Evaluation set of @swink/agent",
  ...object({
    $schema: TEXT,
    id: SET_ID,
    description: TEXT,
    cases: { type: "array", items: CASE_SCHEMA, minItems: 1 },
  }, ["id", "cases"]),
};

function object(properties: Record<string, JsonSchema>, required: string[]): JsonSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

/**
 * A union of objects, by their `type`; all other properties are required. Conditions instead of `oneOf` limit the errors
 * to the selected type.
 */
function union(variants: Record<string, Record<string, JsonSchema>>): JsonSchema {
  const conditions = Object.entries(variants).map(([type, properties]) => ({
    if: { type: "object", properties: { type: { const: type } }, required: ["type"] },
    then: object({ type: {}, ...properties }, Object.keys(properties)),
  }));
  return {
    type: "object",
    properties: { type: { enum: Object.keys(variants) } },
    required: ["type"],
    allOf: conditions,
  };
}
