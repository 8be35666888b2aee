import { assertEquals } from "@std/assert";
import { getSpecifiers, rewriteSpecifiers } from "./specifiers.ts";

const toJavaScript = (specifier: string) => specifier.replace(/\.ts$/, ".js");

for (
  const code of [
    'import { a } from "./a.ts";',
    'export * from "./a.ts";',
    'await import("./a.ts");',
    'new Worker(new URL("./a.ts", import.meta.url));',
    'await importLate("./a.ts", import.meta.url);',
    'await importLate<typeof import("./a.ts")>(\n  "./a.ts",\n  import.meta.url,\n);',
  ]
) {
  Deno.test(`rewriteSpecifiers(): rewrites the module in ${JSON.stringify(code)}`, () => {
    assertEquals(rewriteSpecifiers(code, toJavaScript), code.replaceAll(".ts", ".js"));
  });
}

Deno.test("rewriteSpecifiers(): keeps texts that name no module", () => {
  const code = 'read("./a.ts"); new URL("./data.json", import.meta.url); write("./a.ts", url);';
  assertEquals(getSpecifiers(code), []);
  assertEquals(rewriteSpecifiers(code, toJavaScript), code);
});
