/**
 * A summary as messages, in the place of what it stands for.
 *
 * It is the assistant that speaks: a summary is made of what tools and pages have said as well, and must not
 * pass for the user's word. A short question goes before it and a short word behind it where a request needs
 * them, since some providers want the two sides to take turns.
 *
 * @module
 */

import type { TransformInput } from "../../core/context.ts";
import { type AgentMessage, userMessage } from "../../core/message.ts";
import { zeroCost, zeroUsage } from "../../core/usage.ts";
import type { ChosenCut } from "./choose_cut.ts";

const QUESTION_TEXT = "What has happened so far?";
const CONTINUE_TEXT = "Go on from there.";

/** What a summary goes between. */
export interface SummaryInsertion {
  /** What is left out. */
  readonly cut: ChosenCut;
  /** What stands for it, if anything. */
  readonly summary: string | undefined;
  /** What the transform was told; tells the model that speaks. */
  readonly input?: Pick<TransformInput, "model">;
}

/** The messages that stand for what is left out; none without a summary. */
export function createSummaryMessages(
  messages: readonly AgentMessage[],
  { cut: { from, to, pinned }, summary, input }: SummaryInsertion,
): AgentMessage[] {
  if (summary === undefined) return [];
  const { provider, modelId } = input?.model ?? { provider: "", modelId: "" };
  const timestamp = messages[to - 1]?.timestamp ?? 0;
  const said: AgentMessage = {
    role: "assistant",
    content: [{ type: "text", text: `Summary of the conversation so far:\n\n${summary}` }],
    provider,
    modelId,
    usage: zeroUsage(),
    cost: zeroCost(),
    stopReason: "stop",
    timestamp,
  };
  const before = messages.slice(0, from).findLast(({ role }) => role !== "custom");
  const after = messages.slice(pinned[0]?.from ?? to).find(({ role }) => role !== "custom");
  return [
    ...(before?.role === "user" ? [] : [userMessage(QUESTION_TEXT, timestamp)]),
    said,
    ...(after?.role === "user" ? [] : [userMessage(CONTINUE_TEXT, timestamp)]),
  ];
}
