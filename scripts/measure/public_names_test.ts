import { assertEquals } from "@std/assert";
import { findRepeatedNames, listPublicNames } from "./public_names.ts";

const files: Record<string, string> = {
  "deno.json": `{ "exports": { ".": "./mod.ts", "./b": "./src/b.ts" } }`,
  "mod.ts": `export { a, type B as C } from "./src/a.ts";\nexport * from "./src/b.ts";`,
  "src/b.ts": `export const d = 1, e = 2;\nexport class F {}\nexport type G = 1;\nconst h = 1;`,
};

Deno.test("listPublicNames() follows re-exports, and findRepeatedNames() finds names of several modules", async () => {
  const names = await listPublicNames((path) => Promise.resolve(files[path] ?? ""));
  assertEquals(names, { ".": ["C", "F", "G", "a", "d", "e"], "./b": ["F", "G", "d", "e"] });
  assertEquals(findRepeatedNames(names), ["F", "G", "d", "e"]);
});
