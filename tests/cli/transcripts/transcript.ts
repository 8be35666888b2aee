/**
 * Transcripts of command lines: what the program writes, and its exit codes.
 *
 * @module
 */

import { VERSION } from "../../../cli/host/version.ts";
import { main } from "../../../cli/main.ts";
import { toPlainText } from "../../../cli/render/plain_text.ts";
import { toVisibleText } from "../../../cli/render/visible_text.ts";
import {
  type PlainConversationOptions,
  typeConversation,
} from "../conversation/plain_conversation.ts";
import { createFakeHost, type FakeHostOptions } from "../fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "../temporary_directory.ts";

/** A command line with the terminal, the model and the variables that it needs. */
export interface Step extends FakeHostOptions {
  /** The command line as typed; `HOME` is the home directory. `swink run` works in `HOME/p`. */
  readonly line: string;
  /** Lines of a conversation, typed on a terminal that only writes lines. */
  readonly typed?: readonly string[];
  /** Changes the home directory before the command. */
  readonly before?: (home: TemporaryDirectory) => unknown;
}

/** Command lines that run one after the other in a home directory. */
export interface Transcript {
  /** Name of the file, without extension. */
  readonly name: string;
  /** Files of the home directory, by path. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** The command lines; a text needs nothing else. */
  readonly steps: readonly (string | Step)[];
}

/** Variables that make the output the same everywhere; what confines commands depends on the kernel. */
const VARIABLES = { NO_COLOR: "1", ANTHROPIC_API_KEY: "sk-ant-canary", SWINK_SANDBOX: "off" };

/**
 * Runs a transcript. Lines of standard output begin with `>`, those of standard error with `!`, those of the screen of a
 * conversation with `|`; an exit code follows unless it is 0.
 */
export async function recordTranscript({ files = {}, steps }: Transcript): Promise<string> {
  await using home = await createTemporaryDirectory({ "p/a.txt": "A\n", ...files });
  let text = "";
  for (const step of steps) {
    text += await recordStep(typeof step === "string" ? { line: step } : step, home);
  }
  return text;
}

async function recordStep(
  { line, before, typed, env = {}, ...options }: Step,
  home: TemporaryDirectory,
): Promise<string> {
  await before?.(home);
  if (typed) return await recordConversation(line, { ...options, typed, home });
  const setHome = (text: string) => text.replaceAll("HOME", home.path);
  const variables = Object.entries({ ...VARIABLES, HOME: "HOME", ...env });
  const host = createFakeHost({
    ...options,
    env: Object.fromEntries(variables.map(([name, value]) => [name, setHome(value)])),
  });
  const [, ...args] = splitWords(line).map(setHome);
  const isRun = args[0] === "run" && !args.some((arg) => /^--(cwd|help)/.test(arg));
  const code = await main(
    isRun ? ["run", "--cwd", `${home.path}/p`, ...args.slice(1)] : args,
    host,
  );
  const settings = Object.entries(env).map(([name, value]) => `${name}=${quote(value)} `).join("");
  const exit = code === 0 ? "" : `[${code}]\n`;
  const written = host.written.filter(({ text }) => text !== "").reduce<readonly Written[]>(
    joinWrites,
    [],
  ).map(formatWrite).join("");
  return `$ ${settings}${toVisibleText(line)}\n${normalize(written, home)}${exit}\n`;
}

async function recordConversation(
  line: string,
  options: PlainConversationOptions & { readonly home: TemporaryDirectory },
): Promise<string> {
  const [, ...args] = splitWords(line).map((word) => word.replaceAll("HOME", options.home.path));
  await using conversation = await typeConversation({ ...options, args, env: VARIABLES });
  const lines = conversation.transcript.replace(/\n$/, "").split("\n");
  const text = lines.map((text) => `| ${text}`.trimEnd() + "\n").join("");
  const exit = conversation.code === 0 ? "" : `[${conversation.code}]\n`;
  return `$ ${line}\n${normalize(toPlainText(text), options.home)}${exit}\n`;
}

type Written = { readonly to: string; readonly text: string };

/** Joins writes to the same stream, whose lines may be written in parts. */
function joinWrites(writes: readonly Written[], { to, text }: Written): readonly Written[] {
  const last = writes.at(-1);
  return last?.to === to
    ? [...writes.slice(0, -1), { to, text: last.text + text }]
    : [...writes, { to, text }];
}

function formatWrite({ to, text }: Written): string {
  const mark = to === "output" ? ">" : "!";
  const lines = toPlainText(text).replace(/\n$/, "").split("\n");
  return lines.map((line) => `${mark} ${line}`.trimEnd() + "\n").join("");
}

/** Replaces what differs between machines and runs. */
function normalize(text: string, home: TemporaryDirectory): string {
  return text
    .replaceAll(home.path, "HOME")
    .replaceAll(Deno.cwd(), "CWD")
    .replaceAll(VERSION, "VERSION")
    .replaceAll(/\b\d{8}-\d{6}-[a-z\d]+\b(?!-)/g, "SESSION")
    .replaceAll(/\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b/g, "ID")
    .replaceAll(/\b\d+\.\d s\b/g, "0.0 s")
    .replaceAll(/"(id|parentId)":"[a-z\d]{12}"/g, '"$1":"ID"')
    .replaceAll(/"timestamp":\d+/g, '"timestamp":0')
    .replaceAll(/"sandbox":\{[^}]*\}/g, '"sandbox":{}');
}

/** Splits a command line at blanks outside of quotes. */
function splitWords(line: string): string[] {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, "$1$2"));
}

function quote(value: string): string {
  return /^[\w./-]+$/.test(value) ? value : JSON.stringify(value);
}
