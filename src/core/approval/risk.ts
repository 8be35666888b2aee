/**
 * Risk classes of tool calls.
 *
 * @module
 */

import { cloneJson, type JsonObject } from "../json/json.ts";

/**
 * The most that a tool call may do: `read` changes nothing on this machine or elsewhere, `write` changes files or other
 * state, `execute` runs programs, `network` sends something to another machine. A call of several classes has the last
 * of them.
 */
export type RiskClass = "read" | "write" | "execute" | "network";

/** The risk classes, from the lowest to the highest. */
export const RISK_CLASSES: readonly RiskClass[] = ["read", "write", "execute", "network"];

/** The properties of a tool that determine the risk class of a call. */
export interface ClassifiedTool {
  /** Whether the tool changes nothing. */
  readonly readOnly?: boolean | undefined;
  /** The class, or a function that returns it. */
  readonly risk?: RiskClass | ((args: JsonObject) => RiskClass | Promise<RiskClass>) | undefined;
}

/**
 * Returns the risk class of a call. A tool that does not declare one reads if it is `readOnly`, and executes otherwise.
 * A class that is not known, or a `risk` that fails, counts as `network`, the highest.
 */
export async function getRisk(tool: ClassifiedTool, args: JsonObject): Promise<RiskClass> {
  const { risk = tool.readOnly ? "read" : "execute" } = tool;
  try {
    const declared = typeof risk === "function" ? await risk(cloneJson(args)) : risk;
    return RISK_CLASSES.find((known) => known === declared) ?? "network";
  } catch {
    return "network";
  }
}
