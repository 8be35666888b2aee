/**
 * Reads the id of a session from its log, since the hashed name of a file does not have it.
 *
 * @module
 */

import { isJsonObject } from "../../core/json.ts";
import type { ReadableFile } from "./file_system.ts";
import { readLines } from "./read_lines.ts";

/** Returns the id in the header of a log, if it has one. */
export async function readHeaderId(file: ReadableFile): Promise<string | undefined> {
  for await (const [first] of readLines(file)) {
    try {
      const header: unknown = JSON.parse(first?.text ?? "");
      const id = isJsonObject(header) ? header["id"] : undefined;
      return typeof id === "string" ? id : undefined;
    } catch {
      return undefined;
    }
  }
  return undefined;
}
