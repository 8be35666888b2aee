/**
 * Compares the prices of the catalog with a copy of a public list, `api.json` of models.dev or
 * `model_prices_and_context_window.json` of litellm, and prints the differences. Exits with code 1 if there are any that
 * `explained_differences.json` does not explain.
 *
 * @example `deno task catalog:check model_prices_and_context_window.json`
 *
 * @module
 */

import { catalog } from "../../adapters/catalog/catalog.ts";
import { comparePrices, type PriceDifference } from "./compare_prices.ts";
import { explainDifferences } from "./explanations.ts";
import { readPriceList } from "./price_list.ts";

if (import.meta.main) {
  const [file] = Deno.args;
  if (file === undefined) {
    console.error("Usage: deno task catalog:check FILE");
    Deno.exit(2);
  }
  Deno.exit(checkCatalog(await Deno.readTextFile(file)) ? 0 : 1);
}

/** Prints the differences between the catalog and a list; returns whether all of them are explained. */
function checkCatalog(text: string): boolean {
  const { name, prices } = readPriceList(JSON.parse(text));
  const { compared, differences } = comparePrices(catalog, prices);
  const { unexplained, explained, unused } = explainDifferences(differences, name);
  for (const difference of unexplained) console.log(formatDifference(difference));
  for (const { models, prices } of unused) {
    console.log(`Unused explanation: ${models}, ${prices}`);
  }
  console.log(
    `Compared ${compared} models with ${name}: ${unexplained.length} prices differ, ` +
      `${explained.length} more with an explanation`,
  );
  return unexplained.length === 0;
}

function formatDifference({ model, price, catalog, list }: PriceDifference): string {
  return `${model}: ${price} is ${catalog ?? "missing"} in the catalog, ${
    list ?? "missing"
  } in the list`;
}
