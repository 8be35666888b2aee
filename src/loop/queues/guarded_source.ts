/**
 * A queue of the application.
 *
 * @module
 */

import { refusePromise } from "../../core/errors/refuse_promise.ts";
import { isJsonEqual } from "../../core/json/json_equal.ts";
import { type AgentMessage, copyMessages } from "../../core/messages/message.ts";
import type { Cancellation } from "../callbacks/cancellation.ts";
import type { MessageSource } from "./message_source.ts";

/** Options for `new GuardedSource()`. */
export interface GuardedSourceOptions {
  /** Called with the first failure of each method. */
  readonly onFailure: (thrown: unknown) => void;
  /** Limits the time of a poll after its abort. */
  readonly cancellation: Cancellation;
}

/** Calls a queue of untyped code, so that it has no messages where it fails or returns no messages. */
export class GuardedSource implements MessageSource {
  readonly #source: MessageSource;
  readonly #options: GuardedSourceOptions;
  readonly #failed = new Set<keyof MessageSource>();
  /** Whether the last `take()` failed. */
  #isStuck = false;

  /** Guards a queue. */
  constructor(source: MessageSource, options: GuardedSourceOptions) {
    this.#source = source;
    this.#options = options;
  }

  /** Returns the messages that a turn would take; none after a `take()` that failed, for which no turn is due. */
  peek(checked?: ReadonlySet<AgentMessage>): readonly AgentMessage[] {
    return this.#isStuck ? [] : this.#peekChecked(checked);
  }

  /** Returns the messages that a turn would take which starts in any case, also after a `take()` that failed. */
  peekUntaken(): readonly AgentMessage[] {
    return this.#peekChecked(undefined);
  }

  /** Removes and returns copies of the next messages. */
  take(checked?: ReadonlySet<AgentMessage>): readonly AgentMessage[] {
    const isDue = this.#peekChecked(checked).length > 0;
    if (checked && !isDue) return [];
    this.#isStuck = true;
    return this.#read("take", checked, (messages) => {
      const copies = copyMessages(messages);
      // Another turn would be due for the same messages, without end.
      if (isDue && copies.length === 0) throw new TypeError("take() returned nothing of peek()");
      this.#isStuck = false;
      return copies;
    });
  }

  /** Returns the next messages; with `checked`, none unless they were all checked, since the queue may return only all. */
  #peekChecked(checked: ReadonlySet<AgentMessage> | undefined): readonly AgentMessage[] {
    return this.#read("peek", checked, (messages) => {
      // Policies read copies, in which all values are JSON.
      const copies = copyMessages(messages);
      return !checked || hasAll(copyMessages([...checked]), copies) ? messages : [];
    });
  }

  /** Queues a message that the run could not deliver. */
  requeue(message: AgentMessage): void {
    this.#try("requeue", () => refusePromise(this.#source.requeue?.(message), "requeue"));
  }

  /** Calls `listener` whenever a message is queued; returns a function that unsubscribes. */
  onArrival(listener: () => void): () => void {
    let unsubscribe: unknown;
    this.#try("onArrival", () => {
      unsubscribe = this.#source.onArrival?.(listener);
      refusePromise(unsubscribe, "onArrival");
    });
    return () => this.#try("onArrival", () => typeof unsubscribe === "function" && unsubscribe());
  }

  /** Reads messages from elsewhere. Never rejects. */
  async poll(): Promise<void> {
    try {
      await this.#options.cancellation.withGrace(Promise.resolve(this.#source.poll?.()));
    } catch (thrown) {
      this.#report("poll", thrown);
    }
  }

  #read(
    method: "peek" | "take",
    checked: ReadonlySet<AgentMessage> | undefined,
    parse: (messages: readonly AgentMessage[]) => readonly AgentMessage[],
  ): readonly AgentMessage[] {
    return this.#try(method, () => {
      // A take() that ignores the argument also returns messages that peek() may have left out because of it.
      const passed = this.#source.take.length > 0 ? checked : undefined;
      const messages = this.#source[method](passed);
      refusePromise(messages, method);
      return parse(messages);
    }) ?? [];
  }

  #try<Value>(method: keyof MessageSource, call: () => Value): Value | undefined {
    try {
      return call();
    } catch (thrown) {
      this.#report(method, thrown);
      return undefined;
    }
  }

  #report(method: keyof MessageSource, thrown: unknown): void {
    if (this.#failed.has(method)) return;
    this.#failed.add(method);
    this.#options.onFailure(thrown);
  }
}

/** Whether all of some messages were checked, by content: a queue may create new messages whenever it is asked. */
function hasAll(
  checked: readonly AgentMessage[],
  messages: readonly AgentMessage[],
): boolean {
  const contents = checked.map(omitOrigin);
  // Texts first, since comparing each message with all others takes seconds for thousands of them.
  const texts = new Set(contents.map((content) => JSON.stringify(content)));
  return messages.map(omitOrigin).every((content) =>
    texts.has(JSON.stringify(content)) || contents.some((other) => isJsonEqual(other, content))
  );
}

function omitOrigin({ id: _id, timestamp: _timestamp, ...content }: AgentMessage): object {
  return content;
}
