/**
 * Sources of a reply of Google.
 *
 * @module
 */

import type { Citation } from "../../src/core/messages/content.ts";
import type { WarningSink } from "../kit/request/warnings.ts";
import { CitedSources, findUnreadPages } from "./citations.ts";
import type { WireCandidate } from "./wire.ts";

/** Collects the sources of one reply. */
export class ReplySources {
  readonly #provider: string;
  readonly #sink: WarningSink;
  readonly #unreadPages = new Set<string>();
  readonly #cited = new CitedSources();

  /** Creates the sources of a reply of a provider, which has none yet. */
  constructor(provider: string, sink: WarningSink) {
    this.#provider = provider;
    this.#sink = sink;
  }

  /** The sources that the reply cites. */
  get citations(): readonly Citation[] {
    return this.#cited.citations;
  }

  /** Adds the sources of a chunk, and reports pages that could not be read, each once. */
  add(candidate: WireCandidate): void {
    const { groundingMetadata, citationMetadata, urlContextMetadata } = candidate;
    if (!groundingMetadata && !citationMetadata && !urlContextMetadata) return;
    this.#cited.add(candidate);
    for (const page of findUnreadPages(candidate)) {
      if (this.#unreadPages.has(page)) continue;
      this.#unreadPages.add(page);
      this.#sink.warning("page_not_read", `${this.#provider} could not read ${page}`);
    }
  }
}
