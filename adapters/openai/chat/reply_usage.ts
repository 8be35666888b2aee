/**
 * Usage and cost of a reply of the chat completions API.
 *
 * @module
 */

import type { Cost, Usage } from "../../../src/core/models/usage.ts";
import type { ServiceTier, StreamRequest } from "../../../src/core/streams/stream.ts";
import { ServerRequests } from "../../kit/stream/server_requests.ts";
import { countTierRequest } from "../../kit/stream/service_tier.ts";
import { textOrEmpty } from "../../kit/stream/wire_values.ts";
import type { ChatDialect } from "./dialect.ts";
import { toChatCost, toChatUsage } from "./usage.ts";
import type { WireUsage } from "./wire.ts";

/** Properties of a server on which the price of its replies depends. */
export type PriceDialect = Pick<ChatDialect, "unsupported" | "serviceTiers" | "isRegional">;

/** Counts of one reply; later ones replace earlier ones. */
export class ReplyUsage {
  readonly #requestedTier: ServiceTier | undefined;
  /** Whether the request has server tools, whose use the API does not count. */
  readonly #usesServerTools: boolean;
  readonly #isRegional: boolean;
  #counts: WireUsage | undefined;
  #servedTier = "";

  /** Creates the counts of the reply to a request. */
  constructor(
    { options: { serviceTier, serverTools = [] } }: StreamRequest,
    { unsupported, serviceTiers, isRegional = false }: PriceDialect,
  ) {
    const sendsTier = !unsupported.includes("serviceTier") && serviceTiers === undefined;
    this.#requestedTier = sendsTier ? serviceTier : undefined;
    this.#usesServerTools = serverTools.length > 0;
    this.#isRegional = isRegional;
  }

  /** Whether the server has reported counts. */
  get isKnown(): boolean {
    return this.#counts !== undefined;
  }

  /** The cost that the server reports, if any. */
  get cost(): Cost | undefined {
    return toChatCost(this.#counts ?? {});
  }

  /** Replaces the counts that a chunk has. */
  update(counts: WireUsage | null | undefined): void {
    if (counts) this.#counts = Object.assign(this.#counts ?? {}, counts);
  }

  /** Stores the tier that a chunk names. */
  setTier(tier: unknown): void {
    this.#servedTier = textOrEmpty(tier) || this.#servedTier;
  }

  /** Returns the usage so far, with what has a price of its own that is not known. */
  get(): Usage {
    const counts = this.#counts ?? {};
    const requests = new ServerRequests();
    if (this.#usesServerTools) requests.add("serverToolRequests");
    if (this.#isRegional) requests.add("regionalRequests");
    const reported = counts.service_tier ?? this.#servedTier;
    countTierRequest(requests, { reported, requested: this.#requestedTier });
    return requests.addTo(toChatUsage(counts));
  }
}
