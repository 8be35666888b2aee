/**
 * The hooks of a session: of its start, its prompts and its end. Those during a run are policies.
 *
 * @module
 */

import { extractText } from "../../src/core/messages/content.ts";
import { CliError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { toPlainText } from "../render/plain_text.ts";
import { addHookOutput, appendHookOutput, getPromptText } from "./hook_output.ts";
import { RunHooks, type RunHooksOptions, startTimeLimit } from "./run_hooks.ts";
import type { HookStartOptions, StartedHooks } from "./started_hooks.ts";

/** Runs the hooks of the start of a session. */
export async function startSessionHooks(
  options: HookStartOptions,
  { terminal, now }: Pick<Host, "terminal" | "now">,
): Promise<StartedHooks> {
  const { hooks, appendedPrompt, cwd, project, signal, timeoutMs, hasOnePrompt } = options;
  const warnings = new Warnings();
  const shared = {
    cwd,
    projectRoot: project?.root ?? cwd,
    now,
    onWarning: (warning: string) => warnings.add(warning),
  };
  const running = new RunHooks(hooks, { ...shared, signal, timeoutMs });
  const prompts = new PromptHooks(running, hasOnePrompt ? timeoutMs : undefined);
  const start = await running.run("SessionStart", {}, { signal: prompts.limit(signal) });
  const appended = [appendedPrompt, start.output].filter((text) => text);
  return {
    policies: [running.policy],
    subAgentPolicies: [running.subAgentPolicy],
    submit: async (prompt, stop = signal) =>
      addHookOutput(prompt, await prompts.run(getPromptText(prompt), stop)),
    submitMessage: async (message, stop = signal) =>
      appendHookOutput(message, await prompts.run(extractText(message.content), stop)),
    takeWarnings: () => warnings.take(),
    ...(appended.length > 0 && { appendedPrompt: appended.join("\n\n") }),
    async [Symbol.asyncDispose]() {
      await runEndHooks(options, shared);
      for (const warning of warnings.take()) {
        await terminal.messages.write(`warning: ${toPlainText(warning)}\n`);
      }
    },
  };
}

/** The failures of hooks, each one once. */
class Warnings {
  readonly #known = new Set<string>();
  #waiting: readonly string[] = [];

  add(warning: string): void {
    if (!this.#known.has(warning)) this.#waiting = [...this.#waiting, warning];
    this.#known.add(warning);
  }

  /** Returns the failures since the last call. */
  take(): readonly string[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }
}

/** The hooks of prompts. The maximum duration of a run with one prompt includes them. */
class PromptHooks {
  readonly #hooks: RunHooks;
  readonly #timeoutMs: number | undefined;
  readonly #timeLimit: AbortSignal;

  constructor(hooks: RunHooks, timeoutMs: number | undefined) {
    this.#hooks = hooks;
    this.#timeoutMs = timeoutMs;
    this.#timeLimit = startTimeLimit(timeoutMs);
  }

  /** Returns a signal that is aborted by another one, and at the maximum duration. */
  limit(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([this.#timeLimit, signal]);
  }

  /**
   * Runs the hooks of a prompt until the signal is aborted. Returns their output.
   *
   * @throws {CliError} If one of them blocks the prompt, or the maximum duration is reached.
   */
  async run(prompt: string, signal: AbortSignal): Promise<string> {
    this.#checkTime();
    const { blocked, output } = await this.#hooks.submit(prompt, this.limit(signal));
    this.#checkTime();
    if (blocked === undefined) return output;
    throw new CliError(`A hook blocked the prompt: ${blocked}`, { exitCode: ExitCode.refused });
  }

  #checkTime(): void {
    if (!this.#timeLimit.aborted) return;
    throw new CliError(
      `stopped: the hooks before the run reached the time limit of ${this.#timeoutMs} ms`,
      { exitCode: ExitCode.limit },
    );
  }
}

/** Runs the hooks of the end of a session, also of an interrupted one. A signal that follows kills them. */
async function runEndHooks(
  { hooks, signal, beforeExit }: HookStartOptions,
  options: Omit<RunHooksOptions, "signal" | "timeoutMs">,
): Promise<void> {
  const exit = new AbortController();
  const removeListener = beforeExit?.(() => Promise.resolve(exit.abort()));
  const ending = new RunHooks(hooks, {
    ...options,
    signal: signal.aborted ? exit.signal : AbortSignal.any([signal, exit.signal]),
  });
  await ending.run("SessionEnd", {});
  removeListener?.();
}
