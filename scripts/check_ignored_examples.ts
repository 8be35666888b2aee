/**
 * Checks the types of the examples that are marked `ts ignore`, because running them needs a server, a key or a terminal.
 *
 * Usage: `deno run -A scripts/check_ignored_examples.ts CONFIG`
 *
 * @module
 */

import { listCodeBlocks } from "../tests/documentation/code_blocks.ts";
import { listExampleFiles } from "./find_examples.ts";

const root = new URL("../", import.meta.url);

/** An example as a module. */
export interface ExampleModule {
  /** The file and the line of its first fence. */
  readonly place: string;
  readonly source: string;
}

/** Matches imports of files that only the reader has, and of other libraries. */
const FOREIGN_IMPORT = /from "(?!@swink\/agent|npm:|node:|@std\/)/;

const IMPORT = /^import [^;]+;\n/gm;

/** Returns the ignored examples of a page or a source file, as modules that do nothing when they are imported. */
export function listIgnoredExamples(path: string, text: string): ExampleModule[] {
  const page = path.endsWith(".md") ? text : text.replaceAll(/^ *\* ?/gm, "");
  return listCodeBlocks({ path, text: page })
    .filter((block) => block.language === "ts ignore" && !FOREIGN_IMPORT.test(block.text))
    .map(({ place, text }) => {
      const imports = text.match(IMPORT)?.join("") ?? "";
      const body = text.replaceAll(IMPORT, "").replaceAll(/^export (default )?/gm, "");
      return { place, source: `${imports}\nexport async function example() {\n${body}\n}\n` };
    });
}

async function check([config = "deno.json"]: string[]): Promise<number> {
  const directory = await Deno.makeTempDir({ prefix: "swink_examples_" });
  const files: string[] = [];
  for (const path of await listExampleFiles()) {
    const text = await Deno.readTextFile(new URL(path, root));
    for (const { place, source } of listIgnoredExamples(path, text)) {
      const file = `${directory}/${place.replaceAll(/[/:]/g, "_")}.ts`;
      await Deno.writeTextFile(file, source);
      files.push(file);
    }
  }
  const { stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", "-c", config, ...files],
    env: { NO_COLOR: "1" },
  }).output();
  await Deno.remove(directory, { recursive: true });
  const errors = findTypeErrors(new TextDecoder().decode(stderr));
  for (const error of errors) console.error(error);
  return errors.length === 0 ? 0 : 1;
}

/** Names that an example takes from its reader: a variable, a shorthand property, a similar name, a file. */
const MISSING_NAMES = ["TS2304", "TS18004", "TS2552", "TS2307"];

/** Returns the type errors in the output of `deno check`, without those about names that an example does not declare. */
export function findTypeErrors(output: string): string[] {
  return output.split(/^(?=TS\d+ \[ERROR\])/m).filter((text) => {
    const [, code = ""] = text.match(/^(TS\d+) \[ERROR\]/) ?? [];
    return code !== "" && !MISSING_NAMES.includes(code);
  }).map((text) => text.trim());
}

if (import.meta.main) Deno.exit(await check(Deno.args));
