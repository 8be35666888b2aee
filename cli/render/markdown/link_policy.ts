/**
 * Links in text of models: which addresses become links, and when the address is shown.
 *
 * @module
 */

/** Schemes of addresses that become links. */
const SCHEME = /^(?:https?:\/\/|mailto:|file:\/\/)/i;

/** Matches the addresses in a text. Punctuation of East Asian texts ends them, which have no spaces behind it. */
const ADDRESSES =
  /\bhttps?:\/\/[^\s<>"'`|\\^{}\u3001-\u3003\u3008-\u3020\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+/gi;

/** Matches a text whose end is part of an address, or may become one. */
const OPEN_ADDRESS = new RegExp(`${ADDRESSES.source.replace(/\+$/, "*")}$`, "i");

/** Punctuation at the end of an address that belongs to the sentence. */
const TRAILING = /[.,;:!?*_~'")\]}…。，]$/;

/** Matches characters that a terminal does not show. */
const INVISIBLE = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Matches spaces and punctuation around a text. */
const SURROUNDING = /^[\s"'(<[{]+|(?<![\s.,;:!?"')>\]}])[\s.,;:!?"')>\]}]+$/g;

/** Longest address that becomes a link. */
const MAX_LENGTH = 2_000;

/** Returns the address of a link in ASCII; `undefined` if it does not become a link. */
export function getLinkTarget(address: string): string | undefined {
  if (!SCHEME.test(address) || address.length > MAX_LENGTH) return undefined;
  try {
    const { href } = new URL(address);
    return /^[!-~]+$/.test(href) ? href : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a text shows where its link leads, so that the address need not follow: it is the address, with or without its
 * scheme, or no address at all on a terminal that shows the address of a link.
 */
export function showsTarget(
  text: string,
  { target, hasLinks }: { readonly target: string; readonly hasLinks: boolean },
): boolean {
  if (simplify(text) === simplify(target)) return true;
  return hasLinks && !looksLikeAddress(text);
}

/** Whether a text could be taken for an address, such as `example.org/login`. */
function looksLikeAddress(text: string): boolean {
  if (text.length > MAX_LENGTH) return true;
  const shown = text.replace(INVISIBLE, "").replace(SURROUNDING, "");
  return /^(?:[a-z][a-z0-9+.-]*:\/\/|www\.)|^[^\s/@]+\.[a-z]{2,}(?:[/:?#]\S*)?$/i.test(shown);
}

function simplify(address: string): string {
  return address.trim().replace(/^(?:https?:\/\/|mailto:|file:\/\/)/i, "").replace(/\/$/, "")
    .toLowerCase();
}

/** A part of a text: an address or what is between addresses. */
export interface TextPart {
  /** The text. */
  readonly text: string;
  /** The address that it is. */
  readonly target?: string;
}

/** Splits a text at the addresses that it contains. */
export function splitAddresses(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: match, index } of text.matchAll(ADDRESSES)) {
    const address = trimAddress(match);
    const target = getLinkTarget(address);
    if (!target) continue;
    parts.push({ text: text.slice(end, index) }, { text: address, target });
    end = index + address.length;
  }
  parts.push({ text: text.slice(end) });
  return parts.filter((part) => part.text !== "");
}

/** Whether the end of a text is part of an address that more text could make longer. */
export function endsInAddress(text: string): boolean {
  return OPEN_ADDRESS.test(text);
}

/** Removes punctuation behind an address, except a parenthesis that it opens itself. */
function trimAddress(address: string): string {
  let end = address.length;
  // No punctuation that is removed opens a parenthesis.
  const opened = count(address, "(");
  let closed = count(address, ")");
  for (; end > 0 && TRAILING.test(address[end - 1] ?? ""); end--) {
    if (address[end - 1] !== ")") continue;
    if (opened >= closed) break;
    closed--;
  }
  return address.slice(0, end);
}

function count(text: string, character: string): number {
  return text.split(character).length - 1;
}
