/**
 * The runtimes that `scripts/install_runtimes.ts` installs, and the test suites that they run.
 *
 * @module
 */

import { packageDirectory } from "../../scripts/npm/build.ts";
import { createDeadline } from "../deadline.ts";
import { root } from "../project.ts";
import { compileTests } from "./compile_tests.ts";

/** Maximum time of a run, also of all tests on a busy machine, in milliseconds. */
const MAX_RUN_MS = 20 * 60_000;

/** A runtime other than Deno. */
export interface Runtime {
  name: string;
  /** Path of its program. */
  program: string;
  /** Returns the arguments that run test modules. */
  getTestArgs: (files: readonly string[]) => string[];
  /** Returns the arguments that run one test module in the process that they start, which does not end before its tasks. */
  getFileArgs: (file: string) => string[];
  /** Matches the number of passed tests in the output. */
  passedPattern: RegExp;
  /** Matches the number of skipped tests in the output. */
  skippedPattern: RegExp;
}

const directory = new URL("dist/runtimes/", root);

/** Directory whose `node_modules` has the packages that the library and its tests import. */
export const PACKAGES_DIRECTORY = toPath("packages");

/** Directory of the npm package of llama.cpp, in a `node_modules` with its dependencies. */
export const LLAMA_DIRECTORY = toPath("llama/node_modules/node-llama-cpp");

/** Imports all tests of a run, since Node would start a process for each module. */
const TESTS_MODULE = "tests.js";

/** Tests with random cases run a sample of them, since Deno runs all. */
const SAMPLE_ENV = { SWINK_PROVE: "0" };

const NODE_REPORTER = "--test-reporter=tap";

const NODE_TESTS: Omit<Runtime, "name" | "program"> = {
  getTestArgs: () => ["--test", NODE_REPORTER, TESTS_MODULE],
  getFileArgs: (file) => [NODE_REPORTER, file],
  passedPattern: /^# pass (\d+)$/m,
  skippedPattern: /^# skipped (\d+)$/m,
};

/** The runtimes, which may not be installed. */
export const RUNTIMES: readonly Runtime[] = [
  {
    name: "Node 20",
    program: toPath("node20/node_modules/node/bin/node"),
    ...NODE_TESTS,
  },
  {
    name: "Node 24",
    program: toPath("node24/node_modules/node/bin/node"),
    ...NODE_TESTS,
  },
  {
    name: "Bun",
    program: toPath("bun/node_modules/bun/bin/bun.exe"),
    getTestArgs: (files) => ["test", ...files.map((file) => `./${file}`)],
    getFileArgs: (file) => ["test", `./${file}`],
    passedPattern: /^ *(\d+) pass$/m,
    skippedPattern: /^ *(\d+) skip$/m,
  },
];

function toPath(path: string): string {
  return decodeURIComponent(new URL(path, directory).pathname);
}

/** Whether a runtime is installed. */
export function isInstalled({ program }: Runtime): boolean {
  try {
    return Deno.statSync(program).isFile;
  } catch {
    return false;
  }
}

/** A directory with the npm package and compiled tests. Disposing it removes the directory. */
export interface TestApp extends AsyncDisposable {
  /** Path of the directory. */
  path: string;
}

/** Installs the npm package, which has been built, and tests compiled for it, in a temporary directory. */
export async function createTestApp(tests: readonly string[] = []): Promise<TestApp> {
  const path = await Deno.makeTempDir({ prefix: "swink_app_" });
  await Deno.writeTextFile(`${path}/package.json`, '{ "type": "module" }\n');
  await Deno.mkdir(`${path}/node_modules/@swink`, { recursive: true });
  await copyDirectory(packageDirectory, new URL(`file://${path}/node_modules/@swink/agent/`));
  await linkDependencies(`${path}/node_modules`);
  if (tests.length > 0) await compileTests(tests, path);
  return {
    path,
    [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }),
  };
}

async function copyDirectory(from: URL, to: URL): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyDirectory(new URL(`${name}/`, from), new URL(`${name}/`, to));
    else await Deno.copyFile(new URL(name, from), new URL(name, to));
  }
}

/** Links the packages that the package depends on; a linked package finds its own dependencies where it is installed. */
async function linkDependencies(target: string): Promise<void> {
  const installed = `${PACKAGES_DIRECTORY}/node_modules`;
  for await (const { name } of Deno.readDir(installed)) {
    if (!name.startsWith(".")) await Deno.symlink(`${installed}/${name}`, `${target}/${name}`);
  }
}

/** Runs test modules; returns the number of passed tests and the output. */
export async function runTests(
  { program, getTestArgs, passedPattern }: Runtime,
  app: TestApp,
  tests: readonly string[],
): Promise<{ success: boolean; passed: number; text: string }> {
  const files = tests.map(toCompiledPath);
  const imports = files.map((file) => `import "./${file}";\n`);
  await Deno.writeTextFile(`${app.path}/${TESTS_MODULE}`, imports.join(""));
  const { success, text } = await runProgram(program, app, {
    args: getTestArgs(files),
    env: SAMPLE_ENV,
  });
  return { success, passed: Number(passedPattern.exec(text)?.[1] ?? 0), text };
}

/** Runs a test module in a process of its own, at most for a time in milliseconds; returns whether that has passed. */
export async function runFile(
  { program, getFileArgs }: Runtime,
  app: TestApp,
  test: string,
  maxMs: number,
): Promise<{ success: boolean; text: string; isLate: boolean }> {
  const signal = createDeadline(maxMs);
  const args = getFileArgs(toCompiledPath(test));
  const result = await runProgram(program, app, { args, env: SAMPLE_ENV, signal });
  return { ...result, isLate: signal.aborted };
}

function toCompiledPath(test: string): string {
  return test.replace(/\.ts$/, ".js");
}

/** Runs a module of the app; `args` are its path and its arguments. */
export function runModule(
  { program }: Runtime,
  app: TestApp,
  args: string[],
  env: Record<string, string> = {},
): Promise<{ success: boolean; text: string }> {
  return runProgram(program, app, { args, env });
}

async function runProgram(
  program: string,
  { path: cwd }: TestApp,
  options: Pick<Deno.CommandOptions, "args" | "env" | "signal">,
): Promise<{ success: boolean; text: string }> {
  const command = new Deno.Command(program, {
    signal: createDeadline(MAX_RUN_MS),
    ...options,
    cwd,
    stdin: "null",
  });
  const { success, stdout, stderr } = await command.output();
  const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  return { success, text };
}
