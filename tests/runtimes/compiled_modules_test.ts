import { assert, assertEquals } from "@std/assert";
import { root } from "../project.ts";

/** Matches the path of a module that is imported late, or that a worker runs. */
const LATE_MODULE = /(?:\bnew URL\(|\bimportLate[^;]*?)\s*"(\.[^"]+\.ts)",\s*import\.meta\.url/g;

/** Matches an import, without those of types, which load nothing. */
const IMPORT = /^(?:import|export)\s(?!type\b)[^;"]*"(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/gm;

/** Modules that another program than the compiled one runs. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "src/tools/confinement/confined_exec.ts": "the compiled program starts itself with an argument",
  "src/tools/isolated/isolated_main.ts": "swink has no isolated tools, which need Deno in PATH",
};

Deno.test("compile: includes every module that the program imports late or starts as a worker", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const command: string = tasks.compile.command;
  const included = new Set(command.match(/(?<=--include )\S+\.ts/g));
  const reached = new Set(["cli/main.ts"]);
  const late = new Set<string>();
  for (const path of reached) {
    const file = new URL(path, root);
    const source = (await Deno.readTextFile(file)).replaceAll(/^ *\*.*$/gm, "");
    const resolve = (specifier: string) => new URL(specifier, file).href.slice(root.href.length);
    for (const [, specifier = ""] of source.matchAll(LATE_MODULE)) late.add(resolve(specifier));
    for (const [, fixed, lazy] of source.matchAll(IMPORT)) {
      const target = resolve(fixed ?? lazy ?? "");
      if (target.endsWith(".ts")) reached.add(target);
    }
    for (const module of late) reached.add(module);
  }
  assert(late.size > 20 && late.has("cli/program.ts"), [...late].join("\n"));
  const isNeeded = (path: string) => !(path in EXCEPTIONS) && !included.has(path);
  assertEquals([...late].filter(isNeeded), []);
});
