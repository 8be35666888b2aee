/**
 * Formats changes as a patch for `git apply`.
 *
 * @module
 */

import { createUnifiedDiff } from "../core/diff/unified_diff.ts";
import { encodeHex, fromBinaryString, toBinaryString } from "../core/text/byte_encoding.ts";
import { concatBytes, isSameContent } from "./bytes.ts";
import { formatBinarySection } from "./git_binary.ts";
import type { PathChange, PathState } from "./path_change.ts";

const EMPTY_STATE: PathState = { mode: "100644", content: new Uint8Array() };
const ZERO_HASH = "0".repeat(40);

/** Options for {@linkcode formatGitPatch}. */
export interface GitPatchOptions {
  /**
   * Whether contents that are not UTF-8 are written as binary, so that the patch can be kept as a text, such as in JSON.
   * Default: `false`; their lines are written as they are.
   */
  readonly asText?: boolean | undefined;
}

/** Formats a change of one path; empty when nothing changed. */
export async function formatGitPatch(
  change: PathChange,
  options: GitPatchOptions = {},
): Promise<Uint8Array> {
  const { before, after } = change;
  if (before && after && isLink(before) !== isLink(after)) {
    // git represents a change between file and link as a removal and an addition.
    const [removal, addition] = [{ ...change, after: null }, { ...change, before: null }];
    return concatBytes(
      await formatGitPatch(removal, options),
      await formatGitPatch(addition, options),
    );
  }
  const body = await formatBody(change, options);
  const isSameMode = before?.mode === after?.mode;
  if (body === "" && isSameMode) return new Uint8Array();
  const header = await formatHeader(change, body !== "" || !before || !after);
  return fromBinaryString(header + body);
}

async function formatHeader(
  { path, before, after }: PathChange,
  withHashes: boolean,
): Promise<string> {
  const lines = [`diff --git ${quotePath(`a/${path}`)} ${quotePath(`b/${path}`)}`];
  if (!before && after) lines.push(`new file mode ${after.mode}`);
  else if (before && !after) lines.push(`deleted file mode ${before.mode}`);
  else if (before && after && before.mode !== after.mode) {
    lines.push(`old mode ${before.mode}`, `new mode ${after.mode}`);
  }
  if (withHashes) {
    const mode = before && before.mode === after?.mode ? ` ${before.mode}` : "";
    lines.push(`index ${await hashBlob(before)}..${await hashBlob(after)}${mode}`);
  }
  return `${lines.join("\n")}\n`;
}

/** Formats the content of the change; empty when only the mode changed, and for empty files. */
async function formatBody(
  { path, before, after }: PathChange,
  { asText = false }: GitPatchOptions,
): Promise<string> {
  const isBinary = (content: Uint8Array) => content.includes(0) || (asText && !isUtf8(content));
  const [old, current] = [(before ?? EMPTY_STATE).content, (after ?? EMPTY_STATE).content];
  // git treats a content with a zero byte as binary.
  if (isBinary(old) || isBinary(current)) {
    return isSameContent(old, current) ? "" : await formatBinarySection(old, current);
  }
  const diff = createUnifiedDiff({
    path: "",
    before: toBinaryString(old),
    after: toBinaryString(current),
  });
  const hunks = diff.indexOf("@@");
  if (hunks < 0) return "";
  const from = before ? formatName(`a/${path}`) : "/dev/null";
  const to = after ? formatName(`b/${path}`) : "/dev/null";
  return `--- ${from}\n+++ ${to}\n${diff.slice(hunks)}`;
}

function isLink({ mode }: PathState): boolean {
  return mode === "120000";
}

function isUtf8(content: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(content);
    return true;
  } catch {
    return false;
  }
}

/** Returns the object name of a content as `git hash-object` does. */
async function hashBlob(state: PathState | null): Promise<string> {
  if (!state) return ZERO_HASH;
  const header = new TextEncoder().encode(`blob ${state.content.length}\0`);
  const blob = concatBytes(header, state.content);
  return encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-1", blob)));
}

/** Appends a tab to a name with spaces, as git does for programs that expect a timestamp. */
function formatName(name: string): string {
  const text = quotePath(name);
  return text === name && name.includes(" ") ? `${name}\t` : text;
}

/** Quotes names with quotes, backslashes, control or non-ASCII characters as in C. */
function quotePath(name: string): string {
  if (/^[ !#-[\]-~]*$/.test(name)) return name;
  const bytes = new TextEncoder().encode(name);
  return `"${Array.from(bytes, quoteByte).join("")}"`;
}

function quoteByte(byte: number): string {
  const character = String.fromCharCode(byte);
  if (character === '"' || character === "\\") return `\\${character}`;
  const isPrintable = byte >= 0x20 && byte < 0x7f;
  return isPrintable ? character : `\\${byte.toString(8).padStart(3, "0")}`;
}
