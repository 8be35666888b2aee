import { assertEquals, assertStringIncludes } from "@std/assert";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => Deno.readTextFileSync(new URL(path, root));

Deno.test("docs/add_an_adapter.md shows the worked example as it is", () => {
  const document = read("docs/add_an_adapter.md");
  const shown = [...document.matchAll(/<!-- file: (\S+) -->\n\n```ts ignore\n([\s\S]*?)```/g)];
  assertEquals(shown.length, 4);
  for (const [, path = "", code] of shown) assertEquals(code, read(path), path);
});

Deno.test("docs/add_an_adapter.md names files that exist", () => {
  const document = read("docs/add_an_adapter.md");
  for (const [, path = ""] of document.matchAll(/`((?:adapters|tests)\/[a-z_/]+\.ts)`/g)) {
    assertStringIncludes(read(path), "");
  }
});
