/**
 * The places of files with MCP servers.
 *
 * @module
 */

import { join } from "../../src/platform/paths.ts";
import type { ProgramDirectories } from "../host/program_directories.ts";

/** Returns the path of the user's file. */
export function getUserServersPath({ config }: ProgramDirectories): string {
  return join(config, "mcp.json");
}

/** Returns the path of a project's file. */
export function getProjectServersPath(root: string): string {
  return join(root, ".mcp.json");
}

/** Whether the name of a file is its JSON instead, such as the content of a pipe. */
export function isJson(file: string): boolean {
  return file.trimStart().startsWith("{");
}
