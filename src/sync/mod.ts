/**
 * Runs an agent synchronously, for scripts that cannot wait for a promise.
 *
 * The agent runs in a worker that imports it from a module of the caller: the module's default export creates the agent.
 * The calling thread is blocked until the run has ended, and gets the same result as from `Agent.prompt()`. A runtime
 * without workers, or a thread that must not block such as a browser's main thread, gets a `BadRequestError`.
 *
 * @example
 * ```ts ignore
 * import { promptSync } from "@swink/agent/sync";
 *
 * // my_agent.ts: export default () => new Agent({ … });
 * const { messages } = promptSync(new URL("./my_agent.ts", import.meta.url), "Hello");
 * ```
 *
 * @module
 */

import type { AgentResult } from "../agent/agent_result.ts";
import { AbortedError, AgentError, BadRequestError, getErrorMessage } from "../core/errors.ts";
import type { PromptInput } from "../core/message.ts";
import { startWorker, type WorkerThread } from "../platform/worker.ts";
import { createBuffer, receiveText, type SyncRequest, type SyncResponse } from "./wire.ts";

/** Options for {@linkcode promptSync} and {@linkcode continueSync}. */
export interface SyncOptions {
  /** Timeout after which the run is terminated, in milliseconds. Default: none. */
  readonly timeoutMs?: number;
}

/**
 * Prompts an agent, blocks the calling thread until the run has ended, and returns its result.
 *
 * The default export of `module` is the agent, or a function that returns it or a promise of it. Each call loads the
 * module in a new worker, so that the agent starts with the history that the module passes to it.
 *
 * @throws {AlreadyRunningError | NoMessagesError} If `Agent.prompt()` rejects with it.
 * @throws {BadRequestError} If the runtime has no workers or does not allow blocking this thread, or if the default
 * export is not an agent.
 * @throws {AbortedError} If the run has not ended after `timeoutMs`.
 *
 * @example
 * ```ts ignore
 * import { promptSync } from "@swink/agent/sync";
 *
 * const result = promptSync(new URL("./my_agent.ts", import.meta.url), "Hello");
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
 * Continues the history of an agent, blocks the calling thread until the run has ended, and returns its result.
 * `module` is the same as for {@linkcode promptSync}.
 *
 * @throws {NoMessagesError | InvalidContinueError} If `Agent.continue()` rejects with it.
 * @throws {BadRequestError} If the runtime has no workers or does not allow blocking this thread, or if the default
 * export is not an agent.
 * @throws {AbortedError} If the run has not ended after `timeoutMs`.
 */
export function continueSync(module: URL, options: SyncOptions = {}): AgentResult {
  return runSync({ module: module.href }, options);
}

function runSync(
  request: Omit<SyncRequest, "buffer">,
  { timeoutMs }: SyncOptions,
): AgentResult {
  const buffer = createBuffer();
  const worker = startSyncWorker();
  try {
    worker.postMessage({ ...request, buffer });
    const text = waitForText(buffer, timeoutMs);
    if (text === undefined) throw new AbortedError(`The run did not end within ${timeoutMs} ms`);
    return toAgentResult(JSON.parse(text));
  } finally {
    worker.terminate();
  }
}

function startSyncWorker(): WorkerThread {
  try {
    return startWorker(new URL("./worker.ts", import.meta.url));
  } catch (cause) {
    const reason = getErrorMessage(cause);
    throw new BadRequestError(
      `Cannot run synchronously (${reason}): use prompt() or continue()`,
      { cause },
    );
  }
}

function waitForText(buffer: SharedArrayBuffer, timeoutMs: number | undefined): string | undefined {
  try {
    return receiveText(buffer, timeoutMs);
  } catch (cause) {
    const reason = getErrorMessage(cause);
    throw new BadRequestError(
      `Cannot block this thread (${reason}): use prompt() or continue()`,
      { cause },
    );
  }
}

function toAgentResult(response: SyncResponse): AgentResult {
  if (response.type === "failed") throw AgentError.from(response.error);
  const result = response.result as AgentResult & { error?: Parameters<typeof AgentError.from>[0] };
  return result.error ? { ...result, error: AgentError.from(result.error) } : result;
}
