/**
 * The system prompts of the agent of a run and of its sub-agents.
 *
 * @module
 */

import type { ApprovalPrompt } from "../../../src/tools/mod.ts";
import type { Host } from "../../host/host.ts";
import { findKeyboard } from "../../host/terminal.ts";
import type { LoadedProject } from "../../project/load_project.ts";
import {
  createSystemPrompt,
  createTaskPrompt,
  formatInstructions,
  type PromptEnvironment,
} from "../prompt/system_prompt.ts";
import type { RunSettings } from "../settings/settings.ts";

/** The settings that the prompts describe. */
export interface AgentPromptOptions
  extends Pick<RunSettings, "systemPrompt" | "appendedPrompt" | "cwd" | "net" | "sandbox"> {
  /** Further directories in which the tools may read and write. Default: none. */
  readonly addedDirectories?: readonly string[];
  /** Instructions and state of the repository. Default: none. */
  readonly project?: Pick<LoadedProject, "instructions" | "gitState">;
  /** Asks about tool calls instead of the terminal. Default: none. */
  readonly ask?: ApprovalPrompt | undefined;
  /** Date for the prompt. Default: the current one. */
  readonly today?: Date;
}

/** Creates the prompt of the agent: that of the settings, or the default one. */
export function createAgentPrompt(options: AgentPromptOptions, host: Host): string {
  const { systemPrompt, project: { instructions = [] } = {} } = options;
  const prompt = systemPrompt === undefined
    ? createSystemPrompt(describeEnvironment(options, host))
    : systemPrompt + formatInstructions(instructions);
  return appendPrompt(prompt, options);
}

/** Creates the prompt of the sub-agents. */
export function createSubAgentPrompt(options: AgentPromptOptions, host: Host): string {
  return appendPrompt(createTaskPrompt(describeEnvironment(options, host)), options);
}

function appendPrompt(
  prompt: string,
  { appendedPrompt }: Pick<AgentPromptOptions, "appendedPrompt">,
): string {
  return appendedPrompt === undefined ? prompt : `${prompt}\n\n${appendedPrompt}`;
}

function describeEnvironment(options: AgentPromptOptions, host: Host): PromptEnvironment {
  const { cwd, net, sandbox, addedDirectories, today, ask } = options;
  const { instructions = [], gitState } = options.project ?? {};
  const date = today ?? new Date(host.now());
  return {
    cwd,
    addedDirectories,
    isConfined: sandbox !== "off",
    net,
    instructions,
    gitState,
    platform: Deno.build.os,
    date: date.toISOString().slice(0, 10),
    attended: (ask ?? findKeyboard(host.terminal)) !== undefined,
  };
}
