/**
 * Transcripts of every command and every error. After an intended change:
 * `deno task test tests/cli/transcripts_test.ts -- --update`.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { CommandDefinition } from "../../cli/command_line/definition.ts";
import { PROGRAM } from "../../cli/commands/table.ts";
import { root } from "../project.ts";
import { ACP_TRANSCRIPT } from "./transcripts/acp_steps.ts";
import { CHAT_TRANSCRIPTS } from "./transcripts/chat_steps.ts";
import { COMMAND_TRANSCRIPTS } from "./transcripts/command_steps.ts";
import { EVAL_TRANSCRIPT } from "./transcripts/eval_steps.ts";
import { RUN_TRANSCRIPTS } from "./transcripts/run_steps.ts";
import { recordTranscript } from "./transcripts/transcript.ts";

const DIRECTORY = new URL("tests/cli/transcripts/", root);
const TRANSCRIPTS = [
  ...COMMAND_TRANSCRIPTS,
  ...RUN_TRANSCRIPTS,
  ...CHAT_TRANSCRIPTS,
  EVAL_TRANSCRIPT,
  ACP_TRANSCRIPT,
];

for (const transcript of TRANSCRIPTS) {
  Deno.test(`transcript: ${transcript.name}`, async () => {
    const text = await recordTranscript(transcript);
    const file = new URL(`${transcript.name}.txt`, DIRECTORY);
    if (Deno.args.includes("--update")) await Deno.writeTextFile(file, text);
    assertEquals(
      text,
      await Deno.readTextFile(file),
      "The output changed. If intended: deno task test tests/cli/transcripts_test.ts -- --update",
    );
  });
}

/** Commands whose output depends on the machine, or is a script; tests of their own run them. */
const UNRECORDED = ["swink doctor", "swink demo", "swink completions"];

Deno.test("transcripts: have the help and an example of every command", async () => {
  const lines = (await readTranscripts()).split("\n").filter((line) => line.startsWith("$ "));
  for (const path of listCommands(PROGRAM)) {
    const calls = lines.filter((line) => line.includes(` ${path}`) || line.endsWith(` ${path}`));
    assert(calls.includes(`$ ${path} --help`), `help of ${path}`);
    const isRecorded = calls.some((line) => !line.endsWith("--help"));
    assert(isRecorded || UNRECORDED.includes(path), `example of ${path}`);
  }
});

function listCommands({ name, commands = [] }: CommandDefinition, prefix = ""): string[] {
  const path = `${prefix}${name}`;
  return [path, ...commands.flatMap((command) => listCommands(command, `${path} `))];
}

/** Errors that need a machine, a failure or a time that transcripts do not have, with the tests that cause them. */
const UNRECORDED_ERRORS = [
  /** `prompt_input_test.ts` */
  "Standard input cannot be read",
  /** `process_test.ts` */
  "The temporary directory",
  /** `confinement_warning_test.ts` */
  "The sandbox is required, but incomplete",
  /** `demo_test.ts` */
  "The demo runs tests with deno or node",
  /** `patch_test.ts` */
  "Cannot write the patch to",
  /** Not possible at a terminal, or checked before. */
  "There is no terminal to read from",
  "of the example failed",
  "This command is not available in an editor: start swink in a terminal",
  /** `client_servers_test.ts` */
  "The MCP server",
  "Two MCP servers have the name",
  "The conversation is not saved, so it has no earlier states",
  /** `hooks_test.ts` */
  "the hooks before the run reached the time limit",
  /** `login_test.ts` */
  "was not deleted",
  "The key for",
];

Deno.test("transcripts: have every error of the program", async () => {
  const transcripts = await readTranscripts();
  for (const message of await listErrorMessages()) {
    if (UNRECORDED_ERRORS.some((text) => message.includes(text))) continue;
    const pattern = message.split(VALUE).map(RegExp.escape).join(".*");
    assert(
      new RegExp(pattern).test(transcripts),
      `no transcript has: ${message.replaceAll(VALUE, "…")}`,
    );
  }
});

async function readTranscripts(): Promise<string> {
  const texts = TRANSCRIPTS.map(({ name }) => Deno.readTextFile(new URL(`${name}.txt`, DIRECTORY)));
  return (await Promise.all(texts)).join("");
}

/** Replaces the values in the message of an error. */
const VALUE = "\0";

/** Matches the construction of an error whose message is a literal. */
const ERROR =
  /(?:new (?:Usage|Configuration|Cli)Error|createUsageError)\(\s*(?:path,\s*)?("(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)/g;

/** Returns the messages of the errors that the program throws. */
async function listErrorMessages(): Promise<string[]> {
  const messages: string[] = [];
  for await (const file of listSources(new URL("cli/", root))) {
    const source = await Deno.readTextFile(file);
    for (const [, literal = ""] of source.matchAll(ERROR)) {
      const text = literal.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, VALUE).replaceAll("\\", "");
      if (text.replaceAll(VALUE, "").trim().length > 3) messages.push(text);
    }
  }
  assert(messages.length > 60, `${messages.length}`);
  return messages;
}

/** Lists the files of a directory, apart from those of conversations, which have tests of their own. */
async function* listSources(directory: URL): AsyncGenerator<URL> {
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    if (name === "conversation") continue;
    if (isDirectory) yield* listSources(new URL(`${name}/`, directory));
    else if (/(?<!_test)\.ts$/.test(name)) yield new URL(name, directory);
  }
}
