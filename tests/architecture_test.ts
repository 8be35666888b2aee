import { assert, assertEquals } from "@std/assert";
import { findImportCycles } from "./architecture/import_cycles.ts";
import { findLayerViolations } from "./architecture/layers.ts";
import { readImports, readShippedFiles } from "./architecture/imports.ts";
import { readPublicModules, root } from "./project.ts";

const files = await readShippedFiles();

Deno.test("no file imports from a floor above it or beside it", () => {
  assertEquals(files.flatMap(findLayerViolations), []);
});

Deno.test("no files import each other in a circle, types included", () => {
  assertEquals(findImportCycles(files), []);
});

Deno.test("every file is reached from a public module", async () => {
  const importsOf = new Map(files.map((file) => [file.path, file.ours]));
  const reached = new Set(
    Object.values(await readPublicModules()).map((path) => path.replace("./", "")),
  );
  for (const path of reached) importsOf.get(path)?.forEach((imported) => reached.add(imported));
  assertEquals(files.map((file) => file.path).filter((path) => !reached.has(path)), []);
});

Deno.test("every mod.ts says what it is for", async () => {
  for (const { path } of files.filter((file) => file.path.endsWith("mod.ts"))) {
    const text = await Deno.readTextFile(new URL(path, root));
    const [comment = ""] = text.match(/^\/\*\*[\s\S]*?\*\//) ?? [];
    assert(comment.includes("@module") && comment.length > 40, `${path} has no module comment`);
  }
});

Deno.test("every room's mod.ts is a public module, and every public module is there", async () => {
  const doors = files.map((file) => file.path).filter(isPublicModule);
  const published = Object.values(await readPublicModules()).map((path) => path.replace("./", ""));
  assertEquals(published.filter(isPublicModule).toSorted(), doors.toSorted());
});

Deno.test("file names are snake_case and say what is in the file", () => {
  const named = files.map((file) => file.path).filter((path) =>
    !/^([a-z0-9_]+\/)*[a-z0-9]+(_[a-z0-9]+)*\.ts$/.test(path) ||
    /(^|[/_])(managers?|helpers?|utils?|common|base|data|info)([_.]|$)/.test(path)
  );
  assertEquals(named, []);
});

Deno.test("imports are read from statements, types and expressions, not from comments", () => {
  const source = [
    `import { a } from "./a.ts";`,
    `import type {\n  B,\n} from "../b.ts";`,
    `export * from "ajv/dist/2020.js";`,
    `import "./c.ts";`,
    `/**\n * import { x } from "./comment.ts";\n */`,
    `const lazy = () => import("./d.ts");`,
    `const worker = new URL("./e.ts", import.meta.url);`,
    `// import("./comment.ts")`,
  ].join("\n");
  assertEquals(readImports("src/core/x.ts", source), {
    path: "src/core/x.ts",
    ours: ["src/core/a.ts", "src/b.ts", "src/core/c.ts", "src/core/d.ts", "src/core/e.ts"],
    others: ["ajv/dist/2020.js"],
  });
});

Deno.test("a way up, a way across and a foreign package are told", () => {
  const file = (path: string, ours: string[], others: string[] = []) => ({ path, ours, others });
  assertEquals(findLayerViolations(file("src/loop/a.ts", ["src/core/b.ts", "src/loop/c.ts"])), []);
  assertEquals(findLayerViolations(file("src/core/a.ts", ["src/loop/b.ts"])).length, 1);
  assertEquals(findLayerViolations(file("src/tools/a.ts", ["src/memory/mod.ts"])).length, 1);
  assertEquals(findLayerViolations(file("src/core/a.ts", [], ["ajv/dist/2020.js"])).length, 1);
  assertEquals(findLayerViolations(file("cli/a.ts", ["src/tools/bash.ts"])).length, 1);
});

Deno.test("a circle is told with its way", () => {
  const file = (path: string, ...ours: string[]) => ({ path, ours, others: [] });
  assertEquals(findImportCycles([file("a", "b"), file("b", "c"), file("c", "b"), file("d", "a")]), [
    "b → c → b",
  ]);
});

/** The doors of the house: `mod.ts` of the root, of the rooms and of each adapter. */
function isPublicModule(path: string): boolean {
  return /^(mod|(src|adapters)\/([a-z_]+\/)?mod)\.ts$/.test(path) && !path.includes("/kit/");
}
