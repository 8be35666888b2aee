/**
 * The functions of `Deno` that tests use, for Node and Bun.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import process from "node:process";
import { inspect } from "node:util";
import { createDeferred } from "../../src/core/ports/deferred.ts";
import { encodeHex } from "../../src/core/text/byte_encoding.ts";
import { createNodeSystem } from "../../src/platform/system.ts";
import { EXCLUDED_TESTS } from "./excluded_tests.ts";
import { listen } from "./node_listener.ts";
import { serve } from "./node_server.ts";
import { TestCommand } from "./node_test_command.ts";

interface TestContext {
  /** Runs a step. */
  step(name: string, run: () => void | Promise<void>): Promise<boolean>;
}

interface TestDefinition {
  readonly name: string;
  readonly fn?: (context: TestContext) => void | Promise<void>;
  readonly ignore?: boolean;
  /** Permissions of the test, which only Deno has. */
  readonly permissions?: object;
}

/** Registers a test with the runner of this runtime. */
type RegisterTest = (name: string, options: TestOptions, run: () => Promise<void>) => void;

interface TestOptions {
  readonly skip: boolean;
  /** Maximum time, in milliseconds. Node's option `--test-timeout` would limit the time of all tests together. */
  readonly timeout: number;
}

/** Enough on a busy machine for the search of all sources with 200 patterns. */
const MAX_TEST_MS = 240_000;

const registerTest = await loadTestRunner();

async function loadTestRunner(): Promise<RegisterTest> {
  if (!("bun" in process.versions)) return (await import("node:test")).test;
  const specifier = "bun:test";
  const { test } = await import(specifier);
  return (name, { skip, timeout }, run) => (skip ? test.skip : test)(name, run, timeout);
}

/**
 * Adds functions that tests use and Node 20 does not have. The library does not use them: `node_types_test.ts` checks
 * that.
 */
function addMissingFunctions(): void {
  const bytes = Uint8Array as typeof Uint8Array & { fromHex?: unknown };
  bytes.fromHex ??= (text: string) => new Uint8Array(Buffer.from(text, "hex"));
  const methods = Uint8Array.prototype as { toHex?: unknown };
  methods.toHex ??= function (this: Uint8Array): string {
    return encodeHex(this);
  };
  Promise.withResolvers ??= createDeferred as typeof Promise.withResolvers;
  Array.fromAsync ??= collect as typeof Array.fromAsync;
  Set.prototype.symmetricDifference ??= getSymmetricDifference;
}

async function collect<Item, Value>(
  items: AsyncIterable<Item>,
  convert?: (item: Item) => Value,
): Promise<(Item | Value)[]> {
  const array: (Item | Value)[] = [];
  for await (const item of items) array.push(convert ? convert(item) : item);
  return array;
}

function getSymmetricDifference<Item, Other>(
  this: Set<Item>,
  other: ReadonlySetLike<Other>,
): Set<Item | Other> {
  const items = new Set<Item | Other>(this);
  for (const item of new Set(other as ReadonlySet<Other>)) {
    if (!items.delete(item)) items.add(item);
  }
  return items;
}

addMissingFunctions();

const context: TestContext = {
  async step(_name, run) {
    await run();
    return true;
  },
};

function test(
  nameOrTest: string | TestDefinition,
  run: (context: TestContext) => void | Promise<void> = () => {},
): void {
  const { name, fn = run, ignore = false, permissions } = typeof nameOrTest === "string"
    ? { name: nameOrTest }
    : nameOrTest;
  const skip = ignore || permissions !== undefined ||
    EXCLUDED_TESTS.some(({ title }) => title.test(name));
  registerTest(name, { skip, timeout: MAX_TEST_MS }, async () => await fn(context));
}

const system = createNodeSystem();

/** The functions of `Deno` that tests use. */
export const Deno = {
  ...system,
  args: [] as string[],
  chmod: fs.promises.chmod,
  chown: fs.promises.chown,
  Command: TestCommand,
  env: {
    get: system.env.get,
    set: (name: string, value: string) => void (process.env[name] = value),
    delete: (name: string) => void delete process.env[name],
  },
  errors: { BadResource: class extends Error {} },
  gid: () => process.getgid?.() ?? null,
  inspect: (value: unknown, options: { depth: number; getters: boolean }) =>
    inspect(value, options),
  link: fs.promises.link,
  listen,
  linkSync: fs.linkSync,
  makeTempDir: ({ dir = tmpdir(), prefix = "" } = {}) => fs.promises.mkdtemp(`${dir}/${prefix}`),
  makeTempDirSync: ({ dir = tmpdir(), prefix = "" } = {}) => fs.mkdtempSync(`${dir}/${prefix}`),
  makeTempFile() {
    const path = `${tmpdir()}/${crypto.randomUUID()}`;
    return system.writeTextFile(path, "").then(() => path);
  },
  memoryUsage: process.memoryUsage,
  ppid: process.ppid,
  async *readDir(path: string) {
    yield* system.readDirSync(path);
  },
  serve,
  symlink: fs.promises.symlink,
  symlinkSync: fs.symlinkSync,
  test,
  truncate: fs.promises.truncate,
  truncateSync: fs.truncateSync,
  utime: fs.promises.utimes,
  utimeSync: fs.utimesSync,
  writeFile: fs.promises.writeFile,
  writeFileSync: fs.writeFileSync,
  writeTextFileSync: (path: string, text: string, { append = false } = {}) =>
    fs.writeFileSync(path, text, { flag: append ? "a" : "w" }),
};
