/**
 * Converts a model call to a request to Ollama.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import type { ModelSpec } from "../../src/core/model.ts";
import type { LlmContext, StreamOptions, StreamRequest } from "../../src/core/stream.ts";
import type { CatalogEntry, ThinkingEffort } from "../catalog/catalog_entry.ts";
import { withoutImages } from "../kit/request/history.ts";
import { mergeExtraFields } from "../kit/request/json_body.ts";
import { resolveEffort } from "../kit/request/thinking.ts";
import { sortTools } from "../kit/request/tools.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import { toWireMessages } from "./messages.ts";

/** Settings of the model. */
export interface OllamaModelSettings {
  /** The model's catalog entry; `undefined` if it has none. */
  readonly entry: CatalogEntry | undefined;
  /** Size of the context window in tokens. */
  readonly contextWindow: number | undefined;
}

/** Models that need an effort and ignore `think: true`. */
const EFFORT_MODELS = /gpt-oss/i;
const EFFORTS: readonly ThinkingEffort[] = ["low", "medium", "high"];

/** Creates the body; options that Ollama does not support are omitted with a warning. */
export function createOllamaBody(
  { model, context, options }: StreamRequest,
  { entry, contextWindow }: OllamaModelSettings,
  sink: WarningSink,
): JsonObject {
  const { systemPrompt } = context;
  if (options.cache === "long") {
    const message = "Ollama has no long cache retention: the short one applies";
    sink.warning("cache_left_out", message);
  }
  const history = entry?.images === false
    ? withoutImages(context.messages, sink)
    : context.messages;
  const body = {
    model: model.modelId,
    stream: true,
    messages: [
      ...(systemPrompt.trim() === "" ? [] : [{ role: "system", content: systemPrompt }]),
      ...toWireMessages(history, { model, sink }),
    ],
    tools: toWireTools(context, options, sink),
    think: resolveThinking(model, entry, sink),
    format: options.responseSchema,
    options: toRunnerOptions(options, contextWindow, sink),
  };
  const { options: _runnerOptions, ...fields } = options.extra ?? {};
  // By default the server silently truncates a prompt that is too long; the agent needs the error.
  return mergeExtraFields(body, { truncate: false, ...fields }, sink);
}

function toWireTools(
  { tools }: LlmContext,
  { toolChoice = "auto" }: StreamOptions,
  sink: WarningSink,
): JsonObject[] | undefined {
  if (tools.length === 0 || toolChoice === "none") return undefined;
  if (toolChoice !== "auto") {
    sink.warning("tool_choice_left_out", "Ollama does not support a forced tool call");
  }
  return sortTools(tools).map(({ name, description, parameters }) => ({
    type: "function",
    function: {
      name: toWireName(name, TOOL_NAME_RULE),
      description,
      parameters: { type: "object", properties: {}, ...parameters },
    },
  }));
}

function resolveThinking(
  model: ModelSpec,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): boolean | ThinkingEffort | undefined {
  const { thinkingLevel, modelId } = model;
  if (thinkingLevel === "off") return undefined;
  if (entry?.thinking.type === "none") {
    sink.warning("thinking_left_out", `${modelId} does not support thinking`);
    return undefined;
  }
  if (entry?.thinking.type === "effort") {
    return resolveEffort(thinkingLevel, entry.thinking.efforts);
  }
  return EFFORT_MODELS.test(modelId) ? resolveEffort(thinkingLevel, EFFORTS) : true;
}

/** Merges the typed options with the caller's model runner options (`extra.options`). */
function toRunnerOptions(
  { temperature, maxTokens, extra }: StreamOptions,
  contextWindow: number | undefined,
  sink: WarningSink,
): JsonObject | undefined {
  const extraOptions = isJsonObject(extra?.["options"]) ? extra["options"] : undefined;
  const typedOptions = { temperature, num_predict: maxTokens, num_ctx: contextWindow };
  const merged = mergeExtraFields(typedOptions, extraOptions, sink);
  return Object.keys(merged).length > 0 ? merged : undefined;
}
