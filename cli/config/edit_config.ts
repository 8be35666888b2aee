/**
 * Changes a key in the text of a configuration file; comments, blank lines and the order of keys remain.
 *
 * @module
 */

import { parse } from "smol-toml";
import { patch } from "toml-patch";
import type { ConfigValue } from "./config_value.ts";

/**
 * Returns the text of a file with a new value of a key.
 *
 * @param key Name of a key of the top level, or a full name such as `providers.openai.base_url`.
 * @param value The new value; `undefined` removes the key.
 * @throws {Error} If the text is not valid TOML.
 */
export function editConfig(text: string, key: string, value: ConfigValue | undefined): string {
  const edited = patch(text, setValue(parse(text), key.split("."), value));
  return edited === "" || edited.endsWith("\n") ? edited : `${edited}\n`;
}

type Table = Readonly<Record<string, unknown>>;

/** Returns a copy of a table with a new value; tables that become empty are removed. */
function setValue(
  table: Table,
  [name = "", ...others]: readonly string[],
  value: ConfigValue | undefined,
): Table {
  const { [name]: previous, ...rest } = table;
  if (others.length === 0) return value === undefined ? rest : { ...table, [name]: value };
  const inner = setValue(isTable(previous) ? previous : {}, others, value);
  return Object.keys(inner).length === 0 ? rest : { ...table, [name]: inner };
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
