import { assertEquals } from "@std/assert";

const root = new URL("../../../", import.meta.url);
const read = (path: string) => Deno.readTextFileSync(new URL(path, root));

Deno.test("docs/add_an_adapter.md: contains the files of the worked example verbatim", () => {
  const document = read("docs/add_an_adapter.md");
  const examples = [...document.matchAll(/<!-- file: (\S+) -->\n\n```ts ignore\n([\s\S]*?)```/g)];
  assertEquals(examples.length, 4);
  for (const [, path = "", code] of examples) assertEquals(code, read(path), path);
});

Deno.test("docs/add_an_adapter.md: the worked example imports public modules only", () => {
  for (const name of ["acme", "acme_test", "request", "response"]) {
    const code = read(`tests/adapters/worked_example/${name}.ts`);
    const imports = [...code.matchAll(/ from "([^"]+)"/g)].flatMap(([, path]) => path ?? []);
    assertEquals(imports.filter((path) => !/^(@swink\/agent|\.\/\w+\.ts$)/.test(path)), [], name);
  }
});
