/**
 * Globs: `*`, `?`, `[a-z]` and `{a,b}` within a name, `**` across directories.
 *
 * @module
 */

/** Whether a relative path with `/` separators matches. */
export type PathMatcher = (path: string) => boolean;

/** Compiles a glob. Without `/` it matches names in any directory, with `/` the complete path. */
export function compileGlob(glob: string): PathMatcher {
  return compileGlobs([glob]);
}

/** Compiles globs into one matcher for paths that match any of them. */
export function compileGlobs(globs: readonly string[]): PathMatcher {
  const expression = new RegExp(`^(?:${globs.map(toPathSource).join("|")})$`, "su");
  return (path) => expression.test(path);
}

function toPathSource(glob: string): string {
  return glob.includes("/")
    ? toGlobSource(glob.replace(/^\.?\//, ""))
    : `(?:.*/)?${toGlobSource(glob)}`;
}

/**
 * Returns the source of a regular expression for a glob. Braces are alternatives unless `braces` is `false`, as in
 * git's ignore files. Default of `braces`: `true`.
 */
export function toGlobSource(glob: string, options: { readonly braces?: boolean } = {}): string {
  const { braces = true } = options;
  let source = "";
  let open = 0;
  let offset = 0;
  while (offset < glob.length) {
    const [token, tokenSource] = readToken(glob, offset, { braces, open });
    if (tokenSource === "(?:") open++;
    if (tokenSource === ")") open--;
    source += tokenSource;
    offset += token.length;
  }
  // A brace whose end is escaped or in a character class is literal.
  return open === 0 ? source : toGlobSource(glob, { braces: false });
}

type GlobToken = readonly [token: string, source: string];

function readToken(
  glob: string,
  offset: number,
  { braces, open }: { readonly braces: boolean; readonly open: number },
): GlobToken {
  const rest = glob.slice(offset);
  const isSegmentStart = offset === 0 || glob[offset - 1] === "/";
  if (isSegmentStart && rest.startsWith("**/")) return ["**/", "(?:[^/]+/)*"];
  if (isSegmentStart && rest === "**") return ["**", ".+"];
  const stars = /^\*+/.exec(rest);
  if (stars) return [stars[0], "[^/]*"];
  const [character = ""] = rest;
  if (character === "?") return ["?", "[^/]"];
  if (character === "[") return readClass(rest);
  if (character === "\\") return readEscape(rest);
  if (braces && character === "{" && hasClosingBrace(rest)) return ["{", "(?:"];
  if (open > 0 && character === ",") return [",", "|"];
  if (open > 0 && character === "}") return ["}", ")"];
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
  const [, character] = [...rest];
  return character === undefined ? ["\\", "\\\\"] : [`\\${character}`, escapeCharacter(character)];
}

function hasClosingBrace(rest: string): boolean {
  let depth = 0;
  for (const character of rest) {
    if (character === "{") depth++;
    else if (character === "}" && --depth === 0) return true;
  }
  return false;
}

function escapeCharacter(character: string): string {
  return /[\^$\\.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}
