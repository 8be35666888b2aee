/**
 * How servers that speak chat completions differ from each other.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json.ts";
import type { ModelSpec } from "../../../src/core/model.ts";
import type { ThinkingAbility, ThinkingEffort } from "../../catalog/catalog_entry.ts";
import { EFFORT_BY_LEVEL, resolveEffort } from "../../kit/request/thinking.ts";
import { CALL_ID_RULE, toWireName } from "../../kit/request/wire_names.ts";
import type { WireMessage } from "./wire.ts";

/** One way of speaking chat completions. */
export interface ChatDialect {
  /** The field that limits the reply. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** Whether it must be asked for token counts. */
  readonly needsUsageOption: boolean;
  /** Whether it takes a name under which it caches. */
  readonly hasCacheKey: boolean;
  /** Whether a prompt of the model takes marks of what to cache. */
  readonly supportsCacheControl: (modelId: string) => boolean;
  /** Fields that say how hard to think; `ability` is unknown for models that the catalog does not know. */
  readonly toThinkingFields: (model: ModelSpec, ability: ThinkingAbility | undefined) => JsonObject;
  /** The id of a tool call as the server accepts it. */
  readonly encodeCallId: (id: string) => string;
  /** Whether ids that the model itself gave go back as they came, odd as they may be. Default: `false`. */
  readonly keepsCallIds?: boolean;
  /** Whether reasoning is a part of the content, and wanted back as one. Default: `false`. */
  readonly hasThinkingParts?: boolean;
  /** Mends what the server would refuse in the order of messages. */
  readonly repairOrder?: (messages: readonly WireMessage[]) => readonly WireMessage[];
  /** Fields of every request. */
  readonly fields?: JsonObject;
}

/** Any server that is not known better. */
export const COMPATIBLE: ChatDialect = {
  maxTokensField: "max_tokens",
  needsUsageOption: true,
  hasCacheKey: false,
  supportsCacheControl: () => false,
  toThinkingFields: (model, ability) => {
    const effort = resolveChatEffort(model, ability);
    return effort === undefined ? {} : { reasoning_effort: effort };
  },
  encodeCallId: (id) => toWireName(id, CALL_ID_RULE),
};

const OPENAI: ChatDialect = {
  ...COMPATIBLE,
  maxTokensField: "max_completion_tokens",
  hasCacheKey: true,
};

/** A server that takes any id; the models behind it may have a form of their own. */
const LENIENT: ChatDialect = { ...COMPATIBLE, keepsCallIds: true };

const OPENROUTER: ChatDialect = {
  ...LENIENT,
  // Claude behind OpenRouter caches only what is marked.
  supportsCacheControl: (modelId) => modelId.startsWith("anthropic/"),
  toThinkingFields: (model, ability) => {
    const effort = resolveChatEffort(model, ability);
    const max_tokens = model.thinkingBudgets?.[model.thinkingLevel];
    if (effort === undefined) return {};
    return { reasoning: max_tokens === undefined ? { effort } : { max_tokens } };
  },
  fields: { usage: { include: true } },
};

/** DeepSeek and z.ai turn thinking on and off with a field of their own. */
const TOGGLED: ChatDialect = {
  ...LENIENT,
  toThinkingFields: (model, ability) => {
    const on = model.thinkingLevel !== "off";
    const effort = on ? resolveChatEffort(model, ability) : undefined;
    return {
      thinking: { type: on ? "enabled" : "disabled" },
      ...(ability?.type === "effort" && effort && { reasoning_effort: effort }),
    };
  },
};

const DIALECTS: Readonly<Record<string, ChatDialect>> = {
  "api.openai.com": OPENAI,
  "openrouter.ai": OPENROUTER,
  "api.deepseek.com": TOGGLED,
  "api.z.ai": TOGGLED,
};

/** The dialect of the server at an address. */
export function detectDialect(baseUrl: string): ChatDialect {
  const host = /^https?:\/\/([^/:]+)/.exec(baseUrl)?.[1] ?? "";
  return DIALECTS[host] ?? LENIENT;
}

/** The effort to ask for; none for a model that does not think, or of which nothing is known and asked. */
export function resolveChatEffort(
  { thinkingLevel }: ModelSpec,
  ability: ThinkingAbility | undefined,
): ThinkingEffort | undefined {
  if (ability === undefined) {
    return thinkingLevel === "off" ? undefined : EFFORT_BY_LEVEL[thinkingLevel];
  }
  return ability.type === "effort" ? resolveEffort(thinkingLevel, ability.efforts) : undefined;
}
