/**
 * Reads the id of a session from its log, since the hashed name of a file does not have it.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { ReadableFile } from "./file_system.ts";
import { readLines } from "./read_lines.ts";

/**
 * Returns the id in the header of a log, if it has one. The header is the first line, or a later one if it was damaged and
 * written again.
 */
export async function readHeaderId(file: ReadableFile): Promise<string | undefined> {
  for await (const lines of readLines(file)) {
    for (const { text = "" } of lines) {
      const header = text.includes('"session"') ? parseHeader(text) : undefined;
      if (header) return typeof header["id"] === "string" ? header["id"] : undefined;
    }
  }
  return undefined;
}

function parseHeader(text: string): JsonObject | undefined {
  try {
    const record: unknown = JSON.parse(text);
    return isJsonObject(record) && record["type"] === "session" ? record : undefined;
  } catch {
    return undefined;
  }
}
