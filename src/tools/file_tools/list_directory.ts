/**
 * The `list_directory` tool.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors/errors.ts";
import { textResult } from "../../core/messages/tool_result.ts";
import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { isExactPath } from "../../platform/paths.ts";
import { quotePath } from "../files/file_error.ts";
import { catchAsErrorResult, type ToolKit } from "../kit/tool_kit.ts";
import { type WalkEntry, walkFiles } from "../search/walk_files.ts";
import { EXCLUDED_PATHS } from "./excluded_paths.ts";

/** Maximum number of entries in a result. */
const MAX_ENTRIES = 1_000;

const DEFAULT_DEPTH = 2;

/** Creates `list_directory`. */
export function listDirectoryTool({ sandbox }: ToolKit): AgentTool {
  const { files } = sandbox;
  return defineTool({
    name: "list_directory",
    label: "List directory",
    description:
      "Lists a directory as a tree; directories end with /. Omits files that git ignores, and .git.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Directory. Default: the working directory" },
        depth: {
          type: "integer",
          minimum: 1,
          maximum: 20,
          description: `Levels to list. Default: ${DEFAULT_DEPTH}`,
        },
        exclude_paths: EXCLUDED_PATHS,
      },
      additionalProperties: false,
    },
    readOnly: true,
    execute: catchAsErrorResult(async (args, { signal }) => {
      const { path = ".", depth = DEFAULT_DEPTH, exclude_paths } = args;
      const kind = await files.getKind(path);
      if (kind === undefined) {
        const { suggestNames } = await import("../sandbox/name_suggestion.ts");
        throw new BadRequestError(
          `${quotePath(path)} does not exist${await suggestNames(files, path)}`,
        );
      }
      if (kind !== "directory") {
        throw new BadRequestError(`${quotePath(path)} is not a directory: read it with read_file`);
      }
      const start = await files.resolve(path, "read");
      // A program starts sooner without the code of patterns.
      const { createPathExclusion } = await import("./path_exclusion.ts");
      const isExcluded = createPathExclusion(exclude_paths, files);
      const lines: string[] = [];
      let omitted = 0;
      for await (
        const entry of walkFiles(files, start, { signal, maxDepth: depth - 1, isExcluded })
      ) {
        if (lines.length < MAX_ENTRIES) lines.push(formatEntry(entry, depth));
        else if (++omitted >= MAX_ENTRIES) break;
      }
      if (lines.length === 0) return textResult("[The directory is empty]");
      const count = omitted >= MAX_ENTRIES ? `at least ${omitted}` : omitted;
      const notice = `\n[${count} more entries; list a subdirectory or fewer levels]`;
      return textResult(lines.join("\n") + (omitted === 0 ? "" : notice));
    }),
  });
}

function formatEntry({ name, kind, depth }: WalkEntry, maxDepth: number): string {
  const ellipsis = kind === "directory" && depth === maxDepth - 1 ? " …" : "";
  return `${"  ".repeat(depth)}${toPrintable(name + KIND_SUFFIX[kind])}${ellipsis}`;
}

const KIND_SUFFIX: Readonly<Record<WalkEntry["kind"], string>> = {
  file: "",
  directory: "/",
  link: "@",
  other: " (not a regular file)",
};

/** Quotes a name that contains control characters, and marks one that the tools cannot use. */
export function toPrintable(name: string): string {
  const printable = /\p{Cc}/u.test(name) ? quotePath(name) : name;
  return isExactPath(name) ? printable : `${printable} (not UTF-8: use a command)`;
}
