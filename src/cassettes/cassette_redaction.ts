/**
 * Removes keys, tokens and cookies from exchanges.
 *
 * @module
 */

import type { JsonValue } from "../core/json/json.ts";
import { parseJsonOrUndefined } from "../core/json/parse_json.ts";
import { encodeBase64 } from "../core/text/byte_encoding.ts";
import {
  findSecrets,
  KEY_PATTERNS,
  redact,
  REDACTED,
  redactSpans,
  type TextSpan,
} from "../core/text/redact.ts";
import type { CassetteBody, CassetteRequest } from "./cassette.ts";
import { decodeLatin1, decodeUtf8 } from "./cassette_bytes.ts";
import type { OutgoingRequest } from "./cassette_request.ts";

/** Matches names of headers that carry a secret or identify an account. */
const SECRET_HEADER =
  /(?:^|[-_])(?:auth|authentication|authorization|cookie2?|key|apikey|token|secret|pass|password|signature|credential|session|jwt|organization)(?:[-_]|$)/i;

/** Matches names of query and form parameters that carry a secret. */
const SECRET_PARAMETER =
  /^(?:key|auth|authorization|api[-_]?key|api[-_]?token|access[-_]?key|(?:access|refresh|id|session|auth|subject|actor)[-_]?token|token|private[-_]token|subscription[-_]key|jwt|sig|signature|client_?secret|secret|pass|passwd|password|passphrase|pwd|code|code_verifier|device_code|(?:client_)?assertion|x-(?:amz|goog)-(?:signature|credential|security-token))$/i;

const SECRET_MEMBER_NAMES =
  "(?:x-)?(?:api|access|private|secret)[-_]?key|(?:api|access|refresh|id|session|auth|authorization|bearer|bot|subject)[-_]?token|client[-_]?secret|secret[-_]?access[-_]?key|passw(?:or)?d|passphrase|pwd|authorization";
/** Names of members that may also hold short values without a secret, such as a token of a text. */
const TOKEN_MEMBER_NAMES = "token|secret|auth|bearer|jwt";
/** Minimum length of a secret in such a member. */
const MIN_TOKEN_LENGTH = 8;
/** Variables of an environment, as in the configuration of an MCP server. */
const VARIABLE_NAMES = "[A-Z0-9_]*_(?:TOKEN|SECRET|PASSWORD|(?:API|ACCESS|SECRET|PRIVATE)_?KEY)";
/** Value of such a member that is no reference to another variable, such as `${TOKEN}`, and no example. */
const VARIABLE_VALUE = `(?!\\$[{A-Z_]|[{<]|your[-_]|YOUR_)[^\\s"\\\\]{${MIN_TOKEN_LENGTH},}`;
/** Members such as `db_password` and `smtpPassword`, as in the configuration of a program. */
const PREFIXED_NAMES = [
  `(?!(?:change|forgot|reset|update)[-_])[a-z0-9][a-z0-9_-]*[-_](?:${SECRET_MEMBER_NAMES}|secret)`,
  "(?!(?:change|forgot|reset|update)[A-Z])[A-Za-z][A-Za-z0-9]*(?:Passw(?:or)?d|Passphrase|Secret|(?:Api|Access|Secret|Private)Key|(?:Access|Auth|Refresh|Session)Token)",
].join("|");
/** Value of such a member that is neither a short word, which describes the member, nor a path. */
const PREFIXED_VALUE = `(?!\\$[{a-z]|[./]|[a-z]{1,15}")${VARIABLE_VALUE}`;
const REDACTED_BYTES = new TextEncoder().encode(REDACTED);

const SECRET_MEMBER = new RegExp(`^(?:${SECRET_MEMBER_NAMES})$`, "i");
const TOKEN_MEMBER = new RegExp(`^(?:${TOKEN_MEMBER_NAMES})$`, "i");
const VARIABLE_MEMBER = new RegExp(`^${VARIABLE_NAMES}$`);
const SECRET_VALUE = new RegExp(`^${VARIABLE_VALUE}$`);
const PREFIXED_MEMBER = new RegExp(`^(?:${PREFIXED_NAMES})$`);
const PREFIXED_SECRET = new RegExp(`^${PREFIXED_VALUE}"$`);
const SECRET_MEMBER_PATTERNS = [
  createMemberPattern(SECRET_MEMBER_NAMES, 1),
  createMemberPattern(TOKEN_MEMBER_NAMES, MIN_TOKEN_LENGTH),
  new RegExp(`(?<="${VARIABLE_NAMES}"\\s*:\\s*")${VARIABLE_VALUE}(?=")`, "g"),
  new RegExp(`(?<="(?:${PREFIXED_NAMES})"\\s*:\\s*")${PREFIXED_VALUE}(?=")`, "g"),
];

/** Creates the pattern of the values of members with some names in JSON. */
function createMemberPattern(names: string, minLength: number): RegExp {
  return new RegExp(`(?<="(?:${names})"\\s*:\\s*")(?:[^"\\\\]|\\\\.){${minLength},}`, "gi");
}

/** Minimum length of a secret; shorter values are placeholders, such as "test", and are not searched for in texts. */
const MIN_SECRET_LENGTH = 8;

/**
 * Matches words, which are placeholders, such as `anything`, where a gateway or a server needs no key: of texts that have the
 * word, the recording would be another one than what a replay with another key sends.
 */
const PLACEHOLDER = /^(?=.{1,15}$)(?:[a-z]+(?:[-_][a-z]+)*|[A-Z]+(?:[-_][A-Z]+)*)$/;

/**
 * Extracts the secrets from the headers and the query of a request, except values shorter than 8 characters, and words in
 * headers.
 */
export function extractSecrets({ headers, url }: OutgoingRequest): string[] {
  const values = [...headers].filter(([name]) => SECRET_HEADER.test(name))
    .map(([, value]) => value).filter((value) => !PLACEHOLDER.test(removeScheme(value)))
    .flatMap((value) => [value, removeScheme(value)]);
  const { username, password, searchParams } = new URL(url);
  values.push(username, password);
  for (const [name, value] of searchParams) {
    if (SECRET_PARAMETER.test(name)) values.push(value);
  }
  return values.filter((value) => value.length >= MIN_SECRET_LENGTH);
}

function removeScheme(value: string): string {
  return value.replace(/^\S+\s+/, "");
}

/** Returns secrets in all forms in which they may occur: as they are, in a URL, in a form, and in a text of JSON. */
export function addEncodedForms(secrets: readonly string[]): string[] {
  const forms = secrets.map((secret) => secret.toWellFormed()).flatMap((secret) => [
    encodeURIComponent(secret),
    new URLSearchParams({ "": secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
  ]);
  return [...new Set([...secrets, ...forms])];
}

/** Replaces the secrets of a request, and the boundary of a form with files, which is random. */
export function redactRequest(
  request: OutgoingRequest,
  secrets: readonly string[],
): CassetteRequest {
  const { method, url, headers, body } = request;
  const contentType = headers.get("content-type") ?? "";
  const isForm = /^application\/x-www-form-urlencoded\b/.test(contentType);
  const [, boundary] = /^multipart\/form-data\b.*\bboundary="?([^\s";]+)/i.exec(contentType) ?? [];
  const replaced = boundary === undefined ? secrets : [...secrets, boundary];
  return {
    method,
    url: redactUrl(url, secrets),
    headers: redactHeaders(headers, replaced),
    ...(body.length > 0 && { body: redactBody(body, replaced, isForm) }),
  };
}

/** Replaces the secrets in headers. */
export function redactHeaders(
  headers: Headers,
  secrets: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    Array.from(headers, ([name, value]) => {
      if (SECRET_HEADER.test(name)) return [name, REDACTED];
      return [name, name === "location" ? redactUrl(value, secrets) : redact(value, secrets)];
    }),
  );
}

/** Replaces the secrets in the chunks of a response, even across chunks. Keeps the number of chunks. */
export function redactChunks(
  chunks: readonly Uint8Array[],
  secrets: readonly string[],
): Uint8Array[] {
  const text = decodeLatin1(concatBytes(chunks));
  const encodedSecrets = secrets.map((secret) => decodeLatin1(new TextEncoder().encode(secret)));
  const spans = findBodySecrets(text, encodedSecrets);
  if (spans.length === 0) return [...chunks];
  let offset = 0;
  let first = 0;
  return chunks.map((chunk) => {
    while ((spans[first]?.end ?? Infinity) <= offset) first++;
    const redacted = redactChunk(chunk, spans.slice(first, first + chunk.length), offset);
    offset += chunk.length;
    return redacted;
  });
}

function redactUrl(url: string, secrets: readonly string[]): string {
  const [, base = "", query, hash] = /^([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/.exec(url) ?? [];
  const search = query === undefined ? "" : `?${redactParameters(query)}`;
  const fragment = hash === undefined ? "" : `#${redactParameters(hash)}`;
  // A user name without a password is usually a key.
  const origin = base.replace(/^([a-z][\w+.-]*:\/\/)[^/@]*@/i, `$1${REDACTED}@`);
  return redact(origin + search + fragment, secrets);
}

function redactParameters(query: string): string {
  return query.split("&").map((parameter) => {
    const [name = ""] = parameter.split("=", 1);
    return SECRET_PARAMETER.test(name) ? `${name}=${REDACTED}` : parameter;
  }).join("&");
}

function redactBody(
  bytes: Uint8Array,
  secrets: readonly string[],
  isForm: boolean,
): CassetteBody {
  const text = decodeUtf8(bytes);
  if (text === undefined) {
    const [redacted = bytes] = redactChunks([bytes], secrets);
    return { base64: encodeBase64(redacted) };
  }
  if (isForm) return { text: redact(redactParameters(text), secrets) };
  const json = parseJsonOrUndefined(text) as JsonValue | undefined;
  if (json !== undefined) return { json: redactJson(json, secrets) };
  return { text: redactSpans(text, findBodySecrets(text, secrets)) };
}

function redactJson(value: JsonValue, secrets: readonly string[]): JsonValue {
  // A text can be a file of JSON that a tool has read.
  if (typeof value === "string") return redactSpans(value, findBodySecrets(value, secrets));
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redactJson(item, secrets));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      redact(name, secrets),
      typeof member === "string" && isSecretMember(name, member)
        ? REDACTED
        : redactJson(member, secrets),
    ]),
  );
}

function isSecretMember(name: string, value: string): boolean {
  return SECRET_MEMBER.test(name) ||
    (TOKEN_MEMBER.test(name) && value.length >= MIN_TOKEN_LENGTH) ||
    (VARIABLE_MEMBER.test(name) && SECRET_VALUE.test(value)) ||
    (PREFIXED_MEMBER.test(name) && PREFIXED_SECRET.test(`${value}"`));
}

function findBodySecrets(text: string, secrets: readonly string[]): TextSpan[] {
  return findSecrets(text, secrets, [...KEY_PATTERNS, ...SECRET_MEMBER_PATTERNS]);
}

/** Replaces spans of a body in its chunk that begins at `offset`. */
function redactChunk(chunk: Uint8Array, spans: readonly TextSpan[], offset: number): Uint8Array {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { start, end } of spans) {
    const first = start - offset;
    if (end <= offset) continue;
    if (first >= chunk.length) break;
    if (first >= 0) pieces.push(chunk.subarray(from, first), REDACTED_BYTES);
    from = Math.min(end - offset, chunk.length);
  }
  return concatBytes([...pieces, chunk.subarray(from)]);
}

function concatBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const piece of pieces) {
    bytes.set(piece, offset);
    offset += piece.length;
  }
  return bytes;
}
