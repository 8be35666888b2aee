/**
 * The words that the project's code, comments and messages avoid, and what to write instead.
 *
 * @module
 */

/** Location of a word: in a name, a comment, or a string or template. */
export type WordKind = "identifier" | "comment" | "text";

/** A word or phrase that is not plain technical English. */
export interface BannedWord {
  /** Source of a regular expression without capturing groups, matched as complete words, without regard to case. */
  pattern: string;
  in: readonly WordKind[];
  /** The replacement, shown as a hint. */
  instead: string;
}

/** An occurrence of a banned word in a text. */
export interface BannedWordMatch {
  /** The matched words as written. */
  word: string;
  /** Offset in the text. */
  index: number;
  instead: string;
}

const everywhere = ["identifier", "comment", "text"] as const;
const prose = ["comment", "text"] as const;
const code = ["identifier", "comment"] as const;

/** All banned words. Identifiers are matched as lower-case words: `whatWaits` is "what waits". */
export const BANNED_WORDS: readonly BannedWord[] = [
  // Speech
  { pattern: "told|tells|untold", in: everywhere, instead: "emit, report, notify or call with" },
  { pattern: "tell|telling", in: code, instead: "emit, report, notify or distinguish" },
  { pattern: "heard|unheard", in: everywhere, instead: "received, delivered or handled" },
  { pattern: "said|says|say|saying|sayable", in: code, instead: "emit, send, state or require" },
  { pattern: "spoken", in: code, instead: "scripted or sent" },
  { pattern: "speaks?", in: ["comment"], instead: "use or implement (a protocol)" },
  { pattern: "fell silent|falls silent", in: prose, instead: "received no data for" },

  // Persons
  { pattern: "whoever", in: everywhere, instead: "the caller, or the part that does it" },
  { pattern: "nobody|no one", in: everywhere, instead: "no caller, no listener or none" },
  { pattern: "somebody|someone", in: everywhere, instead: "a caller, a listener or the user" },
  { pattern: "strangers?", in: everywhere, instead: "unauthorized, foreign or unknown" },
  { pattern: "polic(?:e|ed|es|ing)", in: everywhere, instead: "check or apply (policies)" },
  { pattern: "wish|wishes|wished", in: everywhere, instead: "options, selection or request" },
  { pattern: "thoughtless", in: everywhere, instead: "without thinking" },
  { pattern: "breathes?|breathing", in: everywhere, instead: "yield" },

  // Metaphors
  { pattern: "houses?", in: code, instead: "project" },
  { pattern: "roofs?", in: code, instead: "command line, program or top layer" },
  { pattern: "cellars?", in: code, instead: "lowest layer" },
  { pattern: "staircases?|stairs", in: code, instead: "layers" },
  { pattern: "guests?", in: code, instead: "client, caller or sandboxed process" },
  { pattern: "(?<!math\\.)floors?", in: code, instead: "layer or minimum" },
  { pattern: "rooms?", in: code, instead: "module, capacity or space" },
  { pattern: "doors?", in: code, instead: "public module, entry point" },
  { pattern: "circles?", in: code, instead: "cycle" },
  { pattern: "lifetime of another|in another life", in: prose, instead: "in an earlier process" },
  { pattern: "strays?", in: everywhere, instead: "orphans" },
  { pattern: "opaque mark", in: prose, instead: "opaque token" },
  { pattern: "hangs? (?:on|from)", in: prose, instead: "is a child of, or depends on" },
  { pattern: "after its model", in: prose, instead: "compatible" },

  // One spelling per thing
  { pattern: "folders?|subfolders?", in: everywhere, instead: "directory" },
  { pattern: "mend|mends|mended|mending|mender|unmended", in: everywhere, instead: "repair" },
  { pattern: "likeness", in: everywhere, instead: "similarity" },
  { pattern: "learnt", in: everywhere, instead: "loaded, read or detected" },

  // Words and phrases of another register
  { pattern: "anew", in: everywhere, instead: "again, or a new one" },
  { pattern: "lest", in: everywhere, instead: "so that … not" },
  { pattern: "beside", in: everywhere, instead: "next to, in addition to" },
  { pattern: "thereby", in: everywhere, instead: "which, or a new sentence" },
  { pattern: "stands? for|stood for", in: everywhere, instead: "represents, or replaces" },
  { pattern: "(?:goes|go|going|went) on", in: ["comment"], instead: "continues" },
  {
    pattern: "(?:is|are|be|becomes?|made|a) void",
    in: ["comment"],
    instead: "invalid, or no longer",
  },
  { pattern: "puts? (?:\\w+ ){1,4}right", in: prose, instead: "correct or replace" },
  { pattern: "left behind", in: prose, instead: "detached, or did not settle" },
  { pattern: "cannot be meant", in: prose, instead: "is invalid" },
  { pattern: "(?:lost|loses) its way", in: prose, instead: "malformed output" },
  { pattern: "dearest|dearer", in: everywhere, instead: "most expensive" },
  { pattern: "room to think", in: prose, instead: "thinking budget" },

  // Shapes of names
  { pattern: "^what(?= [a-z])", in: ["identifier"], instead: "a noun, or a verb on its object" },
  {
    pattern: "(?<=[a-z] )of$",
    in: ["identifier"],
    instead: "a verb: get…, to…, parse…, resolve…",
  },
];

/** Names of the platform, of JSON Schema and of libraries that match a pattern above. */
const ALLOWED_IDENTIFIERS = new Set([
  "allOf",
  "anyOf",
  "assertInstanceOf",
  "assertNotInstanceOf",
  "getPrototypeOf",
  "indexOf",
  "instanceOf",
  "isPrototypeOf",
  "lastIndexOf",
  "maxOf",
  "minOf",
  "multipleOf",
  "oneOf",
  "setPrototypeOf",
  "sumOf",
  "valueOf",
]);

const wordsByKind: Record<WordKind, { words: BannedWord[]; pattern: RegExp }> = {
  identifier: compilePatterns("identifier"),
  comment: compilePatterns("comment"),
  text: compilePatterns("text"),
};

/** Finds the banned words in a comment or a text. */
export function findBannedWords(kind: "comment" | "text", text: string): BannedWordMatch[] {
  return matchAll(kind, text);
}

/** Finds the first banned word in a name. */
export function findBannedName(name: string): BannedWordMatch | undefined {
  if (ALLOWED_IDENTIFIERS.has(name)) return undefined;
  return matchAll("identifier", splitIdentifier(name))[0];
}

/** Splits a name into lower-case words: `#readHTTPBody2` gives "read http body 2". */
export function splitIdentifier(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])|([A-Z])(?=[A-Z][a-z])|([A-Za-z])(?=\d)/g, "$1$3$4 $2")
    .replaceAll(/[^A-Za-z\d]+/g, " ")
    .trim()
    .toLowerCase();
}

function compilePatterns(kind: WordKind): { words: BannedWord[]; pattern: RegExp } {
  const words = BANNED_WORDS.filter((word) => word.in.includes(kind));
  const alternatives = words.map(({ pattern }) => `(${pattern})`).join("|");
  return { words, pattern: new RegExp(`(?<![a-z])(?:${alternatives})(?![a-z])`, "gi") };
}

function matchAll(kind: WordKind, text: string): BannedWordMatch[] {
  const { words, pattern } = wordsByKind[kind];
  return Array.from(text.matchAll(pattern), (match) => {
    const group = match.slice(1).findIndex((value) => value !== undefined);
    const instead = words[group]?.instead ?? "";
    return { word: match[0].trim(), index: match.index, instead };
  });
}
