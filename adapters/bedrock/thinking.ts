/**
 * Thinking settings of the model families behind Bedrock.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import type { StreamOptions, StreamRequest } from "../../src/core/streams/stream.ts";
import { disableBudgetThinking, getBetas, resolveThinking } from "../anthropic/thinking.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { resolveEffort } from "../kit/request/thinking.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import type { ModelFamily } from "./families.ts";
import { isThinking } from "./messages.ts";
import type { WireMessage } from "./wire.ts";

/** Model and conversation of a request. */
export interface ThinkingContext {
  /** The model's family. */
  readonly family: ModelFamily;
  /** The model's catalog entry. */
  readonly entry: CatalogEntry;
  /** The conversation. */
  readonly messages: readonly WireMessage[];
}

/** Thinking settings of one request. */
export interface ThinkingFields {
  /** Whether the request must not set a temperature. */
  readonly fixesTemperature: boolean;
  /** Whether the request must not set the maximum length of the reply either. Default: `false`. */
  readonly fixesLength?: boolean;
  /** Model-specific fields of the request. */
  readonly fields: JsonObject;
}

/** Maximum of the default limit of a reply, in tokens. */
const MAX_DEFAULT_LENGTH = 64_000;

/**
 * Returns the default limit of a reply of Claude, in tokens. Until a request ends, its limit counts against the quota, so that
 * the default is not always that of the model.
 */
export function getDefaultLength({ maxOutput }: CatalogEntry): number {
  return Math.min(maxOutput, MAX_DEFAULT_LENGTH);
}

/** Returns the limit of a reply in the options, also that among the extra fields, which do not replace a field of the request. */
export function getSetLength({ maxTokens, extra }: StreamOptions): number | undefined {
  const config = extra?.["inferenceConfig"];
  const extraTokens = isJsonObject(config) ? config["maxTokens"] : undefined;
  return maxTokens ?? (typeof extraTokens === "number" ? extraTokens : undefined);
}

const NO_FIELDS: ThinkingFields = { fixesTemperature: false, fields: {} };

/** Resolves the thinking level to the fields of the model's family, with a warning if it does not support thinking. */
export function toThinkingFields(
  request: StreamRequest,
  context: ThinkingContext,
  sink: WarningSink,
): ThinkingFields {
  switch (context.family.thinking) {
    case "claude":
      return toClaudeFields(request, context, sink);
    case "nova":
      return toEffortFields(request, context, sink, (maxReasoningEffort) => ({
        // With the highest effort, Nova rejects all of them.
        fixesTemperature: maxReasoningEffort === "high",
        fixesLength: maxReasoningEffort === "high",
        fields: { reasoningConfig: { type: "enabled", maxReasoningEffort } },
      }));
    case "gpt":
      return toEffortFields(request, context, sink, (effort) => ({
        fixesTemperature: false,
        fields: { reasoning: { effort } },
      }));
    case "gpt_oss":
      return toEffortFields(request, context, sink, (reasoning_effort) => ({
        fixesTemperature: false,
        fields: { reasoning_effort },
      }));
    case "none":
      if (request.model.thinkingLevel !== "off") warnThinkingOmitted(request, sink);
      return NO_FIELDS;
  }
}

function toClaudeFields(
  request: StreamRequest,
  { entry, messages }: ThinkingContext,
  sink: WarningSink,
): ThinkingFields {
  const length = getSetLength(request.options) ?? getDefaultLength(entry);
  const maxTokens = Math.min(length, entry.maxOutput);
  const resolved = resolveThinking(request, maxTokens, entry, sink);
  const thinking = callsLackThinking(messages)
    ? disableBudgetThinking(resolved, entry, sink)
    : resolved;
  const betas = getBetas(thinking, request, entry);
  const fields = {
    ...(thinking.setting && { thinking: thinking.setting }),
    ...(thinking.effort && { output_config: { effort: thinking.effort } }),
    ...(betas.length > 0 && { anthropic_beta: betas }),
  };
  return { fixesTemperature: thinking.enabled, fields };
}

/** Whether the conversation ends with the results of calls whose reply did not start with thinking. */
function callsLackThinking(messages: readonly WireMessage[]): boolean {
  const [reply, answer] = messages.slice(-2);
  const answersCalls = answer?.content.some((block) => block["toolResult"] !== undefined) ?? false;
  return answersCalls && !isThinking(reply?.content[0]);
}

function toEffortFields(
  request: StreamRequest,
  { entry, family }: ThinkingContext,
  sink: WarningSink,
  toFields: (effort: string) => ThinkingFields,
): ThinkingFields {
  const { thinkingLevel } = request.model;
  // GPT models think without an effort: some can be turned off by one, others have a lowest one.
  if (thinkingLevel === "off" && family.thinking !== "gpt") return NO_FIELDS;
  const efforts = entry.thinking.type === "effort" ? entry.thinking.efforts : [];
  const effort = resolveEffort(thinkingLevel, efforts);
  if (effort === undefined) {
    warnThinkingOmitted(request, sink);
    return NO_FIELDS;
  }
  return toFields(effort);
}

function warnThinkingOmitted({ model }: StreamRequest, sink: WarningSink): void {
  sink.warning("thinking_left_out", `${model.modelId} does not support a thinking level`);
}
