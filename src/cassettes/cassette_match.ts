/**
 * Which recorded exchange answers a request.
 *
 * @module
 */

import type { JsonValue } from "../core/json.ts";
import type { CassetteBody, CassetteExchange, CassetteRequest } from "./cassette.ts";
import { amountOf, type Difference, differences, writeDifferences } from "./cassette_difference.ts";

/** The exchanges of a cassette; each answers one request. */
export class RecordedExchanges {
  readonly #file: string;
  readonly #all: readonly CassetteExchange[];
  readonly #left: Map<string, CassetteExchange[]>;
  #asked = 0;

  /** Holds the exchanges of a file. */
  constructor(file: string, exchanges: readonly CassetteExchange[]) {
    this.#file = file;
    this.#all = exchanges;
    this.#left = Map.groupBy(exchanges, ({ request }) => keyOf(request));
  }

  /** The exchanges that have answered nothing yet, in the order in which they were recorded. */
  get left(): CassetteExchange[] {
    const left = new Set([...this.#left.values()].flat());
    return this.#all.filter((exchange) => left.has(exchange));
  }

  /** Takes the first exchange that was recorded for a request; `undefined` when there is none. */
  take(request: CassetteRequest): CassetteExchange | undefined {
    this.#asked++;
    return this.#left.get(keyOf(request))?.shift();
  }

  /** Says why the last request was not answered. */
  explain(request: CassetteRequest): string {
    return [
      `No exchange in "${this.#file}" answers request ${this.#asked}, ${addressOf(request)}.`,
      this.#reason(request),
      "What the program asks has changed: record the cassette again if it is meant to.",
    ].join("\n");
  }

  #reason(request: CassetteRequest): string {
    const key = keyOf(request);
    const same = this.#all.filter((exchange) => keyOf(exchange.request) === key);
    if (same.length > 0) {
      return `It was recorded ${times(same.length)}, and has been answered as often.`;
    }
    const closest = this.#closest(request);
    if (!closest) return this.#otherAddresses();
    const { exchange, found } = closest;
    return `The closest is exchange ${exchange.exchange}, in which\n${writeDifferences(found)}`;
  }

  /** The exchange that differs least; among the same, one that has answered nothing yet. */
  #closest(request: CassetteRequest): Closest | undefined {
    const { left } = this;
    const sameAddress = this.#all.filter((each) => addressOf(each.request) === addressOf(request));
    const byUse = sameAddress.toSorted((one, other) =>
      Number(left.includes(other)) - Number(left.includes(one))
    );
    const compared = byUse.map((exchange): Closest => {
      const found = differences(comparable(exchange.request), comparable(request));
      return { exchange, found, amount: amountOf(found) };
    });
    const [closest] = compared.toSorted((one, other) => one.amount - other.amount);
    return closest;
  }

  #otherAddresses(): string {
    if (this.#all.length === 0) return "Nothing is recorded in it.";
    const addresses = new Set(this.#all.map(({ request }) => addressOf(request)));
    return `Recorded is:\n${[...addresses].map((address) => `  ${address}`).join("\n")}`;
  }
}

interface Closest {
  readonly exchange: CassetteExchange;
  readonly found: readonly Difference[];
  readonly amount: number;
}

/** What two requests have in common that are the same. */
function keyOf(request: CassetteRequest): string {
  return `${addressOf(request)}\n${JSON.stringify(sorted(comparable(request) ?? null))}`;
}

/** Method and address of a request. */
export function addressOf({ method, url }: CassetteRequest): string {
  return `${method} ${url}`;
}

function comparable({ body }: CassetteRequest): JsonValue | undefined {
  return body && valueOf(body);
}

function valueOf(body: CassetteBody): JsonValue {
  if ("json" in body) return body.json;
  return "text" in body ? body.text : { base64: body.base64 };
}

/** The order of the members of an object means nothing. */
function sorted(value: JsonValue): JsonValue {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const members = Object.entries(value).toSorted(([one], [other]) => one < other ? -1 : 1);
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
