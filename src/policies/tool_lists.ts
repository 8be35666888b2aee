/**
 * Which tools may be called.
 *
 * @module
 */

import type { Policy } from "../core/policy.ts";

/**
 * Refuses every call of a tool that is not listed.
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
        : `The tool "${name}" is not among the allowed ones: ${names.join(", ") || "none"}`,
  );
}

/**
 * Refuses every call of a listed tool.
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
    (name) => denied.has(name) ? `The tool "${name}" is not allowed here` : undefined,
  );
}

function createToolFilter(name: string, refusal: (tool: string) => string | undefined): Policy {
  return {
    name,
    preDispatch: ({ tool }) => {
      const reason = refusal(tool.name);
      return reason === undefined ? { type: "continue" } : { type: "skip", reason };
    },
  };
}
