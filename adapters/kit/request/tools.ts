/**
 * Order of the tools in a request.
 *
 * @module
 */

import type { ToolSpec } from "../../../src/core/stream.ts";

/** Sorts tools by name, so that the same tools always result in the same prompt, which the provider can cache. */
export function sortTools(tools: readonly ToolSpec[]): ToolSpec[] {
  return [...tools].sort((left, right) => compare(left.name, right.name));
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
