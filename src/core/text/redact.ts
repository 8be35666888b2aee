/**
 * Redacts API keys and other secrets in texts.
 *
 * @module
 */

/** Replacement of a secret. */
export const REDACTED = "[redacted]";

/** A part of a text. */
export interface TextSpan {
  /** Offset of the first character. */
  readonly start: number;
  /** Offset after the last character. */
  readonly end: number;
}

/** Shorter secrets are ignored, since they would match ordinary words. */
const MIN_SECRET_LENGTH = 4;

/** Words that are no secrets in the place of a password. */
const EXAMPLE_WORDS = [
  ...["pass", "passwd", "password", "secret", "changeme", "example", "test", "user"],
  ...["admin", "root", "guest", "postgres", "mysql"],
].join("|");

/**
 * Variables and such words: changed, code would be another one. The default of a variable can be a password, as in
 * `${PASSWORD:-default}`.
 */
const EXAMPLE_PASSWORDS = [
  `\\$\\{(?:env:)?[^{}@:=+|-]*(?::?[-=](?:${EXAMPLE_WORDS})?)?\\}`,
  "\\$(?:[A-Z_][A-Z0-9_]*|password|pass|token)",
  "\\{{1,2}[\\w.]+\\}{1,2}",
  "<[\\w-]+>",
  "%s",
  "%\\(\\w+\\)s",
  "\\*+",
  EXAMPLE_WORDS,
].join("|");

/**
 * Matches API keys of known providers and services, JSON web tokens, the token after `Bearer`, passwords in URLs and
 * private keys. A key must start at a word boundary or after an escaped newline: long opaque texts, such as encrypted
 * reasoning, contain the same prefixes by chance.
 */
export const KEY_PATTERNS: readonly RegExp[] = [
  /(?<=^|[^\w-]|\\[nrt])(?:sk-|csk-|gsk_|xai-|nvapi-|pplx-|AIza|AKIA|ASIA|ABSK|gh[oprsu]_|github_pat_|glpat-|xox[abeprs]-|[rs]k_(?:live|test)_)[\w-]{12,}/g,
  /(?<=^|[^\w-]|\\[nrt])(?:(?:ya29\.|hf_(?:oauth|jwt)_)[\w.-]{12,}|(?:hf|npm|fw)_[A-Za-z0-9]{12,})/g,
  /(?<=^|[^\w-]|\\[nrt])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /(?=\S)(?<=\bBearer\s+)(?!your[-_]|(?:authentication|authorization|credentials)\b)[A-Za-z0-9._~+/=-]{8,}/gi,
  new RegExp(`(?<=:\\/\\/[^\\s/?#:@"']*:)(?!(?:${EXAMPLE_PASSWORDS})@)[^\\s/?#@"']+(?=@)`, "g"),
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*?(?:-----END [A-Z ]*PRIVATE KEY-----|(?=")|$)/g,
];

/** Replaces the given secrets and everything that looks like a key with {@linkcode REDACTED}. */
export function redact(text: string, secrets: readonly string[] = []): string {
  return redactSpans(text, findSecrets(text, secrets));
}

/**
 * Finds the given secrets and the matches of `patterns`; overlapping spans are merged, in order of their offsets.
 * Secrets of less than 4 characters are ignored.
 */
export function findSecrets(
  text: string,
  secrets: readonly string[] = [],
  patterns: readonly RegExp[] = KEY_PATTERNS,
): TextSpan[] {
  const spans: TextSpan[] = [];
  for (const secret of secrets) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    for (let start = text.indexOf(secret); start >= 0;) {
      const end = start + secret.length;
      spans.push({ start, end });
      start = text.indexOf(secret, end);
    }
  }
  for (const pattern of patterns) {
    for (const { index, 0: match } of text.matchAll(pattern)) {
      spans.push({ start: index, end: index + match.length });
    }
  }
  return mergeSpans(spans);
}

/** Replaces each span with {@linkcode REDACTED}; the spans must be ordered and disjoint. */
export function redactSpans(text: string, spans: readonly TextSpan[]): string {
  if (spans.length === 0) return text;
  let redacted = "";
  let offset = 0;
  for (const { start, end } of spans) {
    redacted += text.slice(offset, start) + REDACTED;
    offset = end;
  }
  return redacted + text.slice(offset);
}

function mergeSpans(spans: readonly TextSpan[]): TextSpan[] {
  const merged: TextSpan[] = [];
  for (const span of spans.toSorted((left, right) => left.start - right.start)) {
    const last = merged.at(-1);
    if (!last || span.start >= last.end) merged.push(span);
    else if (span.end > last.end) merged[merged.length - 1] = { start: last.start, end: span.end };
  }
  return merged;
}
