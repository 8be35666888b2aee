/**
 * The `search_files` tool.
 *
 * @module
 */

import { textResult } from "../../core/messages/tool_result.ts";
import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { catchAsErrorResult, type ToolKit } from "../kit/tool_kit.ts";
import { EXCLUDED_PATHS } from "./excluded_paths.ts";

const DEFAULT_RESULTS = 200;

/** Creates `search_files`. */
export function searchFilesTool(kit: ToolKit): AgentTool {
  return defineTool({
    name: "search_files",
    label: "Search files",
    description:
      "Finds lines that match a regular expression, or, without a pattern, files by name. Omits files that git ignores.",
    parameters: PARAMETERS,
    readOnly: true,
    execute: catchAsErrorResult(async (args, { signal }) => {
      // A program starts sooner without the code of searches.
      const { runSearch } = await import("./run_search.ts");
      const { max_results = DEFAULT_RESULTS } = args;
      return textResult(await runSearch({ ...args, max_results }, { kit, signal }));
    }),
  });
}

const PARAMETERS = {
  type: "object",
  properties: {
    pattern: {
      type: "string",
      description: 'Regular expression as for ripgrep, matched per line; "(?i)" ignores case',
    },
    glob: {
      type: "string",
      description: 'Only files that match: "src/**/*.{c,h}"',
    },
    path: { type: "string", description: "Directory or file. Default: the working directory" },
    exclude_paths: EXCLUDED_PATHS,
    ignore_case: { type: "boolean" },
    multiline: { type: "boolean", description: "A match may span lines" },
    output: {
      type: "string",
      enum: ["lines", "files", "count"],
      description: "Default: lines; count: the number of matching lines of each file",
    },
    context: {
      type: "integer",
      minimum: 0,
      maximum: 20,
      description: "Lines of context around each match. Default: 0",
    },
    max_results: {
      type: "integer",
      minimum: 1,
      maximum: 2_000,
      description: `Lines, or files. Default: ${DEFAULT_RESULTS}`,
    },
  },
  additionalProperties: false,
} as const;
