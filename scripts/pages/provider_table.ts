/**
 * The table of providers, generated from those that `connect()` knows.
 *
 * @module
 */

import { keyVariables, providerNames, urlVariable } from "../../adapters/mod.ts";
import { formatTable } from "./markdown_table.ts";

/** Formats the table. */
export function formatProviderTable(): string {
  const rows = providerNames().map((name) => [
    `\`${name}\``,
    keyVariables(name).map(toCode).join(", "),
    [urlVariable(name) ?? []].flat().map(toCode).join(", "),
  ]);
  return formatTable(["provider", "variable with the key", "variable with the URL"], rows);
}

function toCode(text: string): string {
  return `\`${text}\``;
}
