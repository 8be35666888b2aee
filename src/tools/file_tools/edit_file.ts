/**
 * The `edit_file` tool.
 *
 * @module
 */

import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { catchAsErrorResult, type ToolKit } from "../kit/tool_kit.ts";

/** A program starts sooner without the code of edits. */
const loadEdits = () => import("./run_edit.ts");

/** Creates `edit_file`. */
export function editFileTool(kit: ToolKit): AgentTool {
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
    preview: async (args, { signal }) => {
      const { previewEdit } = await loadEdits();
      return await previewEdit(kit, args, signal);
    },
    omitHunks: async (args, { refused, signal }) => {
      const { omitEditedHunks } = await loadEdits();
      return await omitEditedHunks(kit, args, { refused, signal });
    },
    execute: catchAsErrorResult(async (args, { signal }) => {
      const { runEdit } = await loadEdits();
      return await runEdit(kit, args, signal);
    }),
  });
}
