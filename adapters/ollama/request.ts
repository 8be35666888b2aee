/**
 * A model call becomes a request to Ollama.
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

/** Who is asked. */
export interface OllamaModelSettings {
  /** What is known of the model; `undefined` when nothing is. */
  readonly entry: CatalogEntry | undefined;
  /** Tokens of prompt and reply that the server is to keep room for. */
  readonly contextWindow: number | undefined;
}

/** Most models think or do not; these are told how hard, and ignore a mere yes. */
const EFFORT_MODELS = /gpt-oss/i;
const EFFORTS: readonly ThinkingEffort[] = ["low", "medium", "high"];

/** Writes the body; whatever Ollama cannot take is left out with a warning. */
export function createOllamaBody(
  { model, context, options }: StreamRequest,
  { entry, contextWindow }: OllamaModelSettings,
  sink: WarningSink,
): JsonObject {
  const { extra = {} } = options;
  if (options.cache === "long") {
    sink.warning("cache_left_out", "Ollama keeps its prompts no longer than usual");
  }
  const history = entry?.images === false
    ? withoutImages(context.messages, sink)
    : context.messages;
  const body = {
    model: model.modelId,
    stream: true,
    messages: [...toSystemPrompt(context), ...toWireMessages(history, { model, sink })],
    tools: toWireTools(context, options, sink),
    think: resolveThinking(model, entry, sink),
    format: options.responseSchema,
    options: toRunnerOptions(options, contextWindow, sink),
  };
  const { options: _options, ...fields } = extra;
  // By default the server cuts a prompt that is too long in silence; an error can be acted upon.
  return mergeExtraFields(body, { truncate: false, ...fields }, sink);
}

function toSystemPrompt({ systemPrompt }: LlmContext): JsonObject[] {
  return systemPrompt.trim() === "" ? [] : [{ role: "system", content: systemPrompt }];
}

function toWireTools(
  { tools }: LlmContext,
  { toolChoice = "auto" }: StreamOptions,
  sink: WarningSink,
): JsonObject[] | undefined {
  // A model cannot call what it does not know of.
  if (tools.length === 0 || toolChoice === "none") return undefined;
  if (toolChoice !== "auto") {
    sink.warning("tool_choice_left_out", "Ollama cannot be made to call a tool");
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
    sink.warning("thinking_left_out", `${modelId} does not think`);
    return undefined;
  }
  if (entry?.thinking.type === "effort") {
    return resolveEffort(thinkingLevel, entry.thinking.efforts);
  }
  return EFFORT_MODELS.test(modelId) ? resolveEffort(thinkingLevel, EFFORTS) : true;
}

/** Settings of the model runner; the caller's own ones (`extra.options`) are beside ours. */
function toRunnerOptions(
  { temperature, maxTokens, extra }: StreamOptions,
  contextWindow: number | undefined,
  sink: WarningSink,
): JsonObject | undefined {
  const own = isJsonObject(extra?.["options"]) ? extra["options"] : undefined;
  const typed = { temperature, num_predict: maxTokens, num_ctx: contextWindow };
  const merged = mergeExtraFields(typed, own, sink);
  return Object.keys(merged).length > 0 ? merged : undefined;
}
