import { assertEquals, assertStrictEquals } from "@std/assert";
import { SchemaDocument } from "./schema_document.ts";

Deno.test("SchemaDocument: resolves pointers, identifiers and anchors", () => {
  const city = { $id: "city", $anchor: "here", type: "string" };
  const root = { $id: "https://example.com/root", $defs: { city } };
  const document = new SchemaDocument(root);
  for (
    const reference of ["#/$defs/city", "city", "https://example.com/city", "city#", "city#here"]
  ) assertStrictEquals(document.resolve(reference, root), city, reference);
  assertStrictEquals(document.resolve("#", root), root);
  for (const reference of ["#/$defs/town", "town", "#here", "https://[", "#/$defs/city/type/0"]) {
    assertEquals(document.resolve(reference, root), undefined, reference);
  }
});

Deno.test("SchemaDocument: resolves references in a schema that only a pointer leads to", () => {
  const name = { type: "string" };
  const city = { $id: "https://example.com/city", name, $ref: "#/name", item: { $ref: "#/name" } };
  const root = { "x-schemas": { city } };
  const document = new SchemaDocument(root);
  const found = document.resolve("#/x-schemas/city", root);
  assertStrictEquals(found, city);
  // Its identifier is the base of the references in it.
  assertStrictEquals(document.resolve("#/name", city), name);
});

Deno.test("SchemaDocument: the identifier of draft 4 is `id`", () => {
  const city = { id: "city" };
  const draft4 = { $schema: "http://json-schema.org/draft-04/schema#", definitions: { city } };
  assertStrictEquals(new SchemaDocument(draft4).resolve("city", draft4), city);
  const draft7 = { definitions: { city } };
  assertEquals(new SchemaDocument(draft7).resolve("city", draft7), undefined);
});
