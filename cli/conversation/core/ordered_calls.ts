/**
 * The ended tool calls of a reply, in call order.
 *
 * @module
 */

import type { CallView } from "../../render/tools/call_view.ts";

/** Holds back a call that has ended until the earlier calls of the reply have ended. */
export class OrderedCalls {
  readonly #show: (id: string, call: CallView) => Promise<void>;
  #entries: { readonly id: string; ended?: CallView }[] = [];

  /** @param show Called with each ended call, in order. */
  constructor(show: (id: string, call: CallView) => Promise<void>) {
    this.#show = show;
  }

  /** Sets the order of the calls of a reply. */
  expect(ids: readonly string[]): void {
    this.#entries.push(...ids.map((id) => ({ id })));
  }

  /** Ends a call. */
  async end(id: string, call: CallView): Promise<void> {
    const entry = this.#entries.find((candidate) => candidate.id === id);
    if (!entry) return await this.#show(id, call);
    entry.ended = call;
    for (let first = this.#entries[0]; first?.ended; first = this.#entries[0]) {
      this.#entries.shift();
      await this.#show(first.id, first.ended);
    }
  }

  /** Shows all calls that have ended, and forgets the others. */
  async flush(): Promise<void> {
    for (const { id, ended } of this.#entries.splice(0)) if (ended) await this.#show(id, ended);
  }
}
