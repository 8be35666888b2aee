/**
 * The help of a command, as wide as the terminal.
 *
 * @module
 */

import {
  type ArgumentShape,
  type CommandShape,
  type OptionShape,
  parseOptionValue,
} from "./command_shape.ts";
import { EXIT_CODES } from "./exit_code.ts";
import type { Host } from "./host.ts";
import { getStyle, type Style } from "./render/style.ts";
import { wrapText } from "./render/wrap_text.ts";

/** Wider lines are hard to read. */
const MAX_WIDTH = 100;

/** A name and what it stands for. */
type HelpRow = readonly [name: string, meaning: string];

const ENVIRONMENT: readonly HelpRow[] = [
  ["ANTHROPIC_API_KEY", "a key of Anthropic; *_BASE_URL says where a provider is"],
  ["OPENAI_API_KEY", "a key of OpenAI, or of a server that speaks its language"],
  ["SWINK_MODEL", "the model, where -m does not say"],
  ["NO_COLOR", "no colours; FORCE_COLOR beats it"],
];

/** The help of a command. */
export function formatHelp(
  command: CommandShape,
  { terminal, env }: Pick<Host, "terminal" | "env">,
): string {
  const page = new HelpPage(Math.min(terminal.columns, MAX_WIDTH), getStyle(terminal.output, env));
  page.addParagraph(command.getDescription());
  page.addSection("Usage", [[formatSynopsis(command), ""]]);
  page.addSection("Commands", command.getCommands().map(toCommandRow));
  const [general, own] = partition(command.getOptions(), ({ standalone }) => standalone ?? false);
  page.addSection("Options", [...own, ...general].map(toOptionRow));
  page.addSection(
    "Examples",
    command.getExamples().map(({ name, description }) => [name, description]),
  );
  if (command.getName() === "run") {
    page.addSection("Environment", ENVIRONMENT);
    page.addSection("Exit codes", EXIT_CODES.map(([code, meaning]) => [`${code}`, meaning]));
  }
  return page.text;
}

function formatSynopsis(command: CommandShape): string {
  const subCommand = command.getCommands().length > 0 ? ["<command>"] : [];
  const places = command.getArguments().map(formatArgument);
  return [command.getPath(), ...subCommand, "[options]", ...places].join(" ");
}

function formatArgument({ name, optional, variadic }: ArgumentShape): string {
  const text = variadic ? `${name}...` : name;
  return optional ? `[${text}]` : `<${text}>`;
}

/** Among others, a command is described by its first sentence. */
function toCommandRow(command: CommandShape): HelpRow {
  const [first = ""] = command.getDescription().split(/(?<=\.) /);
  return [command.getName(), first];
}

function partition<Item>(
  items: readonly Item[],
  isFirst: (item: Item) => boolean,
): readonly [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

function toOptionRow(option: OptionShape): HelpRow {
  const value = parseOptionValue(option);
  const short = option.flags.some((flag) => !flag.startsWith("--")) ? "" : "    ";
  return [short + option.flags.join(", ") + (value ? ` <${value.name}>` : ""), option.description];
}

/** Collects a page of help. */
class HelpPage {
  text = "";
  readonly #width: number;
  readonly #style: Style;

  constructor(width: number, style: Style) {
    this.#width = width;
    this.#style = style;
  }

  addParagraph(text: string): void {
    this.text += `${wrapText(text, this.#width).join("\n")}\n`;
  }

  /** Rows with the meanings below each other; a name that is too long has its meaning below itself. */
  addSection(title: string, rows: readonly HelpRow[]): void {
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
