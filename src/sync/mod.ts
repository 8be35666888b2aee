/**
 * Runs that block the calling thread, for scripts.
 *
 * The agent lives in a worker, made there by a module of the caller's; the calling thread sleeps until the
 * result is there.
 *
 * @module
 */

import type { AgentResult } from "../agent/collect.ts";
import { AbortedError, AgentError, BadRequestError, getErrorMessage } from "../core/errors.ts";
import type { PromptInput } from "../core/message.ts";
import { createBuffer, receiveText, type SyncRequest, type SyncResponse } from "./wire.ts";

/** Options of a synchronous run. */
export interface SyncOptions {
  /** Gives up, and ends the run, after this many milliseconds. Default: never. */
  readonly timeoutMs?: number;
}

/**
 * Prompts an agent and blocks the calling thread until the run has ended.
 *
 * The default export of `module` is the agent, or a function that makes it. Every call loads the module anew, so
 * that the agent starts with the history that the module gives it.
 *
 * @throws {AlreadyRunningError | NoMessagesError} As {@linkcode Agent.prompt} rejects.
 * @throws {BadRequestError} When the runtime has no workers, or may not block this thread, or the module exports no
 * agent.
 * @throws {AbortedError} When the run took longer than `timeoutMs`.
 *
 * @example
 * ```ts ignore
 * import { promptSync } from "@swink/agent/sync";
 *
 * const result = promptSync(new URL("./my_agent.ts", import.meta.url), "Say hello");
 * ```
 */
export function promptSync(
  module: URL,
  input: PromptInput,
  options: SyncOptions = {},
): AgentResult {
  return runSync({ module: module.href, input }, options);
}

/**
 * Continues an agent's history and blocks the calling thread until the run has ended.
 *
 * @throws {NoMessagesError | InvalidContinueError} As {@linkcode Agent.continue} rejects.
 * @throws {BadRequestError} When the runtime has no workers, or may not block this thread, or the module exports no
 * agent.
 * @throws {AbortedError} When the run took longer than `timeoutMs`.
 */
export function continueSync(module: URL, options: SyncOptions = {}): AgentResult {
  return runSync({ module: module.href }, options);
}

function runSync(
  request: Omit<SyncRequest, "buffer">,
  { timeoutMs }: SyncOptions,
): AgentResult {
  const buffer = createBuffer();
  const worker = startWorker();
  try {
    worker.postMessage({ ...request, buffer });
    const text = waitForText(buffer, timeoutMs);
    if (text === undefined) throw new AbortedError(`The run took longer than ${timeoutMs} ms`);
    return toAgentResult(JSON.parse(text));
  } finally {
    worker.terminate();
  }
}

function startWorker(): Worker {
  if (typeof Worker === "undefined") {
    throw new BadRequestError("This runtime has no workers: use prompt() instead of promptSync()");
  }
  return new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
}

function waitForText(buffer: SharedArrayBuffer, timeoutMs: number | undefined): string | undefined {
  try {
    return receiveText(buffer, timeoutMs);
  } catch (cause) {
    const why = getErrorMessage(cause);
    throw new BadRequestError(`This thread may not be blocked: use prompt() instead (${why})`, {
      cause,
    });
  }
}

function toAgentResult(answer: SyncResponse): AgentResult {
  if (answer.type === "failed") throw AgentError.from(answer.error);
  const result = answer.result as AgentResult & { error?: Parameters<typeof AgentError.from>[0] };
  return result.error ? { ...result, error: AgentError.from(result.error) } : result;
}
