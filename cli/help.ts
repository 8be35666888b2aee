/**
 * The help of a command, as wide as the terminal.
 *
 * @module
 */

import {
  type ArgumentShape,
  type CommandShape,
  type OptionShape,
  valueOf,
} from "./command_shape.ts";
import { EXIT_CODES } from "./exit_code.ts";
import type { Host } from "./host.ts";
import { type Style, styleFor } from "./render/style.ts";
import { wrapText } from "./render/wrap_text.ts";

/** Wider lines are hard to read. */
const MAX_WIDTH = 100;

/** A name and what it stands for. */
type Row = readonly [name: string, meaning: string];

const ENVIRONMENT: readonly Row[] = [
  ["ANTHROPIC_API_KEY", "a key of Anthropic; *_BASE_URL says where a provider is"],
  ["OPENAI_API_KEY", "a key of OpenAI, or of a server that speaks its language"],
  ["SWINK_MODEL", "the model, where -m does not say"],
  ["NO_COLOR", "no colours; FORCE_COLOR beats it"],
];

/** The help of a command. */
export function helpFor(
  command: CommandShape,
  { terminal, env }: Pick<Host, "terminal" | "env">,
): string {
  const page = new Page(Math.min(terminal.columns, MAX_WIDTH), styleFor(terminal.output, env));
  page.paragraph(command.getDescription());
  page.section("Usage", [[usageOf(command), ""]]);
  page.section("Commands", command.getCommands().map(rowOfCommand));
  const [general, own] = partition(command.getOptions(), ({ standalone }) => standalone ?? false);
  page.section("Options", [...own, ...general].map(rowOfOption));
  page.section(
    "Examples",
    command.getExamples().map(({ name, description }) => [name, description]),
  );
  if (command.getName() === "run") {
    page.section("Environment", ENVIRONMENT);
    page.section("Exit codes", EXIT_CODES.map(([code, meaning]) => [`${code}`, meaning]));
  }
  return page.text;
}

function usageOf(command: CommandShape): string {
  const subCommand = command.getCommands().length > 0 ? ["<command>"] : [];
  const places = command.getArguments().map(placeOf);
  return [command.getPath(), ...subCommand, "[options]", ...places].join(" ");
}

function placeOf({ name, optional, variadic }: ArgumentShape): string {
  const text = variadic ? `${name}...` : name;
  return optional ? `[${text}]` : `<${text}>`;
}

/** Among others, a command is described by its first sentence. */
function rowOfCommand(command: CommandShape): Row {
  const [first = ""] = command.getDescription().split(/(?<=\.) /);
  return [command.getName(), first];
}

function partition<Item>(
  items: readonly Item[],
  isFirst: (item: Item) => boolean,
): readonly [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

function rowOfOption(option: OptionShape): Row {
  const value = valueOf(option);
  const short = option.flags.some((flag) => !flag.startsWith("--")) ? "" : "    ";
  return [short + option.flags.join(", ") + (value ? ` <${value.name}>` : ""), option.description];
}

/** Collects a page of help. */
class Page {
  text = "";
  readonly #width: number;
  readonly #style: Style;

  constructor(width: number, style: Style) {
    this.#width = width;
    this.#style = style;
  }

  paragraph(text: string): void {
    this.text += `${wrapText(text, this.#width).join("\n")}\n`;
  }

  /** Rows with the meanings below each other; a name that is too long has its meaning below itself. */
  section(title: string, rows: readonly Row[]): void {
    if (rows.length === 0) return;
    this.text += `\n${this.#style.strong(`${title}:`)}\n`;
    const longest = Math.max(...rows.map(([name]) => name.length));
    const column = Math.min(longest, Math.floor(this.#width * 0.45)) + 4;
    for (const [name, meaning] of rows) {
      const lines = wrapText(meaning, this.#width - column);
      const fits = name.length + 4 <= column;
      const first = fits ? lines.shift() ?? "" : "";
      this.text += `  ${this.#style.name(name)}${
        first && " ".repeat(column - 2 - name.length)
      }${first}\n`;
      for (const line of lines) this.text += `${" ".repeat(column)}${line}\n`;
    }
  }
}
