/**
 * A cassette: exchanges with a server, kept as lines of JSON.
 *
 * @module
 */

import { BadRequestError } from "../core/errors.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../core/json.ts";
import { parseJson } from "./cassette_bytes.ts";

const CASSETTE_VERSION = 1;

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
  /** The words beside it; none on newer connections. */
  readonly statusText?: string;
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

/** What a cassette holds. */
export interface Cassette {
  /** When it was recorded, in milliseconds since the epoch. */
  readonly recordedAt: number;
  /** The exchanges, in the order in which they were asked. */
  readonly exchanges: readonly CassetteExchange[];
}

/** The first line. */
export function formatHeader(recordedAt: number): string {
  return `${JSON.stringify({ cassette: CASSETTE_VERSION, recordedAt })}\n`;
}

/** The line of an exchange. */
export function formatExchange(exchange: CassetteExchange): string {
  return `${JSON.stringify(exchange)}\n`;
}

/** Whether a text begins as a cassette does. */
export function isCassette(text: string): boolean {
  return parseHeader(text) !== undefined;
}

/**
 * Reads a cassette. A last line that was torn by a crash is left out.
 *
 * @throws {BadRequestError} When it is not a cassette, of another version, or damaged.
 */
export function parseCassette(text: string, file: string): Cassette {
  const header = parseHeader(text);
  if (!header) throw new BadRequestError(`"${file}" is not a cassette`);
  const { version, recordedAt } = header;
  if (version !== CASSETTE_VERSION) {
    throw new BadRequestError(
      `The cassette "${file}" has version ${version}, and this program reads version ${CASSETTE_VERSION}: record it again`,
    );
  }
  const lines = text.slice(0, text.lastIndexOf("\n")).split("\n").slice(1);
  const exchanges = lines.map((line, index) => parseExchange(line, `${file}:${index + 2}`))
    .toSorted((one, other) => one.exchange - other.exchange);
  return { recordedAt, exchanges };
}

function parseHeader(
  text: string,
): { readonly version: number; readonly recordedAt: number } | undefined {
  const header = parseJson(text.slice(0, text.indexOf("\n") + 1));
  if (!isJsonObject(header)) return undefined;
  const { cassette: version, recordedAt } = header;
  const isHeader = typeof version === "number" && typeof recordedAt === "number";
  return isHeader ? { version, recordedAt } : undefined;
}

function parseExchange(line: string, place: string): CassetteExchange {
  const value = parseJson(line);
  if (isExchange(value)) return value;
  throw new BadRequestError(`${place} is not an exchange: record the cassette again`);
}

function isExchange(value: unknown): value is CassetteExchange {
  if (!isJsonObject(value)) return false;
  const { exchange, request, response, chunks, end } = value;
  return typeof exchange === "number" && isRequest(request) &&
    (response === undefined || isResponse(response)) &&
    Array.isArray(chunks) && chunks.every(isChunk) && isEnd(end);
}

function isRequest(value: unknown): value is CassetteRequest {
  if (!isJsonObject(value)) return false;
  const { method, url, headers, body } = value;
  return typeof method === "string" && typeof url === "string" && isHeaders(headers) &&
    (body === undefined || (isJsonObject(body) && ("json" in body || isContent(body))));
}

/** A status of 1xx is never an answer, and no `Response` can be made of one beyond 599. */
function isResponse(value: unknown): value is CassetteResponse {
  if (!isJsonObject(value)) return false;
  const { at, status, statusText, headers } = value;
  return typeof at === "number" && Number.isInteger(status) && Number(status) >= 200 &&
    Number(status) <= 599 && isHeaders(headers) &&
    (statusText === undefined || typeof statusText === "string");
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
