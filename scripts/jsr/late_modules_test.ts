import { assertEquals, assertThrows } from "@std/assert";
import { deferImports, toBundlerSource } from "./late_modules.ts";

Deno.test("toBundlerSource(): a module that is imported late has a literal specifier", () => {
  const source = `
const { load } = await importLate<typeof import("./load.ts")>("./load.ts", import.meta.url);
return importLate("../sessions/list.ts", import.meta.url);
await importLate<
  typeof import("../run.ts")
>(
  "../run.ts",
  import.meta.url,
);
`;
  assertEquals(
    toBundlerSource("cli/run/start.ts", source),
    `
const { load } = await import("./load.ts");
return import("../sessions/list.ts");
await import("../run.ts");
`,
  );
});

Deno.test("toBundlerSource(): URLs of modules lead from the bundle to the sources", () => {
  const rewrite = (code: string) => toBundlerSource("src/tools/process/start.ts", code);
  assertEquals(
    rewrite('new URL("./worker.ts", import.meta.url)'),
    'new URL("../../src/tools/process/worker.ts", import.meta.url)',
  );
  assertEquals(
    rewrite('new URL("../../", import.meta.url)'),
    'new URL("../../src/", import.meta.url)',
  );
  assertEquals(
    rewrite("new URL(`../../${module}`, import.meta.url)"),
    "new URL(`../../src/${module}`, import.meta.url)",
  );
  assertEquals(rewrite('new URL("a", base)'), 'new URL("a", base)');
});

Deno.test("toBundlerSource(): throws if a late module has a computed path", () => {
  assertThrows(
    () => toBundlerSource("cli/run/start.ts", "importLate(path, import.meta.url)"),
    Error,
    "cli/run/start.ts imports a module late by a path that is no literal",
  );
});

Deno.test("deferImports(): computes the specifiers of other files, but not those of the runtime", () => {
  assertEquals(
    deferImports(
      'await import("./chunk-A1.js"); await import("node:fs"); import { a } from "./a.js";',
    ),
    'await import(new URL("./chunk-A1.js", import.meta.url).href); await import("node:fs"); import { a } from "./a.js";',
  );
});
