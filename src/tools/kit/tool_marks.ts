/**
 * Marks of tools that a gate can trust, since no option of a tool sets them and no copy of a tool has them.
 *
 * @module
 */

import type { AgentTool } from "../../core/tools/tool.ts";
import type { SimpleCommand } from "./simple_command.ts";

const hidingTools = new WeakSet<AgentTool<never>>();

/** Marks a tool whose commands cannot read the files with secrets in the directories of its sandbox. */
export function markHidingSecrets<Tool extends AgentTool<never>>(tool: Tool): Tool {
  hidingTools.add(tool);
  return tool;
}

/** Whether the commands of a tool cannot read the files with secrets in the directories of its sandbox. */
export function isHidingSecrets(tool: AgentTool<never>): boolean {
  return hidingTools.has(tool);
}

/** A command that may change the directory of later ones. */
export interface ShellMove {
  /** Its text; `undefined` if it is not known. */
  readonly text: string | undefined;
  /** The commands that it runs. */
  readonly commands: readonly SimpleCommand[];
}

/** The directories of the shells of a tool. */
export interface ShellPlaces {
  /** Lists the directories in which the next commands of an agent may start; `path` has the calls that lead to it. */
  listDirectories(path?: readonly string[]): readonly string[];
  /** Whether the next commands of an agent may start elsewhere than in the working directory of the sandbox. */
  isMoved(path?: readonly string[]): boolean;
  /** Lists the noted commands that may still run. */
  listMoves(path?: readonly string[]): readonly SimpleCommand[];
  /** Notes the commands of an approved call that may change the directory of later ones. */
  noteMove(move: ShellMove, path?: readonly string[]): void;
}

const places = new WeakMap<AgentTool<never>, ShellPlaces>();

/** Notes where the shells of a tool are. */
export function markShells<Tool extends AgentTool<never>>(tool: Tool, shells: ShellPlaces): Tool {
  places.set(tool, shells);
  return tool;
}

/** Returns where the shells of a tool are; `undefined` if it is not known. */
export function getShellPlaces(tool: AgentTool<never>): ShellPlaces | undefined {
  return places.get(tool);
}
