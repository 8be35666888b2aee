/**
 * The keywords for objects.
 *
 * @module
 */

import type { Check, Evaluation, SchemaNode } from "./evaluation.ts";
import { isRecord, type JsonRecord } from "./json_object.ts";
import { expectCount, expectEntries, expectNames, formatCount, type Keyword } from "./keyword.ts";
import { compilePattern } from "./value_keywords.ts";

const required: Keyword = (value) => {
  const names = expectNames(value);
  return checkObject((object, evaluation) => {
    for (const name of names) {
      if (!Object.hasOwn(object, name)) evaluation.report("is required", name);
    }
  });
};

const properties: Keyword = (value, { compile }) => {
  const nodes = expectEntries(value).map(([name, schema]) =>
    [name, compile(schema, "properties", name)] as const
  );
  return checkObject((object, evaluation) => {
    for (const [name, node] of nodes) {
      if (Object.hasOwn(object, name)) evaluation.applyToMember(name, object[name], node);
    }
  });
};

const patternProperties: Keyword = (value, { compile }) => {
  const nodes = expectEntries(value).map(([source, schema]) =>
    [compilePattern(source), compile(schema, "patternProperties", source)] as const
  );
  return checkObject((object, evaluation) => {
    for (const [name, member] of Object.entries(object)) {
      for (const [pattern, node] of nodes) {
        if (evaluation.matches(pattern, name)) evaluation.applyToMember(name, member, node);
      }
    }
  });
};

const additionalProperties: Keyword = (value, { schema, compile }) => {
  const { properties, patternProperties } = schema;
  const names = new Set(isRecord(properties) ? Object.keys(properties) : []);
  const sources = isRecord(patternProperties) ? Object.keys(patternProperties) : [];
  const patterns = sources.map(compilePattern);
  return checkUnknown(
    value === false || compile(value, "additionalProperties"),
    (name, evaluation) =>
      !names.has(name) && !patterns.some((pattern) => evaluation.matches(pattern, name)),
  );
};

const unevaluatedProperties: Keyword = (value, { compile }) =>
  checkUnknown(
    value === false || compile(value, "unevaluatedProperties"),
    (name, evaluation) => !evaluation.isEvaluated(name),
  );

const propertyNames: Keyword = (value, { compile }) => {
  const node = compile(value, "propertyNames");
  return checkObject((object, evaluation) => {
    for (const name of Object.keys(object)) {
      for (const { message } of evaluation.testMember(name, name, node)) {
        evaluation.report(`has an invalid name, which ${message}`, name);
      }
    }
  });
};

const minProperties: Keyword = (value) => {
  const limit = expectCount(value);
  return checkObject((object, evaluation) => {
    if (Object.keys(object).length < limit) {
      evaluation.report(`must have at least ${formatCount(limit, "property")}`);
    }
  });
};

const maxProperties: Keyword = (value) => {
  const limit = expectCount(value);
  return checkObject((object, evaluation) => {
    if (Object.keys(object).length > limit) {
      evaluation.report(`must have at most ${formatCount(limit, "property")}`);
    }
  });
};

const dependentRequired: Keyword = (value) => {
  const checks = expectEntries(value).map(([name, names]) => requireWith(name, expectNames(names)));
  return runAll(checks);
};

const dependentSchemas: Keyword = (value, { compile }) => {
  const checks = expectEntries(value).map(([name, schema]) =>
    applyWith(name, compile(schema, "dependentSchemas", name))
  );
  return runAll(checks);
};

/** The keyword of draft 7, which is `dependentRequired` and `dependentSchemas` today. */
const dependencies: Keyword = (value, { compile }) => {
  const checks = expectEntries(value).map(([name, dependency]) =>
    Array.isArray(dependency)
      ? requireWith(name, expectNames(dependency))
      : applyWith(name, compile(dependency, "dependencies", name))
  );
  return runAll(checks);
};

/** The keywords for objects, except `unevaluatedProperties`. */
export const OBJECT_KEYWORDS: readonly (readonly [name: string, keyword: Keyword])[] = [
  ["required", required],
  ["minProperties", minProperties],
  ["maxProperties", maxProperties],
  ["propertyNames", propertyNames],
  ["properties", properties],
  ["patternProperties", patternProperties],
  ["additionalProperties", additionalProperties],
  ["dependentRequired", dependentRequired],
  ["dependentSchemas", dependentSchemas],
  ["dependencies", dependencies],
];

/** The keyword for the properties that no other keyword evaluates. It comes after all of them. */
export const UNEVALUATED_PROPERTIES: readonly [name: string, keyword: Keyword] = [
  "unevaluatedProperties",
  unevaluatedProperties,
];

function checkObject(check: (object: JsonRecord, evaluation: Evaluation) => void): Check {
  return (evaluation) => {
    if (isRecord(evaluation.value)) check(evaluation.value, evaluation);
  };
}

/** Applies a schema to the properties that `isUnknown` selects; `true` refuses them all. */
function checkUnknown(
  node: SchemaNode | true,
  isUnknown: (name: string, evaluation: Evaluation) => boolean,
): Check {
  return checkObject((object, evaluation) => {
    for (const [name, member] of Object.entries(object)) {
      if (!isUnknown(name, evaluation)) continue;
      if (node === true) evaluation.report("is not a known property", name);
      else evaluation.applyToMember(name, member, node);
    }
  });
}

/** Requires properties if the object has the property `name`. */
function requireWith(name: string, names: readonly string[]): Check {
  return checkObject((object, evaluation) => {
    if (!Object.hasOwn(object, name)) return;
    for (const other of names) {
      if (!Object.hasOwn(object, other)) {
        evaluation.report(`is required together with ${JSON.stringify(name)}`, other);
      }
    }
  });
}

/** Applies a schema to the object if it has the property `name`. */
function applyWith(name: string, node: SchemaNode): Check {
  return checkObject((object, evaluation) => {
    if (Object.hasOwn(object, name)) evaluation.apply(node);
  });
}

function runAll(checks: readonly Check[]): Check {
  return (evaluation) => {
    for (const check of checks) check(evaluation);
  };
}
