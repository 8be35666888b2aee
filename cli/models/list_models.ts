/**
 * The action of `swink models`.
 *
 * @module
 */

import { catalog } from "../../adapters/catalog/catalog.ts";
import type { CatalogEntry } from "../../adapters/mod.ts";
import { didYouMean } from "../command_line/suggestion.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { toJsonLine } from "../render/json_line.ts";
import { formatTable, getTableOptions } from "../render/table.ts";

/** Lists the models whose name contains all words. */
export async function listModels(
  words: readonly string[],
  format: "text" | "json",
  host: Host,
): Promise<ExitCode> {
  const found = Object.entries(catalog).filter(([name]) =>
    words.every((word) => name.toLowerCase().includes(word.toLowerCase()))
  );
  const { output, messages } = host.terminal;
  if (format === "json") {
    await output.write(toJsonLine(found.map(([model, entry]) => ({ model, ...entry }))));
  } else {
    await output.write(formatTable(found.map(toRow), getTableOptions(host)));
  }
  if (found.length > 0) return ExitCode.ok;
  if (format === "text") {
    const suggestion = suggestWord(words) || ";";
    await messages.write(
      `No known model has this name${suggestion} -m provider/model takes any name\n`,
    );
  }
  return ExitCode.failed;
}

/** Returns a sentence that suggests a part of a name for the first word that no name contains; empty if none is similar. */
function suggestWord(words: readonly string[]): string {
  const names = Object.keys(catalog);
  const unknown = words.find((word) =>
    !names.some((name) => name.toLowerCase().includes(word.toLowerCase()))
  );
  const parts = new Set(names.flatMap((name) => name.split(/[^\p{L}\d.]+/u)));
  return unknown === undefined ? "" : didYouMean(unknown, [...parts]);
}

function toRow(
  [name, { contextWindow, maxOutput, rates, images }]: [string, CatalogEntry],
): string[] {
  return [
    name,
    `${formatTokens(contextWindow)} context`,
    `${formatTokens(maxOutput)} output`,
    rates ? `$${rates.input} in, $${rates.output} out` : "price unknown",
    images ? "images" : "",
  ];
}

/** Formats a number of tokens, such as `200k` or `1M`. */
function formatTokens(count: number): string {
  if (count >= 1_000_000) return `${Number((count / 1_000_000).toFixed(1))}M`;
  return `${Math.round(count / 1_000)}k`;
}
