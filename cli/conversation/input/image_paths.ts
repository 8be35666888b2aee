/**
 * Paths of images in a text, such as those that a terminal inserts when a file is dropped on it.
 *
 * @module
 */

import { detectFileKind, SNIFF_BYTES } from "../../../src/tools/text/file_kind.ts";
import { expandHome } from "../../run/settings/resolve_path.ts";

/**
 * Matches a path behind a quote, with escaped blanks, or up to its extension. Only absolute paths are meant as files. The
 * length is limited and each character matches in one way, since a text such as a regular expression has many beginnings
 * of paths and many backslashes.
 */
const PATH =
  /(?<!\S)(?:(["'])((?:file:\/\/)?(?:\/|~\/)[^\n]{0,1024}?\.(?:png|jpe?g|gif|webp))\1|((?:file:\/\/)?(?:\/|~\/)(?:\\.|[^\n"'\\]){0,1024}?\.(?:png|jpe?g|gif|webp)))(?![\w-])/gi;

/** Maximum number of images of a text. */
const MAX_IMAGES = 10;

/**
 * Returns the absolute paths of the images that a text names, without duplicates. A path that is no image stays a text.
 *
 * @param home Absolute path of the home directory, which `~` denotes.
 */
export function findImagePaths(text: string, home?: string): string[] {
  const paths = Array.from(text.matchAll(PATH), ([, quote, quoted, bare = ""]) => {
    const path = quote === undefined ? bare.replace(/\\(.)/g, "$1") : quoted ?? "";
    return resolve(path, home);
  });
  return [...new Set(paths)].filter(isImage).slice(0, MAX_IMAGES);
}

function resolve(path: string, home: string | undefined): string {
  const local = path.startsWith("file://") ? decode(path.slice("file://".length)) : path;
  return expandHome(local, home);
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function isImage(path: string): boolean {
  try {
    // Opening a pipe would wait for its writer.
    if (!Deno.statSync(path).isFile) return false;
    using file = Deno.openSync(path);
    const bytes = new Uint8Array(SNIFF_BYTES);
    const length = file.readSync(bytes) ?? 0;
    return detectFileKind(bytes.subarray(0, length)).type === "image";
  } catch {
    return false;
  }
}
