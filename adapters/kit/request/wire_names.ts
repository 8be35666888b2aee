/**
 * Tool names and call ids that a provider accepts, and back.
 *
 * @module
 */

/** What a provider accepts. */
export interface NameRule {
  /** Matches every character that must not occur; global. */
  readonly forbidden: RegExp;
  /** Most characters. */
  readonly maxLength: number;
}

/** The rule that most providers have for tool names. */
export const TOOL_NAME_RULE: NameRule = { forbidden: /[^A-Za-z0-9_-]/g, maxLength: 64 };

/** The rule that most providers have for the ids of tool calls. */
export const CALL_ID_RULE: NameRule = { forbidden: /[^A-Za-z0-9_-]/g, maxLength: 64 };

/** Length of what makes a changed name unique. */
const HASH_LENGTH = 8;

/**
 * The name as it is when the provider accepts it; else a legal one that is always the same for the same name, and
 * another for every other.
 */
export function toWireName(name: string, { forbidden, maxLength }: NameRule): string {
  const legal = name.replace(forbidden, "_");
  if (legal === name && name !== "" && name.length <= maxLength) return name;
  return `${legal.slice(0, maxLength - HASH_LENGTH - 1)}_${hashText(name, HASH_LENGTH)}`;
}

/** Reads the tool names of a reply: what a provider was told becomes the tool's own name again. */
export function createNameDecoder(
  names: Iterable<string>,
  rule: NameRule,
): (name: string) => string {
  const originals = new Map<string, string>();
  for (const name of names) {
    const onWire = toWireName(name, rule);
    if (onWire !== name) originals.set(onWire, name);
  }
  return originals.size === 0 ? (name) => name : (name) => originals.get(name) ?? name;
}

/** A short text of `[a-z0-9]` that stands for another; FNV-1a, twice with different beginnings. */
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
