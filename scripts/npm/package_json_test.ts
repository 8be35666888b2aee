import { assertEquals } from "@std/assert";
import { createPackageJson } from "./package_json.ts";

Deno.test("createPackageJson(): lists npm packages with their ranges, and those with another name as aliases", () => {
  const config = {
    name: "@a/b",
    version: "1.0.0",
    license: "MIT",
    exports: { ".": "./mod.ts" },
    imports: {
      "ajv": "npm:ajv@^8.20.0",
      "@c/d": "npm:@c/d@~1.2.0",
      "toml-patch": "npm:@decimalturn/toml-patch@^3.3.0",
      "@std/text": "jsr:@std/text@^1.0.0",
    },
  };
  const specifiers = ["ajv/dist/2020.js", "@c/d", "toml-patch", "@std/text/levenshtein-distance"];
  assertEquals(JSON.parse(createPackageJson(config, specifiers)).dependencies, {
    "@c/d": "~1.2.0",
    "ajv": "^8.20.0",
    "toml-patch": "npm:@decimalturn/toml-patch@^3.3.0",
  });
});
