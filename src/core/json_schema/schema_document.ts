/**
 * Resolves the references in a schema.
 *
 * @module
 */

import { isRecord, type JsonRecord } from "./json_object.ts";
import { getSubschemas } from "./subschemas.ts";

/** Base URI of a schema without an identifier. */
const DEFAULT_BASE = "schema:///";

/** A schema, with the schemas in it by the URIs that their identifiers and anchors give them. */
export class SchemaDocument {
  readonly #idKeyword: "$id" | "id";
  readonly #schemas = new Map<string, JsonRecord>();
  readonly #bases = new Map<JsonRecord, string>();

  /** Indexes a schema. Identifiers are local to the document, so that two documents may use the same ones. */
  constructor(root: JsonRecord) {
    this.#idKeyword = String(root["$schema"]).includes("draft-04") ? "id" : "$id";
    this.#schemas.set(DEFAULT_BASE, root);
    this.#index(root, DEFAULT_BASE);
  }

  /** Returns the schema that a reference in `from` refers to, or `undefined` if the document does not contain it. */
  resolve(reference: string, from: JsonRecord): unknown {
    const uri = resolveUri(reference, this.#bases.get(from) ?? DEFAULT_BASE);
    const [resource = "", fragment = ""] = uri.split("#");
    const root = this.#schemas.get(resource);
    if (!root || fragment === "" || !fragment.startsWith("/")) return this.#schemas.get(uri);
    const pointer = decode(fragment);
    return pointer === undefined ? undefined : this.#followPointer(root, pointer);
  }

  #index(schema: JsonRecord, outerBase: string): void {
    if (this.#bases.has(schema)) return;
    const { [this.#idKeyword]: id, $anchor, $dynamicAnchor } = schema;
    const uri = typeof id === "string" ? resolveUri(id, outerBase) : outerBase;
    const [base = uri] = uri.split("#");
    this.#bases.set(schema, base);
    if (uri !== outerBase) this.#schemas.set(uri, schema);
    for (const anchor of [$anchor, $dynamicAnchor]) {
      if (typeof anchor === "string") this.#schemas.set(`${base}#${anchor}`, schema);
    }
    for (const subschema of getSubschemas(schema)) this.#index(subschema, base);
  }

  #followPointer(root: JsonRecord, pointer: string): unknown {
    let target: unknown = root;
    let base = this.#bases.get(root) ?? DEFAULT_BASE;
    for (const segment of pointer.split("/").slice(1)) {
      const key = segment.replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof target !== "object" || target === null || !Object.hasOwn(target, key)) {
        return undefined;
      }
      target = (target as JsonRecord)[key];
      if (isRecord(target)) base = this.#bases.get(target) ?? base;
    }
    if (isRecord(target)) this.#index(target, base);
    return target;
  }
}

/** Resolves a URI reference; an invalid one is returned unchanged, and so is found nowhere. */
function resolveUri(reference: string, base: string): string {
  try {
    return new URL(reference, base).href.replace(/#$/, "");
  } catch {
    return reference;
  }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
