/**
 * Loads the code of an agent that only runs need.
 *
 * @module
 */

import type { AgentTool } from "../core/tool.ts";
import type { AgentOptions } from "./options.ts";
import type { RunOptions } from "./run_options.ts";

/** The code of an agent that only runs need. */
export type RunCode = typeof import("./run_code.ts");

/**
 * Loads the code of runs, and checks the names of the options, which need not be checked earlier; `tools` are those of
 * the agent.
 *
 * @throws {BadRequestError} If an option is unknown.
 */
export async function loadRunCode(
  agent: AgentOptions,
  run: RunOptions,
  tools: readonly AgentTool[],
): Promise<RunCode> {
  const code = await import("./run_code.ts");
  code.checkOptionNames(agent, run, tools);
  return code;
}
