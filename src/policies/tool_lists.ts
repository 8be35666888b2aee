/**
 * Policies that restrict the tools that may be called.
 *
 * @module
 */

import { BadRequestError } from "../core/errors/errors.ts";
import type { Policy } from "../core/hooks/policy.ts";

/**
 * Creates a policy that refuses calls of tools that are not listed.
 *
 * @throws {BadRequestError} If the list is not an array of strings.
 *
 * @example
 * ```ts
 * import { allowTools } from "@swink/agent/policies";
 *
 * const policies = [allowTools(["read_file", "list_directory"])];
 * ```
 */
export function allowTools(names: readonly string[]): Policy {
  const allowed = createNameSet(names);
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
 * @throws {BadRequestError} If the list is not an array of strings.
 *
 * @example
 * ```ts
 * import { denyTools } from "@swink/agent/policies";
 *
 * const policies = [denyTools(["bash"])];
 * ```
 */
export function denyTools(names: readonly string[]): Policy {
  const denied = createNameSet(names);
  return createToolFilter(
    "deny_tools",
    (name) => denied.has(name) ? `The tool "${name}" is not allowed` : undefined,
  );
}

/** Returns the names of a list; a single string would be taken apart into its letters, which name no tools. */
function createNameSet(names: readonly string[]): ReadonlySet<string> {
  if (Array.isArray(names) && names.every((name) => typeof name === "string")) {
    return new Set(names);
  }
  throw new BadRequestError('The tools must be an array of names, such as ["bash"]');
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
