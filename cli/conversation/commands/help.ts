/**
 * `#help`: lists the commands and the keys.
 *
 * @module
 */

import { didYouMean } from "../../command_line/suggestion.ts";
import { UsageError } from "../../host/cli_error.ts";
import type { Line } from "../../render/line/line.ts";
import { wrapLine } from "../../render/line/wrap_line.ts";
import type { CommandDescription } from "../command/command_description.ts";
import { defineCommand } from "../command/conversation_command.ts";
import { toLine } from "../view/lines.ts";

/** `#help`. */
export const help = defineCommand({
  names: ["#help", "/help", "/commands"],
  argument: "[COMMAND]",
  summary: "Lists the commands, or describes one",
  key: "F1",
  worksDuringRuns: true,
  async complete({ listCommands }) {
    return (await listCommands()).map(({ names: [text], summary: detail }) => ({ text, detail }));
  },
  async run(argument, { view, listCommands }) {
    const commands = await listCommands();
    if (argument !== "") return await view.print(formatOne(findCommand(commands, argument)));
    const { columns } = view;
    const rows = commands.map((command) => [formatSynopsis(command), command.summary] as const);
    await view.print([
      ...formatRows(rows, columns),
      toLine(""),
      ...formatRows(INPUT, columns),
    ]);
  },
});

/** The input that is no command. */
const INPUT: readonly (readonly [string, string])[] = [
  ["!command", "Runs a command and shows it to the model; !!command only to you"],
  ["@path", "Adds a file or an image to the text"],
  [">> text", "Sends a text when the agent has finished"],
];

/** Formats a command with its argument and its other names, such as `#help [COMMAND]`. */
export function formatSynopsis({ names: [name], argument }: CommandDescription): string {
  return argument === undefined ? name : `${name} ${argument}`;
}

function findCommand(commands: readonly CommandDescription[], word: string): CommandDescription {
  const isNamed = ({ names }: CommandDescription) =>
    names.some((name) => name === word || name.slice(1) === word);
  const command = commands.find(isNamed);
  if (command) return command;
  const names = commands.flatMap(({ names }) => names);
  throw new UsageError(`There is no command ${word}${didYouMean(word, names)}`);
}

function formatOne(command: CommandDescription): Line[] {
  const { names: [, ...others], summary, key } = command;
  return [
    [{ text: formatSynopsis(command), role: "name" }],
    toLine(`  ${summary}`),
    ...(others.length === 0 ? [] : [toLine(`  Also: ${others.join(", ")}`, "faint")]),
    ...(key === undefined ? [] : [toLine(`  Key: ${key}`, "faint")]),
  ];
}

/** Columns of explanations without which they are below their terms. */
const MIN_EXPLANATION = 40;

/** Formats rows of two columns, or of a term above its explanation where the terminal is narrow. */
function formatRows(rows: readonly (readonly [string, string])[], columns: number): Line[] {
  const width = Math.max(...rows.map(([term]) => term.length)) + 2;
  const isNarrow = columns - width < MIN_EXPLANATION;
  const next: Line = [{ text: " ".repeat(isNarrow ? 2 : width) }];
  return rows.flatMap(([term, explanation]) => {
    const first: Line = [{ text: isNarrow ? term : term.padEnd(width), role: "name" }];
    const text: Line = [{ text: explanation }];
    return isNarrow
      ? [first, ...wrapLine(text, { columns, first: next, next })]
      : wrapLine(text, { columns, first, next });
  });
}
