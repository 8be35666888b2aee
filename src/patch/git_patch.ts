/**
 * Changes as a patch that `git apply` takes, byte for byte.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { createUnifiedDiff } from "../core/diff/unified_diff.ts";
import { formatBinarySection } from "./git_binary.ts";
import type { PathChange, PathState } from "./path_change.ts";

const EMPTY_STATE: PathState = { mode: "100644", content: new Uint8Array() };
const ZERO_HASH = "0".repeat(40);

/** Writes one change; empty when nothing changed. */
export async function formatGitPatch(change: PathChange): Promise<Uint8Array> {
  const { before, after } = change;
  if (before && after && isLink(before) !== isLink(after)) {
    // A file that becomes a link, or the other way round, goes away first.
    const [gone, come] = [{ ...change, after: null }, { ...change, before: null }];
    return Buffer.concat([await formatGitPatch(gone), await formatGitPatch(come)]);
  }
  const body = await formatBody(change);
  const isSameMode = before?.mode === after?.mode;
  if (body === "" && isSameMode) return new Uint8Array();
  return fromBinaryString(await formatHeader(change, body !== "" || !before || !after) + body);
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

/** The content of the change; empty when only the mode changed, and for files without content. */
async function formatBody({ path, before, after }: PathChange): Promise<string> {
  const [old, current] = [(before ?? EMPTY_STATE).content, (after ?? EMPTY_STATE).content];
  if (isBinary(old) || isBinary(current)) {
    return Buffer.compare(old, current) === 0 ? "" : await formatBinarySection(old, current);
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

/** A NUL byte makes a file binary, as for git. */
function isBinary(content: Uint8Array): boolean {
  return content.includes(0);
}

/** The name under which git keeps a content. */
async function hashBlob(state: PathState | null): Promise<string> {
  if (!state) return ZERO_HASH;
  const head = new TextEncoder().encode(`blob ${state.content.length}\0`);
  const blob = Buffer.concat([head, state.content]);
  return new Uint8Array(await crypto.subtle.digest("SHA-1", blob)).toHex();
}

/** A tab ends a name with blanks, for programs that read what follows as a time. */
function formatName(name: string): string {
  const text = quotePath(name);
  return text === name && name.includes(" ") ? `${name}\t` : text;
}

/** Names with quotes, backslashes, control characters or anything but ASCII are quoted as in C. */
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

/** Bytes as characters of the same number, so that text of any encoding can be compared in lines. */
function toBinaryString(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

function fromBinaryString(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}
