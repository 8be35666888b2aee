/**
 * Keeps keys out of what is told and kept.
 *
 * @module
 */

/** Stands where a secret was. */
export const REDACTED = "[redacted]";

/** A part of a text, from its first character to behind its last. */
export interface TextSpan {
  /** Where it begins. */
  readonly start: number;
  /** Where it is over. */
  readonly end: number;
}

/** A secret that is shorter would hide half of every text. */
const MIN_SECRET_LENGTH = 4;

/**
 * Keys as providers shape them, JSON web tokens, and what stands behind `Bearer`. A key begins where a word does, also
 * behind the escape of a line end: long opaque texts, such as encrypted reasoning, hold the same letters by chance.
 */
export const KEY_PATTERNS: readonly RegExp[] = [
  /(?<=^|[^\w-]|\\[nrt])(?:sk-|gsk_|xai-|hf_|AIza|AKIA|ASIA|ABSK|gh[opsu]_|github_pat_)[\w-]{12,}/g,
  /(?<=^|[^\w-]|\\[nrt])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /(?<=\bBearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
];

/** Hides the given secrets, and whatever looks like a key, in a text. */
export function redact(text: string, secrets: readonly string[] = []): string {
  return redactSpans(text, findSecrets(text, secrets));
}

/** Where a text holds the given secrets, or something of the shape of a key; in order, and apart from each other. */
export function findSecrets(
  text: string,
  secrets: readonly string[] = [],
  shapes: readonly RegExp[] = KEY_PATTERNS,
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
  for (const shape of shapes) {
    for (const { index, 0: match } of text.matchAll(shape)) {
      spans.push({ start: index, end: index + match.length });
    }
  }
  return mergeSpans(spans);
}

/** Puts {@linkcode REDACTED} in the place of each span. */
export function redactSpans(text: string, spans: readonly TextSpan[]): string {
  if (spans.length === 0) return text;
  let clean = "";
  let from = 0;
  for (const { start, end } of spans) {
    clean += text.slice(from, start) + REDACTED;
    from = end;
  }
  return clean + text.slice(from);
}

function mergeSpans(spans: readonly TextSpan[]): TextSpan[] {
  const apart: TextSpan[] = [];
  for (const span of spans.toSorted((one, other) => one.start - other.start)) {
    const last = apart.at(-1);
    if (!last || span.start >= last.end) apart.push(span);
    else if (span.end > last.end) apart[apart.length - 1] = { start: last.start, end: span.end };
  }
  return apart;
}
