/**
 * The `edit_file` tool.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import type { FileChange } from "../../core/diff/file_change.ts";
import { type AgentTool, defineTool } from "../../core/tool.ts";
import { textResult } from "../../core/tool_result.ts";
import { applyEdits, type TextEdit } from "../text/apply_edits.ts";
import { createEdit, omitRefusedHunks } from "./omit_refused_hunks.ts";
import { changeFile, type ChangeRequest, previewChange } from "./change_file.ts";
import { hashContent } from "../text/content_hash.ts";
import { quotePath } from "../files/file_error.ts";
import { suggestNames } from "../sandbox/name_suggestion.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { decodeForEditing, encodeForWriting } from "../files/text_content.ts";
import {
  applyCells,
  formatCells,
  isNotebookPath,
  type Notebook,
  parseNotebook,
} from "../documents/notebook.ts";
import { TimeBudget } from "../budget/time_budget.ts";
import { catchAsErrorResult, type ToolKit } from "../kit/tool_kit.ts";
import { countChangedLines } from "../../core/diff/unified_diff.ts";

/** Creates `edit_file`. */
export function editFileTool(kit: ToolKit): AgentTool {
  const { files } = kit.sandbox;
  return defineTool({
    name: "edit_file",
    label: "Edit file",
    description:
      "Replaces passages of a file. Quote each old_string exactly as in the file, without line numbers, " +
      "with enough lines to be unique. Edits are applied in order, all or none. Prefer one call with several edits. " +
      "The text of a notebook (.ipynb) is that of its cells, as read_file shows it; `# %% [code]` begins a new cell.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Path, relative to the working directory" },
        edits: {
          type: "array",
          minItems: 1,
          items: {
            type: "object",
            properties: {
              old_string: { type: "string", description: "The passage to replace" },
              new_string: { type: "string", description: "The replacement" },
              replace_all: { type: "boolean", description: "Replace every occurrence" },
              line_hint: {
                type: "integer",
                minimum: 1,
                description: "Replace the occurrence nearest to this line",
              },
            },
            required: ["old_string", "new_string"],
            additionalProperties: false,
          },
        },
        expected_hash: {
          type: "string",
          description: "SHA-256 that the file must have; rarely needed",
        },
      },
      required: ["path", "edits"],
      additionalProperties: false,
    },
    risk: "write",
    interruptible: false,
    concurrencyKey: ({ path }) => `file:${path}`,
    preview: async (args, { signal }): Promise<FileChange[]> => {
      const rewrite = createRewrite(args, files, signal);
      return [await previewChange(kit, { args, signal, rewrite })];
    },
    omitHunks: async (args, { refused, signal }) => {
      const rewrite = createRewrite(args, files, signal);
      const change = await previewChange(kit, { args, signal, rewrite });
      const after = omitRefusedHunks(change, refused);
      const partial = { ...args, edits: [createEdit(change.before ?? "", after)] };
      const rewritePart = createRewrite(partial, files, signal);
      const made = await previewChange(kit, { args: partial, signal, rewrite: rewritePart });
      if (made.after === after) return partial;
      throw new BadRequestError(`${quotePath(args.path)} cannot be edited in parts`);
    },
    execute: catchAsErrorResult(async (args, { signal }) => {
      const rewrite = createRewrite(args, files, signal);
      const { change } = await changeFile(kit, { args, signal, rewrite });
      const { added, removed } = countChangedLines(change.diff ?? "");
      return textResult(`Edited ${change.path} (+${added} -${removed})`, { change });
    }),
  });
}

interface EditArguments {
  readonly path: string;
  readonly edits: readonly TextEdit[];
  readonly expected_hash?: string | undefined;
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
