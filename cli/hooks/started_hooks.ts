/**
 * A run with hooks.
 *
 * @module
 */

import type { Policy, PromptInput, UserMessage } from "../../mod.ts";
import type { InterruptHandler } from "../host/interrupt.ts";
import type { Hook } from "./hook.ts";

/** Options for `startHooks()`. */
export interface HookStartOptions {
  /** The hooks. */
  readonly hooks: readonly Hook[];
  /** Text after the system prompt. */
  readonly appendedPrompt?: string | undefined;
  /** Working directory of the run. */
  readonly cwd: string;
  /** The project of the run, whose root hooks get. Default: none. */
  readonly project?: { readonly root: string | null };
  /** Kills running hooks. */
  readonly signal: AbortSignal;
  /** Maximum duration of a run, in milliseconds. Default: none. */
  readonly timeoutMs?: number | undefined;
  /** Whether the hooks before the only prompt are part of its run, which the maximum duration limits. Default: `false`. */
  readonly hasOnePrompt?: boolean;
  /** Calls a function before an immediate exit. Default: there is none. */
  readonly beforeExit?: InterruptHandler["beforeExit"];
}

/** A run with hooks. Disposing of it runs those of the end of the session. */
export interface StartedHooks extends AsyncDisposable {
  /** The policies that run the other hooks. */
  readonly policies: readonly Policy[];
  /** The policies of sub-agents that run the hooks of their ends. */
  readonly subAgentPolicies: readonly Policy[];
  /**
   * Runs the hooks of a prompt. Returns the prompt with their output.
   *
   * @param signal Kills them. Default: only that of the run does.
   * @throws {CliError} If one of them blocks it, or the run reaches its maximum duration before it starts.
   */
  submit(prompt: PromptInput, signal?: AbortSignal): Promise<PromptInput>;
  /** Does the same for a prompt that is a message. */
  submitMessage(message: UserMessage, signal?: AbortSignal): Promise<UserMessage>;
  /** Returns the failures of hooks since the last call, each one once. Disposing writes the others. */
  takeWarnings(): readonly string[];
  /** Text after the system prompt, with the output of hooks. */
  readonly appendedPrompt?: string;
}
