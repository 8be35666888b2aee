/**
 * How hard a model behind Bedrock thinks: each family is told in words of its own.
 *
 * @module
 */

import type { JsonObject } from "../../src/core/json.ts";
import type { StreamRequest } from "../../src/core/stream.ts";
import { betasOf, betweenCalls, thinkingOf } from "../anthropic/thinking.ts";
import type { CatalogEntry } from "../catalog/catalog_entry.ts";
import { effortOf } from "../kit/request/thinking.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import type { Family } from "./families.ts";
import { isThinking } from "./messages.ts";
import type { WireMessage } from "./wire.ts";

/** The model, and what it is about to read. */
export interface ThinkingSubject {
  /** What its family takes. */
  readonly family: Family;
  /** What is known of it. */
  readonly entry: CatalogEntry;
  /** The conversation. */
  readonly messages: readonly WireMessage[];
}

/** How a model is told to think. */
export interface ThinkingFields {
  /** Whether it thinks in a way that fixes its temperature. */
  readonly on: boolean;
  /** Fields for the model itself. */
  readonly fields: JsonObject;
}

const NOTHING: ThinkingFields = { on: false, fields: {} };

/** Writes the fields; what the model cannot do is told in a warning. */
export function thinkingFields(
  request: StreamRequest,
  subject: ThinkingSubject,
  sink: WarningSink,
): ThinkingFields {
  switch (subject.family.thinking) {
    case "claude":
      return claudeFields(request, subject, sink);
    case "nova":
      return effortFields(request, subject, sink, (maxReasoningEffort) => ({
        reasoningConfig: { type: "enabled", maxReasoningEffort },
      }));
    case "openai":
      return effortFields(request, subject, sink, (reasoning_effort) => ({ reasoning_effort }));
    case "none":
      if (request.model.thinkingLevel !== "off") leftOut(request, sink);
      return NOTHING;
  }
}

function claudeFields(
  request: StreamRequest,
  { entry, messages }: ThinkingSubject,
  sink: WarningSink,
): ThinkingFields {
  const maxTokens = Math.min(request.options.maxTokens ?? entry.maxOutput, entry.maxOutput);
  const wanted = thinkingOf(request, maxTokens, entry, sink);
  const thinking = answersThoughtlessCalls(messages) ? betweenCalls(wanted, entry, sink) : wanted;
  const betas = betasOf(thinking, request, entry);
  const fields = {
    ...(thinking.setting && { thinking: thinking.setting }),
    ...(thinking.effort && { output_config: { effort: thinking.effort } }),
    ...(betas.length > 0 && { anthropic_beta: betas }),
  };
  return { on: thinking.on, fields };
}

/** Tells whether calls are being answered that did not begin with thinking. */
function answersThoughtlessCalls(messages: readonly WireMessage[]): boolean {
  const [reply, answer] = messages.slice(-2);
  const answersCalls = answer?.content.some((block) => block["toolResult"] !== undefined) ?? false;
  return answersCalls && !isThinking(reply?.content[0]);
}

function effortFields(
  request: StreamRequest,
  { entry }: ThinkingSubject,
  sink: WarningSink,
  fieldsOf: (effort: string) => JsonObject,
): ThinkingFields {
  const { thinkingLevel } = request.model;
  if (thinkingLevel === "off") return NOTHING;
  const efforts = entry.thinking.type === "effort" ? entry.thinking.efforts : [];
  const effort = effortOf(thinkingLevel, efforts);
  if (effort === undefined) {
    leftOut(request, sink);
    return NOTHING;
  }
  return { on: false, fields: fieldsOf(effort) };
}

function leftOut({ model }: StreamRequest, sink: WarningSink): void {
  sink.warning("thinking_left_out", `${model.modelId} does not think, or not on request`);
}
