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
import { type PriceList, readPriceList } from "./price_list.ts";

if (import.meta.main) {
  const [file] = Deno.args;
  if (file === undefined) {
    console.error("Usage: deno task catalog:check FILE");
    Deno.exit(2);
  }
  Deno.exit(await checkFile(file));
}

/** Checks the catalog against the list in a file; returns the exit code: 2 if the file cannot be read or is no price list. */
async function checkFile(file: string): Promise<number> {
  let list: PriceList;
  try {
    list = readPriceList(JSON.parse(await Deno.readTextFile(file)));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    console.error(`Cannot read the price list "${file}": ${reason.replaceAll(/\s+/g, " ")}`);
    return 2;
  }
  return checkCatalog(list) ? 0 : 1;
}

/** Prints the differences between the catalog and a list; returns whether all of them are explained. */
function checkCatalog({ name, prices }: PriceList): boolean {
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
