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
import { withFilesRead } from "./image_files.ts";
import { hookError } from "./hook_error.ts";
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
  const chosen = await transform(run, settings, overflow);
  const known = run.messages.length;
  if (!run.cancellation.aborted) await run.sayMended(run.steering.takeLate());
  const { messages, hasFiles } = chosen
    ? run.converter.of([...chosen.messages, ...run.messages.slice(known)])
    : run.converted.of(run.messages);
  return {
    context: {
      systemPrompt: settings.systemPrompt,
      messages: hasFiles
        ? await run.cancellation.withGrace(withFilesRead(messages, run.config.readFile))
        : messages,
      tools: toolSpecsOf(settings.tools),
    },
    ...(chosen?.report && { report: chosen.report }),
  };
}

/**
 * The options of a call, with the key of its provider.
 *
 * @throws {AgentError} What the hook threw.
 */
export async function optionsFor(
  run: RunContext,
  { model, getApiKey }: { readonly model: ModelSpec; readonly getApiKey: GetApiKey | undefined },
): Promise<StreamOptions> {
  const streamOptions = ownOptions(run, model);
  if (!getApiKey) return streamOptions;
  try {
    const apiKey = await run.cancellation.withGrace(Promise.resolve(getApiKey(model.provider)));
    return apiKey === undefined ? streamOptions : { ...streamOptions, apiKey };
  } catch (thrown) {
    throw hookError("getApiKey", thrown);
  }
}

/** A key in the options belongs to the provider of the configured model and is shown to no other. */
function ownOptions(run: RunContext, model: ModelSpec): StreamOptions {
  const { streamOptions } = run.config;
  if (streamOptions.apiKey === undefined) return streamOptions;
  if (model.provider === run.config.model.provider) return streamOptions;
  const { apiKey: _foreign, ...others } = streamOptions;
  return others;
}

interface Chosen {
  readonly messages: readonly AgentMessage[];
  readonly report?: CompactionReport;
}

async function transform(
  run: RunContext,
  { model, systemPrompt, tools }: TurnSettings,
  overflow: boolean,
): Promise<Chosen | undefined> {
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
    throw hookError("transformContext", thrown);
  }
}

const specsOfTools = new WeakMap<readonly AgentTool[], readonly ToolSpec[]>();

/** What the model is told of tools: the same objects as long as the tools are the same. */
function toolSpecsOf(tools: readonly AgentTool[]): readonly ToolSpec[] {
  const known = specsOfTools.get(tools);
  if (known) return known;
  const specs = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
  }));
  specsOfTools.set(tools, specs);
  return specs;
}
