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
  const [byteOrderMark] = /^\ufeff?/.exec(text) ?? [""];
  const content = text.slice(byteOrderMark.length).replace(EMPTY_LIST, `$1${PLACEHOLDER}`);
  return byteOrderMark + editContent(content, key, value).replaceAll(PLACEHOLDER, "[]");
}

/** Matches an empty list before a comment, which `toml-patch` would remove with every change of the file. */
const EMPTY_LIST = /^([ \t]*[\w.-]+[ \t]*=[ \t]*)\[[ \t]*\](?=[ \t]*#)/gm;

/** A string in place of such a list. */
const PLACEHOLDER = '"swink: an empty list"';

function editContent(text: string, key: string, value: ConfigValue | undefined): string {
  const table = parse(text);
  const path = key.split(".");
  const edited = patch(text, setValue(table, path, { value }));
  // A table without keys remains if it has comments, such as settings that are switched off.
  const kept = countComments(edited) < countComments(text)
    ? patch(text, setValue(table, path, { value, keepsTables: true }))
    : edited;
  const complete = value === undefined ? restoreComments(kept.trim() && kept, text) : kept;
  return complete === "" || complete.endsWith("\n") ? complete : `${complete}\n`;
}

/** Returns a text with the comments above a removed key, which may be those of the whole file or of other settings. */
function restoreComments(edited: string, before: string): string {
  const [lines, rest] = [before.split("\n"), edited.split("\n")];
  // Blanks at the ends of lines are not kept.
  const start = lines.findIndex((line, index) => line.trimEnd() !== rest[index]?.trimEnd());
  const removed = lines.slice(start, start + lines.length - rest.length);
  const isRemoval = start >= 0 &&
    [...lines.slice(0, start), ...lines.slice(start + removed.length)]
      .every((line, index) => line.trimEnd() === rest[index]?.trimEnd());
  if (!isRemoval) return edited;
  const end = removed.findIndex((line) => !/^[ \t]*#/.test(line));
  const restored = [...rest.slice(0, start), ...removed.slice(0, end), ...rest.slice(start)];
  return isSameTable(restored.join("\n"), edited) ? restored.join("\n") : edited;
}

function isSameTable(text: string, other: string): boolean {
  try {
    return JSON.stringify(parse(text)) === JSON.stringify(parse(other));
  } catch {
    return false;
  }
}

/** Counts the lines that are comments. */
function countComments(text: string): number {
  return text.match(/^[ \t]*#/gm)?.length ?? 0;
}

type Table = Readonly<Record<string, unknown>>;

interface NewValue {
  readonly value: ConfigValue | undefined;
  /** Whether tables that become empty remain. Default: `false`. */
  readonly keepsTables?: boolean;
}

/** Returns a copy of a table with a new value. */
function setValue(
  table: Table,
  [name = "", ...others]: readonly string[],
  change: NewValue,
): Table {
  const { value, keepsTables = false } = change;
  const { [name]: previous, ...rest } = table;
  if (others.length === 0) return value === undefined ? rest : { ...table, [name]: value };
  const inner = setValue(isTable(previous) ? previous : {}, others, change);
  const isRemoved = Object.keys(inner).length === 0 && !(keepsTables && isTable(previous));
  return isRemoved ? rest : { ...table, [name]: inner };
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
