/**
 * How servers that speak chat completions differ from each other.
 *
 * @module
 */

import type { JsonObject } from "../../../src/core/json.ts";
import type { ModelSpec } from "../../../src/core/model.ts";
import type { ThinkingAbility, ThinkingEffort } from "../../catalog/catalog_entry.ts";
import { EFFORT_OF_LEVEL, effortOf } from "../../kit/request/thinking.ts";
import { CALL_ID_RULE, wireName } from "../../kit/request/wire_names.ts";
import type { WireMessage } from "./wire.ts";

/** One way of speaking chat completions. */
export interface ChatDialect {
  /** The field that limits the reply. */
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  /** Whether it must be asked for token counts. */
  readonly asksForUsage: boolean;
  /** Whether it takes a name under which it caches. */
  readonly hasCacheKey: boolean;
  /** Whether a prompt of the model takes marks of what to cache. */
  readonly takesCacheMarks: (modelId: string) => boolean;
  /** Fields that say how hard to think; `ability` is unknown for models that the catalog does not know. */
  readonly thinking: (model: ModelSpec, ability: ThinkingAbility | undefined) => JsonObject;
  /** The id of a tool call as the server accepts it. */
  readonly callId: (id: string) => string;
  /** Whether ids that the model itself gave go back as they came, odd as they may be. Default: `false`. */
  readonly keepsCallIds?: boolean;
  /** Whether reasoning is a part of the content, and wanted back as one. Default: `false`. */
  readonly thinksInParts?: boolean;
  /** Mends what the server would refuse in the order of messages. */
  readonly ordered?: (messages: readonly WireMessage[]) => readonly WireMessage[];
  /** Fields of every request. */
  readonly fields?: JsonObject;
}

/** Any server that is not known better. */
export const COMPATIBLE: ChatDialect = {
  maxTokensField: "max_tokens",
  asksForUsage: true,
  hasCacheKey: false,
  takesCacheMarks: () => false,
  thinking: (model, ability) => {
    const effort = chatEffort(model, ability);
    return effort === undefined ? {} : { reasoning_effort: effort };
  },
  callId: (id) => wireName(id, CALL_ID_RULE),
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
  takesCacheMarks: (modelId) => modelId.startsWith("anthropic/"),
  thinking: (model, ability) => {
    const effort = chatEffort(model, ability);
    const max_tokens = model.thinkingBudgets?.[model.thinkingLevel];
    if (effort === undefined) return {};
    return { reasoning: max_tokens === undefined ? { effort } : { max_tokens } };
  },
  fields: { usage: { include: true } },
};

/** DeepSeek and z.ai turn thinking on and off with a field of their own. */
const TOGGLED: ChatDialect = {
  ...LENIENT,
  thinking: (model, ability) => {
    const on = model.thinkingLevel !== "off";
    const effort = on ? chatEffort(model, ability) : undefined;
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
export function dialectOf(baseUrl: string): ChatDialect {
  const host = /^https?:\/\/([^/:]+)/.exec(baseUrl)?.[1] ?? "";
  return DIALECTS[host] ?? LENIENT;
}

/** The effort to ask for; none for a model that does not think, or of which nothing is known and asked. */
export function chatEffort(
  { thinkingLevel }: ModelSpec,
  ability: ThinkingAbility | undefined,
): ThinkingEffort | undefined {
  if (ability === undefined) {
    return thinkingLevel === "off" ? undefined : EFFORT_OF_LEVEL[thinkingLevel];
  }
  return ability.type === "effort" ? effortOf(thinkingLevel, ability.efforts) : undefined;
}
