/**
 * Rules for paths: `edit_file(src/**)`, `read_file(/data/*.csv)`, `list_directory(docs/)`.
 *
 * @module
 */

import { compileGlob, type PathMatcher } from "../../../core/ignore/glob.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { isAbsolute, SEPARATOR } from "../../../platform/paths.ts";
import { canMatchBelow, foldCase, normalizePattern } from "../../kit/path_patterns.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Concern } from "./concern.ts";
import { mayOverlap, type PathPattern, skipDirectory } from "./pattern_overlap.ts";

/** The path of a call. */
export interface CallPath {
  /** The path in the arguments, with `/` and without `.` and `..`; `undefined` when `..` leads above its start. */
  readonly named: string | undefined;
  /**
   * The forms of the path of the file behind all links: absolute, and relative to the working directory if it is in it.
   * `undefined` when it is not known.
   */
  readonly canonical: readonly string[] | undefined;
  /** Whether it contains `..`: after a name that is a link, it leads elsewhere. */
  readonly isUncertain: boolean;
  /** Whether the call uses the entries of the path, a directory. */
  readonly isDirectory: boolean;
  /** The patterns of the entries that it leaves out. */
  readonly excluded: ReadonlySet<string>;
  /** Canonical path of the working directory; `undefined` when it is not known. */
  readonly workingDirectory: string | undefined;
}

/** Tools for directories, whose `path` is optional. */
const DIRECTORY_TOOLS: ReadonlySet<string> = new Set(["list_directory", "search_files"]);

/** Maximum length of a path; systems have no longer ones. */
const MAX_CHARACTERS = 8_192;

/** Finds the path of a call; `undefined` when its arguments have none, or one that is too long. */
export async function findCallPath(
  { name, arguments: args }: { readonly name: string; readonly arguments: JsonObject },
  files: Sandbox["files"] | undefined,
): Promise<CallPath | undefined> {
  const isForDirectories = DIRECTORY_TOOLS.has(name);
  const path = args.path === undefined && isForDirectories ? "." : args.path;
  if (typeof path !== "string" || path.length > MAX_CHARACTERS) return undefined;
  const isDirectory = isForDirectories && !(files && await isFile(path, files));
  return {
    named: normalizePath(path),
    canonical: files && await resolveForms(path, files),
    isUncertain: path.split("/").includes(".."),
    isDirectory,
    excluded: new Set(isDirectory ? listExcludedPaths(args) : []),
    workingDirectory: isDirectory ? await findWorkingDirectory(files) : undefined,
  };
}

/** Returns the patterns of the paths that a call leaves out, in the form that those of rules have. */
function listExcludedPaths({ exclude_paths: patterns }: JsonObject): string[] {
  if (!Array.isArray(patterns)) return [];
  return patterns.filter((pattern) => typeof pattern === "string").map(normalizePattern);
}

async function isFile(path: string, files: Sandbox["files"]): Promise<boolean> {
  try {
    return await files.getKind(path) === "file";
  } catch {
    return false;
  }
}

/** Finds the canonical path of the working directory; `undefined` when it is not known. */
export async function findWorkingDirectory(
  files: Sandbox["files"] | undefined,
): Promise<string | undefined> {
  return files && (await resolveForms(".", files))?.at(-1);
}

/** Resolves a path; a tool does not use one that the sandbox refuses. */
async function resolveForms(
  path: string,
  files: Sandbox["files"],
): Promise<readonly string[] | undefined> {
  try {
    const absolute = await files.resolve(path, "read");
    return [...new Set([files.toDisplayPath(absolute), absolute.replaceAll(SEPARATOR, "/")])];
  } catch {
    return undefined;
  }
}

/** A compiled pattern of paths. */
export interface PathRule {
  /** Whether the pattern, as that of an allow rule, covers the path. */
  readonly covers: (path: CallPath | undefined) => boolean;
  /** Whether the pattern, as that of a deny rule, concerns the path. */
  readonly concerns: (path: CallPath | undefined) => Concern;
  /** Whether the pattern, as that of a deny rule, may concern a path of a command that is not certain. */
  readonly mayConcern: (path: PathPattern, workingDirectory: string | undefined) => boolean;
}

/**
 * Compiles a pattern. One that begins with `/` matches absolute paths; `/` at the end matches all that is in a directory.
 *
 * @throws {RangeError} When the pattern is not a valid glob.
 */
export function createPathRule(pattern: string): PathRule {
  if (/^~(?:\/|$)/.test(pattern)) throw new RangeError('"~" is not expanded: write the path');
  const glob = normalizePattern(pattern);
  if (/(?:^|\/)\.\.(?:\/|$)/.test(glob)) {
    throw new RangeError('".." leads out of the working directory: write the path from / on');
  }
  const matches = compilePathGlob(glob);
  const matchesFolded = compilePathGlob(foldCase(glob));
  return {
    covers: (path) => path !== undefined && getCoveredForms(path).some(matches),
    concerns: (path) => {
      if (!path) return "possible";
      const forms = getConcernedForms(path);
      if (forms.some(matches)) return "certain";
      // On some file systems `.ENV` is `.env`, and the two forms of `é` are one name.
      if (forms.some((form) => matchesFolded(foldCase(form)))) return "possible";
      if (path.canonical === undefined && mayMatch(path, matches)) return "possible";
      return path.isDirectory && !path.excluded.has(glob) && mayConcernEntry(path, glob)
        ? "below"
        : "none";
    },
    mayConcern: (path, workingDirectory) => {
      try {
        return mayConcernPattern(glob, path, workingDirectory);
      } catch {
        // Too long to be compared.
        return true;
      }
    },
  };
}

function mayConcernPattern(
  glob: string,
  path: PathPattern,
  workingDirectory: string | undefined,
): boolean {
  const { segments, start } = path;
  if (glob.startsWith("/")) {
    if (start === "root") return mayOverlap(glob, path);
    return start !== "directory" && start !== "inside" &&
      mayOverlap(glob, { segments, start: "anywhere" });
  }
  if (start !== "root") return mayOverlap(glob, path);
  if (workingDirectory === undefined) return mayOverlap(glob, { segments, start: "above" });
  const directory = workingDirectory.split("/").filter((name) => name !== "");
  const rest = skipDirectory(segments, directory);
  return rest !== undefined && mayOverlap(glob, { segments: rest, start: "directory" });
}

/** Whether a pattern may match a file below a directory. */
function mayConcernEntry(path: CallPath, glob: string): boolean {
  const { named, canonical, workingDirectory } = path;
  const forms = canonical ?? (named === undefined ? [] : [named]);
  const isAbsoluteGlob = glob.startsWith("/");
  const comparable = forms.filter((form) => isAbsolute(form) === isAbsoluteGlob);
  if (comparable.length > 0) return comparable.some((form) => canMatchBelow(glob, form));
  if (isAbsoluteGlob) return false;
  // The directory may contain the working directory, to which the pattern is relative.
  if (!canonical || workingDirectory === undefined) return true;
  return canonical.some((form) => workingDirectory.startsWith(`${form.replace(/\/$/, "")}/`));
}

function compilePathGlob(glob: string): PathMatcher {
  const matches = compileGlob(glob);
  if (!glob.startsWith("/")) return (path) => !path.startsWith("/") && matches(path);
  return (path) => path.startsWith("/") && matches(path.slice(1));
}

/** Returns the forms of a path of which a rule must match one. */
function getCoveredForms({ named, canonical, isUncertain }: CallPath): readonly string[] {
  if (canonical) return canonical;
  return named === undefined || isUncertain ? [] : [named];
}

/** Returns the path in its forms, its directories, and for a directory the name of any entry in it. */
function getConcernedForms({ named, canonical = [], isDirectory }: CallPath): readonly string[] {
  const forms = [...canonical, ...(named === undefined ? [] : [named])];
  const entries = isDirectory
    ? forms.map((form) => form === "." ? ANY_NAME : `${form}/${ANY_NAME}`)
    : [];
  return [...forms.flatMap(getSelfAndParents), ...entries];
}

/** A name that only patterns for all names match. */
const ANY_NAME = "\u{10ffff}";

function getSelfAndParents(path: string): readonly string[] {
  const ends = [...path.matchAll(/(?<=[^/])(?=\/)/g)].map(({ index }) => path.slice(0, index));
  return [path, ...ends];
}

/** Whether a path that leaves the working directory, or is absolute, may match after all. */
function mayMatch({ named, isUncertain }: CallPath, matches: PathMatcher): boolean {
  if (named === undefined || isUncertain) return true;
  if (!named.startsWith("/")) return false;
  const names = named.slice(1).split("/");
  return names.some((_, index) => matches(names.slice(index).join("/")));
}

/** Whether a path is a directory itself or below it. */
export function pathHasPrefix(path: CallPath, prefix: string): boolean {
  const directory = normalizePath(prefix);
  if (directory === undefined || prefix.trim() === "") return false;
  return getCoveredForms(path).some((form) =>
    directory === "."
      ? !form.startsWith("/")
      : form === directory || form.startsWith(`${directory.replace(/\/$/, "")}/`)
  );
}

/** Resolves `.` and `..` in a path; `undefined` when `..` leads above its start. */
export function normalizePath(path: string): string | undefined {
  const parts: string[] = [];
  for (const part of path.split(SEPARATOR === "/" ? "/" : /[\\/]/)) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  const joined = parts.join("/");
  return isAbsolute(path) && path.startsWith("/") ? `/${joined}` : joined || ".";
}
