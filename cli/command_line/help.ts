/**
 * The help of a command, as wide as the terminal.
 *
 * @module
 */

import { getExitCodeMeaning } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { getStyle, type Style } from "../render/style.ts";
import { wrapText } from "../render/wrap_text.ts";
import {
  type ArgumentDefinition,
  type CommandDefinition,
  type CommandPath,
  type ExplainedTerm,
  formatValue,
  getVisibleOptions,
  type NamedOption,
  type OptionDefinition,
} from "./definition.ts";

/** Maximum width on wide terminals, because long lines are hard to read. */
const MAX_COLUMNS = 100;

/** Formats the help of a command. */
export function formatHelp(
  { command, path }: CommandPath,
  { terminal, env }: Pick<Host, "terminal" | "env">,
): string {
  const style = getStyle(terminal.output, env);
  const page = new HelpPage(Math.min(terminal.columns, MAX_COLUMNS), style);
  const { summary, details = "", commands = [], exitCodes = [] } = command;
  page.addParagraph(`${summary}. ${details}`);
  page.addSection("Usage", formatSynopses(command, path).map((synopsis) => [synopsis, ""]));
  page.addSection("Commands", commands.map(({ name, summary }) => [name, `${summary}.`]));
  page.addSection("Arguments", (command.arguments ?? []).map(toArgumentRow));
  page.addSection("Options", getVisibleOptions(command).map(toOptionRow));
  page.addSection("Examples", command.examples ?? []);
  page.addSection("Environment", command.environment ?? []);
  page.addSection("Exit codes", exitCodes.map((code) => [`${code}`, getExitCodeMeaning(code)]));
  return page.text;
}

/** Formats the description of an option, with its valid values and its default. */
export function formatDescription(
  { description, choices, default: value }: Pick<
    OptionDefinition,
    "description" | "choices" | "default"
  >,
): string {
  return [
    description,
    ...(choices ? [`One of: ${choices.join(", ")}.`] : []),
    ...(value === undefined ? [] : [`Default: ${[value].flat().join(", ")}.`]),
  ].join(" ");
}

/** Formats the usage lines, such as `swink run [options] [prompt...]`. A default command has a line of its own. */
function formatSynopses(command: CommandDefinition, path: string): string[] {
  const { commands, defaultCommand, arguments: positionals = [] } = command;
  const words = ["[options]", ...positionals.map(formatArgument)];
  if (!commands) return [[path, ...words].join(" ")];
  const fallback = commands.find(({ name }) => name === defaultCommand);
  const subcommand = command.arguments ? "[<command>]" : "<command>";
  return [
    ...(fallback ? formatSynopses(fallback, path) : []),
    [path, subcommand, ...words].join(" "),
  ];
}

function formatArgument({ name, optional, variadic }: ArgumentDefinition): string {
  const text = variadic ? `${name}...` : name;
  return optional ? `[${text}]` : `<${text}>`;
}

function toArgumentRow(argument: ArgumentDefinition): ExplainedTerm {
  return [formatArgument(argument), formatDescription(argument)];
}

function toOptionRow(option: NamedOption): ExplainedTerm {
  const indent = option.short === undefined ? "    " : "";
  const flags = `${indent}${option.flags.join(", ")} ${formatValue(option)}`;
  return [flags.trimEnd(), formatDescription(option)];
}

/** Builds a page of help. */
class HelpPage {
  text = "";
  readonly #columns: number;
  readonly #style: Style;

  constructor(columns: number, style: Style) {
    this.#columns = columns;
    this.#style = style;
  }

  addParagraph(text: string): void {
    this.text += `${wrapText(text, this.#columns).join("\n")}\n`;
  }

  /** Adds rows of two columns. The explanation of a long term begins on the next line. */
  addSection(title: string, rows: readonly ExplainedTerm[]): void {
    if (rows.length === 0) return;
    this.text += `\n${this.#style.strong(`${title}:`)}\n`;
    const longest = Math.max(...rows.map(([term]) => term.length));
    const indent = Math.min(longest, Math.floor(this.#columns * 0.45)) + 4;
    for (const [term, explanation] of rows) {
      const lines = wrapText(explanation, this.#columns - indent);
      const fits = term.length + 4 <= indent;
      const first = fits ? lines.shift() ?? "" : "";
      const gap = first && " ".repeat(indent - 2 - term.length);
      this.text += `  ${this.#style.name(term)}${gap}${first}\n`;
      for (const line of lines) this.text += `${" ".repeat(indent)}${line}\n`;
    }
  }
}
