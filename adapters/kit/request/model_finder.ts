/**
 * What an adapter supposes of the model that it is asked for.
 *
 * @module
 */

import type { ModelSpec } from "../../../src/core/model.ts";
import { type Catalog, findModel } from "../../catalog/catalog.ts";
import type { CatalogEntry } from "../../catalog/catalog_entry.ts";
import type { WarningSink } from "./warnings.ts";

/** Looks models up; one that the catalog does not know works with defaults, and is told of once. */
export class ModelFinder {
  readonly #catalog: Catalog;
  readonly #warned = new Set<string>();

  /** Makes a finder. */
  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** The model's entry; `undefined`, and a warning the first time, when there is none. */
  find(model: ModelSpec, sink: WarningSink): CatalogEntry | undefined {
    const entry = findModel(this.#catalog, model);
    const name = `${model.provider}/${model.modelId}`;
    if (entry || this.#warned.has(name)) return entry;
    this.#warned.add(name);
    sink.warning(
      "unknown_model",
      `The catalog does not know ${name}: its limits are guessed and its price is unknown`,
    );
    return undefined;
  }
}
