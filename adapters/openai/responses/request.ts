/**
 * Request bodies of the Responses API.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json.ts";
import type { ModelSpec } from "../../../src/core/model.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../../src/core/stream.ts";
import type { CatalogEntry } from "../../catalog/catalog_entry.ts";
import { withoutImages } from "../../kit/request/history.ts";
import { mergeExtraFields } from "../../kit/request/json_body.ts";
import {
  resolveMaxTokens,
  resolveTemperature,
  warnUnsupportedThinking,
} from "../../kit/request/model_limits.ts";
import { sortTools } from "../../kit/request/tools.ts";
import type { WarningSink } from "../../kit/request/warnings.ts";
import { TOOL_NAME_RULE, toWireName } from "../../kit/request/wire_names.ts";
import { toObjectSchema, toSchemaFormat } from "../chat/request.ts";
import { resolveChatEffort } from "../chat/dialect.ts";
import { toResponsesInput } from "./input.ts";

/** Matches models with a cache retention of 24 hours. */
const LONG_CACHE_MODELS = /^gpt-(?:4\.1|5)/;

/** Creates the body. Options that the model does not support are omitted with a warning. */
export function createResponsesBody(
  { model, context, options }: StreamRequest,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): JsonObject {
  const history = entry?.images === false
    ? withoutImages(context.messages, sink)
    : context.messages;
  const format = toSchemaFormat(options, entry, sink);
  warnUnsupportedThinking(model, entry, sink);
  const hasTools = context.tools.length > 0;
  const body = {
    model: model.modelId,
    stream: true,
    // The provider stores nothing; encrypted reasoning is returned and sent back with the history.
    store: false,
    instructions: context.systemPrompt.trim() === "" ? undefined : context.systemPrompt,
    input: toResponsesInput(history, model),
    tools: hasTools ? toResponsesTools(context.tools) : undefined,
    tool_choice: hasTools ? toResponsesToolChoice(options) : undefined,
    temperature: resolveTemperature(options, entry, sink),
    max_output_tokens: resolveMaxTokens(options, entry, sink),
    ...toReasoningFields(model, entry),
    text: format && { format: { type: "json_schema", ...format } },
    prompt_cache_key: options.sessionId,
    prompt_cache_retention: resolveRetention(options, model.modelId, sink),
  };
  return mergeExtraFields(body, options.extra, sink);
}

function toResponsesTools(tools: readonly ToolSpec[]): JsonObject[] {
  return sortTools(tools).map(({ name, description, parameters }) => ({
    type: "function",
    name: toWireName(name, TOOL_NAME_RULE),
    description,
    parameters: toObjectSchema(parameters),
    strict: false,
  }));
}

function toResponsesToolChoice({ toolChoice }: StreamOptions): unknown {
  if (typeof toolChoice !== "object") return toolChoice;
  return { type: "function", name: toWireName(toolChoice.name, TOOL_NAME_RULE) };
}

function toReasoningFields(model: ModelSpec, entry: CatalogEntry | undefined): JsonObject {
  const effort = resolveChatEffort(model, entry?.thinking);
  if (effort === undefined) return {};
  const summary = model.thinkingLevel === "off" ? {} : { summary: "auto" };
  return { reasoning: { effort, ...summary }, include: ["reasoning.encrypted_content"] };
}

function resolveRetention(
  { cache }: StreamOptions,
  modelId: string,
  sink: WarningSink,
): string | undefined {
  if (cache !== "long") return undefined;
  if (LONG_CACHE_MODELS.test(modelId)) return "24h";
  sink.warning(
    "cache_left_out",
    `${modelId} does not support long cache retention: the short one applies`,
  );
  return undefined;
}
