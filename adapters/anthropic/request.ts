/**
 * Converts a model call to a request to Anthropic's Messages API.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../src/core/streams/stream.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { adaptContent, COMMON_IMAGES, WEB_URLS } from "../kit/request/adapt_content.ts";
import type { ContentAbilities } from "../kit/request/content_abilities.ts";
import { mergeExtraFields } from "../kit/request/json_body.ts";
import {
  resolveMaxTokens,
  resolveStop,
  resolveTemperature,
  resolveTopP,
  warnUnsupportedOptions,
} from "../kit/request/model_limits.ts";
import { toClaudeSchema } from "../kit/request/property_names.ts";
import { omitReplaced, toServerTools } from "../kit/request/server_tools.ts";
import { canChooseTool, sortTools } from "../kit/request/tools.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import { omitBlankStop } from "./blank_stop.ts";
import { shouldCite } from "./cited_documents.ts";
import { findContainer, toContainerField } from "./container.ts";
import { isThinking, type MessagesOptions, toWireMessages } from "./messages.ts";
import { ANTHROPIC_REPLAY } from "./replay_rules.ts";
import {
  disableBudgetThinking,
  getBetas,
  isToolForced,
  type ResolvedThinking,
  resolveThinking,
} from "./thinking.ts";
import { CACHED_MESSAGES } from "./turns.ts";
import type { CacheControl, WireMessage } from "./wire.ts";

/** A request to the Messages API. */
export interface AnthropicRequest {
  /** The JSON body. */
  readonly body: JsonObject;
  /** Features for the `anthropic-beta` header. */
  readonly betas: readonly string[];
}

/** Options for `createAnthropicRequest()`. */
export interface AnthropicRequestOptions {
  /** Catalog entry of the model. */
  readonly entry: CatalogEntry;
  /** Current time in milliseconds since the epoch. */
  readonly now: number;
}

/** The caller's options as far as the model supports them. */
interface ResolvedOptions {
  readonly maxTokens: number;
  readonly thinking: ResolvedThinking;
  readonly toolChoice: JsonObject | undefined;
  readonly temperature: number | undefined;
  readonly topP: number | undefined;
}

const MAX_STOP_TEXTS = 8192;
/** Maximum number of cache marks in a request. */
const MAX_CACHE_MARKS = 4;
/** Lowest `top_p` that the API accepts while a model thinks. */
const MIN_TOP_P_WITH_THINKING = 0.95;

/** Content of prompts, tool results and earlier replies. */
const ABILITIES: ContentAbilities = {
  replies: ANTHROPIC_REPLAY,
  image: { types: COMMON_IMAGES, urls: WEB_URLS, files: true },
  document: {
    types: /^(?:application\/pdf|text\/plain)$/,
    urls: WEB_URLS,
    urlTypes: /^application\/pdf$/,
    files: true,
    citations: true,
  },
};

const WITHOUT_MEDIA: ContentAbilities = { replies: ANTHROPIC_REPLAY };

/** Creates the request; options that the model does not support are omitted with a warning. */
export async function createAnthropicRequest(
  request: StreamRequest,
  { entry, now }: AnthropicRequestOptions,
  sink: WarningSink,
): Promise<AnthropicRequest> {
  const { model, context, options } = request;
  const history = await adaptContent(request, entry.images ? ABILITIES : WITHOUT_MEDIA, sink);
  const serverTools = await createServerTools(request, sink);
  const resolved = resolveOptions(request, entry, sink);
  warnUnsupportedOptions(request, ["seed", "verbosity"], sink);
  const { system, tools: lastTool, messages: cachedMessages } = placeCacheMarks(options);
  const prefill = entry.prefill !== false && !resolved.thinking.enabled;
  const outputFormat = await toOutputFormat(options, entry, sink);
  const container = toContainerField(findContainer(history, { model, now }), options);
  const messages = toWireMessages(history, {
    model,
    prefill,
    sink,
    ...cachedMessages,
    tools: context.tools,
    citesDocuments: shouldCite(history, outputFormat !== undefined, sink),
    hasContainer: (container ?? options.extra?.["container"] ?? undefined) !== undefined,
  });
  const thinking = callsLackThinking(messages)
    ? disableBudgetThinking(resolved.thinking, entry, sink)
    : resolved.thinking;
  const outputConfig = {
    ...(thinking.effort && { effort: thinking.effort }),
    ...(outputFormat && { format: outputFormat }),
  };
  const tools = [
    ...toWireTools(omitReplaced(context.tools, serverTools), lastTool),
    ...serverTools,
  ];
  const body = {
    model: model.modelId,
    max_tokens: resolved.maxTokens,
    stream: true,
    system: toSystemPrompt(context.systemPrompt, system),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: resolved.toolChoice,
    temperature: resolved.temperature,
    top_p: resolved.topP,
    stop_sequences: resolveStop(omitBlankStop(options, sink), MAX_STOP_TEXTS, sink),
    service_tier: resolveTier(options, sink),
    thinking: thinking.setting,
    output_config: Object.keys(outputConfig).length > 0 ? outputConfig : undefined,
    container,
    messages,
  };
  return {
    body: mergeExtraFields(body, options.extra, sink),
    betas: getBetas(thinking, request, entry),
  };
}

function resolveOptions(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): ResolvedOptions {
  const { options } = request;
  const maxTokens = resolveMaxTokens(options, entry, sink) ?? entry.maxOutput;
  const thinking = resolveThinking(request, maxTokens, entry, sink);
  const toolChoice = toToolChoice(request, entry, sink);
  const temperature = thinking.enabled
    ? warnThinkingTemperature(options, sink)
    : resolveTemperature(options, entry, sink);
  const topP = resolveTopP(options, entry, sink);
  const isTooLow = thinking.enabled && topP !== undefined && topP < MIN_TOP_P_WITH_THINKING;
  if (topP === undefined || (temperature === undefined && !isTooLow)) {
    return { maxTokens, thinking, toolChoice, temperature, topP };
  }
  const reason = isTooLow ? "thinking" : "a temperature";
  sink.warning("top_p_left_out", `The model does not support topP ${topP} together with ${reason}`);
  return { maxTokens, thinking, toolChoice, temperature, topP: undefined };
}

function warnThinkingTemperature({ temperature }: StreamOptions, sink: WarningSink): undefined {
  if (temperature === undefined) return;
  const message = "The model does not support a temperature together with thinking";
  sink.warning("temperature_left_out", message);
}

function resolveTier({ serviceTier }: StreamOptions, sink: WarningSink): string | undefined {
  switch (serviceTier) {
    case undefined:
      return undefined;
    case "auto":
    case "priority":
      return "auto";
    case "default":
      return "standard_only";
    case "flex":
      sink.warning(
        "service_tier_left_out",
        'The provider does not support the service tier "flex"',
      );
      return undefined;
  }
}

async function createServerTools(
  request: StreamRequest,
  sink: WarningSink,
): Promise<readonly JsonObject[]> {
  if (!request.options.serverTools?.length) return [];
  const { ANTHROPIC_TOOLS } = await import("./server_tools.ts");
  return toServerTools(request, ANTHROPIC_TOOLS, sink);
}

function toToolChoice(
  request: StreamRequest,
  entry: CatalogEntry,
  sink: WarningSink,
): JsonObject | undefined {
  const { toolChoice } = request.options;
  if (toolChoice === undefined || !canChooseTool(request, sink)) return undefined;
  if (isToolForced(request) && entry.forcedToolChoice === false) {
    const message = `${request.model.modelId} does not support a forced tool call`;
    sink.warning("tool_choice_left_out", message);
    return undefined;
  }
  if (toolChoice === "required") return { type: "any" };
  if (typeof toolChoice === "string") return { type: toolChoice };
  return { type: "tool", name: toWireName(toolChoice.name, TOOL_NAME_RULE) };
}

async function toOutputFormat(
  { responseSchema }: StreamOptions,
  entry: CatalogEntry,
  sink: WarningSink,
): Promise<JsonObject | undefined> {
  if (responseSchema === undefined) return undefined;
  if (!entry.strictSchema) {
    sink.warning("response_schema_left_out", "The model does not support a response schema");
    return undefined;
  }
  const { CLAUDE_KEYWORDS, toStrictSchema } = await import("../kit/request/strict_schema.ts");
  return {
    type: "json_schema",
    schema: toStrictSchema(responseSchema, CLAUDE_KEYWORDS),
  };
}

/** Cache marks by their places. */
interface CacheMarks {
  readonly system?: CacheControl | undefined;
  readonly tools?: CacheControl | undefined;
  readonly messages: Pick<MessagesOptions, "cacheControl" | "markedMessages">;
}

/** Places the cache marks, which the API limits in number; those of the caller leave fewer. */
function placeCacheMarks(options: StreamOptions): CacheMarks {
  const mark = toCacheControl(options);
  const { extra = {}, serverTools = [] } = options;
  const own = JSON.stringify([extra, serverTools]).match(/"cache_control":{/g) ?? [];
  const spare = MAX_CACHE_MARKS - own.length;
  return {
    system: spare >= 2 ? mark : undefined,
    tools: spare >= 3 ? mark : undefined,
    // The mark of the newest message counts most, and that of the previous request least.
    messages: {
      cacheControl: mark,
      markedMessages: spare >= 4 ? CACHED_MESSAGES : Number(spare >= 1),
    },
  };
}

function toCacheControl({ cache = "short" }: StreamOptions): CacheControl | undefined {
  if (cache === "off") return undefined;
  return cache === "long" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

function toSystemPrompt(text: string, cache_control: CacheControl | undefined): unknown {
  if (text.trim() === "") return undefined;
  return cache_control ? [{ type: "text", text, cache_control }] : text;
}

/** Sorts the tools, so that equal sets share a cached prefix, and marks its end on the last one. */
function toWireTools(
  tools: readonly ToolSpec[],
  cache_control: CacheControl | undefined,
): JsonObject[] {
  return sortTools(tools).map(({ name, description, parameters }, index) => ({
    name: toWireName(name, TOOL_NAME_RULE),
    description,
    input_schema: toClaudeSchema(parameters),
    ...(cache_control && index === tools.length - 1 && { cache_control }),
  }));
}

/** Whether the conversation ends with the results of calls whose reply did not start with thinking. */
function callsLackThinking(messages: readonly WireMessage[]): boolean {
  const [reply, answer] = messages.slice(-2);
  const answersCalls = answer?.content.some(({ type }) => type === "tool_result") ?? false;
  return answersCalls && !isThinking(reply?.content[0]);
}
