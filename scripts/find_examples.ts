/**
 * Finds the files with TypeScript examples in comments or Markdown, which the check `examples` runs.
 *
 * @module
 */

const root = new URL("../", import.meta.url);

const PLACES = [
  "mod.ts",
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  "src",
  "adapters",
  "cli",
  "docs",
  "examples/README.md",
];

/** Returns the paths of the files with examples that run, relative to the root of the project. */
export async function findExamples(): Promise<string[]> {
  const files: string[] = [];
  for (const file of await listExampleFiles()) {
    if (/^ *(\* )?```ts$/m.test(await Deno.readTextFile(new URL(file, root)))) files.push(file);
  }
  return files;
}

/** Returns the paths of the files that may have examples, relative to the root of the project. */
export async function listExampleFiles(): Promise<string[]> {
  const files: string[] = [];
  for (const place of PLACES) files.push(...await Array.fromAsync(listSources(place)));
  return files;
}

async function* listSources(path: string): AsyncGenerator<string> {
  const stat = await Deno.stat(new URL(path, root)).catch(() => undefined);
  if (stat?.isFile && /(?<!_test)\.(ts|md)$/.test(path)) yield path;
  if (!stat?.isDirectory) return;
  for await (const entry of Deno.readDir(new URL(path, root))) {
    yield* listSources(`${path}/${entry.name}`);
  }
}
