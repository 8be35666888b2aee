import { assertEquals } from "@std/assert";
import { createPackageJson, listOptionalPackages } from "./package_json.ts";

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
  assertEquals(JSON.parse(createPackageJson(config, { specifiers, optional: [] })).dependencies, {
    "@c/d": "~1.2.0",
    "ajv": "^8.20.0",
    "toml-patch": "npm:@decimalturn/toml-patch@^3.3.0",
  });
});

Deno.test("createPackageJson(): packages that a program may install are optional peer dependencies", () => {
  const config = {
    name: "@a/b",
    version: "1.0.0",
    license: "MIT",
    exports: { ".": "./mod.ts" },
    imports: {
      "ajv": "npm:ajv@^8.20.0",
      "pg": "npm:pg@^8.23.1",
      "@c/api": "npm:@c/api@~1.9.0",
      "for-tests": "npm:for-tests@^1.0.0",
    },
  };
  const sources = [
    'const PG = { name: "pg", range: "^8.23.1" };\nimport "ajv"; const AJV = { name: "ajv" };',
    'const API = { name: "@c/api", range: "~1.9.0" };',
  ];
  const specifiers = ["ajv"];
  const optional = listOptionalPackages(config, { sources, specifiers });
  const fields = JSON.parse(createPackageJson(config, { specifiers, optional }));
  assertEquals(fields.dependencies, { "ajv": "^8.20.0" });
  assertEquals(fields.peerDependencies, { "pg": "^8.23.1", "@c/api": "^1.9.0" });
  assertEquals(fields.peerDependenciesMeta, {
    "pg": { optional: true },
    "@c/api": { optional: true },
  });
});
