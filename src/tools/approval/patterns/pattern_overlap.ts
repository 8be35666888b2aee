/**
 * Whether a path that a shell command names with patterns and expansions may be one that a glob matches.
 *
 * @module
 */

import { compileGlob, expandBraces } from "../../../core/ignore/glob.ts";
import { foldCase } from "../../kit/path_patterns.ts";

/** A segment of a path that is an expansion, so that it names nothing. */
export const UNKNOWN_SEGMENT = "\0";

/** A path in a command. */
export interface PathPattern {
  /** The segments between its `/`, each of which may be a pattern of the shell. */
  readonly segments: readonly string[];
  /**
   * The directory in which it begins: `root` of the file system, the working `directory`, an unknown one `above` it, or one
   * `anywhere`. One `inside` the working directory is for a pattern that a program compares with the names in it.
   */
  readonly start: "root" | "directory" | "above" | "anywhere" | "inside";
}

/** Maximum number of segments that are compared; a longer path may be any. */
const MAX_SEGMENTS = 64;

/**
 * Whether a glob may match a path, a directory above it, or all that is in it. Both begin in the same directory, unless that
 * of the path is `above` or `anywhere`. A segment `*` alone is not taken for a name that the glob has in any directory: it is
 * in most commands.
 *
 * @throws {RangeError} When the glob, or a pattern in the path, is too long.
 */
export function mayOverlap(glob: string, { segments, start }: PathPattern): boolean {
  if (segments.length > MAX_SEGMENTS) return true;
  const path = segments.map(foldCase);
  const fits = start === "inside" ? programMayFind : segmentsOverlap;
  return expandBraces(foldCase(glob)).some((alternative) => {
    if (!alternative.includes("/")) {
      return path.some((segment) => namesSegment(alternative, segment, fits));
    }
    // A class or an escape that contains a separator.
    if (/\\\/|\[[^\]]*\//.test(alternative)) return true;
    const globSegments = alternative.split("/").filter((segment) => segment !== "");
    const overlap = new Overlap(globSegments, path, fits);
    if (overlap.begins(0, 0)) return true;
    if (start === "root" || start === "directory") return false;
    if (path.some((_, index) => overlap.begins(0, index))) return true;
    return start !== "above" &&
      globSegments.some((segment, index) => !isStar(segment) && overlap.begins(index, 0));
  });
}

/** The common paths of a glob and a path. */
class Overlap {
  readonly #glob: readonly string[];
  readonly #path: readonly string[];
  readonly #fits: SegmentComparison;
  readonly #known = new Map<number, boolean>();

  constructor(glob: readonly string[], path: readonly string[], fits: SegmentComparison) {
    this.#glob = glob;
    this.#path = path;
    this.#fits = fits;
  }

  /** Whether the rest of the glob may match the rest of the path, or a directory above it, or all in it. */
  begins(globIndex: number, pathIndex: number): boolean {
    const key = globIndex * (MAX_SEGMENTS + 1) + pathIndex;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const result = this.#compare(globIndex, pathIndex);
    this.#known.set(key, result);
    return result;
  }

  #compare(globIndex: number, pathIndex: number): boolean {
    const { [globIndex]: glob } = this.#glob;
    const { [pathIndex]: segment } = this.#path;
    if (glob === undefined) return true;
    if (segment === undefined) return pathIndex > 0 && this.#glob.slice(globIndex).every(isStar);
    if (glob === "**") {
      return this.begins(globIndex, pathIndex + 1) || this.begins(globIndex + 1, pathIndex);
    }
    const isAnywhere = this.#glob[globIndex - 1] === "**";
    const fits = isAnywhere ? namesSegment(glob, segment, this.#fits) : this.#fits(glob, segment);
    // `*` at the end names the entries of a directory, but not what is in them.
    const isEntry = isStar(segment) && !isStar(glob) && pathIndex === this.#path.length - 1;
    if (isEntry && globIndex < this.#glob.length - 1) return false;
    return fits && this.begins(globIndex + 1, pathIndex + 1);
  }
}

/** Whether a segment of a glob and one of a path may match the same name. */
type SegmentComparison = (glob: string, segment: string) => boolean;

function namesSegment(glob: string, segment: string, fits: SegmentComparison): boolean {
  return fits(glob, segment) && (isStar(glob) || !isStar(segment));
}

/**
 * Whether a program that finds files by a pattern may find one that a segment of a glob names without wildcards. Patterns
 * for all names, or all with an extension, are not taken for such a name: they are in most commands.
 */
function programMayFind(glob: string, segment: string): boolean {
  if (isStar(glob)) return true;
  if (!isPattern(segment)) return segmentsOverlap(glob, segment);
  const literals = segment.replace(WIDE_WILDCARDS, "");
  const isForAll = literals === "" || (literals === "." && !segment.startsWith("."));
  if (isPattern(glob) || isForAll) return false;
  return compileGlob(segment.replace(/^\*+(?=\.)/, ""))(glob);
}

/** Wildcards that match most characters: `*`, `?`, a range and a negated class. */
const WIDE_WILDCARDS = /[*?]|\[[!^][^\]]*\]|\[[^\]]*-[^\]]*\]/g;

/** Whether a segment of a glob and one of a path, of which each may be a pattern, may match the same name. */
function segmentsOverlap(glob: string, segment: string): boolean {
  if (isStar(glob)) return true;
  if (segment === UNKNOWN_SEGMENT) return false;
  // A pattern of the shell does not match a leading dot.
  if (glob.startsWith(".") && !/^[.[\\]/.test(segment)) return false;
  if (isStar(segment)) return true;
  if (!isPattern(segment)) return isPattern(glob) ? compileGlob(glob)(segment) : glob === segment;
  if (!isPattern(glob)) return compileGlob(segment)(glob);
  const [left, right] = [getLiteralEnds(glob), getLiteralEnds(segment)];
  return (left.first.startsWith(right.first) || right.first.startsWith(left.first)) &&
    (left.last.endsWith(right.last) || right.last.endsWith(left.last));
}

/**
 * Returns the rest of an absolute path behind a directory; `undefined` if it does not lead there.
 *
 * @throws {RangeError} When a pattern in the path is too long.
 */
export function skipDirectory(
  segments: readonly string[],
  directory: readonly string[],
): readonly string[] | undefined {
  const isIn = segments.length >= directory.length &&
    directory.every((name, index) => segmentsOverlap(escapeName(name), segments[index] ?? ""));
  return isIn ? segments.slice(directory.length) : undefined;
}

function escapeName(name: string): string {
  return name.replace(/[*?[\]{}\\]/g, "\\$&");
}

function isStar(segment: string): boolean {
  return /^\*+$/.test(segment);
}

const WILDCARD = /[*?[\]\\]/;

function isPattern(segment: string): boolean {
  return WILDCARD.test(segment);
}

/** Returns the texts before the first wildcard and after the last one. */
function getLiteralEnds(pattern: string): { readonly first: string; readonly last: string } {
  const parts = pattern.split(WILDCARD);
  return { first: parts.at(0) ?? "", last: parts.at(-1) ?? "" };
}
