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
  { title: /agrees with git|that git applies/, reason: "runs git with Deno.Command" },
  { title: /another process reads flushed entries/, reason: "runs Deno" },
  { title: /^PrivateDirectory: is in TMPDIR/, reason: "runs Deno" },
  { title: /^runGit\(\): starts no program of the repository/, reason: "runs Deno" },
  { title: /a missing permission of the program as such$/, reason: "is about Deno" },
  { title: /another copy of the library$/, reason: "imports a module a second time, by its path" },
  { title: /keeps a reference to its latest run only$/, reason: "runs Deno" },
  { title: /without Uint8Array.prototype.toBase64\(\)$/, reason: "removes a function of Deno" },
  { title: /within 1\.5 s$/, reason: "measures time, which is set for Deno" },
  {
    title: /^createOpenAI\(\): waits for the end of the body after a reply/,
    reason: "observes Deno's fetch",
  },
  { title: /lists and reads a database that cannot be written$/, reason: "runs Deno" },
  { title: /is removed after it was killed$/, reason: "runs Deno" },
  {
    title:
      /^loadEvalSet: (reads YAML|JSON gives|an error|rejects (an id|ids|a set|aliases|patterns|a document))/,
    reason: "needs the npm package yaml",
  },
  {
    title: /^PromptBuilder: |^ChatTemplate: /,
    reason: "needs the npm package @huggingface/jinja",
  },
  { title: /^mod\.ts: importing the library loads no adapter$/, reason: "reads the sources" },
  { title: /^canCreateMatchers\(\): .* needs RE2$/, reason: "another test has loaded RE2" },
  ...isBun
    ? [{
      title: /files on which a pattern takes too long$/,
      reason: "needs a slow pattern, which Bun gives up as not matching after a number of steps",
    }, {
      title: /^recordFetch\(\) writes an exchange as a line of JSON/,
      reason: "expects a content type, which Bun does not add to the request",
    }]
    : [{
      title: /^redactRequest\(\) hides user name and password of a URL/,
      reason: "needs a request with a password in its URL, which Node rejects",
    }],
  ...findBuiltinModule("node:sqlite") ? [] : [{
    title: /SqliteSessionStore|^createTables\(\)|^addAdvice\(\)|^createSearchQuery\(\)/,
    reason: "needs SQLite, which Node 20 does not have",
  }],
];
