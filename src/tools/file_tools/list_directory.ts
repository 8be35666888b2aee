/**
 * The tool that lists folders.
 *
 * @module
 */

import { type AgentTool, defineTool, textResult } from "../../core/tool.ts";
import { BadRequestError } from "../../core/errors.ts";
import { quotePath } from "../files/file_error.ts";
import { suggestNames } from "../sandbox/name_suggestion.ts";
import { catchAsErrorResult, type ToolKit } from "../kit/tool_kit.ts";
import { type WalkEntry, walkFiles } from "../search/walk_files.ts";

/** Names in one answer. */
const MAX_ENTRIES = 1_000;

const DEFAULT_DEPTH = 2;

/** Makes `list_directory`. */
export function listDirectoryTool({ sandbox }: ToolKit): AgentTool {
  const { files } = sandbox;
  return defineTool({
    name: "list_directory",
    label: "List directory",
    description:
      "Lists a folder as a tree; folders end with /. Leaves out what git ignores, and .git itself.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string", description: "Folder. Default: the working directory" },
        depth: {
          type: "integer",
          minimum: 1,
          maximum: 20,
          description: `Levels to show. Default: ${DEFAULT_DEPTH}`,
        },
      },
      additionalProperties: false,
    },
    readOnly: true,
    execute: catchAsErrorResult(async ({ path = ".", depth = DEFAULT_DEPTH }, { signal }) => {
      const kind = await files.getKind(path);
      if (kind === undefined) {
        throw new BadRequestError(
          `${quotePath(path)} does not exist${await suggestNames(files, path)}`,
        );
      }
      if (kind !== "directory") {
        throw new BadRequestError(`${quotePath(path)} is not a folder: read it with read_file`);
      }
      const start = await files.resolve(path, "read");
      const lines: string[] = [];
      let more = 0;
      for await (const entry of walkFiles(files, start, { signal, maxDepth: depth - 1 })) {
        if (lines.length < MAX_ENTRIES) lines.push(formatEntry(entry, depth));
        else if (++more >= MAX_ENTRIES) break;
      }
      if (lines.length === 0) return textResult("[The folder is empty]");
      const rest = more === 0
        ? ""
        : `\n[${more}${
          more >= MAX_ENTRIES ? " or" : ""
        } more entries; list a folder below, or fewer levels]`;
      return textResult(lines.join("\n") + rest);
    }),
  });
}

function formatEntry({ name, kind, depth }: WalkEntry, maxDepth: number): string {
  const unopened = kind === "directory" && depth === maxDepth - 1 ? " …" : "";
  return `${"  ".repeat(depth)}${toPrintable(name)}${KIND_SUFFIX[kind]}${unopened}`;
}

const KIND_SUFFIX: Readonly<Record<WalkEntry["kind"], string>> = {
  file: "",
  directory: "/",
  link: "@",
  other: " (not a regular file)",
};

/** A name with newlines or escapes is shown quoted. */
export function toPrintable(name: string): string {
  return /\p{Cc}/u.test(name) ? quotePath(name) : name;
}
