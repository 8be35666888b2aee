/**
 * The request of a model call: transforms and converts the history, and resolves the options and the API key.
 *
 * @module
 */

import type { CompactionReport } from "../core/context.ts";
import type { AgentMessage } from "../core/message.ts";
import type { ModelSpec } from "../core/model.ts";
import type { LlmContext, StreamOptions, ToolSpec } from "../core/stream.ts";
import type { AgentTool } from "../core/tool.ts";
import type { GetApiKey } from "./config.ts";
import { toHookError } from "./hook_error.ts";
import { readImageFiles } from "./image_files.ts";
import type { RunServices } from "./run_services.ts";
import type { TurnContext } from "./turn_context.ts";

/** The context of a request, and the report about omitted messages. */
export interface PreparedContext {
  /** System prompt, messages and tools. */
  readonly context: LlmContext;
  /** The report of `transformContext`, if it returned one. */
  readonly report?: CompactionReport;
}

/**
 * Prepares the context of a request. Steering that is queued meanwhile is included.
 *
 * @throws {AgentError} If a hook throws.
 */
export async function prepareContext(
  turn: TurnContext,
  overflow: boolean,
): Promise<PreparedContext> {
  const { run, settings: { systemPrompt, tools } } = turn;
  const { messages: history } = run.history;
  const transformed = await applyTransform(turn, overflow);
  const transformedLength = history.length;
  if (!run.cancellation.aborted) await run.history.emitRepaired(run.steering.takeLate());
  const { messages, hasFiles } = transformed
    ? run.messageConverter.convert([...transformed.messages, ...history.slice(transformedLength)])
    : run.historyConverter.convert(history);
  return {
    context: {
      systemPrompt,
      messages: hasFiles
        ? await run.cancellation.withGrace(readImageFiles(messages, run.config.readFile))
        : messages,
      tools: getToolSpecs(tools),
    },
    ...(transformed?.report && { report: transformed.report }),
  };
}

/**
 * Resolves the options of a call, including the API key of the model's provider.
 *
 * @throws {AgentError} If `getApiKey` throws.
 */
export async function resolveStreamOptions(
  run: RunServices,
  { model, getApiKey }: { readonly model: ModelSpec; readonly getApiKey: GetApiKey | undefined },
): Promise<StreamOptions> {
  const streamOptions = omitForeignKey(run, model);
  if (!getApiKey) return streamOptions;
  try {
    const apiKey = await run.cancellation.withGrace(Promise.resolve(getApiKey(model.provider)));
    return apiKey === undefined ? streamOptions : { ...streamOptions, apiKey };
  } catch (thrown) {
    throw toHookError("getApiKey", thrown);
  }
}

/** Returns the stream options; their API key is sent only to the provider of the configured model. */
function omitForeignKey(run: RunServices, model: ModelSpec): StreamOptions {
  const { streamOptions } = run.config;
  if (streamOptions.apiKey === undefined) return streamOptions;
  if (model.provider === run.config.model.provider) return streamOptions;
  const { apiKey: _apiKey, ...rest } = streamOptions;
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
    const output = await run.cancellation.withGrace(
      Promise.resolve(transformContext(run.history.messages.slice(), input)),
    );
    return "messages" in output ? output : { messages: output };
  } catch (thrown) {
    throw toHookError("transformContext", thrown);
  }
}

const toolSpecCache = new WeakMap<readonly AgentTool[], readonly ToolSpec[]>();

/** Returns the specs of tools; the same array for the same tools, so that adapters can cache by identity. */
function getToolSpecs(tools: readonly AgentTool[]): readonly ToolSpec[] {
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
