/**
 * Converts the sources of Google's replies.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../src/core/json/json.ts";
import type { Citation } from "../../src/core/messages/content.ts";
import { textOrEmpty } from "../kit/stream/wire_values.ts";
import type { WireCandidate } from "./wire.ts";

/**
 * Each source has a copy of the supports that name it, and a support may name all sources: maximum number of copies of a
 * support on average, beyond a number of characters of all copies that is never too large.
 */
const MAX_COPIES = 10;
const SMALL_LENGTH = 100_000;

/** Members of a reply that name its sources. */
type WireSources = Pick<
  WireCandidate,
  "groundingMetadata" | "citationMetadata" | "urlContextMetadata"
>;

/** The sources of a reply: of read pages, of searches and of recited text. */
export class CitedSources {
  readonly #pages = new Map<string, Citation>();
  readonly #others = new Map<string, Citation>();

  /** Each source once, with the data of its last chunk; the pages first. */
  get citations(): readonly Citation[] {
    return [...new Map([...this.#pages, ...this.#others]).values()];
  }

  /** Adds the sources of a chunk. */
  add({ groundingMetadata, citationMetadata, urlContextMetadata }: WireSources): void {
    const recited = citationMetadata?.["citations"] ?? citationMetadata?.["citationSources"];
    addAll(this.#pages, asList(urlContextMetadata?.["urlMetadata"]).map(toPageCitation));
    addAll(this.#others, toSourceCitations(groundingMetadata ?? {}));
    addAll(this.#others, asList(recited).map((source) => toCitation(source, source)));
  }
}

function addAll(
  sources: Map<string, Citation>,
  citations: readonly (Citation | undefined)[],
): void {
  for (const citation of citations) if (citation) sources.set(toKey(citation), citation);
}

/** Returns the pages that could not be read, each with the reason. */
export function findUnreadPages({ urlContextMetadata }: WireSources): readonly string[] {
  return asList(urlContextMetadata?.["urlMetadata"]).filter((page) => !isRead(page)).map((page) => {
    const reason = textOrEmpty(page["urlRetrievalStatus"]).replace("URL_RETRIEVAL_STATUS_", "");
    return `${textOrEmpty(page["retrievedUrl"]) || "(no URL)"} (${reason.toLowerCase()})`;
  });
}

function toPageCitation(page: JsonObject): Citation | undefined {
  const url = textOrEmpty(page["retrievedUrl"]);
  return url !== "" && isRead(page) ? { type: "url", url, data: page } : undefined;
}

function isRead({ urlRetrievalStatus: status }: JsonObject): boolean {
  return textOrEmpty(status) === "" || /_(?:SUCCESS|UNSPECIFIED)$/.test(String(status));
}

/** Converts the sources of a search; the data of each has the segments of the text that it supports. */
function toSourceCitations({ groundingChunks, groundingSupports }: JsonObject): Citation[] {
  const chunks: readonly unknown[] = Array.isArray(groundingChunks) ? groundingChunks : [];
  const citations = chunks.map((chunk) =>
    isJsonObject(chunk) ? toSourceCitation(chunk) : undefined
  );
  const keys = citations.map((citation) => citation && toKey(citation));
  const supports = groupSupports(asList(groundingSupports), keys);
  // Each source once, since every copy would have a list of all of its supports.
  const distinct = new Map<string, Citation>();
  addAll(distinct, citations);
  return Array.from(distinct, ([key, citation]) => {
    const own = supports.get(key);
    return own
      ? { ...citation, data: { ...Object(citation.data), groundingSupports: [...own] } }
      : citation;
  });
}

/** Groups supports by the keys of their sources; their indexes count all chunks, of which several may have one source. */
function groupSupports(
  supports: readonly JsonObject[],
  keys: readonly (string | undefined)[],
): ReadonlyMap<string, ReadonlySet<JsonObject>> {
  const groups = new Map<string, Set<JsonObject>>();
  let rest = Math.max(SMALL_LENGTH, MAX_COPIES * JSON.stringify(supports).length);
  for (const support of supports) {
    const { length } = JSON.stringify(support);
    const { groundingChunkIndices: indexes } = support;
    for (const index of Array.isArray(indexes) ? indexes : []) {
      const key = typeof index === "number" ? keys[index] : undefined;
      if (key === undefined) continue;
      const group = groups.get(key) ?? new Set();
      if (length > rest || group.has(support)) continue;
      groups.set(key, group.add(support));
      rest -= length;
    }
  }
  return groups;
}

function toSourceCitation(chunk: JsonObject): Citation | undefined {
  const source = [chunk["web"], chunk["maps"], chunk["image"], chunk["retrievedContext"]]
    .find(isJsonObject);
  return source && toCitation(source, chunk);
}

function toCitation(source: JsonObject, data: JsonObject): Citation | undefined {
  const url = textOrEmpty(source["uri"] ?? source["sourceUri"]);
  const title = textOrEmpty(source["title"]);
  const text = textOrEmpty(source["text"]);
  const shared = { ...(title !== "" && { title }), ...(text !== "" && { text }), data };
  if (url !== "") return { type: "url", url, ...shared };
  return title === "" && text === "" ? undefined : { type: "document", ...shared };
}

function toKey(citation: Citation): string {
  if (citation.type === "url") return citation.url;
  const { groundingSupports: _supports, ...source }: JsonObject = Object(citation.data);
  return JSON.stringify(source);
}

function asList(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
