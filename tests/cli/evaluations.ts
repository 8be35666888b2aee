/**
 * Evaluations with `swink eval` and a scripted model.
 *
 * @module
 */

import type { ScriptedReply } from "../../cli/demo/anthropic_frames.ts";
import { main } from "../../cli/main.ts";
import { createFakeHost, type FakeHost, type FakeHostOptions } from "./fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

export const CASES = `id: greetings
cases:
  - id: greets
    tags: [short]
    fixture: project
    userMessages: [Greet the user in name.txt]
    expectedTrajectory:
      match: exact
      calls: [{ tool: read_file, arguments: { path: name.txt } }]
    expectedResponse: { type: contains, text: Hello Ada }
  - id: writes
    tags: [long]
    userMessages: [Write a greeting]
    expectedFiles: [{ type: contains, path: greeting.txt, text: Hello }]
    evaluators:
      - { name: command, metric: tests, options: { command: grep -q Hello greeting.txt } }
`;

export const TOKENS = { inputTokens: 100, outputTokens: 10 };

export const READ: ScriptedReply = {
  blocks: [{ tool: "read_file", input: { path: "name.txt" } }],
  ...TOKENS,
};
export const GREET: ScriptedReply = { blocks: ["Hello Ada"], ...TOKENS };
export const WRITE: ScriptedReply = {
  blocks: [{ tool: "write_file", input: { path: "greeting.txt", content: "Hello\n" } }],
  ...TOKENS,
};
export const DONE: ScriptedReply = { blocks: ["Done"], ...TOKENS };

/** The replies with which both cases pass, one after the other. */
export const ALL: readonly ScriptedReply[] = [READ, GREET, WRITE, DONE];

/** Creates a directory with a set and its fixture. */
export function createProject(cases = CASES): Promise<TemporaryDirectory> {
  return createTemporaryDirectory({ "cases.yaml": cases, "project/name.txt": "Ada\n" });
}

/** The end of a command, and the texts that it wrote. */
export interface Ran {
  readonly code: number;
  readonly output: string;
  readonly messages: string;
  readonly host: FakeHost;
}

/** Runs `swink eval` with the results in the directory, and hides its path and times. */
export async function run(
  directory: TemporaryDirectory,
  args: readonly string[],
  options: FakeHostOptions = {},
): Promise<Ran> {
  const env = {
    ANTHROPIC_API_KEY: "sk-ant-test",
    HOME: directory.path,
    PATH: Deno.env.get("PATH") ?? "",
    NO_COLOR: "1",
  };
  const host = createFakeHost({ env, ...options });
  const code = await main(["eval", ...args], host);
  const hide = (text: string) =>
    text.replaceAll(directory.path, "DIR").replaceAll(/\d+\.\d s\b/g, "0.0 s");
  return { code, output: hide(host.output), messages: hide(host.messages), host };
}

export function evaluate(
  directory: TemporaryDirectory,
  args: readonly string[] = [],
  options: FakeHostOptions = { model: ALL },
): Promise<Ran> {
  return run(directory, [
    "run",
    `${directory.path}/cases.yaml`,
    "--parallel=1",
    `--results=${directory.path}/results`,
    ...args,
  ], options);
}

export const withResults = (directory: TemporaryDirectory, ...args: string[]): Promise<Ran> =>
  run(directory, [...args, `--results=${directory.path}/results`]);

export function listRuns(directory: TemporaryDirectory): string[] {
  return Array.from(Deno.readDirSync(`${directory.path}/results`))
    .filter(({ isDirectory }) => isDirectory).map(({ name }) => name).sort();
}

export const RUN_1 = "20260102-000000-greetings-claude-sonnet-5-5";
