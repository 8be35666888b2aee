/**
 * Usage and cost of a reply of the Responses API.
 *
 * @module
 */

import type { Cost, Usage } from "../../../src/core/models/usage.ts";
import type { ServiceTier } from "../../../src/core/streams/stream.ts";
import { type RequestName, ServerRequests } from "../../kit/stream/server_requests.ts";
import { countTierRequest } from "../../kit/stream/service_tier.ts";
import { readObject } from "../../kit/stream/wire_values.ts";
import { toChatCost, toChatUsage } from "../chat/usage.ts";
import type { WireItem, WireResponse, WireResponseUsage } from "./wire.ts";

/** Requests with a fee by the type of their item. */
const REQUEST_NAMES: Readonly<Record<string, RequestName>> = {
  web_search_call: "webSearchRequests",
  file_search_call: "fileSearchRequests",
  code_interpreter_call: "codeExecutionRequests",
  image_generation_call: "imageGenerationRequests",
};

/** Counts of one reply. */
export class ReplyUsage {
  readonly #requests = new ServerRequests();
  readonly #requestedTier: ServiceTier | undefined;
  #counts: WireResponseUsage | undefined;

  /** Creates the counts of the reply to a request for a tier, of a server that may have prices of its region. */
  constructor(requestedTier: ServiceTier | undefined, isRegional: boolean) {
    this.#requestedTier = requestedTier;
    if (isRegional) this.#requests.add("regionalRequests");
  }

  /** Whether the provider has reported counts. */
  get isKnown(): boolean {
    return this.#counts !== undefined;
  }

  /** The cost that the provider reports, if any. */
  get cost(): Cost | undefined {
    return toChatCost(this.#counts ?? {});
  }

  /** Counts an item that has a fee. */
  countItem({ type, action }: WireItem): void {
    // A search may be followed by visits of its pages, which have no fee.
    const isVisit = (readObject(action)?.["type"] ?? "search") !== "search";
    const name = type === "web_search_call" && isVisit ? undefined : REQUEST_NAMES[type];
    if (name) this.#requests.add(name);
  }

  /** Stores the counts of a response. */
  update({ usage, service_tier: reported }: WireResponse): void {
    this.#counts = usage ?? this.#counts;
    countTierRequest(this.#requests, { reported, requested: this.#requestedTier });
  }

  /** Returns the usage, with no tokens if the provider has not reported them. */
  get(): Usage {
    return this.#requests.addTo(toResponsesUsage(this.#counts ?? {}));
  }
}

function toResponsesUsage(counts: WireResponseUsage): Usage {
  return toChatUsage({
    prompt_tokens: counts.input_tokens ?? 0,
    completion_tokens: counts.output_tokens ?? 0,
    ...(counts.total_tokens !== undefined && { total_tokens: counts.total_tokens }),
    prompt_tokens_details: counts.input_tokens_details ?? null,
    completion_tokens_details: counts.output_tokens_details ?? null,
  });
}
