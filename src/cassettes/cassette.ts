/**
 * The format of cassette files: a header line, then one line of JSON for each exchange.
 *
 * @module
 */

import { BadRequestError } from "../core/errors/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../core/json/json.ts";
import { parseJsonOrUndefined } from "../core/json/parse_json.ts";

const CASSETTE_VERSION = 1;

/** A request body in its most readable form: JSON if it parses, else text, else base64. */
export type CassetteBody =
  | { readonly json: JsonValue }
  | { readonly text: string }
  | { readonly base64: string };

/** A request without its secrets. */
export interface CassetteRequest {
  /** HTTP method in upper case. */
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Missing if the body is empty. */
  readonly body?: CassetteBody;
}

/** Status and headers of a response. */
export interface CassetteResponse {
  /** Arrival, in milliseconds since the request. */
  readonly at: number;
  readonly status: number;
  /** Missing if empty, as over HTTP/2. */
  readonly statusText?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A chunk of a response body: text if it decodes as UTF-8, else base64. */
export type CassetteChunk =
  & { /** Arrival, in milliseconds since the request. */ readonly at: number }
  & ({ readonly text: string } | { readonly base64: string });

/** The end of an exchange: the end of the body, a network error, or an abort by the caller. */
export type CassetteEnd =
  | { readonly type: "complete"; readonly at: number }
  | {
    readonly type: "failed";
    readonly at: number;
    readonly name: string;
    readonly message: string;
  }
  | { readonly type: "aborted"; readonly at: number };

/** A request and its outcome: one line of the file. */
export interface CassetteExchange {
  /** Position among the requests, in the order in which they were sent, from 1. */
  readonly exchange: number;
  readonly request: CassetteRequest;
  /** Missing if the exchange ended before the response. */
  readonly response?: CassetteResponse;
  /** The body of the response. */
  readonly chunks: readonly CassetteChunk[];
  readonly end: CassetteEnd;
}

/** The parsed content of a cassette file. */
export interface Cassette {
  /** Start of the recording, in milliseconds since the epoch. */
  readonly recordedAt: number;
  /** The exchanges in the order in which the requests were sent. */
  readonly exchanges: readonly CassetteExchange[];
}

/** Formats the first line of a cassette. */
export function formatHeader(recordedAt: number): string {
  return `${JSON.stringify({ cassette: CASSETTE_VERSION, recordedAt })}\n`;
}

/** Formats the line of an exchange. */
export function formatExchange(exchange: CassetteExchange): string {
  return `${JSON.stringify(exchange)}\n`;
}

/** Whether a text begins with a cassette header, of any version. */
export function isCassette(text: string): boolean {
  return parseHeader(text) !== undefined;
}

/**
 * Parses a cassette. An incomplete last line, left by a crash, is skipped.
 *
 * @throws {BadRequestError} If the text is not a cassette, has another version or is damaged.
 */
export function parseCassette(text: string, file: string): Cassette {
  const header = parseHeader(text);
  if (!header) {
    throw new BadRequestError(`"${file}" is not a cassette: its first line is not a header`);
  }
  const { version, recordedAt } = header;
  if (version !== CASSETTE_VERSION) {
    throw new BadRequestError(
      `Cassette "${file}" has version ${version}, but version ${CASSETTE_VERSION} is expected: record it again`,
    );
  }
  const lines = text.slice(0, text.lastIndexOf("\n")).split("\n").slice(1);
  const exchanges = lines.map((line, index) => {
    const exchange = parseJsonOrUndefined(line);
    if (isExchange(exchange)) return exchange;
    throw new BadRequestError(
      `Invalid exchange at ${file}:${index + 2}: record the cassette again`,
    );
  });
  return {
    recordedAt,
    exchanges: exchanges.toSorted((left, right) => left.exchange - right.exchange),
  };
}

function parseHeader(
  text: string,
): { readonly version: number; readonly recordedAt: number } | undefined {
  // Some editors add a byte order mark.
  const header = parseJsonOrUndefined(text.slice(0, text.indexOf("\n") + 1).replace(/^\uFEFF/, ""));
  if (!isJsonObject(header)) return undefined;
  const { cassette: version, recordedAt } = header;
  // The prompts of a replay have the date.
  const isHeader = typeof version === "number" && typeof recordedAt === "number" &&
    !Number.isNaN(new Date(recordedAt).getTime());
  return isHeader ? { version, recordedAt } : undefined;
}

function isExchange(value: unknown): value is CassetteExchange {
  if (!isJsonObject(value)) return false;
  const { exchange, request, response, chunks, end } = value;
  return typeof exchange === "number" && isRequest(request) &&
    (response === undefined || isResponse(response)) &&
    Array.isArray(chunks) && chunks.every(isChunk) && isEnd(end) &&
    // An exchange is complete with a response only.
    (response !== undefined || end.type !== "complete");
}

function isRequest(value: unknown): value is CassetteRequest {
  if (!isJsonObject(value)) return false;
  const { method, url, headers, body } = value;
  return typeof method === "string" && typeof url === "string" && isHeaders(headers) &&
    (body === undefined || (isJsonObject(body) && ("json" in body || isContent(body))));
}

function isResponse(value: unknown): value is CassetteResponse {
  if (!isJsonObject(value)) return false;
  const { at, status, statusText, headers } = value;
  return typeof at === "number" && typeof status === "number" && isHeaders(headers) &&
    (statusText === undefined || typeof statusText === "string") &&
    isAccepted({ status, headers, ...(statusText !== undefined && { statusText }) });
}

/** Whether the `Response` constructor accepts the status, its text and the headers. */
function isAccepted(init: ResponseInit): boolean {
  try {
    return new Response(null, init).status === init.status;
  } catch {
    return false;
  }
}

function isChunk(value: unknown): value is CassetteChunk {
  return isJsonObject(value) && typeof value["at"] === "number" && isContent(value);
}

function isEnd(value: unknown): value is CassetteEnd {
  if (!isJsonObject(value) || typeof value["at"] !== "number") return false;
  const { type, name, message } = value;
  if (type === "failed") return typeof name === "string" && typeof message === "string";
  return type === "complete" || type === "aborted";
}

function isContent({ text, base64 }: JsonObject): boolean {
  return typeof text === "string" || (typeof base64 === "string" && isBase64(base64));
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function isHeaders(value: unknown): value is Readonly<Record<string, string>> {
  return isJsonObject(value) && Object.values(value).every((header) => typeof header === "string");
}
