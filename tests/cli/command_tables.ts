/**
 * The tables of docs/cli.md and docs/conversation.md, generated from the tables of commands and keys.
 * `deno run -A tests/cli/command_tables.ts` updates the pages.
 *
 * @module
 */

import {
  type CommandDefinition,
  formatValue,
  getVisibleOptions,
} from "../../cli/command_line/definition.ts";
import { formatDescription } from "../../cli/command_line/help.ts";
import { PROGRAM } from "../../cli/commands/table.ts";
import { formatSynopsis } from "../../cli/conversation/commands/help.ts";
import { COMMANDS } from "../../cli/conversation/commands/table.ts";
import { EXIT_CODES } from "../../cli/host/exit_code.ts";
import { KEY_ACTIONS } from "../../cli/settings/key_actions.ts";
import {
  formatTable as formatMarkdownTable,
  replaceGenerated,
} from "../../scripts/pages/markdown_table.ts";
import { root } from "../project.ts";

const GENERATOR = "tests/cli/command_tables.ts";

type Row = readonly [string, string];

/** Returns docs/cli.md with its generated part replaced, in the format of `deno fmt`. */
export function updateTables(page: string): string {
  return replaceGenerated(page, { generator: GENERATOR, content: formatSections() });
}

/** Returns docs/conversation.md with its generated part replaced. */
export function updateConversationTables(page: string): string {
  return replaceGenerated(page, { generator: GENERATOR, content: formatConversationSections() });
}

function formatConversationSections(): string {
  const commands = COMMANDS.map((command): Row => {
    const { names: [, ...others], summary, key } = command;
    const notes = [
      ...(others.length > 0 ? [`Also ${others.map((name) => `\`${name}\``).join(", ")}.`] : []),
      ...(key === undefined ? [] : [`Key: ${key}.`]),
    ];
    return [`\`${formatSynopsis(command)}\``, [`${summary}.`, ...notes].join(" ")];
  });
  return [
    "## Commands\n",
    formatTable(["command", "effect"], commands),
    "## Keys\n",
    formatTable(
      ["action", "effect"],
      Object.entries(KEY_ACTIONS).map(([name, action]) => [
        `\`${name}\``,
        formatDescription(action),
      ]),
    ),
  ].join("\n");
}

function formatSections(): string {
  const commands = listCommands(PROGRAM, PROGRAM.name);
  return [
    "## Commands\n",
    formatTable(
      ["command", "effect"],
      commands.slice(1).map(({ path, command }) => [
        `\`${path}\``,
        `${command.summary}. ${command.details ?? ""}`.trim(),
      ]),
    ),
    ...commands.flatMap(({ path, command }) => formatOptions(path, command)),
    "## Exit codes\n",
    formatTable(["code", "meaning"], EXIT_CODES.map(([code, meaning]) => [`${code}`, meaning])),
  ].join("\n");
}

function formatOptions(path: string, command: CommandDefinition): string[] {
  const options = getVisibleOptions(command).filter(({ name }) => name !== "help");
  if (options.length === 0) return [];
  const rows = options.map((option): Row => [
    `\`${`${option.flags.join(", ")} ${formatValue(option)}`.trim()}\``,
    formatDescription(option),
  ]);
  return [`## Options of ${path}\n`, formatTable(["option", "effect"], rows)];
}

function listCommands(
  command: CommandDefinition,
  path: string,
): { readonly path: string; readonly command: CommandDefinition }[] {
  const { commands = [] } = command;
  return [
    { path, command },
    ...commands.flatMap((subcommand) => listCommands(subcommand, `${path} ${subcommand.name}`)),
  ];
}

function formatTable(head: Row, rows: readonly Row[]): string {
  return formatMarkdownTable(
    head,
    rows.map(([first, second]) => [first, second.replaceAll("*", "\\*")]),
  );
}

if (import.meta.main) {
  const pages = [
    ["docs/cli.md", updateTables],
    ["docs/conversation.md", updateConversationTables],
  ] as const;
  for (const [name, update] of pages) {
    const path = new URL(name, root);
    await Deno.writeTextFile(path, update(await Deno.readTextFile(path)));
  }
}
