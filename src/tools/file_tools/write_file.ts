/**
 * The `write_file` tool.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import type { FileChange } from "../../core/diff/file_change.ts";
import { quotePath } from "../files/file_error.ts";
import { encodeLikeFile, tryDecode } from "../files/text_content.ts";
import { isNotebookPath, toNotebookFile } from "../documents/notebook.ts";
import { type AgentTool, defineTool } from "../../core/tool.ts";
import { textResult } from "../../core/tool_result.ts";
import { type ChangedFile, changeFile, type ChangeRequest, previewChange } from "./change_file.ts";
import { omitRefusedHunks } from "./omit_refused_hunks.ts";
import { formatNumber } from "../../core/output_limit.ts";
import { catchAsErrorResult, type ToolKit } from "../kit/tool_kit.ts";
import { countChangedLines } from "../../core/diff/unified_diff.ts";

/** Creates `write_file`. */
export function writeFileTool(kit: ToolKit): AgentTool {
  return defineTool({
    name: "write_file",
    label: "Write file",
    description:
      "Writes a complete file: creates it with its directories, or replaces its content. To change a part of a file " +
      "use edit_file.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Path, relative to the working directory" },
        content: { type: "string", description: "The complete content" },
      },
      required: ["path", "content"],
      additionalProperties: false,
    },
    risk: "write",
    interruptible: false,
    sideEffect: "idempotent",
    concurrencyKey: ({ path }) => `file:${path}`,
    preview: async (args, { signal }): Promise<FileChange[]> => [
      await previewChange(kit, { args, signal, rewrite: createRewrite(args) }),
    ],
    omitHunks: async (args, { refused, signal }) => {
      const rewrite = createRewrite(args);
      const change = await previewChange(kit, { args, signal, rewrite });
      const partial = { ...args, content: omitRefusedHunks(change, refused) };
      const rewritePart = createRewrite(partial);
      const made = await previewChange(kit, { args: partial, signal, rewrite: rewritePart });
      // The character replaces bytes that are not UTF-8, which the lines that are kept would lose.
      const isExact = !change.before?.includes("\ufffd") && made.after === partial.content;
      if (isExact) return partial;
      throw new BadRequestError(`${quotePath(args.path)} cannot be written in parts`);
    },
    execute: catchAsErrorResult(async (args, { signal }) => {
      const rewrite = createRewrite(args);
      const changed = await changeFile(kit, { args, signal, rewrite });
      return textResult(describeChange(changed), { change: changed.change });
    }),
  });
}

interface WriteArguments {
  readonly path: string;
  readonly content: string;
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
