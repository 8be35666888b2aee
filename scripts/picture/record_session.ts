/**
 * Runs the conversation of the demo in a terminal emulator: the program, its agent, its tools and the tests of the sample
 * project are real, the replies of the model are scripted.
 *
 * @module
 */

import { delimiter, dirname } from "node:path";
import { createSampleProject } from "../../cli/demo/sample_project.ts";
import { createDemoReplies, DEMO_PROMPT } from "../../cli/demo/script.ts";
import { openTerminal } from "../../tests/cli/conversation/live_terminal.ts";
import { createTemporaryDirectory } from "../../tests/cli/temporary_directory.ts";
import type { StyledRun } from "../../tests/cli/terminal_emulator.ts";

/** The rows of a terminal after a conversation. */
export interface RecordedSession {
  readonly columns: number;
  readonly rows: readonly (readonly StyledRun[])[];
}

const COLUMNS = 100;
const DIRECTORY = "shop";

const TEST_COMMAND = "deno test";

/** Records the conversation. */
export async function recordSession(): Promise<RecordedSession> {
  await using home = await createTemporaryDirectory(await readSampleFiles());
  await using terminal = await openTerminal({
    home,
    directory: DIRECTORY,
    columns: COLUMNS,
    rows: 30,
    model: createDemoReplies(TEST_COMMAND),
    args: ["--allowed-tools", `bash(${TEST_COMMAND})`],
    env: {
      COLORTERM: "truecolor",
      PATH: `${dirname(Deno.execPath())}${delimiter}${Deno.env.get("PATH") ?? ""}`,
    },
  });
  await terminal.enter(DEMO_PROMPT);
  await terminal.waitFor("Allow?");
  terminal.press("y");
  await terminal.waitFor(/5 turns [^\n]*\n[^\n]*EXECUTE/);
  return { columns: COLUMNS, rows: terminal.emulator.readStyledRows() };
}

async function readSampleFiles(): Promise<Record<string, string>> {
  await using project = await createSampleProject();
  const files: Record<string, string> = {};
  for await (const { name, isFile } of Deno.readDir(project.directory)) {
    const path = `${project.directory}/${name}`;
    if (isFile) files[`${DIRECTORY}/${name}`] = await Deno.readTextFile(path);
  }
  return files;
}
