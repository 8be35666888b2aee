/**
 * A model call becomes a request for a chat completion.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../../src/core/json.ts";
import type { ModelSpec } from "../../../src/core/model.ts";
import type {
  LlmContext,
  StreamOptions,
  StreamRequest,
  ToolSpec,
} from "../../../src/core/stream.ts";
import type { CatalogEntry } from "../../catalog/catalog_entry.ts";
import { withoutImages } from "../../kit/request/history.ts";
import { mergeExtraFields } from "../../kit/request/json_body.ts";
import {
  resolveMaxTokens,
  resolveTemperature,
  warnUnsupportedThinking,
} from "../../kit/request/model_limits.ts";
import { isStrictSchema } from "../../kit/request/strict_schema.ts";
import { sortTools } from "../../kit/request/tools.ts";
import type { WarningSink } from "../../kit/request/warnings.ts";
import { TOOL_NAME_RULE, toWireName } from "../../kit/request/wire_names.ts";
import { toChatMessages } from "./messages.ts";
import type { WireMessage } from "./wire.ts";
import type { ChatDialect } from "./dialect.ts";

/** Who is asked. */
export interface ChatBodyOptions {
  /** How the server speaks. */
  readonly dialect: ChatDialect;
  /** What is known of the model; `undefined` when nothing is. */
  readonly entry: CatalogEntry | undefined;
}

/** Writes the body; whatever the model cannot take is left out with a warning. */
export function createChatBody(
  { model, context, options }: StreamRequest,
  { dialect, entry }: ChatBodyOptions,
  sink: WarningSink,
): JsonObject {
  const history = entry?.images === false
    ? withoutImages(context.messages, sink)
    : context.messages;
  const messages = prependSystemPrompt(
    context,
    toChatMessages(history, { model, dialect }),
    shouldMarkCache(options, dialect, model.modelId),
  );
  const tools = toChatTools(context.tools);
  if (options.cache === "long") {
    sink.warning("cache_left_out", "Chat completions keep their prompts no longer than usual");
  }
  const body = {
    model: model.modelId,
    stream: true,
    ...(dialect.needsUsageOption && { stream_options: { include_usage: true } }),
    ...dialect.fields,
    messages: dialect.repairOrder?.(messages) ?? messages,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 ? toChatToolChoice(options) : undefined,
    temperature: resolveTemperature(options, entry, sink),
    [dialect.maxTokensField]: resolveMaxTokens(options, entry, sink),
    ...toThinkingFields(model, { dialect, entry }, sink),
    response_format: toResponseFormat(options, entry, sink),
    ...(dialect.hasCacheKey && { prompt_cache_key: options.sessionId }),
  };
  return mergeExtraFields(body, options.extra, sink);
}

/** How hard to think; a model that cannot think at all is told of. */
function toThinkingFields(
  model: ModelSpec,
  { dialect, entry }: ChatBodyOptions,
  sink: WarningSink,
): JsonObject {
  warnUnsupportedThinking(model, entry, sink);
  return dialect.toThinkingFields(model, entry?.thinking);
}

/** Tools as functions, sorted by name. */
export function toChatTools(tools: readonly ToolSpec[]): JsonObject[] {
  return sortTools(tools).map(({ name, description, parameters }) => ({
    type: "function",
    function: {
      name: toWireName(name, TOOL_NAME_RULE),
      description,
      parameters: toObjectSchema(parameters),
    },
  }));
}

/** OpenAI refuses an object schema that names no properties. */
export function toObjectSchema(schema: JsonSchema): JsonSchema {
  return {
    type: "object",
    ...(schema["properties"] === undefined && { properties: {} }),
    ...schema,
  };
}

function toChatToolChoice({ toolChoice }: StreamOptions): unknown {
  if (typeof toolChoice !== "object") return toolChoice;
  return { type: "function", function: { name: toWireName(toolChoice.name, TOOL_NAME_RULE) } };
}

function toResponseFormat(
  options: StreamOptions,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): JsonObject | undefined {
  const schema = toSchemaFormat(options, entry, sink);
  return schema && { type: "json_schema", json_schema: schema };
}

/** The reply's schema as OpenAI names it, unless the model cannot be held to one. */
export function toSchemaFormat(
  { responseSchema }: StreamOptions,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): JsonObject | undefined {
  if (responseSchema === undefined) return undefined;
  if (entry?.strictSchema === false) {
    sink.warning("response_schema_left_out", "The model cannot be held to a JSON Schema");
    return undefined;
  }
  return { name: "response", schema: responseSchema, strict: isStrictSchema(responseSchema) };
}

function shouldMarkCache({ cache }: StreamOptions, dialect: ChatDialect, modelId: string): boolean {
  return cache !== "off" && dialect.supportsCacheControl(modelId);
}

/** Puts the system prompt first; where the cache takes marks, it and the newest prompt carry one. */
function prependSystemPrompt(
  { systemPrompt }: LlmContext,
  messages: readonly WireMessage[],
  marks: boolean,
): readonly WireMessage[] {
  const system = systemPrompt.trim() === "" ? [] : [{ role: "system", content: systemPrompt }];
  if (!marks) return [...system, ...messages];
  const newest = messages.findLastIndex(({ role }) => role === "user" || role === "tool");
  return [
    ...system.map(addCacheMark),
    ...messages.map((message, index) => index === newest ? addCacheMark(message) : message),
  ];
}

function addCacheMark(message: WireMessage): WireMessage {
  const { content } = message;
  const parts: unknown[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
  const last = parts.at(-1);
  if (!isJsonObject(last)) return message;
  const mark = { cache_control: { type: "ephemeral" } };
  return { ...message, content: [...parts.slice(0, -1), { ...last, ...mark }] };
}
