/**
 * Changes a key in the text of a configuration file; comments, blank lines and the order of keys remain.
 *
 * @module
 */

import { parse } from "smol-toml";
import { patch } from "toml-patch";
import type { ConfigValue } from "./config_value.ts";

/**
 * Returns the text of a file with a new value of a key of the top level.
 *
 * @param value The new value; `undefined` removes the key.
 * @throws {Error} If the text is not valid TOML.
 */
export function editConfig(text: string, key: string, value: ConfigValue | undefined): string {
  const table = parse(text);
  const { [key]: _previous, ...others } = table;
  const changed = value === undefined ? others : { ...table, [key]: value };
  const edited = patch(text, changed);
  return edited === "" || edited.endsWith("\n") ? edited : `${edited}\n`;
}
