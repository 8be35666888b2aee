/**
 * Globs: `*`, `?`, `[a-z]` and `{a,b}` within a name, `**` across directories.
 *
 * A glob of a model, or of an ignore file, is matched in linear time, as often as it repeats `*` and `**`. Libraries
 * translate these to repetitions that backtrack: `*a*a*a*a*a*b` then takes minutes on a long name. Here each part
 * between two repetitions is matched where it first occurs, which is always right, and never again: a lookahead with a
 * reference to its group, JavaScript's form of an atomic group.
 *
 * @module
 */

/** Whether a relative path with `/` separators matches. */
export type PathMatcher = (path: string) => boolean;

/** Maximum length of a glob in characters. */
const MAX_CHARACTERS = 4_096;

/** Maximum number of globs that the braces of one represent, and their length in characters. */
const MAX_ALTERNATIVES = 1_000;
const MAX_EXPANDED_CHARACTERS = 100_000;

/** A character with a meaning in globs. */
export const GLOB_CHARACTER = /[*?[\]{}\\!]/;

/** Returns the glob that matches a path alone. */
export function escapeGlob(path: string): string {
  return path.replace(/[*?[\]{}\\!]/g, "\\$&");
}

/**
 * Compiles a glob. Without `/` it matches names in any directory, with `/` the complete path.
 *
 * @throws {RangeError} When the glob is longer than 4,096 characters or has more than 1,000 alternatives.
 */
export function compileGlob(glob: string): PathMatcher {
  return compileGlobs([glob]);
}

/** Compiles globs into one matcher for paths that match any of them. @throws {RangeError} As {@linkcode compileGlob}. */
export function compileGlobs(globs: readonly string[]): PathMatcher {
  if (globs.length === 0) return () => false;
  const groups = new GroupNames();
  const inAnyDirectory: string[] = [];
  const fromRoot: string[] = [];
  for (const glob of globs.flatMap(expandBraces)) {
    const segments = parseSegments(glob.includes("/") ? glob.replace(/^\.?\//, "") : `**/${glob}`);
    const [first, ...rest] = segments;
    const startsAnywhere = first === GLOBSTAR && rest.length > 0 && rest[0] !== GLOBSTAR;
    if (startsAnywhere) inAnyDirectory.push(toSource(rest, groups));
    else fromRoot.push(toSource(segments, groups));
  }
  // The directories before a name are matched once for all globs.
  if (inAnyDirectory.length > 0) fromRoot.push(`${DIRECTORIES}(?:${inAnyDirectory.join("|")})`);
  const expression = new RegExp(`^(?:${fromRoot.join("|")})$`, "su");
  return (path) => expression.test(path);
}

/**
 * Returns the source of a regular expression, with the flags `su`, for a glob without braces.
 *
 * @throws {RangeError} When the glob is longer than 4,096 characters.
 */
export function toGlobSource(glob: string): string {
  assertLength(glob);
  return toSource(parseSegments(glob), new GroupNames());
}

/** Zero or more directories. */
const DIRECTORIES = "(?:[^/]+/)*";

/** A segment `**`. */
const GLOBSTAR = "**";

/** A segment between two `/`: the sources of its parts between `*`, or a globstar. */
type Segment = typeof GLOBSTAR | readonly string[];

class GroupNames {
  #count = 0;

  /** Returns an expression that matches where `source` first matches, and does not backtrack into it. */
  toAtomic(source: string): string {
    const name = `g${this.#count++}`;
    return `(?=(?<${name}>${source}))\\k<${name}>`;
  }
}

function toSource(segments: readonly Segment[], groups: GroupNames): string {
  const blocks = splitAtGlobstars(segments).map((block) =>
    block.map((segment) => toSegmentSource(segment, groups)).join("/")
  );
  const [first = "", ...others] = blocks;
  const last = others.pop();
  if (last === undefined) return first;
  const middle = others.map((block) => groups.toAtomic(`(?:[^/]+/)*?${block}/`)).join("");
  const endsWithGlobstar = segments.at(-1) === GLOBSTAR;
  return `${first === "" ? "" : `${first}/`}${middle}${
    endsWithGlobstar ? ".+" : DIRECTORIES + last
  }`;
}

/** Returns the segments before, between and after runs of globstars. */
function splitAtGlobstars(segments: readonly Segment[]): (readonly string[])[][] {
  const blocks: (readonly string[])[][] = [[]];
  for (const [index, segment] of segments.entries()) {
    if (segment !== GLOBSTAR) blocks.at(-1)?.push(segment);
    else if (segments[index - 1] !== GLOBSTAR) blocks.push([]);
  }
  return blocks;
}

function toSegmentSource(parts: readonly string[], groups: GroupNames): string {
  const [first = "", ...others] = parts;
  const last = others.pop();
  if (last === undefined) return first;
  const middle = others.map((part) => groups.toAtomic(`[^/]*?${part}`)).join("");
  return `${first}${middle}[^/]*${last}`;
}

function parseSegments(glob: string): Segment[] {
  const segments: string[][] = [[""]];
  const globstars = new Set<number>();
  for (let offset = 0; offset < glob.length;) {
    const index = segments.length - 1;
    const segment = segments[index] ?? [];
    const rest = glob.slice(offset);
    const isSegmentStart = segment.length === 1 && segment[0] === "";
    const stars = /^\*+/.exec(rest)?.[0];
    const [token, source] = stars ? [stars, ""] : readCharacter(rest);
    if (stars) {
      const isWhole = rest.length === stars.length || rest[stars.length] === "/";
      if (stars === "**" && isSegmentStart && isWhole) globstars.add(index);
      if (segment.length === 1 || segment.at(-1) !== "") segment.push("");
    } else if (token === "/") segments.push([""]);
    else segment[segment.length - 1] += source;
    offset += token.length;
  }
  return segments.map((segment, index) => globstars.has(index) ? GLOBSTAR : segment);
}

function assertLength(glob: string): void {
  if (glob.length > MAX_CHARACTERS) {
    throw new RangeError(`it is longer than ${MAX_CHARACTERS} characters`);
  }
}

/**
 * Returns the globs that a glob with braces represents. A brace without its end is literal.
 *
 * @throws {RangeError} As {@linkcode compileGlob}.
 */
export function expandBraces(glob: string): string[] {
  assertLength(glob);
  const braces = findBraces(glob);
  if (!braces) return [glob];
  const { start, end, commas } = braces;
  const suffixes = expandBraces(glob.slice(end + 1));
  const bounds = [start, ...commas, end];
  const expanded: string[] = [];
  for (const [index, bound] of bounds.slice(1).entries()) {
    for (const alternative of expandBraces(glob.slice((bounds[index] ?? 0) + 1, bound))) {
      for (const suffix of suffixes) expanded.push(glob.slice(0, start) + alternative + suffix);
    }
    assertCount(expanded);
  }
  return expanded;
}

function assertCount(globs: readonly string[]): void {
  const characters = globs.reduce((sum, { length }) => sum + length, 0);
  if (globs.length <= MAX_ALTERNATIVES && characters <= MAX_EXPANDED_CHARACTERS) return;
  throw new RangeError(`its braces have too many alternatives (at most ${MAX_ALTERNATIVES})`);
}

interface Braces {
  readonly start: number;
  readonly end: number;
  readonly commas: readonly number[];
}

/** Finds the first brace that has its end. */
function findBraces(glob: string): Braces | undefined {
  const open: { readonly start: number; readonly commas: number[] }[] = [];
  let outermost: Braces | undefined;
  for (let offset = 0; offset < glob.length;) {
    const character = glob[offset];
    if (character === "{") open.push({ start: offset, commas: [] });
    else if (character === ",") open.at(-1)?.commas.push(offset);
    else if (character === "}") {
      const closed = open.pop();
      // An outer pair of braces ends after the pairs in it.
      const isFirst = !outermost || (closed && closed.start < outermost.start);
      if (closed && isFirst) outermost = { ...closed, end: offset };
    }
    const isToken = character === "\\" || character === "[";
    offset += isToken ? readCharacter(glob.slice(offset))[0].length : 1;
  }
  return outermost;
}

type GlobToken = readonly [token: string, source: string];

/** Reads the part of a glob that matches one character. */
function readCharacter(rest: string): GlobToken {
  const character = String.fromCodePoint(rest.codePointAt(0) ?? 0);
  if (character === "?") return ["?", "[^/]"];
  if (character === "[") return readClass(rest);
  if (character === "\\") return readEscape(rest);
  return [character, escapeCharacter(character)];
}

function readClass(rest: string): GlobToken {
  const match = /^\[([!^]?)(\]?(?:\\.|\[:[a-z]+:\]|[^\]\\])*)\]/su.exec(rest);
  if (!match) return ["[", "\\["];
  const [token, negation, members = ""] = match;
  const source = members.replace(
    /\\(.)|\[:([a-z]+):\]|([\s\S])/gu,
    (_, escaped?: string, className?: string, literal = "") => {
      if (className !== undefined) return CHARACTER_CLASSES[className] ?? "";
      if (literal === "-") return "-";
      return (escaped ?? literal).replace(/[\\\]^[-]/, "\\$&");
    },
  );
  if (!isValidClass(source)) return [token, "(?!)"];
  return [token, `(?!/)[${negation ? "^" : ""}${source}]`];
}

const CHARACTER_CLASSES: Readonly<Record<string, string>> = {
  alnum: "a-zA-Z0-9",
  alpha: "a-zA-Z",
  blank: " \\t",
  digit: "0-9",
  lower: "a-z",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\s",
  upper: "A-Z",
  xdigit: "0-9a-fA-F",
};

/** Whether a character class compiles; one with a reversed range does not and matches nothing. */
function isValidClass(source: string): boolean {
  try {
    new RegExp(`[${source}]`, "u");
    return true;
  } catch {
    return false;
  }
}

function readEscape(rest: string): GlobToken {
  const [, character] = [...rest.slice(0, 3)];
  return character === undefined ? ["\\", "\\\\"] : [`\\${character}`, escapeCharacter(character)];
}

function escapeCharacter(character: string): string {
  return /[\^$\\.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}
