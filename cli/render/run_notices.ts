/**
 * The notices about the events of a run.
 *
 * @module
 */

import type { AgentError, AgentEvent } from "../../mod.ts";
import { getNotice, type NoticeOptions } from "./notice.ts";

/** Creates notices with what earlier events of the run have reported. */
export class RunNotices {
  readonly #fallbacks = new Set<string>();
  #failure: AgentError | undefined;

  /** Returns the notice for the next event; `undefined` if it needs none, such as a fallback that each turn repeats. */
  get(event: AgentEvent, options: Omit<NoticeOptions, "failure">): string | undefined {
    switch (event.type) {
      case "model_call_end":
        this.#failure = event.error;
        break;
      case "retry":
        // The fallback that follows belongs to this attempt.
        this.#fallbacks.clear();
        break;
      case "model_fallback":
        if (this.#isRepeated(event)) return undefined;
    }
    return getNotice(event, { ...options, failure: this.#failure });
  }

  #isRepeated({ from, to, discard }: Extract<AgentEvent, { type: "model_fallback" }>): boolean {
    const fallback = JSON.stringify([from, to]);
    const isReported = this.#fallbacks.has(fallback);
    this.#fallbacks.add(fallback);
    return isReported && !discard;
  }
}
