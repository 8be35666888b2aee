/**
 * The delivery of the messages to a run, which its steps record.
 *
 * @module
 */

import type { ReceivedMessage, RunMessage } from "../../core/durable/durable_steps.ts";
import { AbortedError, BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import type { JsonValue } from "../../core/json/json.ts";
import type { RunInbox } from "./step_journal.ts";

/** Delivers each message once: to the listeners, or as a signal or an abort of the run. */
export class MessageDelivery {
  readonly #inbox: RunInbox;
  readonly #onFailure: (error: Error) => void;
  readonly #abort = new AbortController();
  readonly #listeners = new Set<(message: RunMessage) => void>();
  /** The data of the signals that were not taken yet, by name. */
  readonly #signals = new Map<string, JsonValue[]>();
  /** Names of the signals that approvals have waited for. */
  readonly #approvals = new Set<string>();
  #last = 0;

  /** Creates the delivery of an inbox; `onFailure` is called with the error of a listener. */
  constructor(inbox: RunInbox, onFailure: (error: Error) => void) {
    this.#inbox = inbox;
    this.#onFailure = onFailure;
  }

  /** Aborted when an abort of the run is delivered. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Number of the last delivered message; 0 if there is none. */
  get last(): number {
    return this.#last;
  }

  /** Returns the messages that have arrived and are not delivered yet; different in every replay. */
  get arrived(): readonly ReceivedMessage[] {
    return this.#inbox.read(this.#last);
  }

  /** Calls `listener` with each message but signals; returns a function that unsubscribes. */
  onMessage(listener: (message: RunMessage) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Delivers a message, unless it was delivered already. */
  deliver({ number, message }: ReceivedMessage): void {
    if (number <= this.#last) return;
    this.#last = number;
    if (message.type === "signal") {
      const { name, data } = message;
      this.#signals.set(name, [...this.#signals.get(name) ?? [], data]);
      return;
    }
    if (message.type === "abort") this.#abort.abort(createAbort(message));
    for (const listener of [...this.#listeners]) this.#notify(listener, message);
  }

  /** Whether a signal that was delivered and not taken yet is awaited. */
  hasSignal(isAwaited: (received: ReceivedMessage) => boolean): boolean {
    return Array.from(this.#signals).some(([name, [data]]) =>
      data !== undefined && isAwaited({ number: 0, message: { type: "signal", name, data } })
    );
  }

  /** Returns the data of a signal that was delivered and not taken yet. */
  takeSignal(name: string): JsonValue | undefined {
    return this.#signals.get(name)?.shift();
  }

  /** Begins an approval that a signal decides, without the signals that were for an earlier one. */
  beginApproval(signal: string): void {
    if (this.#approvals.has(signal)) this.#signals.delete(signal);
    this.#approvals.add(signal);
  }

  /** Calls a listener, which may also be an async function. Its error fails the run: neither the step nor the process. */
  #notify(listener: (message: RunMessage) => unknown, message: RunMessage): void {
    const fail = (thrown: unknown) => {
      const text = `A listener of the messages of the run has failed: ${getErrorMessage(thrown)}`;
      this.#onFailure(new BadRequestError(text, { cause: thrown }));
    };
    try {
      Promise.resolve(listener(message)).catch(fail);
    } catch (thrown) {
      fail(thrown);
    }
  }
}

/** Creates the error of an abort with the reason of its message. */
export function createAbort(message: RunMessage): AbortedError {
  return new AbortedError(message.type === "abort" ? message.reason : undefined);
}
