/**
 * A history becomes a request: transform, convert, key.
 *
 * @module
 */

import type { CompactionReport } from "../core/context.ts";
import type { AgentMessage } from "../core/message.ts";
import type { ModelSpec } from "../core/model.ts";
import type { LlmContext, StreamOptions, ToolSpec } from "../core/stream.ts";
import type { AgentTool } from "../core/tool.ts";
import type { GetApiKey, TurnSettings } from "./config.ts";
import { readImageFiles } from "./image_files.ts";
import { toHookError } from "./hook_error.ts";
import type { RunContext } from "./run_context.ts";

/** What the model gets to see, and what was left out of it. */
export interface PreparedContext {
  /** What the model gets to see. */
  readonly context: LlmContext;
  /** What was left out, if anything. */
  readonly report?: CompactionReport;
}

/**
 * Makes what the model gets to see. Steering that arrives meanwhile goes along in the same request.
 *
 * @throws {AgentError} What a hook threw.
 */
export async function prepareContext(
  run: RunContext,
  settings: TurnSettings,
  overflow: boolean,
): Promise<PreparedContext> {
  const chosen = await applyTransform(run, settings, overflow);
  const known = run.messages.length;
  if (!run.cancellation.aborted) await run.appendRepaired(run.steering.takeLate());
  const { messages, hasFiles } = chosen
    ? run.converter.convert([...chosen.messages, ...run.messages.slice(known)])
    : run.converted.convert(run.messages);
  return {
    context: {
      systemPrompt: settings.systemPrompt,
      messages: hasFiles
        ? await run.cancellation.withGrace(readImageFiles(messages, run.config.readFile))
        : messages,
      tools: getToolSpecs(settings.tools),
    },
    ...(chosen?.report && { report: chosen.report }),
  };
}

/**
 * The options of a call, with the key of its provider.
 *
 * @throws {AgentError} What the hook threw.
 */
export async function resolveStreamOptions(
  run: RunContext,
  { model, getApiKey }: { readonly model: ModelSpec; readonly getApiKey: GetApiKey | undefined },
): Promise<StreamOptions> {
  const streamOptions = getModelOptions(run, model);
  if (!getApiKey) return streamOptions;
  try {
    const apiKey = await run.cancellation.withGrace(Promise.resolve(getApiKey(model.provider)));
    return apiKey === undefined ? streamOptions : { ...streamOptions, apiKey };
  } catch (thrown) {
    throw toHookError("getApiKey", thrown);
  }
}

/** A key in the options belongs to the provider of the configured model and is shown to no other. */
function getModelOptions(run: RunContext, model: ModelSpec): StreamOptions {
  const { streamOptions } = run.config;
  if (streamOptions.apiKey === undefined) return streamOptions;
  if (model.provider === run.config.model.provider) return streamOptions;
  const { apiKey: _foreign, ...others } = streamOptions;
  return others;
}

interface TransformedContext {
  readonly messages: readonly AgentMessage[];
  readonly report?: CompactionReport;
}

async function applyTransform(
  run: RunContext,
  { model, systemPrompt, tools }: TurnSettings,
  overflow: boolean,
): Promise<TransformedContext | undefined> {
  const { transformContext } = run.config;
  if (!transformContext) return undefined;
  const { signal } = run.cancellation;
  const input = { overflow, model, systemPrompt, tools, signal };
  try {
    const output = await run.cancellation.withGrace(
      Promise.resolve(transformContext(run.messages.slice(), input)),
    );
    return "messages" in output ? output : { messages: output };
  } catch (thrown) {
    throw toHookError("transformContext", thrown);
  }
}

const toolSpecCache = new WeakMap<readonly AgentTool[], readonly ToolSpec[]>();

/** What the model is told of tools: the same objects as long as the tools are the same. */
function getToolSpecs(tools: readonly AgentTool[]): readonly ToolSpec[] {
  const known = toolSpecCache.get(tools);
  if (known) return known;
  const specs = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
  }));
  toolSpecCache.set(tools, specs);
  return specs;
}
