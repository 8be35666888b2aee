/**
 * Finds the recorded exchange that answers a request.
 *
 * @module
 */

import type { JsonValue } from "../core/json/json.ts";
import type { CassetteExchange, CassetteRequest } from "./cassette.ts";
import {
  type Difference,
  findDifferences,
  formatDifferences,
  measureDistance,
} from "./cassette_difference.ts";
import type { NormalizeText } from "./check_normalize.ts";
import { numberGeneratedIds } from "./generated_ids.ts";

const identity: NormalizeText = (text) => text;

/** The exchanges of a cassette, each of which answers one request. */
export class RecordedExchanges {
  readonly #file: string;
  readonly #exchanges: readonly CassetteExchange[];
  readonly #normalize: NormalizeText;
  readonly #unused: Set<CassetteExchange>;
  /** The unused exchanges of each address, by their keys without generated ids. */
  readonly #groups = new Map<string, Map<string, KeyedExchange[]>>();
  #requestCount = 0;

  constructor(
    file: string,
    exchanges: readonly CassetteExchange[],
    normalize: NormalizeText = identity,
  ) {
    this.#file = file;
    this.#exchanges = exchanges;
    this.#unused = new Set(exchanges);
    this.#normalize = normalize;
  }

  /** The exchanges that have not answered a request yet, in the order of the recording. */
  get unused(): CassetteExchange[] {
    return this.#exchanges.filter((exchange) => this.#unused.has(exchange));
  }

  /**
   * Groups the exchanges of an address when it is first requested: `normalize` may depend on the first request to a model,
   * which can follow one for an access token.
   */
  #getGroups(address: string): Map<string, KeyedExchange[]> {
    const known = this.#groups.get(address);
    if (known) return known;
    const groups = new Map<string, KeyedExchange[]>();
    for (const exchange of this.#exchanges) {
      if (formatAddress(exchange.request) !== address) continue;
      const { key, exactKey } = this.#createKeys(exchange.request);
      const group = groups.get(key);
      if (group) group.push({ exchange, exactKey });
      else groups.set(key, [{ exchange, exactKey }]);
    }
    this.#groups.set(address, groups);
    return groups;
  }

  /**
   * Takes the first unused exchange that was recorded for the request, if any: one with the same ids of tool calls, or else
   * one that differs only in those that the agent has generated.
   */
  takeMatch(request: CassetteRequest): CassetteExchange | undefined {
    this.#requestCount++;
    const { key, exactKey } = this.#createKeys(request);
    const group = this.#getGroups(formatAddress(request)).get(key) ?? [];
    const exact = group.findIndex((recorded) => recorded.exactKey === exactKey);
    const [taken] = group.splice(Math.max(0, exact), 1);
    if (taken) this.#unused.delete(taken.exchange);
    return taken?.exchange;
  }

  /** Explains why `takeMatch()` returned `undefined` for the latest request. */
  explainMismatch(request: CassetteRequest): string {
    const position = this.#requestCount;
    return [
      `No exchange in "${this.#file}" matches request ${position}, ${formatAddress(request)}.`,
      this.#describeMismatch(request),
      "If the requests changed on purpose, record the cassette again.",
    ].join("\n");
  }

  #describeMismatch(request: CassetteRequest): string {
    const { key } = this.#createKeys(request);
    const matching = this.#exchanges.filter((exchange) =>
      this.#createKeys(exchange.request).key === key
    );
    if (matching.length === 1) {
      return `Exchange ${matching[0]?.exchange} matches, but was replayed before.`;
    }
    if (matching.length > 1) {
      return `${matching.length} exchanges match, but all were replayed before.`;
    }
    const closest = this.#findClosest(request);
    if (!closest) return this.#listAddresses();
    const { exchange, differences } = closest;
    return `The closest is exchange ${exchange.exchange}, which differs in\n${
      formatDifferences(differences)
    }`;
  }

  /** Finds the exchange of the same address that differs least; among equals, an unused one. */
  #findClosest(request: CassetteRequest): ClosestMatch | undefined {
    const { unused } = this;
    const sameAddress = this.#exchanges.filter((exchange) =>
      formatAddress(exchange.request) === formatAddress(request)
    );
    const unusedFirst = sameAddress.toSorted((left, right) =>
      Number(unused.includes(right)) - Number(unused.includes(left))
    );
    const matches = unusedFirst.map((exchange): ClosestMatch => {
      const differences = findDifferences(
        exchange.request.body && numberGeneratedIds(this.#getComparableBody(exchange.request)),
        request.body && numberGeneratedIds(this.#getComparableBody(request)),
      );
      return { exchange, differences, distance: measureDistance(differences) };
    });
    const [closest] = matches.toSorted((left, right) => left.distance - right.distance);
    return closest;
  }

  #createKeys(request: CassetteRequest): { readonly key: string; readonly exactKey: string } {
    const body = this.#getComparableBody(request);
    const numbered = numberGeneratedIds(body);
    const exactKey = createMatchKey(request, body);
    return { exactKey, key: numbered === body ? exactKey : createMatchKey(request, numbered) };
  }

  #getComparableBody(request: CassetteRequest): JsonValue {
    return sortKeys(getComparableBody(request, this.#normalize) ?? null);
  }

  #listAddresses(): string {
    if (this.#exchanges.length === 0) return "The cassette has no exchanges.";
    const addresses = new Set(this.#exchanges.map(({ request }) => formatAddress(request)));
    return `Recorded requests:\n${[...addresses].map((address) => `  ${address}`).join("\n")}`;
  }
}

interface ClosestMatch {
  readonly exchange: CassetteExchange;
  readonly differences: readonly Difference[];
  readonly distance: number;
}

/** An exchange, with the key of its request with all ids. */
interface KeyedExchange {
  readonly exchange: CassetteExchange;
  readonly exactKey: string;
}

/** Creates a key that is equal for requests of the same method, URL and body. */
function createMatchKey(request: CassetteRequest, body: JsonValue): string {
  return `${formatAddress(request)}\n${JSON.stringify(body)}`;
}

/** Formats method and URL: `POST https://api.example.com/v1`. */
export function formatAddress({ method, url }: CassetteRequest): string {
  return `${method} ${url}`;
}

function getComparableBody(
  { body }: CassetteRequest,
  normalize: NormalizeText,
): JsonValue | undefined {
  if (!body) return undefined;
  if ("json" in body) return normalizeTexts(body.json, normalize);
  return "text" in body ? normalize(body.text) : { base64: body.base64 };
}

/** Normalizes all texts in a value, except for the names of members. */
function normalizeTexts(value: JsonValue, normalize: NormalizeText): JsonValue {
  if (typeof value === "string") return normalize(value);
  if (normalize === identity || typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => normalizeTexts(item, normalize));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, normalizeTexts(member, normalize)]),
  );
}

/** Sorts the members of all objects in a value. */
function sortKeys(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const members = Object.entries(value).toSorted(([left], [right]) => left < right ? -1 : 1);
  return Object.fromEntries(members.map(([name, member]) => [name, sortKeys(member)]));
}
