/**
 * Changes of files without the hunks that their approval refused.
 *
 * @module
 */

import type { RefusedHunks } from "../../core/approval/approval.ts";
import type { FileChange } from "../../core/diff/file_change.ts";
import { omitHunks } from "../../core/diff/unified_diff.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { quotePath } from "../files/file_error.ts";
import type { TextEdit } from "../text/apply_edits.ts";

/** The hunks of a call that its approval refused. */
export interface HunkRefusal {
  /** The hunks, by file. */
  readonly refused: readonly RefusedHunks[];
  /** Cancels the work. */
  readonly signal: AbortSignal;
}

/**
 * Returns the text of a file after a change without the refused hunks.
 *
 * @throws {BadRequestError} If the change has no such hunk, or no other one.
 */
export function omitRefusedHunks(
  { path, before, after }: FileChange,
  refused: readonly RefusedHunks[],
): string {
  const other = refused.find((file) => file.path !== path);
  if (other) {
    throw new BadRequestError(`The call does not change ${quotePath(other.path)}`);
  }
  const change = { before: before ?? "", after: after ?? "" };
  const text = omitHunks(change, refused.flatMap(({ hunks }) => hunks));
  if (text === undefined) {
    throw new BadRequestError("The change no longer has a hunk that was refused: show it again");
  }
  if (text !== change.before) return text;
  throw new BadRequestError("All hunks are refused: deny the call instead");
}

/** Returns one edit of complete lines that turns a text into another. */
export function createEdit(before: string, after: string): TextEdit {
  const equal = countEqualAtStart(before, after);
  // An insertion replaces the line before it too, since the passage of an edit is not empty.
  const start = findLineStart(before, equal === before.length ? equal - 1 : equal);
  const changedEnd = before.length - countEqualAtEnd(before, after, start);
  const end = findLineEnd(before, Math.max(changedEnd, start + 1));
  return {
    old_string: before.slice(start, end),
    new_string: after.slice(start, after.length - (before.length - end)),
    line_hint: countLines(before.slice(0, start)) + 1,
  };
}

function countEqualAtStart(before: string, after: string): number {
  const limit = Math.min(before.length, after.length);
  let count = 0;
  while (count < limit && before.charCodeAt(count) === after.charCodeAt(count)) count++;
  return count;
}

/** Counts the equal characters at the end of two texts, without the first `start` ones. */
function countEqualAtEnd(before: string, after: string, start: number): number {
  const limit = Math.min(before.length, after.length) - start;
  let count = 0;
  while (
    count < limit &&
    before.charCodeAt(before.length - 1 - count) === after.charCodeAt(after.length - 1 - count)
  ) count++;
  return count;
}

function findLineStart(text: string, index: number): number {
  return index <= 0 ? 0 : text.lastIndexOf("\n", index - 1) + 1;
}

/** Returns the index after the newline of the line that ends at `index` or contains it. */
function findLineEnd(text: string, index: number): number {
  const newline = index <= 0 ? -1 : text.indexOf("\n", index - 1);
  return newline === -1 ? text.length : newline + 1;
}

function countLines(text: string): number {
  return text.split("\n").length - 1;
}
