/**
 * The request of a model call: transforms and converts the history, and resolves the options and the API key.
 *
 * @module
 */

import { omitCustomMessages, type TransformContext } from "../../core/context/context.ts";
import { describeValue } from "../../core/errors/describe_value.ts";
import { NoMessagesError } from "../../core/errors/errors.ts";
import { ignoreRejections } from "../../core/errors/refuse_promise.ts";
import { isJsonObject, type JsonObject, toJsonValue } from "../../core/json/json.ts";
import type { CompactionReport } from "../../core/messages/compaction_report.ts";
import type { AgentMessage, LlmMessage } from "../../core/messages/message.ts";
import type { ModelSpec } from "../../core/models/model.ts";
import { toValidSpending } from "../../core/models/valid_usage.ts";
import type { LlmContext, StreamFn, StreamOptions, ToolSpec } from "../../core/streams/stream.ts";
import { getStreamOrigin } from "../../core/streams/stream_origin.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { toHookError } from "../callbacks/hook_error.ts";
import type { ConvertedMessages } from "../messages/convert.ts";
import { readMediaFiles } from "../messages/media_files.ts";
import type { GetApiKey } from "../run/config.ts";
import { getExtraProvider } from "../run/extra_provider.ts";
import type { RunServices } from "../run/run_services.ts";
import type { TurnContext } from "../run/turn_context.ts";
import { CompactionCheck, type CompactionRefusal } from "./compaction_check.ts";
import { repairRequest } from "./repair_request.ts";

/** A request that is ready for the `preRequest` policies. */
export interface PreparedRequest {
  /** The model to call. */
  readonly model: ModelSpec;
  /** System prompt, messages and tools. */
  readonly context: LlmContext;
  /** The options, without the API key of `getApiKey`. */
  readonly options: StreamOptions;
  /** The provider of the API key in the options; it is sent to no other. */
  readonly keyProvider: string;
  /** The provider of the `extra` in the options; it is sent to no other. */
  readonly extraProvider: string;
  /** The tools that the reply may call. */
  readonly tools: readonly AgentTool[];
  /** The tools that a policy has left out, which agents below the run may have. Default: none. */
  readonly hiddenTools?: readonly AgentTool[] | undefined;
}

/** A request, or why there is none: a hook failed, or a policy stopped a model call of `transformContext`. */
export type Preparation =
  | {
    readonly type: "ready";
    readonly request: PreparedRequest;
    /** The report of `transformContext`, if it returned one. */
    readonly report?: CompactionReport | undefined;
  }
  | (CompactionRefusal & { readonly report?: CompactionReport | undefined });

/** Options for `prepareRequest()`. */
export interface PrepareOptions {
  /** Whether the provider rejected the previous context as too long. */
  readonly overflow: boolean;
}

/**
 * Prepares the request of a turn. Steering that is queued meanwhile is included. The result is a promise if that takes
 * time.
 *
 * Throws, or rejects, if a hook fails or no message is left to send; once there is a report, that is part of the result.
 */
export function prepareRequest(
  turn: TurnContext,
  { overflow }: PrepareOptions,
): Preparation | Promise<Preparation> {
  const { run } = turn;
  const { transformContext } = run.config;
  if (transformContext) return prepareTransformed(turn, { transformContext, overflow });
  const late = takeLateSteering(run);
  const request = late.length > 0
    ? run.history.emitRepaired(late).then(() => prepareHistory(turn))
    : prepareHistory(turn);
  return request instanceof Promise ? request.then(toReady) : toReady(request);
}

function toReady(request: PreparedRequest): Preparation {
  return { type: "ready", request };
}

async function prepareTransformed(
  turn: TurnContext,
  options: Omit<TransformOptions, "check">,
): Promise<Preparation> {
  const check = new CompactionCheck(turn);
  let transformed: TransformedContext | undefined;
  try {
    transformed = await applyTransform(turn, { ...options, check })
      .finally(() => check.close());
    if (!check.refusal) {
      const request = await addLateSteering(turn, transformed.messages);
      return { type: "ready", request, report: transformed.report };
    }
  } catch (thrown) {
    const refusal = check.refusal ?? { type: "failed", thrown };
    return { ...refusal, report: transformed?.report };
  }
  return { ...check.refusal, report: transformed.report };
}

/** Prepares the request with the transformed messages, and those that were queued meanwhile. */
async function addLateSteering(
  turn: TurnContext,
  messages: readonly AgentMessage[],
): Promise<PreparedRequest> {
  const { run } = turn;
  const { history } = run;
  const transformedLength = history.messages.length;
  const late = takeLateSteering(run);
  if (late.length > 0) await history.emitRepaired(late);
  const converted = run.messageConverter.convert([
    ...messages,
    ...history.messages.slice(transformedLength),
  ]);
  return await prepareConverted(turn, converted);
}

function prepareHistory(turn: TurnContext): PreparedRequest | Promise<PreparedRequest> {
  const { history, historyConverter, config } = turn.run;
  const converted = historyConverter.convert(history.messages);
  return config.convertToLlm === omitCustomMessages && !converted.hasFiles
    ? createRequest(turn, converted.messages)
    : prepareConverted(turn, converted);
}

/** Repairs what the hooks returned and reads its files. */
async function prepareConverted(
  turn: TurnContext,
  { messages, hasFiles }: ConvertedMessages,
): Promise<PreparedRequest> {
  const { run } = turn;
  const { convertToLlm, transformContext } = run.config;
  const isHistory = !transformContext && convertToLlm === omitCustomMessages;
  const valid = isHistory
    ? messages
    : await repairRequest(run, "transformContext or convertToLlm", messages);
  return createRequest(turn, hasFiles ? await readFiles(turn, valid) : valid);
}

function createRequest(
  { run, settings: { model, systemPrompt, tools }, progress }: TurnContext,
  messages: readonly LlmMessage[],
): PreparedRequest {
  if (messages.length === 0) {
    throw new NoMessagesError(
      "There are no messages to send: convertToLlm and transformContext omitted all of them",
    );
  }
  return {
    model,
    context: { systemPrompt, messages, tools: getToolSpecs(tools) },
    options: selectOptions(run, progress.turn),
    keyProvider: run.config.model.provider,
    extraProvider: getExtraProvider(run.config),
    tools,
  };
}

function takeLateSteering({ cancellation, steering }: RunServices): readonly AgentMessage[] {
  return cancellation.aborted ? [] : steering.takeLate();
}

async function readFiles(
  { run: { config: { readFile }, events }, cancellation }: TurnContext,
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

/** The parts of a model to call that determine its options. */
interface CalledModel {
  readonly model: ModelSpec;
  readonly streamFn: StreamFn;
  readonly getApiKey: GetApiKey | undefined;
  readonly extra?: JsonObject | undefined;
}

/**
 * Resolves the options of a call, including the API key of the model's provider. The result is a promise if there is a
 * `getApiKey`; it rejects with an `AgentError` if that throws.
 */
export function resolveStreamOptions(
  turn: TurnContext,
  { model, streamFn, getApiKey, extra }: CalledModel,
  { options, keyProvider, extraProvider }: PreparedRequest,
): StreamOptions | Promise<StreamOptions> {
  // A fallback with a function of its own may call another server under the same name.
  const { streamFn: ownStreamFn } = turn.run.config;
  const isKeyOwner = model.provider === keyProvider &&
    (streamFn === ownStreamFn || getStreamOrigin(streamFn) === getStreamOrigin(ownStreamFn));
  const keyed = isKeyOwner ? options : omitKey(options);
  const isExtraOwner = extra === undefined && model.provider === extraProvider;
  const streamOptions = isExtraOwner ? keyed : replaceExtra(keyed, extra);
  return getApiKey ? addKey(turn, streamOptions, () => getApiKey(model.provider)) : streamOptions;
}

async function addKey(
  { cancellation }: TurnContext,
  options: StreamOptions,
  getKey: () => ReturnType<GetApiKey>,
): Promise<StreamOptions> {
  try {
    const apiKey: unknown = await cancellation.withGrace(Promise.resolve(getKey()));
    if (apiKey === undefined) return options;
    if (typeof apiKey === "string") return { ...options, apiKey };
    ignoreRejections(apiKey);
    throw new TypeError(`it must return a string or undefined, not ${describeValue(apiKey)}`);
  } catch (thrown) {
    throw toHookError("getApiKey", thrown);
  }
}

function omitKey(options: StreamOptions): StreamOptions {
  if (options.apiKey === undefined) return options;
  const { apiKey: _apiKey, ...rest } = options;
  return rest;
}

function replaceExtra(options: StreamOptions, extra: JsonObject | undefined): StreamOptions {
  if (options.extra === undefined && extra === undefined) return options;
  const { extra: _extra, ...rest } = options;
  return extra === undefined ? rest : { ...rest, extra };
}

interface TransformedContext {
  readonly messages: readonly AgentMessage[];
  readonly report?: CompactionReport;
}

interface TransformOptions extends PrepareOptions {
  readonly transformContext: TransformContext;
  readonly check: CompactionCheck;
}

async function applyTransform(
  { run, settings: { model, systemPrompt, tools }, cancellation }: TurnContext,
  { transformContext, overflow, check }: TransformOptions,
): Promise<TransformedContext> {
  const { signal } = cancellation;
  const { convertToLlm } = run.config;
  const state = { overflow, model, systemPrompt, tools, signal, convertToLlm };
  const input = { ...state, ...check.createInput() };
  try {
    const output: unknown = await cancellation.withGrace(
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
    ignoreRejections(output);
    throw new TypeError("it must return an array of messages, or { messages, report }");
  }
  const { messages, report } = transformed as { messages: AgentMessage[]; report?: unknown };
  return { messages, ...(report !== undefined && { report: parseReport(report) }) };
}

/** Amounts are read apart, so that a wrong one becomes unknown, as that of a tool, and does not end the run. */
function parseReport(report: unknown): CompactionReport {
  if (!isJsonObject(report)) throw new TypeError("its report must be an object");
  const { usage, cost, ...rest } = report as unknown as CompactionReport;
  const copied = toJsonValue(rest);
  if ("problem" in copied) throw new TypeError(`its report is not JSON: ${copied.problem}`);
  return { ...(copied.value as unknown as CompactionReport), ...toValidSpending({ usage, cost }) };
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
