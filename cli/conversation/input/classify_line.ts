/**
 * The meaning of a line that the user sends.
 *
 * @module
 */

import { findSuggestion } from "../../command_line/suggestion.ts";
import { containsSecret } from "../../editor/secret_text.ts";

/** The meaning of a line. */
export type ClassifiedLine =
  /** Nothing but blanks. */
  | { readonly type: "empty" }
  /** A command of the conversation. */
  | { readonly type: "command"; readonly name: string; readonly argument: string }
  /** Probably a misspelt command. */
  | { readonly type: "unknown_command"; readonly word: string; readonly suggestion: string }
  /** A sign of a command, a file or a text, without them; the line is not sent before the user confirms it. */
  | { readonly type: "sign"; readonly sign: string; readonly meaning: string }
  /** A line with an API key or another secret, which the model would get. */
  | { readonly type: "secret" }
  /** A command for the shell. */
  | {
    readonly type: "shell";
    readonly command: string;
    /** Whether the model gets the command and its output. */
    readonly isShared: boolean;
  }
  /** A text for the model. */
  | {
    readonly type: "prompt";
    readonly text: string;
    readonly delivery: "steering" | "follow_up";
  };

/** Options for `classifyLine()`. */
export interface ClassifyLineOptions {
  /** The names of the commands, with their sign. */
  readonly commandNames: readonly string[];
  /** Whether the line was held back before, and the user has sent it again. Default: `false`. */
  readonly isConfirmed?: boolean;
}

/** A command: a sign, lower-case letters and hyphens. `/etc/hosts` and `#12` are none. */
const COMMAND = /^[/#][a-z-]+$/;

/** The commands that save the key in their argument. */
const KEY_COMMANDS: ReadonlySet<string> = new Set(["#key", "/key", "/login"]);

const NAME_FOLLOWS = "the name of a command; #help lists them";

/** Signs that mean nothing by themselves, with what follows them. */
const SIGNS: ReadonlyMap<string, string> = new Map([
  ["/", NAME_FOLLOWS],
  ["#", NAME_FOLLOWS],
  ["!", "a command of the shell"],
  ["!!", "a command of the shell"],
  ["@", "the path of a file"],
  [">>", "a text for the end of the run"],
]);

/** Sign of a text that the agent gets when it has finished. */
const FOLLOW_UP = ">>";

/** Returns the meaning of a line. */
export function classifyLine(
  line: string,
  { commandNames, isConfirmed = false }: ClassifyLineOptions,
): ClassifiedLine {
  const text = line.trim();
  if (text === "") return { type: "empty" };
  const meaning = isConfirmed ? undefined : SIGNS.get(text);
  if (meaning !== undefined) return { type: "sign", sign: text, meaning };
  const [, word = "", rest = ""] = /^(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  const shell = classifyShell(text);
  const isPrivate = KEY_COMMANDS.has(word) || (shell?.type === "shell" && !shell.isShared);
  if (!isConfirmed && !isPrivate && containsSecret(text)) return { type: "secret" };
  if (commandNames.includes(word)) return { type: "command", name: word, argument: rest };
  if (!isConfirmed && COMMAND.test(word)) {
    const begun = rest === "" ? commandNames.find((name) => name.startsWith(word)) : undefined;
    const suggestion = begun ?? findSuggestion(word, commandNames);
    if (suggestion !== undefined) return { type: "unknown_command", word, suggestion };
  }
  return shell ?? classifyPrompt(line);
}

/** Returns a command for the shell: `!command` with the model, `!!command` without it. */
function classifyShell(text: string): ClassifiedLine | undefined {
  const [, sign, command = ""] = /^(!!?)\s*([^!\s][\s\S]*)$/.exec(text) ?? [];
  if (sign === undefined) return undefined;
  return { type: "shell", command, isShared: sign === "!" };
}

function classifyPrompt(line: string): ClassifiedLine {
  const text = line.trim();
  const isFollowUp = text.startsWith(FOLLOW_UP) && text.length > FOLLOW_UP.length;
  if (!isFollowUp) return { type: "prompt", text, delivery: "steering" };
  return { type: "prompt", text: text.slice(FOLLOW_UP.length).trim(), delivery: "follow_up" };
}

/** Whether a command has a key in its argument. */
export function hasKeyArgument(
  { name, argument }: { readonly name: string; readonly argument: string },
): boolean {
  return KEY_COMMANDS.has(name) && /\s/.test(argument);
}
