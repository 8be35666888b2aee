/**
 * The changes of `write_file`.
 *
 * @module
 */

import type { FileChange } from "../../core/diff/file_change.ts";
import { countChangedLines } from "../../core/diff/unified_diff.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type AgentToolResult, textResult } from "../../core/messages/tool_result.ts";
import { formatNumber } from "../../core/text/output_limit.ts";
import { isNotebookPath } from "../documents/is_notebook_path.ts";
import { toNotebookFile } from "../documents/notebook.ts";
import { quotePath } from "../files/file_error.ts";
import { encodeLikeFile, tryDecode } from "../files/text_content.ts";
import type { ToolKit } from "../kit/tool_kit.ts";
import { type ChangedFile, changeFile, type ChangeRequest, previewChange } from "./change_file.ts";
import { type HunkRefusal, omitRefusedHunks } from "./omit_refused_hunks.ts";

/** The arguments of a call. */
export interface WriteArguments extends JsonObject {
  readonly path: string;
  readonly content: string;
}

/** Returns the change that the call would make. */
export async function previewWrite(
  kit: ToolKit,
  args: WriteArguments,
  signal: AbortSignal,
): Promise<FileChange[]> {
  return [await previewChange(kit, { args, signal, rewrite: createRewrite(args) })];
}

/**
 * Returns arguments that omit the hunks which were refused.
 *
 * @throws {BadRequestError} If the file cannot be written in parts.
 */
export async function omitWrittenHunks(
  kit: ToolKit,
  args: WriteArguments,
  { refused, signal }: HunkRefusal,
): Promise<WriteArguments> {
  const rewrite = createRewrite(args);
  const change = await previewChange(kit, { args, signal, rewrite });
  const partial = { ...args, content: omitRefusedHunks(change, refused) };
  const rewritePart = createRewrite(partial);
  const made = await previewChange(kit, { args: partial, signal, rewrite: rewritePart });
  // The character replaces bytes that are not UTF-8, which the lines that are kept would lose.
  const isExact = !change.before?.includes("\ufffd") && made.after === partial.content;
  if (isExact) return partial;
  throw new BadRequestError(`${quotePath(args.path)} cannot be written in parts`);
}

/** Writes the file. */
export async function runWrite(
  kit: ToolKit,
  args: WriteArguments,
  signal: AbortSignal,
): Promise<AgentToolResult> {
  const changed = await changeFile(kit, { args, signal, rewrite: createRewrite(args) });
  return textResult(describeChange(changed), { change: changed.change });
}

function createRewrite({ path, content }: WriteArguments): ChangeRequest["rewrite"] {
  return (before) => {
    const text = isNotebookPath(path)
      ? toNotebookFile(content, before && tryDecode(before)?.text)
      : content;
    return encodeLikeFile(text, before);
  };
}

function describeChange({ change, wasUnseen }: ChangedFile): string {
  const { path, before, after, diff = "" } = change;
  const size = formatLineCount(after ?? "");
  if (before === null) return `Created ${path} (${size})`;
  if (before === after) return `${path} already had this content`;
  const { added, removed } = countChangedLines(diff);
  const warning = wasUnseen
    ? `\n[The file existed and had not been read: ${formatLineCount(before)} replaced]`
    : "";
  return `Wrote ${path} (${size}; +${added} -${removed})${warning}`;
}

function formatLineCount(text: string): string {
  const count = text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0);
  return count === 1 ? "1 line" : `${formatNumber(count)} lines`;
}
