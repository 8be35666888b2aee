/**
 * Which recorded exchange answers a request.
 *
 * @module
 */

import type { JsonValue } from "../core/json.ts";
import type { CassetteBody, CassetteExchange, CassetteRequest } from "./cassette.ts";
import {
  type Difference,
  findDifferences,
  formatDifferences,
  measureDistance,
} from "./cassette_difference.ts";

/** The exchanges of a cassette; each answers one request. */
export class RecordedExchanges {
  readonly #file: string;
  readonly #exchanges: readonly CassetteExchange[];
  readonly #unusedByKey: Map<string, CassetteExchange[]>;
  #requestCount = 0;

  /** Holds the exchanges of a file. */
  constructor(file: string, exchanges: readonly CassetteExchange[]) {
    this.#file = file;
    this.#exchanges = exchanges;
    this.#unusedByKey = Map.groupBy(exchanges, ({ request }) => createMatchKey(request));
  }

  /** The exchanges that have answered nothing yet, in the order in which they were recorded. */
  get unused(): CassetteExchange[] {
    const left = new Set([...this.#unusedByKey.values()].flat());
    return this.#exchanges.filter((exchange) => left.has(exchange));
  }

  /** Takes the first exchange that was recorded for a request; `undefined` when there is none. */
  takeMatch(request: CassetteRequest): CassetteExchange | undefined {
    this.#requestCount++;
    return this.#unusedByKey.get(createMatchKey(request))?.shift();
  }

  /** Says why the last request was not answered. */
  explainMismatch(request: CassetteRequest): string {
    return [
      `No exchange in "${this.#file}" answers request ${this.#requestCount}, ${
        formatAddress(request)
      }.`,
      this.#describeMismatch(request),
      "What the program asks has changed: record the cassette again if it is meant to.",
    ].join("\n");
  }

  #describeMismatch(request: CassetteRequest): string {
    const key = createMatchKey(request);
    const same = this.#exchanges.filter((exchange) => createMatchKey(exchange.request) === key);
    if (same.length > 0) {
      return `It was recorded ${formatTimes(same.length)}, and has been answered as often.`;
    }
    const closest = this.#findClosest(request);
    if (!closest) return this.#listAddresses();
    const { exchange, differences: found } = closest;
    return `The closest is exchange ${exchange.exchange}, in which\n${formatDifferences(found)}`;
  }

  /** The exchange that differs least; among the same, one that has answered nothing yet. */
  #findClosest(request: CassetteRequest): ClosestMatch | undefined {
    const { unused: left } = this;
    const sameAddress = this.#exchanges.filter((each) =>
      formatAddress(each.request) === formatAddress(request)
    );
    const byUse = sameAddress.toSorted((one, other) =>
      Number(left.includes(other)) - Number(left.includes(one))
    );
    const compared = byUse.map((exchange): ClosestMatch => {
      const found = findDifferences(
        getComparableBody(exchange.request),
        getComparableBody(request),
      );
      return { exchange, differences: found, distance: measureDistance(found) };
    });
    const [closest] = compared.toSorted((one, other) => one.distance - other.distance);
    return closest;
  }

  #listAddresses(): string {
    if (this.#exchanges.length === 0) return "Nothing is recorded in it.";
    const addresses = new Set(this.#exchanges.map(({ request }) => formatAddress(request)));
    return `Recorded is:\n${[...addresses].map((address) => `  ${address}`).join("\n")}`;
  }
}

interface ClosestMatch {
  readonly exchange: CassetteExchange;
  readonly differences: readonly Difference[];
  readonly distance: number;
}

/** What two requests have in common that are the same. */
function createMatchKey(request: CassetteRequest): string {
  return `${formatAddress(request)}\n${
    JSON.stringify(sortKeys(getComparableBody(request) ?? null))
  }`;
}

/** Method and address of a request. */
export function formatAddress({ method, url }: CassetteRequest): string {
  return `${method} ${url}`;
}

function getComparableBody({ body }: CassetteRequest): JsonValue | undefined {
  return body && toJsonValue(body);
}

function toJsonValue(body: CassetteBody): JsonValue {
  if ("json" in body) return body.json;
  return "text" in body ? body.text : { base64: body.base64 };
}

/** The order of the members of an object means nothing. */
function sortKeys(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sortKeys);
  const members = Object.entries(value).toSorted(([one], [other]) => one < other ? -1 : 1);
  return Object.fromEntries(members.map(([name, member]) => [name, sortKeys(member)]));
}

function formatTimes(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
