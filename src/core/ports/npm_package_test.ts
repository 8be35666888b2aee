import { assertEquals, assertRejects } from "@std/assert";
import { importNpmPackage } from "./npm_package.ts";

Deno.test("importNpmPackage(): imports a module of a package", async () => {
  const { default: Ajv } = await importNpmPackage<{ default: unknown }>({
    name: "ajv",
    range: "^8.20.0",
    path: "/dist/2020.js",
  });
  assertEquals(typeof Ajv, "function");
});

Deno.test("importNpmPackage(): rejects if the package can neither be downloaded nor is installed", async () => {
  const missing = { name: "ajv", range: "^8.20.0", path: "/no_such_module.js" };
  await assertRejects(() => importNpmPackage(missing), Error);
});
