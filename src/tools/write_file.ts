/**
 * The tool that writes whole files.
 *
 * @module
 */

import type { FileChange } from "../core/file_change.ts";
import { type AgentTool, defineTool, textResult } from "../core/tool.ts";
import { changeOnce } from "./change_file.ts";
import { grouped } from "./output_limit.ts";
import { MAX_EDIT_BYTES, textForChange } from "./text_content.ts";
import { answering, type ToolKit } from "./tool_kit.ts";
import { countChangedLines, fileChange } from "./unified_diff.ts";

/** Makes `write_file`. */
export function writeFileTool(kit: ToolKit): AgentTool {
  const { files } = kit.sandbox;
  return defineTool({
    name: "write_file",
    label: "Write file",
    description:
      "Writes a whole file, new or in place of what was there; makes missing folders. To change a part of a file " +
      "use edit_file.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Path, relative to the working directory" },
        content: { type: "string", description: "The whole content" },
      },
      required: ["path", "content"],
      additionalProperties: false,
    },
    interruptible: false,
    sideEffect: "idempotent",
    concurrencyKey: ({ path }) => `file:${path}`,
    preview: async ({ path, content }, { signal }): Promise<FileChange[]> => {
      const canonical = await files.resolve(path, "write");
      const before = await files.readIfThere(canonical, { maxBytes: MAX_EDIT_BYTES, signal });
      return [fileChange({
        path: files.display(canonical),
        before: textForChange(before),
        after: content,
      })];
    },
    execute: answering(async ({ path, content }, { signal }) => {
      const change = await changeOnce(kit, path, signal, () => new TextEncoder().encode(content));
      return textResult(describe(change), { change });
    }),
  });
}

function describe({ path, before, after, diff = "" }: FileChange): string {
  const size = countedLines(after ?? "");
  if (before === null) return `Created ${path} (${size})`;
  if (before === after) return `${path} already had this content`;
  const { added, removed } = countChangedLines(diff);
  return `Wrote ${path} (${size}; +${added} -${removed})`;
}

function countedLines(text: string): string {
  const count = text.split("\n").length - (text === "" || text.endsWith("\n") ? 1 : 0);
  return count === 1 ? "1 line" : `${grouped(count)} lines`;
}
