/**
 * Runs an agent synchronously, for scripts that cannot wait for a promise.
 *
 * The agent runs in a worker that imports it from a module of the caller: the module's default export is the agent, or a
 * function that creates it. The calling thread is blocked until the run has ended, and gets the same result as from the
 * methods of `Agent`, as JSON. It works in Deno, Node 20.16 and later, Bun, and workers of browsers; a thread that must
 * not block, such as a browser's main thread, gets a `BadRequestError`.
 *
 * @example
 * ```ts
 * import { promptSync } from "@swink/agent/sync";
 *
 * // my_agent.ts: export default () => new Agent({ … });
 * const module = new URL("./my_agent.ts", import.meta.url);
 *
 * function ask(prompt: string): string {
 *   return promptSync(module, prompt).text;
 * }
 * ```
 *
 * @module
 */

import type { AgentResult } from "../agent/agent_result.ts";
import type { ApprovalDecisions } from "../core/approval/approval.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { AgentError, type AgentErrorRecord, BadRequestError } from "../core/errors/errors.ts";
import type { JsonSchema } from "../core/json/json.ts";
import type { PromptInput } from "../core/messages/message.ts";
import type { Infer } from "../core/schemas/infer.ts";
import { callSync, pickRunOptions, type SyncOptions } from "./sync_call.ts";

export type { SyncOptions } from "./sync_call.ts";
export type { SyncRunOptions } from "./sync_request.ts";

/** Options for {@linkcode continueSync}. */
export interface ContinueSyncOptions extends SyncOptions {
  /** The decisions on the pending approvals, by the id of the tool call; one for each of them. */
  readonly approvals?: ApprovalDecisions | undefined;
}

/** Options for {@linkcode structuredOutputSync}. */
export interface StructuredOutputSyncOptions extends SyncOptions {
  /** Maximum number of further attempts after an invalid answer. Default: 3. */
  readonly maxRetries?: number | undefined;
}

/**
 * Prompts an agent, blocks the calling thread until the run has ended, and returns its result.
 *
 * The default export of `module` is the agent, or a function that returns it or a promise of it. Each call loads the
 * module in a new worker, so that the agent starts with the history that the module passes to it.
 *
 * @throws {AlreadyRunningError | NoMessagesError} If `Agent.prompt()` rejects with it.
 * @throws {BadRequestError} If the runtime has no workers or does not allow blocking this thread, if an option is
 * invalid, if the input cannot be copied to another thread, if the default export is not an agent, or if the result is
 * not JSON.
 * @throws {AbortedError} If the run has not ended after `timeoutMs`.
 * @throws {StreamError} If the worker has failed: the module throws, something throws outside of the run, or the worker
 * has ended.
 *
 * @example
 * ```ts ignore
 * import { promptSync } from "@swink/agent/sync";
 *
 * const result = promptSync(new URL("./my_agent.ts", import.meta.url), "Hello", { maxTurns: 5 });
 * ```
 */
export function promptSync(
  module: URL,
  input: PromptInput,
  options: SyncOptions = {},
): AgentResult {
  return toAgentResult(
    callSync(module, { type: "prompt", input, options: pickRunOptions(options) }, options),
  );
}

/**
 * Continues the history of an agent, blocks the calling thread until the run has ended, and returns its result.
 * `module` is the same as for {@linkcode promptSync}, which also throws the same errors.
 *
 * @throws {NoMessagesError | InvalidContinueError} If `Agent.continue()` rejects with it.
 */
export function continueSync(module: URL, options: ContinueSyncOptions = {}): AgentResult {
  const runOptions = { ...pickRunOptions(options, ["approvals"]), approvals: options.approvals };
  return toAgentResult(callSync(module, { type: "continue", options: runOptions }, options));
}

/**
 * Prompts an agent, blocks the calling thread until it has answered, and returns an answer that matches a JSON Schema.
 * `module` is the same as for {@linkcode promptSync}, which also throws the same errors.
 *
 * A validator such as a Zod schema cannot be passed to another thread: pass its JSON Schema.
 *
 * @throws {StructuredOutputFailedError} If no answer matches the schema after `maxRetries`.
 * @throws {AgentError} If the run fails, its error.
 *
 * @example
 * ```ts ignore
 * import { structuredOutputSync } from "@swink/agent/sync";
 *
 * const module = new URL("./my_agent.ts", import.meta.url);
 * const { city } = structuredOutputSync(module, "Where is the Eiffel Tower?", {
 *   type: "object",
 *   properties: { city: { type: "string" } },
 *   required: ["city"],
 * });
 * ```
 */
export function structuredOutputSync<const Schema extends JsonSchema>(
  module: URL,
  input: PromptInput,
  schema: Schema,
  options: StructuredOutputSyncOptions = {},
): Infer<Schema> {
  checkObject(schema, "The schema must be a JSON Schema");
  if ("~standard" in schema) {
    throw new BadRequestError(
      "A validator cannot be passed to another thread: pass its JSON Schema",
    );
  }
  const runOptions = pickRunOptions(options, ["maxRetries"]);
  const { maxRetries } = options;
  const call = {
    type: "structured_output",
    input,
    schema,
    options: { ...runOptions, ...(maxRetries !== undefined && { maxRetries }) },
  } as const;
  return callSync(module, call, options) as Infer<Schema>;
}

function toAgentResult(value: unknown): AgentResult {
  const result = value as AgentResult & { readonly error?: AgentErrorRecord };
  return result.error ? { ...result, error: AgentError.from(result.error) } : result;
}
