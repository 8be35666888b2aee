/**
 * Selects the tools of a server that are offered.
 *
 * @module
 */

import type { McpServerOptions } from "../config/options.ts";

/** Returns the function that decides by the name of a tool whether it is offered. */
export function createToolFilter(
  { allow = ["*"], deny = [] }: Pick<McpServerOptions, "allow" | "deny">,
): (name: string) => boolean {
  const allowed = allow.map(createPattern);
  const denied = deny.map(createPattern);
  return (name) =>
    allowed.some((matches) => matches(name)) && !denied.some((matches) => matches(name));
}

/** Matches in linear time: each part is searched after the previous one. */
function createPattern(pattern: string): (name: string) => boolean {
  const [first = "", ...parts] = pattern.split("*");
  const last = parts.pop();
  if (last === undefined) return (name) => name === pattern;
  return (name) => {
    if (!name.startsWith(first)) return false;
    let offset = first.length;
    for (const part of parts) {
      const index = name.indexOf(part, offset);
      if (index < 0) return false;
      offset = index + part.length;
    }
    return name.length >= offset + last.length && name.endsWith(last);
  };
}
