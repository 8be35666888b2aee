/**
 * The `write_file` tool.
 *
 * @module
 */

import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { catchAsErrorResult, type ToolKit } from "../kit/tool_kit.ts";

/** A program starts sooner without the code of changes. */
const loadWrites = () => import("./run_write.ts");

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
    preview: async (args, { signal }) => {
      const { previewWrite } = await loadWrites();
      return await previewWrite(kit, args, signal);
    },
    omitHunks: async (args, { refused, signal }) => {
      const { omitWrittenHunks } = await loadWrites();
      return await omitWrittenHunks(kit, args, { refused, signal });
    },
    execute: catchAsErrorResult(async (args, { signal }) => {
      const { runWrite } = await loadWrites();
      return await runWrite(kit, args, signal);
    }),
  });
}
