/**
 * Globs: `*`, `?`, `[a-z]`, `{a,b}` within a name, `**` across folders.
 *
 * @module
 */

/** Tells whether a path (relative, with `/`) fits. */
export type PathMatcher = (path: string) => boolean;

/**
 * Compiles a glob. One without `/` fits a name in any folder; one with `/` fits the whole path.
 */
export function compileGlob(glob: string): PathMatcher {
  return compileGlobs([glob]);
}

/** Compiles globs into a matcher that fits what any of them fits. */
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
 * The regular expression source of a glob. Braces are alternatives, unless `braces` is `false`, as in
 * git's ignore files.
 */
export function toGlobSource(glob: string, options: { readonly braces?: boolean } = {}): string {
  const { braces = true } = options;
  let source = "";
  let open = 0;
  let at = 0;
  while (at < glob.length) {
    const [token, piece] = readToken(glob, at, { braces, open });
    if (piece === "(?:") open++;
    if (piece === ")") open--;
    source += piece;
    at += token.length;
  }
  // A brace whose end was quoted or in a class stands for itself.
  return open === 0 ? source : toGlobSource(glob, { braces: false });
}

type GlobToken = readonly [token: string, source: string];

function readToken(
  glob: string,
  at: number,
  { braces, open }: { readonly braces: boolean; readonly open: number },
): GlobToken {
  const rest = glob.slice(at);
  const atSegmentStart = at === 0 || glob[at - 1] === "/";
  if (atSegmentStart && rest.startsWith("**/")) return ["**/", "(?:[^/]+/)*"];
  if (atSegmentStart && rest === "**") return ["**", ".+"];
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
  const source = members.replace(/\\(.)|\[:([a-z]+):\]|([\s\S])/gu, (_, plain, named, other) => {
    if (named !== undefined) return CHARACTER_CLASSES[named] ?? "";
    if (other === "-") return "-";
    return escapeInClass(plain ?? other);
  });
  const valid = isValidClass(source);
  if (!valid) return [token, "(?!)"];
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

/** A range that runs backwards fits nothing. */
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

function escapeInClass(character: string): string {
  return /[\\\]^[-]/.test(character) ? `\\${character}` : character;
}
