/**
 * Finds the part of a value that is not JSON.
 *
 * @module
 */

import { getErrorMessage } from "../core/errors.ts";

/** Describes the first part of a value that `JSON.stringify()` refuses, such as `result.data is a bigint`. */
export function describeNonJson(value: unknown, path: string): string | undefined {
  return describe(value, path, new Set());
}

function describe(value: unknown, path: string, ancestors: Set<object>): string | undefined {
  if (typeof value === "bigint") return `${path} is a bigint`;
  if (typeof value !== "object" || value === null) return undefined;
  if (ancestors.has(value)) return `${path} contains itself`;
  if ("toJSON" in value) return describeConversion(value, path);
  ancestors.add(value);
  for (const [key, part] of Object.entries(value)) {
    const partPath = Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`;
    const problem = describe(part, partPath, ancestors);
    if (problem) return problem;
  }
  ancestors.delete(value);
  return undefined;
}

function describeConversion(value: object, path: string): string | undefined {
  try {
    JSON.stringify(value);
    return undefined;
  } catch (thrown) {
    return `${path} cannot be converted: ${getErrorMessage(thrown)}`;
  }
}
