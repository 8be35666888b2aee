/**
 * Reads a stream function's answer to the end, and holds it to the contract.
 *
 * @module
 */

import { ReplyAccumulator } from "../core/accumulate.ts";
import { type ContentBlock, extractText, type ToolCallBlock } from "../core/content.ts";
import type { AgentError } from "../core/errors.ts";
import type { StopReason } from "../core/model.ts";
import type { AssistantMessageEvent, StreamWarningEvent } from "../core/stream.ts";
import type { Usage } from "../core/usage.ts";

/** A reply that was read to the end. */
export interface CollectedReply {
  /** Every event. */
  readonly events: readonly AssistantMessageEvent[];
  /** The blocks. */
  readonly content: readonly ContentBlock[];
  /** All text. */
  readonly text: string;
  /** All reasoning. */
  readonly thinking: string;
  /** The tool calls, with the raw text of arguments that could not be read or were cut off. */
  readonly calls: readonly CollectedCall[];
  /** Why it stopped. */
  readonly stopReason: StopReason;
  /** Tokens, where told. */
  readonly usage?: Usage;
  /** What went wrong, if something did. */
  readonly error?: AgentError;
  /** What the user was told. */
  readonly warnings: readonly StreamWarningEvent[];
}

/** A tool call of a reply. */
export interface CollectedCall extends Pick<ToolCallBlock, "id" | "name" | "arguments"> {
  /** Whether the arguments are all there and can be read. */
  readonly state: "complete" | "truncated" | "invalid";
}

/**
 * Reads a reply.
 *
 * @throws {Error} When the stream breaks the contract of a stream function.
 */
export async function readReply(
  stream: AsyncIterable<AssistantMessageEvent>,
): Promise<CollectedReply> {
  const events: AssistantMessageEvent[] = [];
  const reply = new ReplyAccumulator();
  for await (const event of stream) {
    reply.apply(event);
    assertEventTypes(event);
    events.push(event);
  }
  const [first, ...rest] = events;
  if (first?.type !== "start") throw new Error(`The first event is ${first?.type}, not start`);
  if (rest.some(({ type }) => type === "start")) throw new Error("There is a second start");
  const last = events.at(-1);
  if (last?.type !== "done" && last?.type !== "error") {
    throw new Error(`The last event is ${last?.type}, neither done nor error`);
  }
  const { content, calls } = reply.finish();
  return {
    events,
    content,
    text: extractText(content),
    thinking: extractThinking(content),
    calls: calls.map(({ block: { id, name, arguments: args }, state }) => ({
      id,
      name,
      arguments: args,
      state: state.type,
    })),
    stopReason: last.stopReason,
    ...(last.usage && { usage: last.usage }),
    ...(last.type === "error" && { error: last.error }),
    warnings: events.filter((event): event is StreamWarningEvent => event.type === "warning"),
  };
}

/** What came over the wire with a wrong type must not have got into an event. */
function assertEventTypes(event: AssistantMessageEvent): void {
  if ("delta" in event) assertString(event.delta, event);
  if (event.type === "tool_call_start") assertString(event.id + event.name, event);
  if ("signature" in event) assertString(event.signature, event);
  if (!("usage" in event) || !event.usage) return;
  const { extra: _extra, ...counts } = event.usage;
  for (const count of Object.values(counts)) {
    if (!Number.isFinite(count) || count < 0) throw new Error(`Bad usage: ${formatEvent(event)}`);
  }
}

function assertString(value: unknown, event: AssistantMessageEvent): void {
  if (typeof value !== "string") throw new Error(`Not a text: ${formatEvent(event)}`);
}

function formatEvent(event: AssistantMessageEvent): string {
  return JSON.stringify(event);
}

function extractThinking(content: readonly ContentBlock[]): string {
  let thinking = "";
  for (const block of content) if (block.type === "thinking") thinking += block.thinking;
  return thinking;
}
