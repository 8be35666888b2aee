import { assert, assertEquals } from "@std/assert";
import { findDirectoryCycles, findImportCycles } from "./architecture/import_cycles.ts";
import { readImportedNames } from "./architecture/imported_names.ts";
import { readImports, readShippedFiles } from "./architecture/imports.ts";
import { findLayerViolations } from "./architecture/layers.ts";
import { readPublicModules, root } from "./project.ts";
import publicApi from "./public_api.json" with { type: "json" };

const files = await readShippedFiles();

Deno.test("architecture: files import only what their layer allows", () => {
  assertEquals(files.flatMap(findLayerViolations), []);
});

Deno.test("architecture: imports of files have no cycles, type imports included", () => {
  assertEquals(findImportCycles(files), []);
});

Deno.test("architecture: imports of directories have no cycles", () => {
  assertEquals(findDirectoryCycles(files), []);
});

Deno.test("architecture: the program imports its own modules either with the others or by importLate()", async () => {
  // Deno reads what an import() with a literal names before it runs anything: all commands would be read for each one.
  const literals: string[] = [];
  for (const { path } of files.filter(({ path }) => path.startsWith("cli/"))) {
    const source = await Deno.readTextFile(new URL(path, root));
    for (const [, specifier] of source.matchAll(/(?<!typeof )\bimport\("(\.[^"]+)"\)/g)) {
      literals.push(`${path}: ${specifier}`);
    }
  }
  assertEquals(literals, []);
});

Deno.test("architecture: every file is imported by a public module, directly or indirectly", async () => {
  const importsByPath = new Map(files.map((file) => [file.path, file.internal]));
  const reached = new Set(
    Object.values(await readPublicModules()).map((path) => path.replace("./", "")),
  );
  for (const path of reached) importsByPath.get(path)?.forEach((imported) => reached.add(imported));
  assertEquals(files.map((file) => file.path).filter((path) => !reached.has(path)), []);
});

Deno.test("architecture: optional properties of public options may be undefined, as exactOptionalPropertyTypes requires", async () => {
  const options = new Set(
    Object.values(publicApi).flat().flatMap((entry) =>
      /^(\w+Options): interface$/.exec(entry)?.[1] ?? []
    ),
  );
  const strict: string[] = [];
  for (const { path } of files) {
    if (path === "src/mcp/protocol/client_package.ts") continue; // The types of that package.
    const source = await Deno.readTextFile(new URL(path, root));
    for (
      const [, name = "", body = ""] of source.matchAll(
        /^export interface (\w+)\b[^{]*\{(.*?)^\}/gms,
      )
    ) {
      if (!options.has(name)) continue;
      const properties = body.matchAll(/^ {2}readonly (\w+)\?:((?:[^;{}]|\{[^}]*\})*);/gm);
      for (const [, property = "", type = ""] of properties) {
        if (!/undefined|unknown/.test(type)) strict.push(`${name}.${property}`);
      }
    }
  }
  assertEquals(strict, []);
});

/** Names that adapters of the library import and other adapters do not need, with the reason. */
const INTERNAL_NAMES: Readonly<Record<string, string>> = {
  ArgumentsReader: "several calls in one event are read in linear time",
  checkApi: "only the servers of OpenAI, Azure and xAI have two APIs",
  checkToken: "the proxy's server asks the application about tokens",
  createSecondReplyError:
    "only gateways of OpenAI, Anthropic, Google and Bedrock repeat requests in a stream",
  DeltaTemplate: "a shortcut for the deltas of three wire formats, which saves parsing them",
  IdleTimer: "the proxy's server limits the pauses of a body that it sends",
  importNpmPackage: "only Bedrock needs npm packages",
  inlineDefinitions: "only Nova models and Moonshot do not accept all references",
  isLocalCaller: "without authorization, the proxy's server has local callers only",
  isLoopbackName: "without authorization, the proxy's server has local callers only",
  mapSubschemas: "only Moonshot has rules of its own for the schemas within another",
  ResponseId: "only the APIs of OpenAI and Google have no event for the start of a response",
  resolvePointer: "only Google has a schema format of its own, without references",
  selectFirstReply: "only the APIs of OpenAI and Google have several replies to a request",
  startTimer: "the proxy's server limits the time of a body that it receives",
  toClaudeInput: "Claude models, at three APIs, reject names of parameters",
  toClaudeSchema: "Claude models, at three APIs, reject names of parameters",
  toValidCost: "the proxy's replies are in the library's own format, cost included",
  toValidSchema: "only OpenAI's APIs accept response schemas that they do not enforce",
  toValidUsage: "the proxy's replies are in the library's own format, usage included",
  warnRoundedNumber: "only the servers of Google and Ollama parse the numbers of arguments",
};

Deno.test("architecture: adapters import only names that the kit or the library exports", async () => {
  const exported = new Set(
    [...publicApi["."], ...publicApi["./adapters/kit"]].map((item) => item.replace(/:.*/, "")),
  );
  const adapters = files.map(({ path }) => path).filter((path) =>
    /^adapters\/(?!kit\/|catalog\/)\w+\//.test(path)
  );
  const imports = await Promise.all(
    adapters.map(async (path) =>
      readImportedNames(path, await Deno.readTextFile(new URL(path, root)))
    ),
  );
  const shared = imports.flat().filter(({ from }) =>
    /^(?:src|adapters\/(?:kit|catalog))\//.test(from)
  );
  assert(shared.length > 100);
  const internal = shared.filter(({ name }) => !exported.has(name));
  assertEquals(internal.filter(({ name }) => !Object.hasOwn(INTERNAL_NAMES, name)), []);
  const used = new Set(internal.map(({ name }) => name));
  assertEquals([...used].toSorted(), Object.keys(INTERNAL_NAMES).toSorted());
});

Deno.test("architecture: every mod.ts has a module comment", async () => {
  for (const { path } of files.filter((file) => file.path.endsWith("mod.ts"))) {
    const text = await Deno.readTextFile(new URL(path, root));
    const [comment = ""] = text.match(/^\/\*\*[\s\S]*?\*\//) ?? [];
    assert(comment.includes("@module") && comment.length > 40, `${path} has no module comment`);
  }
});

Deno.test("architecture: the module comment of every public module has an example", async () => {
  const without: string[] = [];
  for (const [subpath, path] of Object.entries(await readPublicModules())) {
    const text = await Deno.readTextFile(new URL(path, root));
    const [comment = ""] = text.match(/^\/\*\*[\s\S]*?\*\//) ?? [];
    if (!/^ \* ```(ts|sh)( ignore)?$/m.test(comment)) without.push(subpath);
  }
  assertEquals(without, []);
});

Deno.test("architecture: mod.ts and docs/README.md list every public module", async () => {
  const texts = await Promise.all(
    ["mod.ts", "docs/README.md"].map((path) => Deno.readTextFile(new URL(path, root))),
  );
  const subpaths = Object.keys(await readPublicModules()).map((path) => path.replace(/^\.\/?/, ""));
  const isProvider = (path: string) => /^adapters\/(?!kit$|proxy$)/.test(path);
  const missing = subpaths.filter((path) => path !== "" && !isProvider(path)).filter((path) =>
    texts.some((text) => !new RegExp(`[\`/ ]${path}\``).test(text))
  );
  // The proxy is in the list of providers in mod.ts.
  assertEquals(missing.filter((path) => path !== "adapters/proxy"), []);
});

Deno.test("architecture: deno.json exports the mod.ts of every module", async () => {
  const entryPoints = files.map((file) => file.path).filter(isEntryPoint);
  const published = Object.values(await readPublicModules()).map((path) => path.replace("./", ""));
  assertEquals(published.filter(isEntryPoint).toSorted(), entryPoints.toSorted());
});

Deno.test("architecture: file names are snake_case and not generic", () => {
  const invalid = files.map((file) => file.path).filter((path) =>
    !/^([a-z0-9_]+\/)*[a-z0-9]+(_[a-z0-9]+)*\.ts$/.test(path) ||
    /(^|[/_])(managers?|helpers?|utils?|common|base|data|info)([_.]|$)/.test(path)
  );
  assertEquals(invalid, []);
});

Deno.test("readImports() reads import statements, types and expressions, not comments", () => {
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
    internal: ["src/core/a.ts", "src/b.ts", "src/core/c.ts", "src/core/d.ts", "src/core/e.ts"],
    external: ["ajv/dist/2020.js"],
  });
});

Deno.test("readImportedNames() reads the exported names of imports and re-exports", () => {
  const source = [
    `import type { A } from "../kit/a.ts";`,
    `import {\n  type B as C,\n  d,\n} from "../../src/b.ts";`,
    `export { e } from "./e.ts";`,
    `import { f } from "package";`,
  ].join("\n");
  const file = "adapters/x/y.ts";
  assertEquals(readImportedNames(file, source), [
    { file, from: "adapters/kit/a.ts", name: "A" },
    { file, from: "src/b.ts", name: "B" },
    { file, from: "src/b.ts", name: "d" },
    { file, from: "adapters/x/e.ts", name: "e" },
  ]);
});

Deno.test("findLayerViolations() reports imports of higher layers, of other modules and of packages", () => {
  const file = (path: string, internal: string[], external: string[] = []) => ({
    path,
    internal,
    external,
  });
  assertEquals(findLayerViolations(file("src/loop/a.ts", ["src/core/b.ts", "src/loop/c.ts"])), []);
  assertEquals(findLayerViolations(file("src/core/a.ts", ["src/loop/b.ts"])).length, 1);
  assertEquals(findLayerViolations(file("src/tools/a.ts", ["src/memory/mod.ts"])).length, 1);
  assertEquals(findLayerViolations(file("src/core/a.ts", [], ["ajv/dist/2020.js"])).length, 1);
  assertEquals(findLayerViolations(file("cli/a.ts", ["src/tools/bash.ts"])).length, 1);
  assertEquals(findLayerViolations(file("adapters/xai/a.ts", ["adapters/kit/b.ts"])), []);
  assertEquals(findLayerViolations(file("adapters/kit/a.ts", ["adapters/xai/b.ts"])).length, 1);
  assertEquals(findLayerViolations(file("adapters/xai/a.ts", ["adapters/google/b.ts"])).length, 1);
});

Deno.test("findImportCycles() returns a shortest cycle of each group", () => {
  const file = (path: string, ...internal: string[]) => ({ path, internal, external: [] });
  assertEquals(findImportCycles([file("a", "b"), file("b", "c"), file("c", "b")]), ["b → c → b"]);
  assertEquals(
    findImportCycles([file("a", "b"), file("b", "c", "a"), file("c", "a"), file("d", "d")]),
    ["a → b → a", "d → d"],
  );
});

Deno.test("findDirectoryCycles() returns the directories that import each other", () => {
  const file = (path: string, ...internal: string[]) => ({ path, internal, external: [] });
  const outside = [file("a/x.ts", "a/y.ts", "b/x.ts"), file("b/x.ts", "c/x.ts")];
  assertEquals(findDirectoryCycles([...outside, file("c/x.ts", "mod.ts")]), []);
  assertEquals(findDirectoryCycles([...outside, file("c/y.ts", "a/y.ts")]), [["a", "b", "c"]]);
});

/** Whether a file is `mod.ts` of the root, of a module, of an adapter or of the adapter kit. */
function isEntryPoint(path: string): boolean {
  return /^(mod|(src|adapters)\/([a-z_]+\/)?mod)\.ts$/.test(path);
}
