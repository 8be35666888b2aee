/**
 * Secrets of a request, to redact from errors and warnings.
 *
 * @module
 */

import { encodeBase64 } from "../../../src/core/text/byte_encoding.ts";
import { decodePercentEncoded } from "../../../src/core/text/percent_encoding.ts";

/** Headers that never contain a secret. */
const PUBLIC_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "anthropic-beta",
  "anthropic-version",
  "cache-control",
  "connection",
  "content-length",
  "content-type",
  "date",
  "host",
  "http-referer",
  "origin",
  "referer",
  "traceparent",
  "user-agent",
  "x-grok-conv-id",
  "x-title",
]);

/** Matches names of headers whose values are secrets of any form. */
const SECRET_NAME = /auth|key|token|secret|cookie|pass|credential|signature|session|jwt/i;

/** Shorter values of other headers are words, flags and numbers. */
const MIN_LENGTH = 8;

/** Returns the values of all headers that may contain a secret, with and without a scheme such as `Bearer`. */
export function findHeaderSecrets(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (PUBLIC_HEADERS.has(name.toLowerCase())) return [];
    const secrets = [value.trim(), value.trim().replace(/^\S+\s+/, "")];
    if (/cookie/i.test(name)) secrets.push(...value.split(/[=;,\s]+/));
    return SECRET_NAME.test(name) ? secrets : secrets.filter(({ length }) => length >= MIN_LENGTH);
  });
}

/**
 * Returns user name, password and the values of the query of a URL except dates, as in the URL and decoded; also name and
 * password as the header in which `fetch` sends them.
 */
export function findUrlSecrets(url: string): string[] {
  if (!/[?@]/.test(url) || !URL.canParse(url)) return [];
  const { username, password, search, searchParams } = new URL(url);
  const encoded = search.slice(1).split("&").map((part) => part.slice(part.indexOf("=") + 1));
  const decoded = [
    decodePercentEncoded(username),
    decodePercentEncoded(password),
    ...searchParams.values(),
  ];
  const basic = encodeBase64(
    new TextEncoder().encode(`${decodePercentEncoded(username)}:${decodePercentEncoded(password)}`),
  );
  return [username, password, basic, ...encoded, ...decoded].filter((secret) =>
    secret.length >= MIN_LENGTH && !/^\d{4}-\d\d-\d\d/.test(secret)
  );
}

/** Returns secrets in all forms in which a server may repeat them: as they are, in a URL, a form, JSON and Base64. */
export function addEncodedForms(secrets: readonly string[]): string[] {
  const forms = secrets.map((secret) => secret.toWellFormed()).flatMap((secret) => {
    const inUrl = encodeURIComponent(secret);
    const inForm = new URLSearchParams({ "": secret }).toString().slice(1);
    const inJson = JSON.stringify(secret).slice(1, -1);
    const forms = [inUrl, useLowerHex(inUrl), inForm, inJson, inJson.replaceAll("/", "\\/")];
    return secret.length < MIN_LENGTH ? forms : [...forms, ...toBase64Forms(secret)];
  });
  return [...new Set([...secrets, ...forms])];
}

/** Returns a secret in both alphabets, without the padding that may be missing. */
function toBase64Forms(secret: string): string[] {
  const encoded = encodeBase64(new TextEncoder().encode(secret)).replace(/=+$/, "");
  return [encoded, encoded.replaceAll("+", "-").replaceAll("/", "_")];
}

function useLowerHex(encoded: string): string {
  return encoded.replace(/%../g, (code) => code.toLowerCase());
}
