/**
 * Groups the test files, so that a group shares a process.
 *
 * Starting a process for each test file and loading its modules would take as long as most of the tests.
 *
 * @module
 */

/** Test files that share a process. */
export interface TestGroup {
  /** Name of the module of the group: `src_core_1_test.ts`. */
  readonly name: string;
  /** Paths relative to the root of the project. */
  readonly files: readonly string[];
}

/** Most files of a group: enough that their processes cost little, and few enough that the processors end together. */
const GROUP_SIZE = 24;

/** Directories whose tests wait for processes and servers. They start first, so that no processor waits for them last. */
const SLOW_DIRECTORIES = [
  "tests/durable",
  "tests/cli",
  "tests/runtimes",
  "tests/memory",
  "tests/server",
  "tests/local",
  "tests",
  "src/tools",
];

/** Matches the line of a test that depends on the first state of a module, such as one that is not loaded yet. */
const OWN_ISOLATE = /^\/\/ Needs its own isolate\b/m;

const root = new URL("../", import.meta.url);

/** Groups all test files of the project, the slow ones first. */
export async function groupProjectTests(): Promise<TestGroup[]> {
  const { exclude }: { exclude: string[] } = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  const files: TestFile[] = [];
  for await (const path of walkTests("", [...exclude, "node_modules/"])) {
    const text = await Deno.readTextFile(new URL(path, root));
    files.push({ path, isAlone: OWN_ISOLATE.test(text) });
  }
  return groupTests(files);
}

async function* walkTests(directory: string, excluded: readonly string[]): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(new URL(`./${directory}`, root))) {
    const path = `${directory}${name}`;
    if (isDirectory) {
      if (!name.startsWith(".") && !excluded.includes(`${path}/`)) {
        yield* walkTests(`${path}/`, excluded);
      }
    } else if (name.endsWith("_test.ts")) yield path;
  }
}

/** A test file. */
export interface TestFile {
  /** Path relative to the root of the project. */
  readonly path: string;
  /** Whether it needs its own isolate. */
  readonly isAlone: boolean;
}

/** Groups test files with their neighbours, those of slow directories first. */
export function groupTests(files: readonly TestFile[]): TestGroup[] {
  const sorted = files.toSorted((a, b) => a.path < b.path ? -1 : 1);
  const directories = Map.groupBy(sorted, ({ path }) => getDirectory(path));
  const order = [...SLOW_DIRECTORIES, ...directories.keys()];
  return Array.from(new Set(order)).flatMap((directory) => {
    const members = directories.get(directory) ?? [];
    return splitFiles(members).map((files, index) => ({
      name: `${directory.replaceAll("/", "_")}_${index + 1}_test.ts`,
      files,
    }));
  });
}

/** Returns the slow directory of a file, or else its first directory. */
function getDirectory(path: string): string {
  const slow = SLOW_DIRECTORIES.find((directory) => path.startsWith(`${directory}/`));
  return slow ?? path.replace(/\/.*/, "");
}

function splitFiles(files: readonly TestFile[]): string[][] {
  const alone = files.filter(({ isAlone }) => isAlone).map(({ path }) => [path]);
  const shared = files.filter(({ isAlone }) => !isAlone).map(({ path }) => path);
  const size = Math.ceil(shared.length / Math.ceil(shared.length / GROUP_SIZE));
  const parts: string[][] = [];
  for (let start = 0; start < shared.length; start += size) {
    parts.push(shared.slice(start, start + size));
  }
  return [...parts, ...alone];
}

/** Writes a module for each group to a directory, which imports its files. Returns the paths of the modules. */
export async function writeGroups(
  directory: string,
  groups: readonly TestGroup[],
): Promise<string[]> {
  return await Promise.all(groups.map(async ({ name, files }) => {
    const path = `${directory}/${name}`;
    const imports = files.map((file) => `import ${JSON.stringify(new URL(file, root).href)};\n`);
    await Deno.writeTextFile(path, imports.join(""));
    return path;
  }));
}
