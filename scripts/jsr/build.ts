/**
 * Builds the package of the JSR registry in `dist/jsr`: the sources, and the program in few files, which `cli/main.ts` runs
 * where they exist.
 *
 * @module
 */

import { buildOnce, walkFiles } from "../build_once.ts";
import { choosePackages } from "../packages.ts";
import { bundleProgram } from "./bundle_program.ts";
import { BUNDLE_DIRECTORY } from "./late_modules.ts";
import { addProgramFiles, FILES_MODULE, formatProgramFiles } from "./program_files.ts";

const root = new URL("../../", import.meta.url);

/** Directory of the built package. */
export const packageDirectory: URL = new URL("dist/jsr/", root);

/** Files of the package set for networks without JSR, with which the package is checked. They are not published. */
const OFFLINE = ["deno.offline.json", "scripts/offline"];

/** Has the program bundled with the versions of packages with which it is tested. It is not published. */
const LOCK = "deno.lock";

const MAIN_MODULE = "cli/main.ts";

interface ProjectConfig {
  readonly publish: { readonly include: readonly string[] };
}

/** Builds the package unless the last build has the same sources. */
export async function buildPackageIfChanged({ isForced = false } = {}): Promise<void> {
  const inputs = [...await listPublished(), LOCK, "scripts/jsr", "scripts/offline"];
  const { set } = await choosePackages();
  await buildOnce("jsr", { inputs, variant: set, build: buildPackage, isForced });
}

/** Builds the package; replaces an earlier build. */
async function buildPackage(): Promise<void> {
  const { set } = await choosePackages();
  const config = set === "jsr" ? "deno.json" : "deno.offline.json";
  const files = await readFiles([
    ...await listPublished(),
    ...set === "jsr" ? [] : OFFLINE,
  ]);
  const lock = await readFiles(set === "jsr" ? [LOCK] : []);
  const bundle = await bundleProgram({ files: new Map([...files, ...lock]), config });
  await Deno.remove(packageDirectory, { recursive: true }).catch(() => {});
  bundle.set(FILES_MODULE, formatProgramFiles(bundle));
  for (const [path, text] of files) {
    await writeFile(path, path === MAIN_MODULE ? addProgramFiles(text) : text);
  }
  for (const [name, text] of bundle) await writeFile(`${BUNDLE_DIRECTORY}/${name}`, text);
}

/** Lists the files and directories that `deno publish` publishes. */
async function listPublished(): Promise<readonly string[]> {
  const { publish }: ProjectConfig = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  return publish.include;
}

async function readFiles(paths: readonly string[]): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const start of paths) {
    for await (const path of walkFiles(start)) {
      if (path.endsWith("_test.ts")) continue;
      files.set(path, await Deno.readTextFile(new URL(path, root)));
    }
  }
  return files;
}

async function writeFile(path: string, text: string): Promise<void> {
  const file = new URL(path, packageDirectory);
  await Deno.mkdir(new URL(".", file), { recursive: true });
  await Deno.writeTextFile(file, text);
}

if (import.meta.main) {
  await buildPackageIfChanged({ isForced: true });
  console.log("Built dist/jsr");
}
