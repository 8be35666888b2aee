/**
 * The edits of `edit_file`.
 *
 * @module
 */

import type { FileChange } from "../../core/diff/file_change.ts";
import { countChangedLines } from "../../core/diff/unified_diff.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import type { JsonObject } from "../../core/json/json.ts";
import { type AgentToolResult, textResult } from "../../core/messages/tool_result.ts";
import { TimeBudget } from "../budget/time_budget.ts";
import { isNotebookPath } from "../documents/is_notebook_path.ts";
import { applyCells, formatCells, type Notebook, parseNotebook } from "../documents/notebook.ts";
import { quotePath } from "../files/file_error.ts";
import { decodeForEditing, encodeForWriting } from "../files/text_content.ts";
import type { ToolKit } from "../kit/tool_kit.ts";
import { suggestNames } from "../sandbox/name_suggestion.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { applyEdits, type TextEdit } from "../text/apply_edits.ts";
import { hashContent } from "../text/content_hash.ts";
import { changeFile, type ChangeRequest, previewChange } from "./change_file.ts";
import { createEdit, type HunkRefusal, omitRefusedHunks } from "./omit_refused_hunks.ts";

/** The arguments of a call. */
export interface EditArguments extends JsonObject {
  readonly path: string;
  readonly edits: readonly TextEdit[];
  readonly expected_hash?: string | undefined;
}

/** Returns the change that the edits would make. */
export async function previewEdit(
  kit: ToolKit,
  args: EditArguments,
  signal: AbortSignal,
): Promise<FileChange[]> {
  const rewrite = createRewrite(args, kit.sandbox.files, signal);
  return [await previewChange(kit, { args, signal, rewrite })];
}

/**
 * Returns arguments that omit the hunks which were refused.
 *
 * @throws {BadRequestError} If the file cannot be edited in parts.
 */
export async function omitEditedHunks(
  kit: ToolKit,
  args: EditArguments,
  { refused, signal }: HunkRefusal,
): Promise<EditArguments> {
  const { files } = kit.sandbox;
  const rewrite = createRewrite(args, files, signal);
  const change = await previewChange(kit, { args, signal, rewrite });
  const after = omitRefusedHunks(change, refused);
  const partial = { ...args, edits: [createEdit(change.before ?? "", after)] };
  const rewritePart = createRewrite(partial, files, signal);
  const made = await previewChange(kit, { args: partial, signal, rewrite: rewritePart });
  if (made.after === after) return partial;
  throw new BadRequestError(`${quotePath(args.path)} cannot be edited in parts`);
}

/** Edits the file. */
export async function runEdit(
  kit: ToolKit,
  args: EditArguments,
  signal: AbortSignal,
): Promise<AgentToolResult> {
  const rewrite = createRewrite(args, kit.sandbox.files, signal);
  const { change } = await changeFile(kit, { args, signal, rewrite });
  const { added, removed } = countChangedLines(change.diff ?? "");
  return textResult(`Edited ${change.path} (+${added} -${removed})`, { change });
}

/** Creates the function that returns the edited content of a file. */
function createRewrite(
  { path, edits, expected_hash }: EditArguments,
  files: SandboxFiles,
  signal: AbortSignal,
): ChangeRequest["rewrite"] {
  return async (before) => {
    if (before === undefined) {
      throw new BadRequestError(
        `${quotePath(path)} does not exist${await suggestNames(
          files,
          path,
        )}; create it with write_file`,
      );
    }
    if (expected_hash !== undefined) await verifyHash(before, expected_hash, path);
    const content = decodeForEditing(before, path);
    const budget = new TimeBudget({ work: "The edit", signal });
    const text = isNotebookPath(path)
      ? await editNotebook(parseNotebook(content.text, path), edits, budget)
      : await applyEdits(content.text, edits, budget);
    return encodeForWriting({ ...content, text });
  };
}

/** Applies the edits to the text of the cells, as `read_file` shows it. */
async function editNotebook(
  notebook: Notebook,
  edits: readonly TextEdit[],
  budget: TimeBudget,
): Promise<string> {
  return applyCells(notebook, await applyEdits(formatCells(notebook), edits, budget));
}

/** Accepts a prefix of at least eight digits. */
async function verifyHash(content: Uint8Array, expected: string, path: string): Promise<void> {
  const actual = await hashContent(content);
  if (expected.length >= 8 && actual.startsWith(expected.toLowerCase())) return;
  throw new BadRequestError(
    `${
      quotePath(path)
    } does not have expected_hash; its SHA-256 is ${actual}. Read the file again and repeat the edit`,
  );
}
