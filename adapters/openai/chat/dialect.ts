/**
 * Differences between servers with the chat completions API.
 *
 * @module
 */

import type { JsonObject, JsonSchema } from "../../../src/core/json/json.ts";
import type { ModelSpec } from "../../../src/core/models/model.ts";
import type { ThinkingAbility, ThinkingEffort } from "../../catalog/catalog_entry.ts";
import type { ContentAbilities } from "../../kit/request/content_abilities.ts";
import type { MediaBlock } from "../../kit/request/media.ts";
import type { ServiceTierNames } from "../../kit/request/model_limits.ts";
import type { ServerToolFormats } from "../../kit/request/server_tools.ts";
import { EFFORT_BY_LEVEL, resolveEffort } from "../../kit/request/thinking.ts";
import { CALL_ID_RULE, toWireName } from "../../kit/request/wire_names.ts";
import { completeEnds, type CompleteEndsOptions, separateReplies } from "./complete_ends.ts";
import { CHAT_AUDIO, CHAT_DOCUMENTS, CHAT_IMAGES, getChatAbilities } from "./media.ts";
import { mergeNeighbors } from "./merge_neighbors.ts";
import { toMoonshotSchema } from "./moonshot_schema.ts";
import { toTypedSchema } from "./typed_schema.ts";
import type { WireMessage } from "./wire.ts";

/** Dialect of the chat completions API. */
export interface ChatDialect {
  /** Field for the maximum length of a reply in tokens. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** Returns the maximum length of a reply of a model for a request without one. Default: that of the server. */
  readonly getDefaultMaxTokens?: (modelId: string) => number | undefined;
  /** Completes the schema of the parameters of a tool. Default: as for most servers. */
  readonly toToolSchema?: (parameters: JsonSchema) => JsonSchema;
  /** Maximum length of the description of a tool, in characters. Default: unlimited. */
  readonly maxDescription?: number;
  /** Whether usage must be requested with `stream_options`. */
  readonly needsUsageOption: boolean;
  /** Whether the server supports `prompt_cache_key`. */
  readonly hasCacheKey: boolean;
  /** Whether a model accepts `prompt_cache_key`, where the server supports it. Default: all do. */
  readonly acceptsCacheKey?: (modelId: string) => boolean;
  /** Whether prompts for a model may contain `cache_control`. */
  readonly supportsCacheControl: (modelId: string) => boolean;
  /** Returns the fields that control thinking; `ability` is `undefined` for a model that is not in the catalog. */
  readonly toThinkingFields: (model: ModelSpec, ability: ThinkingAbility | undefined) => JsonObject;
  /** Encodes the id of a tool call for the server. */
  readonly encodeCallId: (id: string) => string;
  /** Whether call ids that the same model created are sent back unchanged. Default: `false`. */
  readonly keepsCallIds?: boolean;
  /** Whether reasoning is part of the content, in replies and requests. Default: `false`. */
  readonly hasThinkingParts?: boolean;
  /** Whether every reply in a request for a model must have `reasoning_content`. Default: for no model. */
  readonly requiresReasoning?: (model: ModelSpec) => boolean;
  /** Whether a model requires the signatures of calls, in `reasoning_details`. Default: none does. */
  readonly requiresSignatures?: (modelId: string) => boolean;
  /** Whether a model that can think accepts a forced tool call only `without_thinking`, or `never`. Default: always. */
  readonly forcedCalls?: (model: ModelSpec) => "without_thinking" | "never" | undefined;
  /** Whether a model that is not in the catalog may get a response schema. Default: `true`. */
  readonly supportsSchemas?: boolean;
  /** Changes messages whose order the server would reject. */
  readonly repairOrder?: (
    messages: readonly WireMessage[],
    options?: CompleteEndsOptions,
  ) => readonly WireMessage[];
  /** Returns the media that a model accepts. */
  readonly getAbilities: (modelId: string) => ContentAbilities;
  /** Converts media to a content part. Default: the form of OpenAI. */
  readonly toMediaPart?: (block: MediaBlock) => JsonObject;
  /** Options that the server does not have. */
  readonly unsupported: readonly ("serviceTier" | "verbosity" | "reasoningSummary")[];
  /** Whether the server is in a region with data residency, whose prices may differ. Default: `false`. */
  readonly isRegional?: boolean;
  /** Whether a model supports texts that end a reply. Default: all do, unless they support no temperature. */
  readonly supportsStop?: (modelId: string) => boolean;
  /** Whether a model accepts only its own temperature and `topP`. Default: none does. */
  readonly hasFixedSampling?: (modelId: string) => boolean;
  /** Field for the seed. Default: `seed`. */
  readonly seedField?: string;
  /** Tools that the server runs itself. Default: none. */
  readonly serverTools?: ServerToolFormats;
  /** Values of `service_tier` by the tier of the request. Default: the same. */
  readonly serviceTiers?: ServiceTierNames;
  /** Whether the server always ends a reply with `[DONE]`, so that one without it was cut off. Default: `false`. */
  readonly sendsDone?: boolean;
  /** Whether a reply that continues another one repeats it first. Default: `false`. */
  readonly repeatsStart?: boolean;
  /** Additional fields of every request. */
  readonly fields?: JsonObject;
}

/** Dialect that most servers accept, and the base of the others. */
export const COMPATIBLE: ChatDialect = {
  maxTokensField: "max_tokens",
  needsUsageOption: true,
  hasCacheKey: false,
  supportsCacheControl: () => false,
  toThinkingFields: (model, ability) => {
    const effort = resolveChatEffort(model, ability ?? getOpenModelAbility(model));
    return effort === undefined ? {} : { reasoning_effort: effort };
  },
  encodeCallId: (id) => toWireName(id, CALL_ID_RULE),
  getAbilities: getChatAbilities,
  unsupported: ["serviceTier", "verbosity", "reasoningSummary"],
};

/** Maximum length of the description of a tool in chat completions of OpenAI and Azure. */
export const MAX_DESCRIPTION = 1024;

const OPENAI: ChatDialect = {
  ...COMPATIBLE,
  maxDescription: MAX_DESCRIPTION,
  maxTokensField: "max_completion_tokens",
  hasCacheKey: true,
  getAbilities: (modelId) => ({ ...getChatAbilities(modelId), document: CHAT_DOCUMENTS }),
  unsupported: ["reasoningSummary"],
};

/** Dialect of servers that accept any call id, because their models may require a format of their own. */
const LENIENT: ChatDialect = {
  ...COMPATIBLE,
  keepsCallIds: true,
  repairOrder: (messages, options) =>
    completeEnds(mergeNeighbors(separateReplies(messages, options)), options),
};

const OPENROUTER: ChatDialect = {
  ...LENIENT,
  // Claude models cache only what `cache_control` marks.
  supportsCacheControl: (modelId) => /^~?anthropic\//.test(modelId),
  toThinkingFields: (model, ability) => {
    const effort = resolveChatEffort(model, ability);
    const max_tokens = model.thinkingBudgets?.[model.thinkingLevel];
    if (effort === undefined) return {};
    return { reasoning: max_tokens === undefined ? { effort } : { max_tokens } };
  },
  getAbilities: () => ({ image: CHAT_IMAGES, document: CHAT_DOCUMENTS, audio: CHAT_AUDIO }),
  unsupported: ["serviceTier", "reasoningSummary"],
  fields: { usage: { include: true } },
  requiresReasoning: ({ modelId }) => /^(?:deepseek|moonshotai)\//.test(modelId),
  requiresSignatures: (modelId) => /^~?google\/gemini-(?![12]\b)/.test(modelId),
  forcedCalls: ({ modelId }) =>
    /^(?:deepseek\/deepseek-v4|moonshotai\/kimi-k2(?:\.|-thinking)|z-ai\/)/.test(modelId)
      ? "never"
      : undefined,
};

/** Dialect of Vercel's gateway, which has OpenRouter's fields for reasoning and for the cache. */
const VERCEL: ChatDialect = {
  ...LENIENT,
  supportsCacheControl: OPENROUTER.supportsCacheControl,
  toThinkingFields: OPENROUTER.toThinkingFields,
};

/** Dialect of Groq, whose Qwen models have no efforts, and else put their thoughts into the text. */
const GROQ: ChatDialect = {
  ...LENIENT,
  toThinkingFields: (model, ability) => {
    if (!/qwen3/.test(model.modelId)) return LENIENT.toThinkingFields(model, ability);
    if (model.thinkingLevel === "off") return { reasoning_effort: "none" };
    return { reasoning_effort: "default", reasoning_format: "parsed" };
  },
};

/** Dialect of DeepSeek and z.ai, which have a field to turn thinking on and off. */
const THINKING_SWITCH: ChatDialect = {
  ...LENIENT,
  toThinkingFields: (model, ability) => {
    const isOn = model.thinkingLevel !== "off";
    const effort = isOn ? resolveChatEffort(model, ability) : undefined;
    return {
      thinking: { type: isOn ? "enabled" : "disabled" },
      ...(ability?.type === "effort" && effort && { reasoning_effort: effort }),
    };
  },
};

const DEEPSEEK: ChatDialect = {
  ...THINKING_SWITCH,
  requiresReasoning: ({ thinkingLevel }) => thinkingLevel !== "off",
  forcedCalls: () => "without_thinking",
  // It rejects other content than text, and `json_schema`, from all models.
  getAbilities: () => ({}),
  supportsSchemas: false,
};

/** Ability of Kimi K3, which always thinks. */
const KIMI_K3: ThinkingAbility = { type: "effort", efforts: ["low", "high", "max"] };

/** Maximum length of a reply in tokens where the default of the server cuts off long calls. */
const DEFAULT_MAX_TOKENS = 32_000;

/** Dialect of Moonshot, whose models think by default, except for the first ones. */
const MOONSHOT: ChatDialect = {
  ...LENIENT,
  toToolSchema: toMoonshotSchema,
  // Its documentation has 1,024 as the default; that of Kimi K3 is 131,072 (https://github.com/agentjido/llmdb/pull/282). The
  // context of the first models is smaller.
  getDefaultMaxTokens: (modelId) => /^kimi-(?!k3)/.test(modelId) ? DEFAULT_MAX_TOKENS : undefined,
  toThinkingFields: (model, ability) => {
    const known = /^kimi-k3/.test(model.modelId) ? KIMI_K3 : undefined;
    return LENIENT.toThinkingFields(model, ability ?? known);
  },
  requiresReasoning: ({ modelId }) => !modelId.startsWith("moonshot-v1"),
  // "invalid temperature: only 1 is allowed for this model", without thinking only 0.6.
  hasFixedSampling: (modelId) => /^(?:kimi-)?(?:k2\.|k3|for-coding)/.test(modelId),
  forcedCalls: ({ modelId }) =>
    /^kimi-(?:k2\.|k2-thinking|for-coding)/.test(modelId) ? "never" : undefined,
};

/** Dialect of Fireworks, whose default for replies is 2,000 tokens. It lowers a limit that does not fit into the context. */
const FIREWORKS: ChatDialect = {
  ...LENIENT,
  toToolSchema: toTypedSchema,
  getDefaultMaxTokens: () => DEFAULT_MAX_TOKENS,
};

/** Dialect of Together, whose default for replies is 2,048 tokens (https://github.com/huggingface/chat-ui/pull/2133). */
const TOGETHER: ChatDialect = {
  ...LENIENT,
  getDefaultMaxTokens: () => DEFAULT_MAX_TOKENS,
  // It lowers a limit that does not fit into the context, with which it would reject the request otherwise.
  fields: { context_length_exceeded_behavior: "truncate" },
};

const DIALECTS: Readonly<Record<string, ChatDialect>> = {
  "openrouter.ai": OPENROUTER,
  "ai-gateway.vercel.sh": VERCEL,
  "api.groq.com": GROQ,
  "api.deepseek.com": DEEPSEEK,
  "api.moonshot.ai": MOONSHOT,
  "api.moonshot.cn": MOONSHOT,
  "api.kimi.com": MOONSHOT,
  "api.fireworks.ai": FIREWORKS,
  "api.together.xyz": TOGETHER,
  "api.together.ai": TOGETHER,
  "api.z.ai": THINKING_SWITCH,
  "open.bigmodel.cn": THINKING_SWITCH,
};

/** Returns the dialect of the server at a URL. */
export function detectDialect(baseUrl: string): ChatDialect {
  const host = getHost(baseUrl);
  if (!isOpenAIHost(host)) return DIALECTS[host] ?? LENIENT;
  return isRegionalUrl(baseUrl) ? { ...OPENAI, isRegional: true } : OPENAI;
}

/** Whether a URL is that of OpenAI in a region with data residency. */
export function isRegionalUrl(baseUrl: string): boolean {
  const host = getHost(baseUrl);
  return isOpenAIHost(host) && host !== "api.openai.com";
}

/** Whether a URL is OpenAI's own, also in a region with data residency such as `eu.api.openai.com`. */
export function isOpenAIUrl(baseUrl: string): boolean {
  return isOpenAIHost(getHost(baseUrl));
}

function isOpenAIHost(host: string): boolean {
  return /^(?:[a-z0-9-]+\.)?api\.openai\.com$/.test(host);
}

function getHost(url: string): string {
  return /^https?:\/\/([^/:]+)/i.exec(url)?.[1]?.toLowerCase() ?? "";
}

/** Ability of gpt-oss, whose servers reject other efforts. */
const GPT_OSS: ThinkingAbility = { type: "effort", efforts: ["low", "medium", "high"] };

/** Returns the ability of an open model that is to think, at any server. */
function getOpenModelAbility({ modelId, thinkingLevel }: ModelSpec): ThinkingAbility | undefined {
  return thinkingLevel !== "off" && modelId.includes("gpt-oss") ? GPT_OSS : undefined;
}

/** Returns the effort of a request; `undefined` for a model without efforts, and for an unknown model with `off`. */
export function resolveChatEffort(
  { thinkingLevel }: ModelSpec,
  ability: ThinkingAbility | undefined,
): ThinkingEffort | undefined {
  if (ability === undefined) {
    return thinkingLevel === "off" ? undefined : EFFORT_BY_LEVEL[thinkingLevel];
  }
  return ability.type === "effort" ? resolveEffort(thinkingLevel, ability.efforts) : undefined;
}
