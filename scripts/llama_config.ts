/**
 * The configuration of tests with llama.cpp: that of a package set, and the npm package `node-llama-cpp`.
 *
 * The package is not in `deno.json`, since every task would download it. `llama_lock.json` is the part of a lock file for
 * it, without the optional packages for graphics processors, which are eight times as large as the rest (110 MB).
 *
 * @module
 */

import { LLAMA_PACKAGE } from "../src/local/llama/llama_runtime.ts";
import lockPart from "./llama_lock.json" with { type: "json" };

/** The part of a lock file that depends on npm. */
interface Lock {
  readonly specifiers?: Readonly<Record<string, string>>;
  readonly npm?: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly integrity?: string;
  readonly dependencies?: readonly string[];
  readonly optionalDependencies?: readonly string[];
}

/** Longest time for downloading the package, in milliseconds. */
const DOWNLOAD_TIMEOUT_MS = 180_000;

const root = new URL("../", import.meta.url);
const llamaConfig = new URL("deno.llama.json", root);
const llamaLock = new URL("deno.llama.lock", root);

/** Whether the tests of the arguments need llama.cpp. */
export function needsLlama(args: readonly string[]): boolean {
  const files = args.filter((argument) => !argument.startsWith("-"));
  return files.length === 0 ||
    files.some((file) => /(^|\/)local(\/|$)|^(\.\/)?tests\/?$/.test(file));
}

/**
 * Returns the path of a configuration like the given one in which llama.cpp can be loaded; the given path if the package
 * cannot be downloaded.
 */
export async function addLlama(config: string): Promise<string> {
  const { name, version } = LLAMA_PACKAGE;
  const { lock, imports, ...rest } = JSON.parse(await Deno.readTextFile(config));
  const base = await readLock(lock ?? "./deno.lock");
  await writeJson(llamaLock, mergeLocks(base, lockPart));
  await writeJson(llamaConfig, {
    ...rest,
    imports: { ...imports, [name]: `npm:${name}@${version}` },
    lock: "./deno.llama.lock",
  });
  const path = decodeURIComponent(llamaConfig.pathname);
  return await canLoad(path) ? path : config;
}

async function canLoad(config: string): Promise<boolean> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["cache", "-q", "-c", config, `npm:${LLAMA_PACKAGE.name}@${LLAMA_PACKAGE.version}`],
    cwd: root,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS),
  }).output();
  return success;
}

async function readLock(path: string): Promise<Lock> {
  try {
    return JSON.parse(await Deno.readTextFile(new URL(path, root)));
  } catch {
    return {};
  }
}

/** Merges lock files. A package is named with its version wherever both could have one of the name. */
export function mergeLocks(base: Lock, other: Lock): Lock & { version: string } {
  return {
    version: "5",
    ...base,
    specifiers: { ...base.specifiers, ...other.specifiers },
    npm: { ...qualifyNames(base.npm), ...qualifyNames(other.npm) },
  };
}

function qualifyNames(packages: Lock["npm"] = {}): NonNullable<Lock["npm"]> {
  const keys = new Map(Object.keys(packages).map((key) => [getName(key), key]));
  const qualify = (names: readonly string[]) =>
    names.map((name) => packages[name] ? name : keys.get(name) ?? name);
  return Object.fromEntries(
    Object.entries(packages).map(([key, entry]) => [key, {
      ...entry,
      ...(entry.dependencies && { dependencies: qualify(entry.dependencies) }),
      ...(entry.optionalDependencies &&
        { optionalDependencies: qualify(entry.optionalDependencies) }),
    }]),
  );
}

/** Returns `@a/b` for `@a/b@1.0.0_c@2.0.0`. */
function getName(key: string): string {
  return key.slice(0, key.indexOf("@", 1));
}

async function writeJson(file: URL, value: object): Promise<void> {
  const temporary = new URL(`${file.href}.${Deno.pid}.tmp`);
  await Deno.writeTextFile(temporary, JSON.stringify(value, null, 2) + "\n");
  await Deno.rename(temporary, file);
}
