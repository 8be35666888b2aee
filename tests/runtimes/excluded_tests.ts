/**
 * The tests that do not run on Node and Bun.
 *
 * @module
 */

import { findBuiltinModule } from "../../src/platform/builtin_modules.ts";

const isBun = "Bun" in globalThis;

/** Tests and the reason why they do not run. */
export interface ExcludedTests {
  title: RegExp;
  reason: string;
}

/** The tests that do not run on Node and Bun. */
export const EXCLUDED_TESTS: readonly ExcludedTests[] = [
  { title: /^system is Deno's namespace on Deno$/, reason: "is about Deno" },
  { title: /\(kernel lock\)$|in the other way$/, reason: "locks files with Deno" },
  { title: /a missing permission of the program as such$/, reason: "is about Deno" },
  { title: /without Uint8Array.prototype.toBase64\(\)$/, reason: "removes a function of Deno" },
  {
    title: /^createOpenAI\(\): waits for the end of the body after a reply/,
    reason: "observes Deno's fetch",
  },
  { title: /lists and reads a database that cannot be written$/, reason: "needs permissions" },
  {
    title: /^mod\.ts: importing the library loads no adapter$|^adapters\/mod\.ts: imports neither/,
    reason: "reads the sources",
  },
  { title: /without the permission to start a process$/, reason: "needs permissions" },
  { title: /^swink: is the process of a worker/, reason: "runs swink" },
  { title: /^mappings: name every type of event/, reason: "reads the sources" },
  { title: /has the version ranges of deno\.json$/, reason: "reads deno.json" },
  {
    title: /^ModelStore: does not write to a part that another process writes/,
    reason: "locks files with Deno",
  },
  {
    title: /^command: the sandbox of the tools refuses changes outside/,
    reason: "needs a sandbox that confines commands",
  },
  {
    title: /^attach\(\): keeps no agent that the program has no reference to/,
    reason: "runs Deno",
  },
  {
    title: /^gradePatch: (paths may be relative|a repository of another owner)/,
    reason: "runs Deno",
  },
  {
    title: /^kill: a program without the permission to read \/proc/,
    reason: "needs permissions",
  },
  ...isBun
    ? [{
      title: /^parseCassette\(\) rejects an exchange whose status text no response can have$/,
      reason: "needs a text that a response cannot have; Bun's may have any",
    }, {
      title: /files on which a pattern takes too long$/,
      reason: "needs a slow pattern, which Bun gives up as not matching after a number of steps",
    }, {
      title: /^recordFetch\(\) writes an exchange as a line of JSON/,
      reason: "expects a content type, which Bun does not add to the request",
    }, {
      title: /^createConnectionError\(\): the port that the runtime refuses is explained$/,
      reason: "needs a port that fetch refuses; Bun's refuses none",
    }, {
      title: /^ModelStore: has all attempts again after a connection that has sent a megabyte$/,
      reason: "needs all that a lost connection has sent, of which Bun's fetch may drop the end",
    }, {
      title: /^AgentError: is\(\) recognizes errors of another copy of the library$/,
      reason: "imports a module with a query, which is the same module on Bun",
    }]
    : [{
      title: /^redactRequest\(\) hides .*password of a URL/,
      reason: "needs a request with a password in its URL, which Node rejects",
    }],
  ...findBuiltinModule("node:sqlite") ? [] : [{
    title: /SqliteSessionStore|over SQLite|^createTables\(\)|^addAdvice\(\)|^createSearchQuery\(\)/,
    reason: "needs SQLite, which Node 20 does not have",
  }],
];
