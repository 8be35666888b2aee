/**
 * Collects the reply of a stream function and checks that it keeps the contract.
 *
 * @module
 */

import type { AgentError } from "../core/errors/errors.ts";
import { type ContentBlock, extractText, type ToolCallBlock } from "../core/messages/content.ts";
import type { StopReason } from "../core/models/model.ts";
import type { Usage } from "../core/models/usage.ts";
import { ReplyAccumulator } from "../core/streams/accumulate.ts";
import type { AssistantMessageEvent, StreamWarningEvent } from "../core/streams/stream.ts";

/** A complete reply. */
export interface CollectedReply {
  readonly events: readonly AssistantMessageEvent[];
  readonly content: readonly ContentBlock[];
  /** The text of all blocks. */
  readonly text: string;
  /** The thinking of all blocks. */
  readonly thinking: string;
  readonly calls: readonly CollectedCall[];
  readonly stopReason: StopReason;
  /** Missing if the provider did not report it. */
  readonly usage?: Usage;
  /** Missing if the reply ended with `done`. */
  readonly error?: AgentError;
  readonly warnings: readonly StreamWarningEvent[];
}

/** A tool call of a reply. */
export interface CollectedCall extends Pick<ToolCallBlock, "id" | "name" | "arguments"> {
  /** Whether the arguments are complete and parse as JSON. */
  readonly state: "complete" | "truncated" | "invalid";
}

/**
 * Reads a stream to its end.
 *
 * @throws {Error} If the stream breaks the contract of a stream function.
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
  const [first, ...following] = events;
  if (first?.type !== "start") {
    throw new Error(
      `Expected "start" as first event, got ${formatType(first)}: every stream begins with "start"`,
    );
  }
  const starts = following.filter(({ type }) => type === "start").length;
  if (starts > 0) throw new Error(`Expected one "start" event, got ${starts + 1}`);
  const last = events.at(-1);
  if (last?.type !== "done" && last?.type !== "error") {
    throw new Error(
      `Expected "done" or "error" as last event, got ${formatType(last)}: ` +
        "a stream without one of them looks as if it were still running",
    );
  }
  const { content, calls } = reply.finish();
  return {
    events,
    content,
    text: extractText(content),
    thinking: content.map((block) => block.type === "thinking" ? block.thinking : "").join(""),
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

/** Checks the types of values that come from the wire. */
function assertEventTypes(event: AssistantMessageEvent): void {
  if ("delta" in event) assertString(event.delta, event);
  if (event.type === "tool_call_start") assertString(event.id + event.name, event);
  if ("signature" in event) assertString(event.signature, event);
  if (!("usage" in event) || !event.usage) return;
  const { extra: _extra, ...counts } = event.usage;
  for (const count of Object.values(counts)) {
    if (!Number.isFinite(count) || count < 0) {
      throw new Error(
        `Expected token counts of at least 0, got ${count}: ${
          formatEvent(event)
        }. Replace counts of another type by 0`,
      );
    }
  }
}

function assertString(value: unknown, event: AssistantMessageEvent): void {
  if (typeof value === "string") return;
  throw new Error(
    `Expected a string, got ${JSON.stringify(value)}: ${
      formatEvent(event)
    }. Check the values of a response`,
  );
}

function formatType(event: AssistantMessageEvent | undefined): string {
  return event ? `"${event.type}"` : "no event";
}

function formatEvent(event: AssistantMessageEvent): string {
  return JSON.stringify(event);
}
