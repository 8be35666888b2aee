/**
 * Renames the members of an object in its JSON text.
 *
 * @module
 */

import { parseJsonOrUndefined } from "../../../src/core/json/parse_json.ts";

/**
 * Returns the JSON text of an object with other names of its own members, not of those within them. All else keeps its
 * text, such as the digits of numbers; so does a text that was cut off.
 */
export function renameMembers(json: string, rename: (name: string) => string): string {
  if (!json.trimStart().startsWith("{")) return json;
  let renamed = "";
  let depth = 0;
  let copied = 0;
  let expectsName = false;
  for (let index = 0; index < json.length; index++) {
    switch (json[index]) {
      case "{":
      case "[":
        expectsName = ++depth === 1 && json[index] === "{";
        break;
      case "}":
      case "]":
        depth--;
        break;
      case ",":
        expectsName = depth === 1;
        break;
      case '"': {
        const end = findStringEnd(json, index);
        const name = expectsName ? parseJsonOrUndefined(json.slice(index, end)) : undefined;
        if (typeof name === "string" && rename(name) !== name) {
          renamed += json.slice(copied, index) + JSON.stringify(rename(name));
          copied = end;
        }
        expectsName = false;
        index = end - 1;
      }
    }
  }
  return renamed + json.slice(copied);
}

/** Returns the position after the string that starts at a position; the end of the text if it was cut off. */
function findStringEnd(json: string, start: number): number {
  let index = start + 1;
  while (index < json.length && json[index] !== '"') index += json[index] === "\\" ? 2 : 1;
  return Math.min(index + 1, json.length);
}
