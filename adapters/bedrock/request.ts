/**
 * Converts a model call to a request to Bedrock's Converse API.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json/json.ts";
import { extractToolCalls } from "../../src/core/messages/content.ts";
import type { LlmMessage } from "../../src/core/messages/message.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../src/core/streams/stream.ts";
import { omitBlankStop } from "../anthropic/blank_stop.ts";
import { isToolForced } from "../anthropic/thinking.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { adaptContent } from "../kit/request/adapt_content.ts";
import { mergeExtraFields } from "../kit/request/json_body.ts";
import {
  resolveMaxTokens,
  resolveStop,
  resolveTemperature,
  resolveTopP,
  warnTierPrice,
  warnUnsupportedOptions,
} from "../kit/request/model_limits.ts";
import { toClaudeSchema } from "../kit/request/property_names.ts";
import { toServerTools } from "../kit/request/server_tools.ts";
import { toToolSchema } from "../kit/request/tool_schema.ts";
import { canChooseTool, sortTools } from "../kit/request/tools.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { TOOL_NAME_RULE, toWireName } from "../kit/request/wire_names.ts";
import { shouldCiteAll } from "./cited_documents.ts";
import { getModelFamily, type ModelFamily } from "./families.ts";
import { getAbilities } from "./media.ts";
import { toWireMessages } from "./messages.ts";
import { toNovaDescription, toNovaSchema } from "./nova_schema.ts";
import {
  getDefaultLength,
  getSetLength,
  type ThinkingFields,
  toThinkingFields,
} from "./thinking.ts";
import type { WireBlock } from "./wire.ts";

/** A guardrail, which checks prompts and replies. */
export interface BedrockGuardrail {
  /** Id or ARN of the guardrail. */
  readonly id: string;
  /** Version, such as `"1"` or `"DRAFT"`. */
  readonly version: string;
  /** Whether its assessment is reported, in the `data` of a warning with the code `guardrail_trace`. Default: `false`. */
  readonly trace?: boolean;
  /** Whether text is checked before (`sync`) or while it is sent (`async`). Default: `sync`. */
  readonly processing?: "sync" | "async";
}

/** Options for `createConverseBody()`. */
export interface ConverseBodyOptions {
  /** The model's catalog entry. */
  readonly entry: CatalogEntry;
  /** Guardrail of the adapter. */
  readonly guardrail: BedrockGuardrail | undefined;
}

const MAX_STOP_TEXTS = 2500;

/** Matches models whose limit is near Bedrock's default. */
const SHORT_REPLIES = /claude-3-(?:opus|sonnet|5-sonnet)/;

/** Creates the body; options that the model does not support are omitted with a warning. */
export async function createConverseBody(
  request: StreamRequest,
  { entry: catalogEntry, guardrail }: ConverseBodyOptions,
  sink: WarningSink,
): Promise<JsonObject> {
  const { model, context, options } = request;
  const family = getModelFamily(model.modelId);
  const entry = lowerLimit(catalogEntry, family);
  const history = await adaptContent(request, getAbilities(model.modelId, entry, family), sink);
  const serverTools = await createServerTools(request, family, sink);
  const isClaude = family.thinking === "claude";
  warnUnsupportedOptions(
    request,
    [
      ...["seed", "verbosity"] as const,
      ...(isClaude ? [] : ["reasoningSummary"] as const),
      ...(family.stop ? [] : ["stop"] as const),
    ],
    sink,
  );
  warnTierPrice(options, entry, sink);
  const cachePoint = toCachePoint(options, family, sink);
  const getCachePoint = (part: ModelFamily["cachePoints"][number]) =>
    family.cachePoints.includes(part) ? cachePoint : undefined;
  const prefill = family.prefill && entry.prefill !== false && model.thinkingLevel === "off";
  const toolConfig = toToolConfig(
    request,
    { entry, family, cachePoint: getCachePoint("tools"), serverTools },
    sink,
  );
  const outputConfig = await toOutputConfig(options, entry, sink);
  const messages = toWireMessages(history, {
    model,
    family,
    tools: context.tools,
    citesDocuments: shouldCiteAll(history, outputConfig !== undefined, sink),
    prefill,
    sink,
    cachePoint: getCachePoint("messages"),
    hasTools: (toolConfig ?? options.extra?.["toolConfig"]) !== undefined,
  });
  const thinking = toThinkingFields(request, { family, entry, messages }, sink);
  const inferenceConfig = toInferenceConfig(request, { entry, family, thinking }, sink);
  const isStream = family.streamsTools || toolConfig === undefined;
  const body = {
    messages,
    system: toSystemPrompt(context.systemPrompt, getCachePoint("system")),
    inferenceConfig: hasFields(inferenceConfig) ? inferenceConfig : undefined,
    toolConfig,
    outputConfig,
    guardrailConfig: guardrail && toGuardrailConfig(guardrail, isStream),
    serviceTier: toServiceTier(options),
    additionalModelRequestFields: hasFields(thinking.fields) ? thinking.fields : undefined,
  };
  return mergeExtraFields(body, options.extra, sink);
}

/**
 * Lowers the limit of replies of Claude, which is exclusive: "The maximum tokens you requested exceeds the model limit of 64000.
 * Try again with a maximum tokens value that is lower than 64000" is the answer to 64,000
 * (https://github.com/vertesia/llumiverse/pull/562).
 */
function lowerLimit(entry: CatalogEntry, { thinking }: ModelFamily): CatalogEntry {
  return thinking === "claude" ? { ...entry, maxOutput: entry.maxOutput - 1 } : entry;
}

function hasFields(fields: JsonObject): boolean {
  return Object.values(fields).some((value) => value !== undefined);
}

function toGuardrailConfig(
  { id, version, trace, processing }: BedrockGuardrail,
  isStream: boolean,
): JsonObject {
  return {
    guardrailIdentifier: id,
    guardrailVersion: version,
    ...(trace && { trace: "enabled" }),
    ...(processing && isStream && { streamProcessingMode: processing }),
  };
}

/** Converts the service tier; Bedrock's default is the same as `auto`. */
function toServiceTier({ serviceTier }: StreamOptions): JsonObject | undefined {
  return serviceTier === undefined || serviceTier === "auto" ? undefined : { type: serviceTier };
}

async function createServerTools(
  request: StreamRequest,
  family: ModelFamily,
  sink: WarningSink,
): Promise<readonly JsonObject[]> {
  if (!request.options.serverTools?.length) return [];
  const { NOVA_TOOLS } = await import("./server_tools.ts");
  return toServerTools(request, family.thinking === "nova" ? NOVA_TOOLS : {}, sink);
}

interface InferenceContext {
  readonly entry: CatalogEntry;
  readonly family: ModelFamily;
  readonly thinking: ThinkingFields;
}

function toInferenceConfig(
  request: StreamRequest,
  context: InferenceContext,
  sink: WarningSink,
): JsonObject {
  const { options } = request;
  const { entry, family, thinking } = context;
  const isClaude = family.thinking === "claude";
  const maxTokens = thinking.fixesLength
    ? warnThinkingOption("max_tokens", options.maxTokens, sink)
    : toMaxTokens(request, context, sink);
  const stop = isClaude ? omitBlankStop(options, sink) : options;
  const stopSequences = family.stop ? resolveStop(stop, MAX_STOP_TEXTS, sink) : undefined;
  const temperature = thinking.fixesTemperature
    ? warnThinkingOption("temperature", options.temperature, sink)
    : resolveTemperature(options, entry, sink);
  const topP = thinking.fixesTemperature
    ? warnThinkingOption("top_p", options.topP, sink)
    : resolveTopP(options, entry, sink);
  if (!isClaude || topP === undefined || temperature === undefined) {
    return { maxTokens, temperature, topP, stopSequences };
  }
  sink.warning("top_p_left_out", "The model does not support topP together with a temperature");
  return { maxTokens, temperature, stopSequences };
}

/**
 * Returns the limit of a reply. Bedrock's default for Claude is 4,096 tokens, though its documentation has the limit of the
 * model (https://github.com/BerriAI/litellm/issues/41529).
 */
function toMaxTokens(
  { model, options }: StreamRequest,
  { entry, family }: InferenceContext,
  sink: WarningSink,
): number | undefined {
  const isClaude = family.thinking === "claude" && !SHORT_REPLIES.test(model.modelId);
  const isDefault = isClaude && getSetLength(options) === undefined;
  return isDefault ? getDefaultLength(entry) : resolveMaxTokens(options, entry, sink);
}

function warnThinkingOption(name: string, value: number | undefined, sink: WarningSink): undefined {
  if (value === undefined) return;
  const message = `The model does not support ${name} together with this level of thinking`;
  sink.warning(`${name}_left_out`, message);
}

function toCachePoint(
  { cache = "short" }: StreamOptions,
  family: ModelFamily,
  sink: WarningSink,
): WireBlock | undefined {
  if (cache === "off") return undefined;
  if (cache === "short" || family.cachePoints.length === 0) {
    return { cachePoint: { type: "default" } };
  }
  if (family.longCache) return { cachePoint: { type: "default", ttl: "1h" } };
  const message = "The model has no long cache retention: the short one applies";
  sink.warning("cache_shortened", message);
  return { cachePoint: { type: "default" } };
}

function toSystemPrompt(text: string, cachePoint: WireBlock | undefined): WireBlock[] | undefined {
  if (text.trim() === "") return undefined;
  return cachePoint ? [{ text }, cachePoint] : [{ text }];
}

/** Creates the tool configuration, which the API requires for every conversation that contains calls. */
function toToolConfig(
  request: StreamRequest,
  { cachePoint, serverTools, ...model }: {
    readonly entry: CatalogEntry;
    readonly family: ModelFamily;
    readonly cachePoint: WireBlock | undefined;
    readonly serverTools: readonly JsonObject[];
  },
  sink: WarningSink,
): JsonObject | undefined {
  const { context, options } = request;
  const toolChoice = toToolChoice(request, model, sink);
  const called = findCalledTools(context.messages);
  const isNone = options.toolChoice === "none";
  if (isNone && called.length === 0 && serverTools.length === 0) return undefined;
  const tools = context.tools.length > 0 ? context.tools : called;
  if (tools.length === 0 && serverTools.length === 0) return undefined;
  if (isNone) {
    sink.warning("tool_choice_left_out", 'Bedrock does not support toolChoice "none"');
  }
  const specs = [
    ...sortTools(tools).map((tool) => toWireTool(adaptTool(tool, model.family))),
    ...serverTools,
  ];
  return {
    tools: cachePoint ? [...specs, cachePoint] : specs,
    toolChoice,
  };
}

/** Completes the schema of a tool's parameters, with what the family of the model accepts. */
function adaptTool(tool: ToolSpec, { thinking }: ModelFamily): ToolSpec {
  const { description, parameters } = tool;
  switch (thinking) {
    case "claude":
      return { ...tool, parameters: toClaudeSchema(parameters) };
    case "nova":
      return {
        ...tool,
        description: toNovaDescription(description, parameters),
        parameters: toNovaSchema(parameters),
      };
    case "gpt":
    case "gpt_oss":
    case "none":
      return { ...tool, parameters: toToolSchema(parameters) };
  }
}

function toWireTool({ name, description, parameters }: ToolSpec): WireBlock {
  return {
    toolSpec: {
      name: toWireName(name, TOOL_NAME_RULE),
      ...(description !== "" && { description }),
      inputSchema: { json: parameters },
    },
  };
}

function findCalledTools(messages: readonly LlmMessage[]): ToolSpec[] {
  const names = messages.flatMap(({ content }) =>
    extractToolCalls(content).map(({ name }) => name)
  );
  return [...new Set(names)].map((name) => ({
    name,
    description: "This tool is no longer available.",
    parameters: {},
  }));
}

function toToolChoice(
  request: StreamRequest,
  { entry, family }: { readonly entry: CatalogEntry; readonly family: ModelFamily },
  sink: WarningSink,
): WireBlock | undefined {
  const { model, options: { toolChoice } } = request;
  if (!canChooseTool(request, sink) || !isToolForced(request)) return undefined;
  const choice = typeof toolChoice === "object" ? "tool" : "any";
  if (entry.forcedToolChoice === false || !family.forcedChoices.includes(choice)) {
    const kind = choice === "any" ? "a forced tool call" : "a forced call of one tool";
    sink.warning("tool_choice_left_out", `${model.modelId} does not support ${kind}`);
    return undefined;
  }
  if (typeof toolChoice !== "object") return { any: {} };
  return { tool: { name: toWireName(toolChoice.name, TOOL_NAME_RULE) } };
}

async function toOutputConfig(
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
  const schema = JSON.stringify(toStrictSchema(responseSchema, CLAUDE_KEYWORDS));
  const structure = { jsonSchema: { name: "reply", schema } };
  return { textFormat: { type: "json_schema", structure } };
}
