/**
 * Conversion of Google's token counts.
 *
 * @module
 */

import type { Usage } from "../../src/core/models/usage.ts";
import type { ServiceTier, StreamRequest } from "../../src/core/streams/stream.ts";
import { ServerRequests } from "../kit/stream/server_requests.ts";
import { countTierRequest } from "../kit/stream/service_tier.ts";
import { countOrZero, objectsOrEmpty, readList } from "../kit/stream/wire_values.ts";
import type { WireCandidate, WireModalityCount, WireUsage } from "./wire.ts";

/** Matches models whose searches cost per prompt; those of later models cost per query. */
const FEE_PER_PROMPT = /gemini-[12]\./;

/** Counts of one reply; later ones replace earlier ones. */
export class ReplyUsage {
  readonly #requests = new ServerRequests();
  readonly #isFeePerPrompt: boolean;
  readonly #requestedTier: ServiceTier | undefined;
  #counts: WireUsage | undefined;

  /** Creates the counts of the reply to a request. Vertex AI has no service tiers to request. */
  constructor({ model, options }: StreamRequest, { isVertex }: { readonly isVertex: boolean }) {
    this.#isFeePerPrompt = FEE_PER_PROMPT.test(model.modelId);
    this.#requestedTier = isVertex ? undefined : options.serviceTier;
  }

  /** Whether the provider has reported counts. */
  get isKnown(): boolean {
    return this.#counts !== undefined;
  }

  /** Replaces the counts that an event has. */
  update(counts: WireUsage): void {
    this.#counts = Object.assign(this.#counts ?? {}, counts);
    const { serviceTier, trafficType } = this.#counts;
    const reported = serviceTier ?? trafficType;
    countTierRequest(this.#requests, { reported, requested: this.#requestedTier });
  }

  /** Counts the searches, which the last chunk reports; empty ones and those of other tools have no query. */
  countSearches(grounding: WireCandidate["groundingMetadata"]): void {
    const queries = readList(grounding?.webSearchQueries).filter((query) => query !== "");
    if (queries.length > 0) {
      this.#requests.set("webSearchRequests", this.#isFeePerPrompt ? 1 : queries.length);
    }
    const hasMaps = readList(grounding?.groundingChunks).some(({ maps }) => maps);
    if (hasMaps) this.#requests.set("mapsRequests", 1);
  }

  /** Returns the usage so far. */
  get(): Usage {
    return this.#requests.addTo(toUsage(this.#counts ?? {}));
  }
}

/** Converts the counts: Google includes cached tokens in the prompt and excludes thoughts from the output. */
function toUsage(counts: WireUsage): Usage {
  const prompt = countOrZero(counts.promptTokenCount);
  const cacheRead = countOrZero(counts.cachedContentTokenCount);
  const reasoning = countOrZero(counts.thoughtsTokenCount);
  const input = Math.max(0, prompt - cacheRead) + countOrZero(counts.toolUsePromptTokenCount);
  const output = countOrZero(counts.candidatesTokenCount) + reasoning;
  const audioCacheRead = Math.min(countAudio(counts.cacheTokensDetails), cacheRead);
  const audioInput = Math.min(countAudio(counts.promptTokensDetails) - audioCacheRead, input);
  const extra = {
    ...(counts.thoughtsTokenCount !== undefined && { reasoning }),
    ...(audioInput > 0 && { audioInput }),
    ...(audioCacheRead > 0 && { audioCacheRead }),
  };
  return {
    input,
    output,
    cacheRead,
    cacheWrite: 0,
    total: countOrZero(counts.totalTokenCount) || input + cacheRead + output,
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

function countAudio(details: readonly WireModalityCount[] | null | undefined): number {
  const audio = objectsOrEmpty(details).filter(({ modality }) => modality === "AUDIO");
  return audio.reduce((sum, { tokenCount }) => sum + countOrZero(tokenCount), 0);
}
