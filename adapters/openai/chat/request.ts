/**
 * Request bodies of the chat completions API.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonSchema } from "../../../src/core/json/json.ts";
import type {
  LlmContext,
  StreamOptions,
  StreamRequest,
  ToolSpec,
} from "../../../src/core/streams/stream.ts";
import type { CatalogEntry } from "../../catalog/catalog_entry.ts";
import { adaptContent } from "../../kit/request/adapt_content.ts";
import { mergeExtraFields } from "../../kit/request/json_body.ts";
import {
  resolveMaxTokens,
  resolveServiceTier,
  resolveSessionId,
  resolveStop,
  resolveTemperature,
  resolveTopP,
  warnTierPrice,
  warnUnsupportedOptions,
  warnUnsupportedThinking,
} from "../../kit/request/model_limits.ts";
import { omitReplaced, toServerTools } from "../../kit/request/server_tools.ts";
import { canChooseTool, sortTools } from "../../kit/request/tools.ts";
import { toValidSchema } from "../../kit/request/valid_schema.ts";
import type { WarningSink } from "../../kit/request/warnings.ts";
import { TOOL_NAME_RULE, toWireName } from "../../kit/request/wire_names.ts";
import { canContinueReply } from "./complete_ends.ts";
import type { ChatDialect } from "./dialect.ts";
import { resolveForcedCall } from "./forced_call.ts";
import { toChatMessages } from "./messages.ts";
import { CHAT_REPLAY } from "./replay_rules.ts";
import { selectToolSchema } from "./tool_schemas.ts";
import type { WireMessage } from "./wire.ts";

/** Options for `createChatBody()`. */
export interface ChatBodyOptions {
  /** Dialect of the server. */
  readonly dialect: ChatDialect;
  /** Catalog entry of the model, if there is one. */
  readonly entry: CatalogEntry | undefined;
}

const MAX_STOP_TEXTS = 4;
/** Fields for the maximum length of a reply; servers accept one of them. */
const LENGTH_FIELDS = ["max_tokens", "max_completion_tokens"];

/** Creates the body. Options that the model does not support are omitted with a warning. */
export async function createChatBody(
  original: StreamRequest,
  { dialect, entry }: ChatBodyOptions,
  sink: WarningSink,
): Promise<JsonObject> {
  const request = resolveForcedCall(original, dialect, sink);
  const { model, options } = request;
  const messages = await createMessages(request, { dialect, entry }, sink);
  const tools = createTools(request, dialect, sink);
  if (options.cache === "long") {
    sink.warning(
      "cache_left_out",
      "Chat completions do not support long cache retention: the short one applies",
    );
  }
  warnUnsupportedThinking(model, entry, sink);
  warnUnsupportedOptions(request, dialect.unsupported, sink);
  const { unsupported, seedField = "seed" } = dialect;
  const tier = resolveChatTier(options, { dialect, entry }, sink);
  const sampling = dialect.hasFixedSampling?.(model.modelId) ? { temperature: false } : entry;
  const body = {
    model: model.modelId,
    stream: true,
    ...(dialect.needsUsageOption && { stream_options: { include_usage: true } }),
    ...dialect.fields,
    messages,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 || canChooseTool(request, sink)
      ? toChatToolChoice(options)
      : undefined,
    temperature: resolveTemperature(options, sampling, sink),
    top_p: resolveTopP(options, sampling, sink),
    stop: resolveChatStop(request, { dialect, entry }, sink),
    [seedField]: options.seed,
    [dialect.maxTokensField]: resolveChatMaxTokens(request, { dialect, entry }, sink),
    ...dialect.toThinkingFields(model, entry?.thinking),
    service_tier: tier,
    ...(!unsupported.includes("verbosity") && { verbosity: options.verbosity }),
    response_format: await toResponseFormat(
      options,
      dialect.supportsSchemas === false ? { strictSchema: false } : entry,
      sink,
    ),
    ...(hasCacheKey(dialect, model.modelId) && { prompt_cache_key: resolveSessionId(request) }),
  };
  return mergeExtraFields(body, options.extra, sink);
}

/** Creates the messages, with the system prompt first, in an order that the server accepts. */
async function createMessages(
  request: StreamRequest,
  { dialect, entry }: ChatBodyOptions,
  sink: WarningSink,
): Promise<readonly WireMessage[]> {
  const { model, context, options } = request;
  const media = entry?.images === false ? {} : dialect.getAbilities(model.modelId);
  const abilities = { ...media, replies: CHAT_REPLAY };
  const history = await adaptContent(request, abilities, sink);
  const messages = prependSystemPrompt(
    context,
    toChatMessages(history, { model, dialect, tools: context.tools }),
    options.cache !== "off" && dialect.supportsCacheControl(model.modelId),
  );
  const continuesReply = canContinueReply(options.extra);
  return dialect.repairOrder?.(messages, { continuesReply }) ?? messages;
}

/** Creates the tools of the agent and those of the provider, which replace the former of the same name. */
function createTools(
  request: StreamRequest,
  dialect: ChatDialect,
  sink: WarningSink,
): readonly JsonObject[] {
  const { model, context } = request;
  const serverTools = toServerTools(request, dialect.serverTools ?? {}, sink);
  const ownTools = toChatTools(omitReplaced(context.tools, serverTools), {
    maxDescription: dialect.maxDescription,
    toSchema: selectToolSchema(model, dialect.toToolSchema),
  });
  return [...ownTools, ...serverTools];
}

/** Returns the service tier by the name that the server has for it. */
function resolveChatTier(
  options: StreamOptions,
  { dialect: { unsupported, serviceTiers }, entry }: ChatBodyOptions,
  sink: WarningSink,
): string | undefined {
  const tier = unsupported.includes("serviceTier")
    ? undefined
    : resolveServiceTier(options, serviceTiers, sink);
  // Where a tier has another name, the reply reports the one that served it.
  if (tier === options.serviceTier) warnTierPrice(options, entry, sink);
  return tier;
}

function hasCacheKey({ hasCacheKey, acceptsCacheKey }: ChatDialect, modelId: string): boolean {
  return hasCacheKey && (acceptsCacheKey?.(modelId) ?? true);
}

/** Returns the maximum length of a reply in tokens; for a request without one, that of the server or of the dialect. */
function resolveChatMaxTokens(
  { model, options }: StreamRequest,
  { dialect, entry }: ChatBodyOptions,
  sink: WarningSink,
): number | undefined {
  const fallback = dialect.getDefaultMaxTokens?.(model.modelId);
  if (isLengthSet(options) || fallback === undefined) {
    return resolveMaxTokens(options, entry, sink);
  }
  return Math.min(fallback, entry?.maxOutput ?? fallback);
}

/** Whether the options limit the reply, also among the extra fields, which do not replace a field of the request. */
function isLengthSet({ maxTokens, extra = {} }: StreamOptions): boolean {
  return maxTokens !== undefined || LENGTH_FIELDS.some((name) => Object.hasOwn(extra, name));
}

/** Returns the texts that end a reply; models that reason, and therefore support no temperature, do not support them. */
function resolveChatStop(
  request: StreamRequest,
  { dialect: { supportsStop }, entry }: ChatBodyOptions,
  sink: WarningSink,
): readonly string[] | undefined {
  const { model, options } = request;
  const isSupported = supportsStop?.(model.modelId) ?? entry?.temperature !== false;
  if (isSupported) return resolveStop(options, MAX_STOP_TEXTS, sink);
  warnUnsupportedOptions(request, ["stop"], sink);
  return undefined;
}

/** Options for `toChatTools()`. */
interface ChatToolOptions {
  /** Maximum length of a description, in characters. Default: unlimited. */
  readonly maxDescription: number | undefined;
  /** Completes the schema of the parameters. */
  readonly toSchema: (parameters: JsonSchema) => JsonSchema;
}

/** Converts tools to functions, sorted by name. */
function toChatTools(
  tools: readonly ToolSpec[],
  { maxDescription, toSchema }: ChatToolOptions,
): JsonObject[] {
  return sortTools(tools).map(({ name, description, parameters }) => ({
    type: "function",
    function: {
      name: toWireName(name, TOOL_NAME_RULE),
      ...splitDescription(description, toSchema(parameters), maxDescription),
    },
  }));
}

/** Moves the part of a description that exceeds the limit to the schema, whose descriptions have none. */
function splitDescription(
  description: string,
  parameters: JsonSchema,
  maxLength = Infinity,
): { readonly description: string; readonly parameters: JsonSchema } {
  if (description.length <= maxLength) return { description, parameters };
  const rest = [description.slice(maxLength), parameters["description"]];
  return {
    description: description.slice(0, maxLength),
    parameters: { ...parameters, description: rest.filter(isFilledText).join("\n\n") },
  };
}

function isFilledText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function toChatToolChoice({ toolChoice }: StreamOptions): unknown {
  if (typeof toolChoice !== "object") return toolChoice;
  return { type: "function", function: { name: toWireName(toolChoice.name, TOOL_NAME_RULE) } };
}

async function toResponseFormat(
  options: StreamOptions,
  entry: Pick<CatalogEntry, "strictSchema"> | undefined,
  sink: WarningSink,
): Promise<JsonObject | undefined> {
  const schema = await toSchemaFormat(options, entry, sink);
  return schema && { type: "json_schema", json_schema: schema };
}

/** Converts `responseSchema` to OpenAI's format. Omits it with a warning for a model that cannot enforce one. */
export async function toSchemaFormat(
  { responseSchema }: StreamOptions,
  entry: Pick<CatalogEntry, "strictSchema"> | undefined,
  sink: WarningSink,
): Promise<JsonObject | undefined> {
  if (responseSchema === undefined) return undefined;
  if (entry?.strictSchema === false) {
    sink.warning("response_schema_left_out", "The model does not support a response schema");
    return undefined;
  }
  const { isStrictSchema, OPENAI_KEYWORDS, toStrictSchema } = await import(
    "../../kit/request/strict_schema.ts"
  );
  return isStrictSchema(responseSchema)
    ? { name: "response", schema: toStrictSchema(responseSchema, OPENAI_KEYWORDS), strict: true }
    : { name: "response", schema: toValidSchema(responseSchema), strict: false };
}

/**
 * Puts the system prompt first. With `useCacheControl`, marks it and the newest prompt for the cache, and the one that the
 * previous request marked: the provider does not find a prefix that ends more than 20 blocks before a mark, as with
 * the results of many calls.
 */
function prependSystemPrompt(
  { systemPrompt }: LlmContext,
  messages: readonly WireMessage[],
  useCacheControl: boolean,
): readonly WireMessage[] {
  const system = systemPrompt.trim() === "" ? [] : [{ role: "system", content: systemPrompt }];
  if (!useCacheControl) return [...system, ...messages];
  const isPrompt = ({ role }: WireMessage) => role === "user" || role === "tool";
  const newest = messages.findLastIndex(isPrompt);
  const reply = messages.findLastIndex(({ role }, index) => role === "assistant" && index < newest);
  const marked = [newest, messages.slice(0, Math.max(0, reply)).findLastIndex(isPrompt)];
  return [
    ...system.map(addCacheControl),
    ...messages.map((message, index) =>
      marked.includes(index) ? addCacheControl(message) : message
    ),
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
