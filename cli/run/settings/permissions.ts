/**
 * The effects of `--permission-mode` and `--sandbox` on a run: its approval, its sandbox and the calls without approval.
 *
 * @module
 */

import type { ApprovalMode } from "../../../mod.ts";
import type { SandboxOptions } from "../../../src/tools/mod.ts";
import type { RunSettings } from "./settings.ts";

/** The tools that change files; their sandbox restricts them to the working directory. */
export const EDITING_TOOLS: readonly string[] = ["write_file", "edit_file"];

/** Returns the approval mode of the agent. */
export function getApprovalMode(
  permissionMode: RunSettings["permissionMode"],
): Extract<ApprovalMode, "bypassed" | "smart"> {
  return permissionMode === "bypass" ? "bypassed" : "smart";
}

/** Returns the rules for calls without approval: with the tools that change files if the mode accepts edits. */
export function addEditingTools(
  allow: readonly string[],
  permissionMode: RunSettings["permissionMode"],
): readonly string[] {
  return permissionMode === "acceptEdits" ? [...allow, ...EDITING_TOOLS] : allow;
}

/** The settings that determine the sandbox of a run. */
export interface SandboxSettings extends Pick<RunSettings, "cwd" | "net" | "sandbox"> {
  /** Further directories in which the tools may read and write. Default: none. */
  readonly addedDirectories?: readonly string[];
  /** Environment variables of commands. Default: none. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Names of environment variables of this program to pass to commands. Default: none. */
  readonly passEnvironment?: readonly string[];
  /** Whether nothing may be changed, as in plan mode. */
  readonly readOnly: boolean;
}

/** Returns the options of the sandbox of a run. */
export function createSandboxOptions(
  { cwd, net, sandbox, addedDirectories = [], environment, passEnvironment, readOnly }:
    SandboxSettings,
): SandboxOptions {
  return {
    cwd,
    net,
    environment,
    passEnvironment,
    readOnly,
    // Without write access there is no sandbox that is off; such a run has no commands.
    confinement: hasCommands({ sandbox, readOnly }) ? sandbox : "auto",
    // The user has confirmed a working directory with the home directory.
    homeAccess: "allow",
    writeRoots: addedDirectories,
  };
}

/** Whether a run has commands: not if nothing may be changed, and nothing confines them. */
export function hasCommands(
  { sandbox, readOnly }: Pick<SandboxSettings, "sandbox" | "readOnly">,
): boolean {
  return !readOnly || sandbox !== "off";
}
