/**
 * Starts the hooks of a run: those of the session and of the prompt run at once, the others during the run.
 *
 * @module
 */

import type { Policy, PromptInput, UserMessage } from "../../mod.ts";
import { extractText } from "../../src/core/content.ts";
import { CliError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { importLate } from "../host/import_late.ts";
import type { InterruptHandler } from "../host/interrupt.ts";
import { toPlainText } from "../render/plain_text.ts";
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

/** Runs the hooks of the start of the session. */
export async function startHooks(
  { hooks, appendedPrompt, cwd, project, signal, timeoutMs, hasOnePrompt, beforeExit }:
    HookStartOptions,
  { terminal, now }: Pick<Host, "terminal" | "now">,
): Promise<StartedHooks> {
  if (hooks.length === 0) {
    return {
      policies: [],
      subAgentPolicies: [],
      submit: (prompt) => Promise.resolve(prompt),
      submitMessage: (message) => Promise.resolve(message),
      takeWarnings: () => [],
      ...(appendedPrompt !== undefined && { appendedPrompt }),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  }
  const { RunHooks, startTimeLimit } = await importLate<typeof import("./run_hooks.ts")>(
    "./run_hooks.ts",
    import.meta.url,
  );
  const { addHookOutput, appendHookOutput, getPromptText } = await importLate<
    typeof import("./hook_output.ts")
  >("./hook_output.ts", import.meta.url);
  const known = new Set<string>();
  let waiting: readonly string[] = [];
  const onWarning = (warning: string) => {
    if (!known.has(warning)) waiting = [...waiting, warning];
    known.add(warning);
  };
  const takeWarnings = () => {
    const taken = waiting;
    waiting = [];
    return taken;
  };
  const options = { cwd, projectRoot: project?.root ?? cwd, now, onWarning };
  const running = new RunHooks(hooks, { ...options, signal, timeoutMs });
  const limit = hasOnePrompt ? startTimeLimit(timeoutMs) : undefined;
  const addLimit = (other: AbortSignal) => limit ? AbortSignal.any([limit, other]) : other;
  const checkLimit = () => {
    if (!limit?.aborted) return;
    const message = `stopped: the hooks before the run reached the time limit of ${timeoutMs} ms`;
    throw new CliError(message, { exitCode: ExitCode.limit });
  };
  const submitText = async (text: string, stop = signal) => {
    checkLimit();
    const { blocked, output } = await running.submit(text, addLimit(stop));
    checkLimit();
    if (blocked === undefined) return output;
    throw new CliError(`A hook blocked the prompt: ${blocked}`, { exitCode: ExitCode.refused });
  };
  const session = await running.run("SessionStart", {}, { signal: addLimit(signal) });
  const context = [appendedPrompt, session.output].filter((text) => text);
  return {
    policies: [running.policy],
    subAgentPolicies: [running.subAgentPolicy],
    submit: async (prompt, stop) =>
      addHookOutput(prompt, await submitText(getPromptText(prompt), stop)),
    submitMessage: async (message, stop) =>
      appendHookOutput(message, await submitText(extractText(message.content), stop)),
    takeWarnings,
    ...(context.length > 0 && { appendedPrompt: context.join("\n\n") }),
    async [Symbol.asyncDispose]() {
      // An interrupted run has an end, too. A signal that follows the run kills the hook.
      const exit = new AbortController();
      const undo = beforeExit?.(() => Promise.resolve(exit.abort()));
      const ending = new RunHooks(hooks, {
        ...options,
        signal: signal.aborted ? exit.signal : AbortSignal.any([signal, exit.signal]),
      });
      await ending.run("SessionEnd", {});
      undo?.();
      for (const warning of takeWarnings()) {
        await terminal.messages.write(`warning: ${toPlainText(warning)}\n`);
      }
    },
  };
}
