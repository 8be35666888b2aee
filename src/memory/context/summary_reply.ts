/**
 * The reply of a model that writes a summary.
 *
 * @module
 */

import { describeValue } from "../../core/errors/describe_value.ts";
import { type AgentError, NetworkError } from "../../core/errors/errors.ts";
import { ignoreRejections } from "../../core/errors/refuse_promise.ts";
import type { Cost, Usage } from "../../core/models/usage.ts";
import type { AssistantMessageEvent } from "../../core/streams/stream.ts";
import { estimateTextTokens } from "../../core/streams/tokens.ts";
import type { SummaryResult } from "./compaction.ts";

/** How a reply has ended. `refused`: a policy stopped the call. `expired`: it took too long. */
type ReplyEnd =
  | { readonly type: "complete" }
  | { readonly type: "failed" | "refused" | "expired"; readonly problem: string };

/** Collects the text and the usage of a reply. */
export class SummaryReply {
  /** Token counts, once received. */
  usage: Usage | undefined;
  /** Cost as reported by the provider. */
  cost: Cost | undefined;
  /** The error of the provider, if the call failed. */
  error: AgentError | undefined;
  #text = "";
  #end: ReplyEnd | undefined;
  readonly #closing = new AbortController();

  /** Aborted when later events are of no use. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** Whether the model has written no summary, so that another one may write it. */
  get hasFailed(): boolean {
    return this.#end?.type === "failed" || this.#end?.type === "expired";
  }

  /** Ends the use of later events. */
  close(): void {
    this.#closing.abort();
  }

  /** Adds an event; of those after the time limit only the usage counts. */
  addEvent(event: AssistantMessageEvent): void {
    switch (event.type) {
      case "text_delta":
        this.#text += checkDelta(event.delta);
        return;
      case "done":
        this.usage = event.usage;
        this.cost = event.cost;
        this.#end ??= { type: "complete" };
        return;
      case "error":
        this.usage = event.usage;
        if (this.#end?.type === "expired") return;
        this.error = event.error;
        return this.fail(event.error.message);
    }
  }

  /** Ends the reply; one without a final event, as after a lost connection, has failed. */
  end(): void {
    if (this.#end || this.closed.aborted) return;
    this.error = new NetworkError("the model stream ended before the reply was complete");
    this.fail(this.error.message);
  }

  /** Ends the reply with a problem. */
  fail(problem: string): void {
    if (this.#end?.type !== "expired") this.#end = { type: "failed", problem };
  }

  /** Ends the reply with the reason of a policy that stopped the call. */
  refuse(problem: string): void {
    if (this.#end?.type !== "expired") this.#end = { type: "refused", problem };
  }

  /** Ends the reply at the time limit; later events do not change it. */
  expire(problem: string): void {
    this.#end = { type: "expired", problem };
  }

  /** Returns the summary with at most a number of tokens, or the problem because of which there is none. */
  toResult(maxTokens: number): SummaryResult {
    const summary = this.#text.trim();
    const end = this.#end ?? { type: "complete" };
    if (end.type === "complete" && summary !== "") {
      return { summary: truncateText(summary, maxTokens) };
    }
    const reason = end.type === "complete" ? "the reply has no text" : end.problem;
    const problem = `No summary was written: ${reason}`;
    return end.type === "refused" ? { problem, isRefused: true } : { problem };
  }
}

/** Throws if a delta is no text, as one of an untyped function may be. */
function checkDelta(delta: unknown): string {
  if (typeof delta === "string") return delta;
  ignoreRejections(delta);
  throw new TypeError(`a delta of the model stream must be a text, not ${describeValue(delta)}`);
}

const TRUNCATED_MARKER = "\n[The rest of the summary is omitted]";

/** Returns the beginning of a text that has more than a number of tokens. */
function truncateText(text: string, maxTokens: number): string {
  const tokens = estimateTextTokens(text);
  if (tokens <= maxTokens) return text;
  const length = Math.floor(text.length * maxTokens / tokens) - TRUNCATED_MARKER.length;
  return text.slice(0, Math.max(0, length)).toWellFormed() + TRUNCATED_MARKER;
}
