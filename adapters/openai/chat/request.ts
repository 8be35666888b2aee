/**
 * Request bodies of the chat completions API.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../../src/core/json.ts";
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
import { isStrictSchema } from "../../kit/request/with_catalog.ts";
import { sortTools } from "../../kit/request/tools.ts";
import type { WarningSink } from "../../kit/request/warnings.ts";
import { TOOL_NAME_RULE, toWireName } from "../../kit/request/wire_names.ts";
import { toChatMessages } from "./messages.ts";
import type { WireMessage } from "./wire.ts";
import type { ChatDialect } from "./dialect.ts";

/** Options for `createChatBody()`. */
export interface ChatBodyOptions {
  /** Dialect of the server. */
  readonly dialect: ChatDialect;
  /** Catalog entry of the model, if there is one. */
  readonly entry: CatalogEntry | undefined;
}

/** Creates the body. Options that the model does not support are omitted with a warning. */
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
    options.cache !== "off" && dialect.supportsCacheControl(model.modelId),
  );
  const tools = toChatTools(context.tools);
  if (options.cache === "long") {
    sink.warning(
      "cache_left_out",
      "Chat completions do not support long cache retention: the short one applies",
    );
  }
  warnUnsupportedThinking(model, entry, sink);
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
    ...dialect.toThinkingFields(model, entry?.thinking),
    response_format: toResponseFormat(options, entry, sink),
    ...(dialect.hasCacheKey && { prompt_cache_key: options.sessionId }),
  };
  return mergeExtraFields(body, options.extra, sink);
}

/** Converts tools to functions, sorted by name. */
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

/** Completes an object schema, because OpenAI rejects one without `properties`. */
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

/** Converts `responseSchema` to OpenAI's format. Omits it with a warning for a model that cannot enforce one. */
export function toSchemaFormat(
  { responseSchema }: StreamOptions,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): JsonObject | undefined {
  if (responseSchema === undefined) return undefined;
  if (entry?.strictSchema === false) {
    sink.warning("response_schema_left_out", "The model does not support a response schema");
    return undefined;
  }
  return { name: "response", schema: responseSchema, strict: isStrictSchema(responseSchema) };
}

/** Puts the system prompt first. With `useCacheControl`, marks it and the newest prompt for the cache. */
function prependSystemPrompt(
  { systemPrompt }: LlmContext,
  messages: readonly WireMessage[],
  useCacheControl: boolean,
): readonly WireMessage[] {
  const system = systemPrompt.trim() === "" ? [] : [{ role: "system", content: systemPrompt }];
  if (!useCacheControl) return [...system, ...messages];
  const newest = messages.findLastIndex(({ role }) => role === "user" || role === "tool");
  return [
    ...system.map(addCacheControl),
    ...messages.map((message, index) => index === newest ? addCacheControl(message) : message),
  ];
}

function addCacheControl(message: WireMessage): WireMessage {
  const { content } = message;
  const parts: unknown[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
  const last = parts.at(-1);
  if (!isJsonObject(last)) return message;
  const marked = { ...last, cache_control: { type: "ephemeral" } };
  return { ...message, content: [...parts.slice(0, -1), marked] };
}
