/**
 * Encoding of tool names and call ids for providers that accept few characters.
 *
 * @module
 */

/** Names that a provider accepts. */
export interface NameRule {
  /** Matches each forbidden character; needs the `g` flag. */
  readonly forbidden: RegExp;
  /** Longest name, in characters. */
  readonly maxLength: number;
}

/** Rule of most providers for tool names. */
export const TOOL_NAME_RULE: NameRule = { forbidden: /[^A-Za-z0-9_-]/g, maxLength: 64 };

/** Rule of most providers for the ids of tool calls. */
export const CALL_ID_RULE: NameRule = { forbidden: /[^A-Za-z0-9_-]/g, maxLength: 64 };

/** Length of the hash that makes a changed name unique. */
const HASH_LENGTH = 8;

/**
 * Returns the name if the provider accepts it, else an accepted form that ends with a hash of the name. The same name
 * always has the same form, and different names have different forms.
 */
export function toWireName(name: string, { forbidden, maxLength }: NameRule): string {
  const accepted = name.replace(forbidden, "_");
  if (accepted === name && name !== "" && name.length <= maxLength) return name;
  return `${accepted.slice(0, maxLength - HASH_LENGTH - 1)}_${hashText(name, HASH_LENGTH)}`;
}

/** Creates a function that maps the results of `toWireName()` back to `names`, and returns other names unchanged. */
export function createNameDecoder(
  names: Iterable<string>,
  rule: NameRule,
): (name: string) => string {
  const originals = new Map<string, string>();
  for (const name of names) {
    const wireName = toWireName(name, rule);
    if (wireName !== name) originals.set(wireName, name);
  }
  return originals.size === 0 ? (name) => name : (name) => originals.get(name) ?? name;
}

/** Returns a hash of `length` characters in `[a-z0-9]`: two FNV-1a hashes with different seeds. */
export function hashText(text: string, length: number): string {
  const digits = [0x811c9dc5, 0x050c5d1f].map((seed) =>
    fnv1a(text, seed).toString(36).padStart(7, "0")
  );
  return digits.join("").slice(-length).padStart(length, "0");
}

function fnv1a(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
