/**
 * Finds the properties of a call that rules, classes and grants are about.
 *
 * @module
 */

import { getRisk, type RiskClass } from "../../core/approval/risk.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { getShellPlaces } from "../kit/tool_marks.ts";
import type { ExplainedRequest } from "./call_explanation.ts";
import { assessScript, type CommandAssessment } from "./command_assessment.ts";
import type { GateRules } from "./gate_rules.ts";
import { findStepwiseSearch } from "./reads/stepwise_searches.ts";
import type { ScriptPlace, WideSearch } from "./reads/wide_searches.ts";
import { createRuledCall, type RuledCall } from "./rules/approval_rules.ts";

/** A call with its properties. */
export interface AssessedCall {
  /** The call as rules read it. */
  readonly call: RuledCall;
  /** The tool. */
  readonly tool: AgentTool;
  /** The risk class of the call. */
  readonly risk: RiskClass;
  /** Assessment of a `bash` command. */
  readonly assessment: CommandAssessment | undefined;
  /** How a command may show all files of a directory. */
  readonly search: WideSearch | undefined;
}

/** Finds the properties of a call. */
export async function assessCall(
  { sandbox, moves }: GateRules,
  { path: agentPath, name, arguments: args, tool }: ExplainedRequest,
): Promise<AssessedCall> {
  const created = await createRuledCall({ name, arguments: args }, sandbox?.files);
  const { path } = created;
  const isExcluding = canExclude(tool);
  const call = {
    ...created,
    path: path && !isExcluding ? { ...path, excluded: new Set<string>() } : path,
    isMoved: moves.unknown || (getShellPlaces(tool)?.isMoved(agentPath) ?? moves.any),
  };
  const risk = await getRisk(tool, args);
  const { script } = call;
  const assessment = script && assessScript(script);
  const search = script && sandbox?.files &&
    await findStepwiseSearch(script, {
      source: typeof args.command === "string" ? args.command : "",
      files: sandbox.files,
      ...findPlace(tool, agentPath),
    });
  return { call, tool, risk, assessment, search };
}

/** Finds where the shell of an agent may be when a call runs, and the commands that may move it before. */
function findPlace(
  tool: AgentTool,
  path: readonly string[] | undefined,
): Omit<ScriptPlace, "files"> {
  const places = getShellPlaces(tool);
  return { directories: places?.listDirectories(path), earlier: places?.listMoves(path) };
}

/** Whether a tool leaves out the paths that its argument `exclude_paths` names. */
export function canExclude({ parameters }: AgentTool): boolean {
  const { properties } = parameters;
  return isJsonObject(properties) && Object.hasOwn(properties, "exclude_paths");
}
