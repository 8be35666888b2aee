/**
 * Catalog lookups of an adapter.
 *
 * @module
 */

import type { ModelSpec } from "../../../src/core/models/model.ts";
import { type Catalog, findModel } from "../../catalog/catalog.ts";
import type { CatalogEntry } from "../../catalog/catalog_entry.ts";
import type { WarningSink } from "./warnings.ts";

/** Looks up models in a catalog and warns once about each unknown model, for which defaults apply. */
export class ModelFinder {
  readonly #catalog: Catalog;
  readonly #warned = new Set<string>();

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** Returns the entry of a model. Without one, returns `undefined` and adds a warning the first time. */
  find(model: ModelSpec, sink: WarningSink): CatalogEntry | undefined {
    const entry = findModel(this.#catalog, model);
    const name = `${model.provider}/${model.modelId}`;
    if (entry || this.#warned.has(name)) return entry;
    this.#warned.add(name);
    sink.warning(
      "unknown_model",
      `${name} is not in the catalog: default limits apply, and it has no list price`,
    );
    return undefined;
  }
}
