/**
 * What of an exchange is not kept: keys, tokens, cookies.
 *
 * @module
 */

import {
  HIDDEN,
  hideSpans,
  KEY_SHAPES,
  redact,
  secretSpans,
  type TextSpan,
} from "../core/redact.ts";
import type { JsonValue } from "../core/json.ts";
import type { CassetteBody, CassetteRequest } from "./cassette.ts";
import { jsonOf, oneCharacterPerByte, textOf } from "./cassette_bytes.ts";
import type { OutgoingRequest } from "./cassette_request.ts";

/** Words by which a header says that its value is a secret, or whose account it is. */
const SECRET_HEADER =
  /(?:^|-)(?:authorization|cookie2?|key|apikey|token|secret|password|signature|credential|organization)(?:-|$)/i;

/** Parameters of addresses and of forms. */
const SECRET_PARAMETER =
  /^(?:key|api[-_]?key|access[-_]?key|(?:access|refresh|id)[-_]?token|token|sig|signature|client_?secret|secret|password|code|x-amz-(?:signature|credential|security-token))$/i;

const MEMBER_NAMES =
  "(?:api|access)[-_]?key|(?:access|refresh|id|session|auth)[-_]?token|client[-_]?secret|secret[-_]?access[-_]?key|password|authorization";
const HIDDEN_BYTES = new TextEncoder().encode(HIDDEN);

const SECRET_MEMBER = new RegExp(`^(?:${MEMBER_NAMES})$`, "i");
const MEMBER_SHAPES = [new RegExp(`(?<="(?:${MEMBER_NAMES})"\\s*:\\s*")(?:[^"\\\\]|\\\\.)+`, "gi")];

/** A value that is shorter is a placeholder, and may stand anywhere in a text. */
const MIN_SECRET_LENGTH = 8;

/** The secrets that a request carries where secrets are carried, without those that are too short to be looked for. */
export function secretsOf({ headers, url }: OutgoingRequest): string[] {
  const values = [...headers].filter(([name]) => SECRET_HEADER.test(name))
    .flatMap(([, value]) => [value, value.replace(/^\S+\s+/, "")]);
  for (const [name, value] of new URL(url).searchParams) {
    if (SECRET_PARAMETER.test(name)) values.push(value);
  }
  return values.filter((value) => value.length >= MIN_SECRET_LENGTH);
}

/** A request without its secrets. */
export function redactedRequest(
  request: OutgoingRequest,
  secrets: readonly string[],
): CassetteRequest {
  const { method, url, headers, body } = request;
  const isForm = /^application\/x-www-form-urlencoded\b/.test(headers.get("content-type") ?? "");
  return {
    method,
    url: redactedUrl(url, secrets),
    headers: redactedHeaders(headers, secrets),
    ...(body.length > 0 && { body: redactedBody(body, secrets, isForm) }),
  };
}

/** Headers without their secrets. */
export function redactedHeaders(
  headers: Headers,
  secrets: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    Array.from(headers, ([name, value]) => [
      name,
      SECRET_HEADER.test(name) ? HIDDEN : redact(value, secrets),
    ]),
  );
}

/**
 * The chunks of a response's body without their secrets; the cuts stay where they were, also those within a secret.
 */
export function redactedChunks(
  chunks: readonly Uint8Array[],
  secrets: readonly string[],
): Uint8Array[] {
  const text = oneCharacterPerByte(joined(chunks));
  const searched = secrets.map((secret) => oneCharacterPerByte(new TextEncoder().encode(secret)));
  const spans = spansIn(text, searched);
  if (spans.length === 0) return [...chunks];
  let offset = 0;
  let passed = 0;
  return chunks.map((chunk) => {
    while ((spans[passed]?.end ?? Infinity) <= offset) passed++;
    const clean = withoutSpans(chunk, spans.slice(passed, passed + chunk.length), offset);
    offset += chunk.length;
    return clean;
  });
}

function redactedUrl(url: string, secrets: readonly string[]): string {
  const [, address = "", query, fragment = ""] = /^([^?#]*)(?:\?([^#]*))?(#.*)?$/.exec(url) ?? [];
  const clean = query === undefined ? "" : `?${redactedParameters(query)}`;
  return redact(address + clean + fragment, secrets);
}

function redactedParameters(query: string): string {
  return query.split("&").map((parameter) => {
    const [name = ""] = parameter.split("=", 1);
    return SECRET_PARAMETER.test(name) ? `${name}=${HIDDEN}` : parameter;
  }).join("&");
}

function redactedBody(
  bytes: Uint8Array,
  secrets: readonly string[],
  isForm: boolean,
): CassetteBody {
  const text = textOf(bytes);
  if (text === undefined) return { base64: bytes.toBase64() };
  if (isForm) return { text: redact(redactedParameters(text), secrets) };
  const json = jsonOf(text);
  if (json !== undefined) return { json: redactedJson(json, secrets) };
  return { text: hideSpans(text, spansIn(text, secrets)) };
}

function redactedJson(value: JsonValue, secrets: readonly string[]): JsonValue {
  if (typeof value === "string") return redact(value, secrets);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redactedJson(item, secrets));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      redact(name, secrets),
      typeof member === "string" && SECRET_MEMBER.test(name)
        ? HIDDEN
        : redactedJson(member, secrets),
    ]),
  );
}

function spansIn(text: string, secrets: readonly string[]): TextSpan[] {
  return secretSpans(text, secrets, [...KEY_SHAPES, ...MEMBER_SHAPES]);
}

/** A chunk that begins at `offset` of a body, without the spans of that body. */
function withoutSpans(chunk: Uint8Array, spans: readonly TextSpan[], offset: number): Uint8Array {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { start, end } of spans) {
    const first = start - offset;
    if (end <= offset) continue;
    if (first >= chunk.length) break;
    if (first >= 0) pieces.push(chunk.subarray(from, first), HIDDEN_BYTES);
    from = Math.min(end - offset, chunk.length);
  }
  return joined([...pieces, chunk.subarray(from)]);
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
