/**
 * Policies that restrict the tools that may be called.
 *
 * @module
 */

import type { Policy } from "../core/policy.ts";

/**
 * Creates a policy that refuses calls of tools that are not listed.
 *
 * @example
 * ```ts
 * import { allowTools } from "@swink/agent/policies";
 *
 * const policies = [allowTools(["read_file", "list_directory"])];
 * ```
 */
export function allowTools(names: readonly string[]): Policy {
  const allowed = new Set(names);
  return createToolFilter(
    "allow_tools",
    (name) =>
      allowed.has(name)
        ? undefined
        : `The tool "${name}" is not allowed. Allowed tools: ${names.join(", ") || "none"}`,
  );
}

/**
 * Creates a policy that refuses calls of the listed tools.
 *
 * @example
 * ```ts
 * import { denyTools } from "@swink/agent/policies";
 *
 * const policies = [denyTools(["bash"])];
 * ```
 */
export function denyTools(names: readonly string[]): Policy {
  const denied = new Set(names);
  return createToolFilter(
    "deny_tools",
    (name) => denied.has(name) ? `The tool "${name}" is not allowed` : undefined,
  );
}

function createToolFilter(
  name: string,
  getRefusal: (tool: string) => string | undefined,
): Policy {
  return {
    name,
    preDispatch: ({ tool }) => {
      const reason = getRefusal(tool.name);
      return reason === undefined ? { type: "continue" } : { type: "skip", reason };
    },
  };
}
