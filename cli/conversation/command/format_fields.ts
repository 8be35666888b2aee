/**
 * Rows of a name and a value.
 *
 * @module
 */

import type { Line } from "../../render/line/line.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";

/** Formats names and values in two columns. */
export function formatFields(fields: readonly (readonly [name: string, value: string])[]): Line[] {
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => [
    { text: name.padEnd(width + 2), role: "faint" },
    { text: toOneLine(toPlainText(value)) },
  ]);
}
