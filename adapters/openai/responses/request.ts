/**
 * Request bodies of the Responses API.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json/json.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import type { StreamOptions, StreamRequest, ToolSpec } from "../../../src/core/streams/stream.ts";
import type { CatalogEntry } from "../../catalog/catalog_entry.ts";
import { adaptContent, COMMON_IMAGES, WEB_URLS } from "../../kit/request/adapt_content.ts";
import type { MediaAbility } from "../../kit/request/content_abilities.ts";
import { mergeExtraFields } from "../../kit/request/json_body.ts";
import {
  resolveMaxTokens,
  resolveServiceTier,
  resolveSessionId,
  resolveTemperature,
  resolveTopP,
  type ServiceTierNames,
  warnTierPrice,
  warnUnsupportedOptions,
  warnUnsupportedThinking,
} from "../../kit/request/model_limits.ts";
import {
  omitReplaced,
  type ServerToolFormats,
  toServerTools,
} from "../../kit/request/server_tools.ts";
import { canChooseTool, sortTools } from "../../kit/request/tools.ts";
import type { WarningSink } from "../../kit/request/warnings.ts";
import { TOOL_NAME_RULE, toWireName } from "../../kit/request/wire_names.ts";
import { resolveChatEffort } from "../chat/dialect.ts";
import { toSchemaFormat } from "../chat/request.ts";
import { selectToolSchema } from "../chat/tool_schemas.ts";
import { toResponsesInput } from "./input.ts";
import { RESPONSES_REPLAY } from "./replay_rules.ts";

/** Matches models with a cache retention of 24 hours. Those from GPT-5.6 on accept it, but keep prompts for 30 minutes. */
const LONG_CACHE_MODELS = /^gpt-(?:4\.1|5(?!\.[6-9]))/;

/** Matches models that reason, by their names, for those that are not in the catalog. */
const REASONING_MODELS = /^(?!.*chat)(?:o[1-9]|gpt-(?:[5-9]|[1-9]\d)|codex)/;

/** Lowest `max_output_tokens` that the API accepts. */
const MIN_OUTPUT_TOKENS = 16;

/** Differences between servers with the Responses API. */
export interface ResponsesDialect {
  /** Images that the server accepts. */
  readonly images: MediaAbility;
  /** Documents that the server accepts. */
  readonly documents: MediaAbility;
  /** Values of `service_tier` by the tier of the request. Default: the same. */
  readonly serviceTiers?: ServiceTierNames;
  /** Whether the length of replies can be set. Default: `true`. */
  readonly hasVerbosity?: boolean;
  /** Loads the conversion of server tools. */
  readonly loadServerTools: () => Promise<ServerToolFormats>;
}

/** Dialect of OpenAI and Azure. */
const OPENAI_RESPONSES: ResponsesDialect = {
  images: { types: COMMON_IMAGES, urls: WEB_URLS, files: true },
  documents: { types: /^application\/pdf$/, urls: WEB_URLS, files: true },
  loadServerTools: async () => (await import("../server/server_tools.ts")).OPENAI_TOOLS,
};

/** Options for `createResponsesBody()`. */
export interface ResponsesBodyOptions {
  /** Dialect of the server. Default: that of OpenAI. */
  readonly dialect: ResponsesDialect | undefined;
  /** Catalog entry of the model, if there is one. */
  readonly entry: CatalogEntry | undefined;
}

/** Creates the body. Options that the model does not support are omitted with a warning. */
export async function createResponsesBody(
  request: StreamRequest,
  { entry, dialect = OPENAI_RESPONSES }: ResponsesBodyOptions,
  sink: WarningSink,
): Promise<JsonObject> {
  const { model, context, options } = request;
  const { images: image, documents: document } = dialect;
  const media = entry?.images === false ? {} : { image, document };
  const abilities = { ...media, replies: RESPONSES_REPLAY };
  const history = await adaptContent(request, abilities, sink);
  const serverTools = options.serverTools?.length
    ? toServerTools(request, await dialect.loadServerTools(), sink)
    : [];
  const tools = [
    ...toResponsesTools(omitReplaced(context.tools, serverTools), model),
    ...serverTools,
  ];
  const format = await toSchemaFormat(options, entry, sink);
  warnUnsupportedThinking(model, entry, sink);
  const { hasVerbosity = true } = dialect;
  warnUnsupportedOptions(request, ["stop", "seed"], sink);
  if (!hasVerbosity) warnUnsupportedOptions(request, ["verbosity"], sink);
  const tier = resolveServiceTier(options, dialect.serviceTiers, sink);
  if (tier !== undefined) warnTierPrice(options, entry, sink);
  const text = {
    ...(format && { format: { type: "json_schema", ...format } }),
    ...(hasVerbosity && options.verbosity && { verbosity: options.verbosity }),
  };
  const body = {
    model: model.modelId,
    stream: true,
    // The provider stores nothing; encrypted reasoning is returned and sent back with the history.
    store: false,
    instructions: context.systemPrompt.trim() === "" ? undefined : context.systemPrompt,
    input: toResponsesInput(history, { model, tools: context.tools }),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 || canChooseTool(request, sink)
      ? toResponsesToolChoice(options)
      : undefined,
    temperature: resolveTemperature(options, entry, sink),
    top_p: resolveTopP(options, entry, sink),
    max_output_tokens: resolveOutputTokens(options, entry, sink),
    ...toReasoningFields(request, entry, sink),
    text: Object.keys(text).length > 0 ? text : undefined,
    service_tier: tier,
    prompt_cache_key: resolveSessionId(request),
    prompt_cache_retention: resolveRetention(request, sink),
  };
  return mergeExtraFields(body, options.extra, sink);
}

/** Returns the maximum length of the reply; a shorter one than the API accepts is raised with a warning. */
function resolveOutputTokens(
  options: StreamOptions,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): number | undefined {
  const maxTokens = resolveMaxTokens(options, entry, sink);
  if (maxTokens === undefined || maxTokens >= MIN_OUTPUT_TOKENS) return maxTokens;
  const message = `maxTokens was raised to ${MIN_OUTPUT_TOKENS}, the minimum of the Responses API`;
  sink.warning("max_tokens_raised", message);
  return MIN_OUTPUT_TOKENS;
}

function toResponsesTools(tools: readonly ToolSpec[], model: ModelSpec): JsonObject[] {
  const toSchema = selectToolSchema(model);
  return sortTools(tools).map(({ name, description, parameters }) => ({
    type: "function",
    name: toWireName(name, TOOL_NAME_RULE),
    description,
    parameters: toSchema(parameters),
    strict: false,
  }));
}

function toResponsesToolChoice({ toolChoice }: StreamOptions): unknown {
  if (typeof toolChoice !== "object") return toolChoice;
  return { type: "function", name: toWireName(toolChoice.name, TOOL_NAME_RULE) };
}

/** Returns the fields for reasoning. A model that reasons returns it encrypted, for later requests. */
function toReasoningFields(
  request: StreamRequest,
  entry: CatalogEntry | undefined,
  sink: WarningSink,
): JsonObject {
  const { model, options: { reasoningSummary = "auto" } } = request;
  const effort = resolveChatEffort(model, entry?.thinking);
  if (effort === undefined || model.thinkingLevel === "off") {
    warnUnsupportedOptions(request, ["reasoningSummary"], sink);
  }
  if (effort === undefined) {
    const reasons = entry === undefined && REASONING_MODELS.test(model.modelId);
    return reasons ? { include: ["reasoning.encrypted_content"] } : {};
  }
  const hasSummary = model.thinkingLevel !== "off" && reasoningSummary !== "off";
  return {
    reasoning: { effort, ...(hasSummary && { summary: reasoningSummary }) },
    include: ["reasoning.encrypted_content"],
  };
}

function resolveRetention(
  { options: { cache }, model: { modelId } }: StreamRequest,
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
