/**
 * Keeps keys out of messages.
 *
 * @module
 */

const HIDDEN = "[redacted]";

/** Keys as providers shape them, and what stands behind `Bearer`. */
const KEY_SHAPES = [
  /\b(?:sk-|gsk_|xai-|hf_|AIza|AKIA|ASIA|ABSK)[A-Za-z0-9_-]{12,}/g,
  /\b(Bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
];

/** Hides the given secrets, and whatever looks like a key, in a text. */
export function redact(text: string, secrets: readonly string[] = []): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret.length >= 4) clean = clean.replaceAll(secret, HIDDEN);
  }
  for (const shape of KEY_SHAPES) {
    clean = clean.replace(
      shape,
      (_match, keep: unknown) => typeof keep === "string" ? keep + HIDDEN : HIDDEN,
    );
  }
  return clean;
}
