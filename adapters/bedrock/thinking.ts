/**
 * How hard a model behind Bedrock thinks: each family is told in words of its own.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json.ts";
import type { StreamRequest } from "../../src/core/stream.ts";
import { disableBudgetThinking, getBetas, resolveThinking } from "../anthropic/thinking.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { resolveEffort } from "../kit/request/thinking.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import type { ModelFamily } from "./families.ts";
import { isThinking } from "./messages.ts";
import type { WireMessage } from "./wire.ts";

/** The model, and what it is about to read. */
export interface ThinkingContext {
  /** What its family takes. */
  readonly family: ModelFamily;
  /** What is known of it. */
  readonly entry: CatalogEntry;
  /** The conversation. */
  readonly messages: readonly WireMessage[];
}

/** How a model is told to think. */
export interface ThinkingFields {
  /** Whether it thinks in a way that fixes its temperature. */
  readonly fixesTemperature: boolean;
  /** Fields for the model itself. */
  readonly fields: JsonObject;
}

const NO_FIELDS: ThinkingFields = { fixesTemperature: false, fields: {} };

/** Writes the fields; what the model cannot do is told in a warning. */
export function toThinkingFields(
  request: StreamRequest,
  subject: ThinkingContext,
  sink: WarningSink,
): ThinkingFields {
  switch (subject.family.thinking) {
    case "claude":
      return toClaudeFields(request, subject, sink);
    case "nova":
      return toEffortFields(request, subject, sink, (maxReasoningEffort) => ({
        reasoningConfig: { type: "enabled", maxReasoningEffort },
      }));
    case "openai":
      return toEffortFields(request, subject, sink, (reasoning_effort) => ({ reasoning_effort }));
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
  const maxTokens = Math.min(request.options.maxTokens ?? entry.maxOutput, entry.maxOutput);
  const wanted = resolveThinking(request, maxTokens, entry, sink);
  const thinking = callsLackThinking(messages)
    ? disableBudgetThinking(wanted, entry, sink)
    : wanted;
  const betas = getBetas(thinking, request, entry);
  const fields = {
    ...(thinking.setting && { thinking: thinking.setting }),
    ...(thinking.effort && { output_config: { effort: thinking.effort } }),
    ...(betas.length > 0 && { anthropic_beta: betas }),
  };
  return { fixesTemperature: thinking.enabled, fields };
}

/** Tells whether calls are being answered that did not begin with thinking. */
function callsLackThinking(messages: readonly WireMessage[]): boolean {
  const [reply, answer] = messages.slice(-2);
  const answersCalls = answer?.content.some((block) => block["toolResult"] !== undefined) ?? false;
  return answersCalls && !isThinking(reply?.content[0]);
}

function toEffortFields(
  request: StreamRequest,
  { entry }: ThinkingContext,
  sink: WarningSink,
  fieldsOf: (effort: string) => JsonObject,
): ThinkingFields {
  const { thinkingLevel } = request.model;
  if (thinkingLevel === "off") return NO_FIELDS;
  const efforts = entry.thinking.type === "effort" ? entry.thinking.efforts : [];
  const effort = resolveEffort(thinkingLevel, efforts);
  if (effort === undefined) {
    warnThinkingOmitted(request, sink);
    return NO_FIELDS;
  }
  return { fixesTemperature: false, fields: fieldsOf(effort) };
}

function warnThinkingOmitted({ model }: StreamRequest, sink: WarningSink): void {
  sink.warning("thinking_left_out", `${model.modelId} does not think, or not on request`);
}
