/**
 * Tools in the order in which providers get them.
 *
 * @module
 */

import type { ToolSpec } from "../../../src/core/stream.ts";

/** Tools by name, so that the same tools make the same prompt, and the provider's cache finds it. */
export function sortTools(tools: readonly ToolSpec[]): ToolSpec[] {
  return [...tools].sort((left, right) => compare(left.name, right.name));
}

function compare(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
