/**
 * A cassette: exchanges with a server, kept as lines of JSON.
 *
 * @module
 */

import { BadRequestError } from "../core/errors.ts";
import { isJsonObject, type JsonValue } from "../core/json.ts";

const VERSION = 1;

/** A body, in the form that is easiest to read: JSON, else text, else base64. */
export type CassetteBody =
  | { readonly json: JsonValue }
  | { readonly text: string }
  | { readonly base64: string };

/** A request, without secrets. */
export interface CassetteRequest {
  /** The method, in capitals. */
  readonly method: string;
  /** The address. */
  readonly url: string;
  /** The headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body; none when there is none. */
  readonly body?: CassetteBody;
}

/** The head of a response. */
export interface CassetteResponse {
  /** When it came, in milliseconds since the request. */
  readonly at: number;
  /** The HTTP status. */
  readonly status: number;
  /** The headers. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A piece of a body as it came: text where it is whole characters, else base64. */
export type CassetteChunk =
  & { /** When it came, in milliseconds since the request. */ readonly at: number }
  & ({ readonly text: string } | { readonly base64: string });

/** How an exchange ended: with the body's end, with an error, or by the one who asked. */
export type CassetteEnd =
  | { readonly type: "complete"; readonly at: number }
  | {
    readonly type: "failed";
    readonly at: number;
    readonly name: string;
    readonly message: string;
  }
  | { readonly type: "aborted"; readonly at: number };

/** A request and what came of it: one line. */
export interface CassetteExchange {
  /** Which request it was, in the order in which they were sent; from 1. */
  readonly exchange: number;
  /** What was asked. */
  readonly request: CassetteRequest;
  /** The head of the response; none when none came. */
  readonly response?: CassetteResponse;
  /** The response's body. */
  readonly chunks: readonly CassetteChunk[];
  /** How it ended. */
  readonly end: CassetteEnd;
}

/** The first line. */
export function cassetteHeader(recordedAt: number): string {
  return `${JSON.stringify({ cassette: VERSION, recordedAt })}\n`;
}

/** The line of an exchange. */
export function exchangeLine(exchange: CassetteExchange): string {
  return `${JSON.stringify(exchange)}\n`;
}

/** Whether a text begins as a cassette does. */
export function isCassette(text: string): boolean {
  const header = parsed(text.slice(0, text.indexOf("\n") + 1));
  return isJsonObject(header) && typeof header["cassette"] === "number";
}

/**
 * Reads a cassette. Exchanges come in the order in which they were asked; a last line that was torn by a crash is left
 * out.
 *
 * @throws {BadRequestError} When it is not a cassette, of a newer version, or damaged.
 */
export function readCassette(text: string, file: string): CassetteExchange[] {
  if (!isCassette(text)) throw new BadRequestError(`"${file}" is not a cassette`);
  const [header = "", ...lines] = text.slice(0, text.lastIndexOf("\n")).split("\n");
  const { cassette: version } = JSON.parse(header);
  if (version !== VERSION) {
    throw new BadRequestError(
      `The cassette "${file}" has version ${version}, and only version ${VERSION} can be read: record it again`,
    );
  }
  return lines.map((line, index) => readExchange(line, `${file}:${index + 2}`))
    .toSorted((one, other) => one.exchange - other.exchange);
}

function readExchange(line: string, place: string): CassetteExchange {
  const value = parsed(line);
  if (isExchange(value)) return value;
  throw new BadRequestError(`${place} is not an exchange: record the cassette again`);
}

function isExchange(value: unknown): value is CassetteExchange {
  if (!isJsonObject(value) || typeof value["exchange"] !== "number") return false;
  const { request, response, chunks, end } = value;
  return isJsonObject(request) && typeof request["method"] === "string" &&
    typeof request["url"] === "string" &&
    (response === undefined ||
      (isJsonObject(response) && typeof response["status"] === "number")) &&
    Array.isArray(chunks) && isJsonObject(end) && typeof end["type"] === "string";
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
