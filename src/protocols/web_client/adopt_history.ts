/**
 * The history of an agent, and that of a client.
 *
 * @module
 */

import type { Agent } from "../../agent/agent.ts";
import { runSessions } from "../../core/events/run_session.ts";
import { isJsonEqual } from "../../core/json/json_equal.ts";
import type { ContentBlock } from "../../core/messages/content.ts";
import type { AgentMessage, UserMessage } from "../../core/messages/message.ts";
import type { ClientInput } from "./client_input.ts";
import { replaceResults } from "./client_results.ts";

/** Brings the history of the agent up to date, and returns the messages that are new. */
export function adoptHistory(agent: Agent, { messages }: ClientInput): readonly AgentMessage[] {
  const { messages: own } = agent.state;
  // A session keeps the history from its first message on.
  if (own.length === 0 && !runSessions.has(agent.state)) {
    const last = messages.findLastIndex(({ role }) => role !== "user");
    if (last >= 0) agent.setMessages(messages.slice(0, last + 1));
    return messages.slice(last + 1);
  }
  adoptResults(agent, { messages });
  return selectNew(agent, { messages });
}

/** Adds the results of the client to the history. Calls that wait for an approval still wait. */
export function adoptResults(agent: Agent, { messages }: Pick<ClientInput, "messages">): void {
  const { messages: own, pendingApprovals, decidedCalls, interruptedCalls } = agent.state;
  const updated = replaceResults(agent.state, messages);
  if (updated.every((message, index) => message === own[index])) return;
  agent.setMessages(updated, { pendingApprovals, decidedCalls, interruptedCalls });
}

/** Returns the messages that an agent has in its history and in its queues. */
export function listOwn(
  { state, queued: { steering, followUp } }: Agent,
): readonly AgentMessage[] {
  return [...state.messages, ...[...steering, ...followUp].map(({ message }) => message)];
}

/** Returns the last messages of the user that an agent has neither in its history nor in its queues. */
export function selectNew(
  agent: Agent,
  { messages }: Pick<ClientInput, "messages">,
): readonly AgentMessage[] {
  const ids = new Set(listOwn(agent).map(({ id }) => id));
  const last = messages.findLastIndex(({ role }) => role !== "user");
  return messages.slice(last + 1).filter(({ id }) => !ids.has(id));
}

/** Adds what the user sees to the last message. */
export function addContext(
  prompt: readonly AgentMessage[],
  { context = [] }: ClientInput,
): readonly AgentMessage[] {
  const last = prompt.at(-1);
  if (context.length === 0 || last?.role !== "user") return prompt;
  const text = context.map(({ description, value }) => `${description}: ${value}`).join("\n");
  const content = [...last.content, { type: "text", text } as const];
  return [...prompt.slice(0, -1), { ...last, content, metadata: CONTEXT_ADDED }];
}

/** Metadata of a message of a client to which the context was added. */
const CONTEXT_ADDED = { swink: { context: true } };

/** Returns the content of a message without what was added to it. */
export function removeContext({ content, metadata }: UserMessage): readonly ContentBlock[] {
  return isJsonEqual(metadata, CONTEXT_ADDED) ? content.slice(0, -1) : content;
}
