import { assertEquals } from "@std/assert";
import type { JsonSchema } from "../../../src/core/json/json.ts";
import { findRenamedProperties, toClaudeSchema } from "./property_names.ts";

const TEXT = { type: "string" };

Deno.test("toClaudeSchema(): references to a renamed parameter are replaced by its schema", () => {
  const parameters = {
    type: "object",
    properties: { $top: TEXT, skip: { $ref: "#/properties/$top" }, page: { $ref: "#/$defs/page" } },
    $defs: { page: { type: "integer" } },
  };
  const [{ wireName } = { wireName: "" }] = findRenamedProperties(parameters);
  assertEquals(toClaudeSchema(parameters), {
    type: "object",
    properties: {
      [wireName]: { ...TEXT, description: 'Called "$top" elsewhere.' },
      skip: TEXT,
      page: { type: "integer" },
    },
  });
});

Deno.test("toClaudeSchema(): keeps references if no parameter is renamed, or none refers to a parameter", () => {
  const recursive: JsonSchema = {
    type: "object",
    properties: { $tree: { $ref: "#/$defs/tree" } },
    $defs: { tree: { type: "object", properties: { next: { $ref: "#/$defs/tree" } } } },
  };
  assertEquals(toClaudeSchema(recursive)["$defs"], recursive["$defs"]);
  const plain = { type: "object", properties: { a: TEXT, b: { $ref: "#/properties/a" } } };
  assertEquals(toClaudeSchema(plain), plain);
});

Deno.test("toClaudeSchema(): parameters that another one requires have their new names", () => {
  const parameters = {
    type: "object",
    properties: { $top: TEXT, $skip: TEXT, page: TEXT },
    required: ["$top"],
    dependentRequired: { $skip: ["$top", "page"], page: ["$skip"] },
  };
  const [top, skip] = findRenamedProperties(parameters).map(({ wireName }) => wireName);
  const { required, dependentRequired } = toClaudeSchema(parameters);
  assertEquals([required, dependentRequired], [[top], {
    [`${skip}`]: [top, "page"],
    page: [skip],
  }]);
});
