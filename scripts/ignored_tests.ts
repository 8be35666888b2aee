/**
 * The reasons why tests are ignored.
 *
 * @module
 */

/** An ignored test. */
export interface IgnoredTest {
  /** Path relative to the root of the project: `tests/live/providers_test.ts`. */
  file: string;
  name: string;
}

interface IgnoreReason {
  file: RegExp;
  /** Selects some of the tests in these files. */
  name?: RegExp;
  /** Follows a number of tests: "3 without …". */
  reason: string;
}

/** The first entry that matches a test applies to it. */
const REASONS: readonly IgnoreReason[] = [
  { file: /^tests\/live\//, reason: "without an API key of the provider" },
  {
    file: /^tests\/adapters\/aws_vectors_test\.ts$/,
    name: /^AWS signing: vector/,
    reason: "with a request that fetch cannot send",
  },
  {
    file: /^tests\/adapters\/(aimock|cassette)_test\.ts$/,
    reason: "without npm:@copilotkit/aimock, which needs the npm registry once",
  },
  {
    file: /^tests\/(adapters\/|memory\/context_estimate_test\.ts$)/,
    reason: "without recorded streams (set SWINK_WIRE_FIXTURES)",
  },
  {
    file: /^tests\/local\//,
    reason: "without npm:node-llama-cpp, which needs the npm registry once",
  },
  {
    file:
      /^tests\/(memory\/(postgres_|kill_test)|durable\/(dbos_|event_rows_|run_tables_)|server\/(postgres_|durable_))/,
    reason: "without PostgreSQL (run scripts/install_postgres.ts)",
  },
  {
    file: /^tests\/durable\/restate_/,
    reason: "without the server of Restate (run scripts/install_restate.ts)",
  },
  {
    file: /^tests\/memory\/processes_test\.ts$/,
    reason: "without the right to mount a file system",
  },
  {
    file: /^tests\/mcp\/reference_servers_proof\.ts$/,
    reason: "without the reference servers of MCP, which need the npm registry",
  },
  {
    file: /^tests\/cli\/acpx_test\.ts$/,
    reason: "without acpx and Node 24 (run scripts/install_runtimes.ts)",
  },
  {
    file: /^tests\/proofs\/npm_pack_proof\.ts$/,
    reason: "without npm or its registry",
  },
  { file: /^tests\/cli\/picture_test\.ts$/, reason: "without a kernel with Landlock 4" },
  { file: /^tests\/cli\/completions_test\.ts$/, reason: "without zsh or fish" },
  { file: /^tests\/cli\/terminal_mode_test\.ts$/, reason: "without tmux" },
  {
    file: /^tests\/cli\/conversation\/tmux_conversation_test\.ts$/,
    reason: "without tmux, or which only `deno task prove` runs",
  },
  { file: /^tests\/cli\/terminal_test\.ts$/, reason: "without the program script of util-linux" },
  {
    file: /^tests\/(runtimes\/node_|proofs\/runtimes_proof)/,
    reason: "without Node 20, Node 24 and Bun (run scripts/install_runtimes.ts)",
  },
  {
    file:
      /^tests\/(runtimes\/chromium|eval\/html_report|ag_ui\/example_page|server\/page)_test\.ts$/,
    reason: "without Chromium",
  },
  {
    file: /^tests\/runtimes\/worker_test\.ts$/,
    reason: "without workerd (run scripts/install_runtimes.ts)",
  },
  { file: /^tests\/runtimes\/library\//, reason: "for a runtime other than Deno" },
  {
    file: /^tests\/(runtimes\/|proofs\/runtimes)/,
    reason: "without the npm package, Node, Bun or Chromium, which only `deno task prove` requires",
  },
  {
    file: /^tests\/sandbox\/shell_promises_test\.ts$/,
    reason: "without bubblewrap (bwrap) and user namespaces",
  },
  {
    file: /^tests\/sandbox\/commands_test\.ts$/,
    name: /reaches no server$/,
    reason: "without the program, or a kernel with Landlock 4",
  },
  {
    file:
      /^(tests\/(sandbox\/|environment\/|workflows_test|cli\/(wizard|attachments|doctor|acp|conversation\/live_undo)_test)|src\/|scripts\/compile\/|cli\/(host|conversation\/core)\/)/,
    reason: "for another operating system, a newer kernel or a user other than root",
  },
];

const NO_REASON = "without a reason in scripts/ignored_tests.ts";

/** Returns the reason why a test is ignored. */
export function getIgnoreReason({ file, name }: IgnoredTest): string {
  const entry = REASONS.find((entry) => entry.file.test(file) && (entry.name?.test(name) ?? true));
  return entry?.reason ?? NO_REASON;
}

/** Formats the number of ignored tests and how many each reason applies to, as one line. */
export function formatIgnoredTests(tests: readonly IgnoredTest[]): string {
  const groups = Map.groupBy(tests, getIgnoreReason);
  const counts = Array.from(groups, ([reason, group]) => `${group.length} ${reason}`);
  return `${tests.length} ignored${counts.length === 0 ? "" : `: ${counts.join("; ")}`}`;
}
