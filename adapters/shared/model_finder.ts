/**
 * What an adapter supposes of the model that it is asked for.
 *
 * @module
 */

import type { ModelSpec } from "../../src/core/model.ts";
import { type Catalog, findModel } from "../catalog.ts";
import type { CatalogEntry } from "../catalog_entry.ts";
import type { WarningSink } from "./warnings.ts";

/** Looks models up; one that the catalog does not know works with defaults, and is told of once. */
export class ModelFinder {
  readonly #catalog: Catalog;
  readonly #unknown: CatalogEntry;
  readonly #told = new Set<string>();

  /** Makes a finder; `unknown` stands for models that the catalog does not know. */
  constructor(catalog: Catalog, unknown: CatalogEntry) {
    this.#catalog = catalog;
    this.#unknown = unknown;
  }

  /** The model's entry, or the defaults and a warning. */
  find(model: ModelSpec, sink: WarningSink): CatalogEntry {
    const entry = findModel(this.#catalog, model);
    if (entry) return entry;
    const name = `${model.provider}/${model.modelId}`;
    if (!this.#told.has(name)) {
      this.#told.add(name);
      sink.warning(
        "unknown_model",
        `The catalog does not know ${name}: its limits are guessed and its price is unknown`,
      );
    }
    return this.#unknown;
  }
}
