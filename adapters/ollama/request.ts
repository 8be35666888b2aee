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
import { withExtra } from "../kit/request/json_body.ts";
import { effortOf } from "../kit/request/thinking.ts";
import { sortedTools } from "../kit/request/tools.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { TOOL_NAME_RULE, wireName } from "../kit/request/wire_names.ts";
import { wireMessages } from "./messages.ts";

/** Who is asked. */
export interface OllamaTarget {
  /** What is known of the model; `undefined` when nothing is. */
  readonly entry: CatalogEntry | undefined;
  /** Tokens of prompt and reply that the server is to keep room for. */
  readonly contextWindow: number | undefined;
}

/** Most models think or do not; these are told how hard, and ignore a mere yes. */
const THINKS_BY_EFFORT = /gpt-oss/i;
const EFFORTS: readonly ThinkingEffort[] = ["low", "medium", "high"];

/** Writes the body; whatever Ollama cannot take is left out with a warning. */
export function ollamaBody(
  { model, context, options }: StreamRequest,
  { entry, contextWindow }: OllamaTarget,
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
    messages: [...systemOf(context), ...wireMessages(history, { model, sink })],
    tools: toolsOf(context, options, sink),
    think: thinkOf(model, entry, sink),
    format: options.responseSchema,
    options: runnerOptions(options, contextWindow, sink),
  };
  const { options: _options, ...fields } = extra;
  // By default the server cuts a prompt that is too long in silence; an error can be acted upon.
  return withExtra(body, { truncate: false, ...fields }, sink);
}

function systemOf({ systemPrompt }: LlmContext): JsonObject[] {
  return systemPrompt.trim() === "" ? [] : [{ role: "system", content: systemPrompt }];
}

function toolsOf(
  { tools }: LlmContext,
  { toolChoice = "auto" }: StreamOptions,
  sink: WarningSink,
): JsonObject[] | undefined {
  // A model cannot call what it does not know of.
  if (tools.length === 0 || toolChoice === "none") return undefined;
  if (toolChoice !== "auto") {
    sink.warning("tool_choice_left_out", "Ollama cannot be made to call a tool");
  }
  return sortedTools(tools).map(({ name, description, parameters }) => ({
    type: "function",
    function: {
      name: wireName(name, TOOL_NAME_RULE),
      description,
      parameters: { type: "object", properties: {}, ...parameters },
    },
  }));
}

function thinkOf(
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
  if (entry?.thinking.type === "effort") return effortOf(thinkingLevel, entry.thinking.efforts);
  return THINKS_BY_EFFORT.test(modelId) ? effortOf(thinkingLevel, EFFORTS) : true;
}

/** Settings of the model runner; the caller's own ones (`extra.options`) are beside ours. */
function runnerOptions(
  { temperature, maxTokens, extra }: StreamOptions,
  contextWindow: number | undefined,
  sink: WarningSink,
): JsonObject | undefined {
  const own = isJsonObject(extra?.["options"]) ? extra["options"] : undefined;
  const typed = { temperature, num_predict: maxTokens, num_ctx: contextWindow };
  const merged = withExtra(typed, own, sink);
  return Object.keys(merged).length > 0 ? merged : undefined;
}
