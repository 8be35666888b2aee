/**
 * Tools whose calls another function runs.
 *
 * @module
 */

import type { AgentTool } from "./tool.ts";

/** Returns a tool with another `execute`. A tool can be an instance of a class, whose members are not its own. */
export function replaceExecute<Context>(
  tool: AgentTool<Context>,
  execute: AgentTool<Context>["execute"],
): AgentTool<Context> {
  return { ...readInherited(tool), ...tool, execute };
}

/** Returns the members of the classes of an object; its methods are bound to it. */
function readInherited(object: object): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  let prototype: unknown = Object.getPrototypeOf(object);
  while (typeof prototype === "object" && prototype !== null && prototype !== Object.prototype) {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      if (name === "constructor" || name in members) continue;
      const value: unknown = Reflect.get(object, name);
      members[name] = typeof value === "function" ? value.bind(object) : value;
    }
    prototype = Object.getPrototypeOf(prototype);
  }
  return members;
}
