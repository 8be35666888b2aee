/**
 * Conversion of Bedrock's token counts.
 *
 * @module
 */

import type { Usage } from "../../src/core/models/usage.ts";
import type { ServiceTier } from "../../src/core/streams/stream.ts";
import { ServerRequests } from "../kit/stream/server_requests.ts";
import { countTierRequest } from "../kit/stream/service_tier.ts";
import { countOrZero, objectsOrEmpty, textOrEmpty } from "../kit/stream/wire_values.ts";
import type { WireMetadata, WireStart, WireUsage } from "./wire.ts";

/** Counts of one reply. */
export class ReplyUsage {
  readonly #requests = new ServerRequests();
  readonly #requestedTier: ServiceTier | undefined;
  #counts: WireUsage | undefined;

  /** Creates the counts of the reply to a request, which may ask for a tier. */
  constructor(requestedTier: ServiceTier | undefined) {
    this.#requestedTier = requestedTier;
  }

  /** Whether the provider has reported the counts. */
  get isKnown(): boolean {
    return Boolean(this.#counts);
  }

  /** Stores the counts that the provider reports. */
  update({ usage = {}, serviceTier }: WireMetadata): void {
    this.#counts = usage;
    const requested = this.#requestedTier;
    countTierRequest(this.#requests, { reported: serviceTier?.type, requested });
  }

  /** Counts a block that calls a tool that the provider runs. */
  countBlock({ toolUse, toolResult, image }: WireStart): void {
    if (toolUse?.type !== "server_tool_use" || toolResult || image) return;
    const isSearch = /grounding|search/.test(textOrEmpty(toolUse.name));
    this.#requests.add(isSearch ? "webSearchRequests" : "codeExecutionRequests");
  }

  /** Returns the usage, with no tokens if the provider has not reported them. */
  get(): Usage {
    return this.#requests.addTo(toUsage(this.#counts ?? {}));
  }
}

/** Converts the counts; Bedrock's `inputTokens` excludes cache reads and cache writes, its total includes them. */
function toUsage(counts: WireUsage): Usage {
  const input = countOrZero(counts.inputTokens);
  const output = countOrZero(counts.outputTokens);
  const cacheRead = countOrZero(counts.cacheReadInputTokens);
  const cacheWrite = countOrZero(counts.cacheWriteInputTokens);
  const total = countOrZero(counts.totalTokens) || input + output + cacheRead + cacheWrite;
  const usage = { input, output, cacheRead, cacheWrite, total };
  const countWrites = (isCounted: (ttl: unknown) => boolean) =>
    objectsOrEmpty(counts.cacheDetails).filter(({ ttl }) => isCounted(ttl))
      .reduce((sum, { inputTokens }) => sum + countOrZero(inputTokens), 0);
  const cacheWriteLong = countWrites((ttl) => ttl === "1h");
  // 5 minutes are the default.
  const cacheWriteOther = countWrites((ttl) => ttl !== "5m" && ttl !== "1h");
  const extra = {
    ...(cacheWriteLong > 0 && { cacheWriteLong }),
    ...(cacheWriteOther > 0 && { cacheWriteOther }),
  };
  return Object.keys(extra).length > 0 ? { ...usage, extra } : usage;
}
