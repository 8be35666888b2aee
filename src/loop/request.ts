/**
 * The request of a model call: transforms and converts the history, and resolves the options and the API key.
 *
 * @module
 */

import type { CompactionReport } from "../core/compaction_report.ts";
import { omitCustomMessages } from "../core/context.ts";
import { NoMessagesError } from "../core/errors.ts";
import { isJsonObject, toJsonValue } from "../core/json.ts";
import type { AgentMessage, LlmMessage } from "../core/message.ts";
import type { ModelSpec } from "../core/model.ts";
import type { LlmContext, StreamOptions, ToolSpec } from "../core/stream.ts";
import type { AgentTool } from "../core/tool.ts";
import { toValidSpending } from "../core/usage.ts";
import type { GetApiKey } from "./config.ts";
import { toHookError } from "./hook_error.ts";
import { readMediaFiles } from "./media_files.ts";
import { repairRequest } from "./repair_request.ts";
import type { RunServices } from "./run_services.ts";
import type { TurnContext } from "./turn_context.ts";

/** A request that is ready for the `preRequest` policies. */
export interface PreparedRequest {
  /** The model to call. */
  readonly model: ModelSpec;
  /** System prompt, messages and tools. */
  readonly context: LlmContext;
  /** The options, without the API key of `getApiKey`. */
  readonly options: StreamOptions;
  /** The tools that the reply may call. */
  readonly tools: readonly AgentTool[];
  /** The report of `transformContext`, if it returned one. */
  readonly report?: CompactionReport;
}

/**
 * Prepares the request of a turn. Steering that is queued meanwhile is included.
 *
 * @throws {AgentError} If a hook throws, or no message is left to send.
 */
export async function prepareRequest(
  turn: TurnContext,
  overflow: boolean,
): Promise<PreparedRequest> {
  const { run, settings: { model, systemPrompt, tools }, progress } = turn;
  const transformed = await applyTransform(turn, overflow);
  const messages = await convertMessages(turn, transformed?.messages);
  if (messages.length === 0) {
    throw new NoMessagesError(
      "There are no messages to send: convertToLlm and transformContext omitted all of them",
    );
  }
  return {
    model,
    context: { systemPrompt, messages, tools: getToolSpecs(tools) },
    options: selectOptions(run, progress.turn),
    tools,
    ...(transformed?.report && { report: transformed.report }),
  };
}

/** Converts the transformed messages, or the complete history, together with late steering. */
async function convertMessages(
  { run }: TurnContext,
  transformed: readonly AgentMessage[] | undefined,
): Promise<readonly LlmMessage[]> {
  const { messages: history } = run.history;
  const transformedLength = history.length;
  if (!run.cancellation.aborted) await run.history.emitRepaired(run.steering.takeLate());
  const { messages, hasFiles } = transformed
    ? run.messageConverter.convert([...transformed, ...history.slice(transformedLength)])
    : run.historyConverter.convert(history);
  const isHistory = !transformed && run.config.convertToLlm === omitCustomMessages;
  const valid = isHistory
    ? messages
    : await repairRequest(run, "transformContext or convertToLlm", messages);
  return hasFiles ? await readFiles(run, valid) : valid;
}

async function readFiles(
  { cancellation, config: { readFile }, events }: RunServices,
  messages: readonly LlmMessage[],
): Promise<readonly LlmMessage[]> {
  const onUnreadable = (path: string, problem: string): void =>
    void events.warn("file_not_read", `A file of the history is not sent: ${problem}`, { path });
  return await cancellation.withGrace(readMediaFiles(messages, { readFile, onUnreadable }));
}

/** Returns the options of a turn: a constraint that forces a tool call applies only to the first turn of a run. */
function selectOptions({ config }: RunServices, turn: number): StreamOptions {
  const { streamOptions, toolChoice = streamOptions.toolChoice } = config;
  if (toolChoice === undefined) return streamOptions;
  const isForced = toolChoice !== "auto" && toolChoice !== "none";
  const { toolChoice: _toolChoice, ...rest } = streamOptions;
  return isForced && turn > 1 ? rest : { ...rest, toolChoice };
}

/**
 * Resolves the options of a call, including the API key of the model's provider.
 *
 * @throws {AgentError} If `getApiKey` throws.
 */
export async function resolveStreamOptions(
  run: RunServices,
  { model, options, getApiKey }: {
    readonly model: ModelSpec;
    readonly options: StreamOptions;
    readonly getApiKey: GetApiKey | undefined;
  },
): Promise<StreamOptions> {
  const streamOptions = omitForeignKey(run, model, options);
  if (!getApiKey) return streamOptions;
  try {
    const apiKey = await run.cancellation.withGrace(Promise.resolve(getApiKey(model.provider)));
    return apiKey === undefined ? streamOptions : { ...streamOptions, apiKey };
  } catch (thrown) {
    throw toHookError("getApiKey", thrown);
  }
}

/** Returns the options; their API key is sent only to the provider of the configured model. */
function omitForeignKey(run: RunServices, model: ModelSpec, options: StreamOptions): StreamOptions {
  if (options.apiKey === undefined) return options;
  if (model.provider === run.config.model.provider) return options;
  const { apiKey: _apiKey, ...rest } = options;
  return rest;
}

interface TransformedContext {
  readonly messages: readonly AgentMessage[];
  readonly report?: CompactionReport;
}

async function applyTransform(
  { run, settings: { model, systemPrompt, tools } }: TurnContext,
  overflow: boolean,
): Promise<TransformedContext | undefined> {
  const { transformContext } = run.config;
  if (!transformContext) return undefined;
  const { signal } = run.cancellation;
  const input = { overflow, model, systemPrompt, tools, signal };
  try {
    const output: unknown = await run.cancellation.withGrace(
      Promise.resolve(transformContext(run.history.messages.slice(), input)),
    );
    return parseTransformOutput(output);
  } catch (thrown) {
    throw toHookError("transformContext", thrown);
  }
}

function parseTransformOutput(output: unknown): TransformedContext {
  const transformed = Array.isArray(output) ? { messages: output } : output;
  if (!isJsonObject(transformed) || !Array.isArray(transformed["messages"])) {
    throw new TypeError("it must return an array of messages, or { messages, report }");
  }
  const { messages, report } = transformed as { messages: AgentMessage[]; report?: unknown };
  return { messages, ...(report !== undefined && { report: parseReport(report) }) };
}

function parseReport(report: unknown): CompactionReport {
  const copied = toJsonValue(report);
  if ("problem" in copied) throw new TypeError(`its report is not JSON: ${copied.problem}`);
  if (!isJsonObject(copied.value)) throw new TypeError("its report must be an object");
  const { usage, cost, ...rest } = copied.value as unknown as CompactionReport;
  return { ...rest, ...toValidSpending({ usage, cost }) };
}

const toolSpecCache = new WeakMap<readonly AgentTool[], readonly ToolSpec[]>();

/** Returns the specs of tools; the same array for the same tools, so that adapters can cache by identity. */
export function getToolSpecs(tools: readonly AgentTool[]): readonly ToolSpec[] {
  const cached = toolSpecCache.get(tools);
  if (cached) return cached;
  const specs = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
  }));
  toolSpecCache.set(tools, specs);
  return specs;
}
