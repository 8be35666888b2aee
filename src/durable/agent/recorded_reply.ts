/**
 * The events of a reply as they are recorded.
 *
 * @module
 */

import { AgentError, type AgentErrorRecord } from "../../core/errors/errors.ts";
import { cloneJson } from "../../core/json/json.ts";
import type { Rates } from "../../core/models/usage.ts";
import type {
  AssistantMessageEvent,
  BlockDeltaEvent,
  StreamErrorEvent,
} from "../../core/streams/stream.ts";

/** Consecutive deltas of a block: their text, and the length of each if there is more than one. */
type RecordedDeltas = BlockDeltaEvent & { readonly cuts?: readonly number[] };

/** An event as it is recorded. */
export type RecordedEvent =
  | Exclude<AssistantMessageEvent, BlockDeltaEvent | StreamErrorEvent>
  | RecordedDeltas
  | (Omit<StreamErrorEvent, "error"> & { readonly error: AgentErrorRecord });

/** A reply as it is recorded. */
export interface RecordedReply {
  /** The events; the last one is the terminal one. */
  readonly events: readonly RecordedEvent[];
  /** Time of the first event with content, in milliseconds since the epoch. */
  readonly firstTokenAt?: number;
  /** Whether a policy has stopped the turn while the model was called. Default: `false`. */
  readonly isStopped?: boolean;
  /** The rates of the model; `null` if they were not known. Default: not recorded. */
  readonly rates?: Rates | null;
}

/** Collects the events of a reply; the deltas of a block are stored as one text. */
export class ReplyRecorder {
  readonly #events: RecordedEvent[] = [];
  #deltas: { readonly first: BlockDeltaEvent; readonly parts: string[] } | undefined;

  /** Adds an event. */
  add(event: AssistantMessageEvent): void {
    switch (event.type) {
      case "text_delta":
      case "thinking_delta":
      case "tool_call_delta": {
        const first = this.#deltas?.first;
        if (first?.type !== event.type || first.contentIndex !== event.contentIndex) {
          this.#close();
          this.#deltas = { first: event, parts: [] };
        }
        this.#deltas?.parts.push(event.delta);
        return;
      }
      case "error": {
        this.#close();
        const error = AgentError.is(event.error) ? event.error : AgentError.from(event.error);
        this.#events.push({ ...event, error: error.toJSON() });
        return;
      }
      default:
        this.#close();
        this.#events.push(cloneJson(event));
    }
  }

  /** Returns the events. */
  finish(): readonly RecordedEvent[] {
    this.#close();
    return this.#events;
  }

  #close(): void {
    if (!this.#deltas) return;
    const { first: { type, contentIndex }, parts } = this.#deltas;
    this.#deltas = undefined;
    const cuts = parts.length > 1 && { cuts: parts.map((part) => part.length) };
    this.#events.push({ type, contentIndex, delta: parts.join(""), ...cuts });
  }
}

/** Returns the events of a reply as they were received. */
export function* readRecordedReply(
  { events }: RecordedReply,
): Generator<AssistantMessageEvent, void> {
  for (const event of events) {
    if (event.type === "error") yield { ...event, error: AgentError.from(event.error) };
    else if ("cuts" in event && event.cuts) yield* splitDeltas(event, event.cuts);
    else yield event;
  }
}

function* splitDeltas(
  { type, contentIndex, delta }: RecordedDeltas,
  cuts: readonly number[],
): Generator<BlockDeltaEvent> {
  let start = 0;
  for (const length of cuts) {
    yield { type, contentIndex, delta: delta.slice(start, start + length) };
    start += length;
  }
}
