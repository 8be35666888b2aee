/**
 * Checks of tools that come from untyped code.
 *
 * @module
 */

import { BadRequestError } from "./errors.ts";
import { isJsonObject } from "./json.ts";
import type { AgentTool } from "./tool.ts";

/**
 * Checks that every value is a tool and that no two have the same name.
 *
 * @throws {BadRequestError} If a value is no tool, or two tools have the same name.
 */
export function checkTools(tools: readonly AgentTool[]): void {
  if (!Array.isArray(tools)) {
    throw new BadRequestError(`tools must be an array of tools, not ${typeof tools}`);
  }
  const names = new Set<string>();
  for (const tool of tools) {
    if (!isTool(tool)) {
      throw new BadRequestError(
        "A tool must be an object with a name, parameters and execute: create it with defineTool()",
      );
    }
    const { name } = tool;
    if (names.has(name)) {
      throw new BadRequestError(`Two tools have the name "${name}": tool names must be unique`);
    }
    names.add(name);
  }
}

function isTool(value: unknown): value is AgentTool {
  return isJsonObject(value) && typeof value["name"] === "string" && value["name"] !== "" &&
    isJsonObject(value["parameters"]) && typeof value["execute"] === "function";
}
