/**
 * Commands from Markdown files: a text for the model, with the argument of the command.
 *
 * @module
 */

import { join } from "../../../src/platform/paths.ts";
import { readUntrustedFile } from "../../../src/platform/untrusted_file.ts";
import type { UntrustedRead } from "../../../src/platform/untrusted_read.ts";
import { getFileProblem } from "../../host/file_problem.ts";
import { type ConversationCommand, defineCommand } from "../command/conversation_command.ts";

/** Maximum size of a file. */
const MAX_BYTES = 100_000;

/** Maximum number of commands of a directory. */
const MAX_COMMANDS = 200;

/** Name of a file with a command, which has the rest as its name. */
const FILE_NAME = /^([a-z][a-z-]*)\.md$/;

/** A part of the text that the argument replaces. */
const ARGUMENTS = "$ARGUMENTS";

/** Reads the commands of a directory, sorted by their names. A directory that does not exist has none. */
export async function readCustomCommands(
  directory: string,
  onProblem: (problem: string) => void,
): Promise<ConversationCommand[]> {
  const names = listFiles(directory, onProblem);
  if (names.length > MAX_COMMANDS) {
    onProblem(`only the first ${MAX_COMMANDS} commands of ${directory} were loaded`);
  }
  const commands: ConversationCommand[] = [];
  for (const name of names.slice(0, MAX_COMMANDS)) {
    const path = join(directory, `${name}.md`);
    const read = await readUntrustedFile(path, { within: directory, maxBytes: MAX_BYTES });
    const text = read.type === "content" ? new TextDecoder().decode(read.bytes) : "";
    const problem = describeUnread(read) ?? findProblem(text);
    if (problem === undefined) commands.push(createCustomCommand(name, text));
    else onProblem(`the command of ${path} was not loaded: ${problem}`);
  }
  return commands;
}

function listFiles(directory: string, onProblem: (problem: string) => void): string[] {
  try {
    const names: string[] = [];
    for (const { name } of Deno.readDirSync(directory)) {
      const [, command] = FILE_NAME.exec(name) ?? [];
      if (command !== undefined) names.push(command);
      else if (name.endsWith(".md")) onProblem(describeName(join(directory, name)));
    }
    return names.sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    onProblem(`the commands of ${directory} were not loaded: ${getFileProblem(error)}`);
    return [];
  }
}

function describeName(path: string): string {
  return `the command of ${path} was not loaded: name the file with lower-case letters and hyphens, such as my-review.md`;
}

/** Returns why a file was not read. */
function describeUnread(read: UntrustedRead): string | undefined {
  if (read.type === "missing") return "it is a link to a missing file";
  return read.type === "refused" ? `it ${read.reason}` : undefined;
}

/** Returns why a text is no command. */
function findProblem(text: string): string | undefined {
  // Binary data is decoded to replacement characters.
  if (/[\0\uFFFD]/.test(text)) return "it is no text file";
  const { body, isOpen } = splitFrontMatter(text);
  if (isOpen) return "the lines after its first --- do not end with ---";
  return body === "" ? "it has no text to send" : undefined;
}

/** Creates a command from the text of its file, which may begin with a description between lines of `---`. */
function createCustomCommand(name: string, text: string): ConversationCommand {
  const { fields, body } = splitFrontMatter(text);
  return defineCommand({
    names: [`/${name}`],
    argument: fields["argument-hint"] ?? "[TEXT]",
    summary: fields.description ?? summarize(body),
    run(given, { runs }) {
      runs.send(insertArgument(body, given));
    },
  });
}

/** Replaces `$ARGUMENTS`. Without it, the argument follows the text. */
function insertArgument(body: string, argument: string): string {
  if (body.includes(ARGUMENTS)) return body.replaceAll(ARGUMENTS, () => argument).trim();
  return argument === "" ? body : `${body}\n\n${argument}`;
}

/** The parts of the text of a file. */
interface CommandText {
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
  /** Whether the fields have no end. */
  readonly isOpen: boolean;
}

/** Splits a text into its fields, lines of `name: value`, and the rest. */
function splitFrontMatter(text: string): CommandText {
  const [match, head = ""] =
    /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  const fields = head.split(/\r?\n/).flatMap((line) => {
    const [, name = "", value = ""] = /^([\w-]+):\s*(.*?)\s*$/.exec(line) ?? [];
    return name === ""
      ? []
      : [[name.toLowerCase(), value.replace(/^(["'])(.*)\1$/, "$2")] as const];
  });
  return {
    fields: Object.fromEntries(fields),
    body: text.slice(match?.length ?? 0).trim(),
    isOpen: match === undefined && /^\uFEFF?---[ \t]*\r?\n[\w-]+:/.test(text),
  };
}

/** Returns the first line of a text without the marks of a heading. */
function summarize(body: string): string {
  const [first = ""] = body.split("\n");
  return first.replace(/^#+\s*/, "").slice(0, 80);
}
