/**
 * The commands of conversations in an editor.
 *
 * @module
 */

import type { Agent, PromptInput } from "../../mod.ts";
import { getErrorMessage } from "../../src/core/errors/errors.ts";
import type { AcpClient, AcpCommand, AcpCommandResult } from "../../src/protocols/acp/mod.ts";
import { createTurnId } from "../conversation/command/change_turn.ts";
import type { CommandContext, RunControl } from "../conversation/command/command_context.ts";
import type { ConversationCommand } from "../conversation/command/conversation_command.ts";
import { loadCommands } from "../conversation/commands/load_commands.ts";
import { COMMANDS } from "../conversation/commands/table.ts";
import { readOtherSpending } from "../conversation/core/other_spending.ts";
import { RecordedConversation } from "../conversation/core/recorded_conversation.ts";
import { CliError, UsageError } from "../host/cli_error.ts";
import { EditorView } from "./editor_view.ts";

/** Commands of the program that have an effect in an editor, which has its own lists of sessions and settings. */
const OFFERED = [
  "/execute",
  "/review",
  "/init",
  "/compact",
  "/context",
  "/usage",
  "/status",
  "/undo",
  "/redo",
  "/skills",
  "/mcp",
];

/** Parts of a session that commands use. */
export type EditorCommandParts =
  & Pick<CommandContext, "host" | "settings" | "directories" | "setup" | "changes" | "sessions">
  & Parameters<typeof loadCommands>[0]
  & { readonly client: Pick<AcpClient, "choose" | "show" | "update"> };

/** The commands of a session. */
export class EditorCommands {
  readonly #parts: EditorCommandParts;
  readonly #commands: ReadonlyMap<string, ConversationCommand>;

  /** Loads the commands, with those of the user and of the project. */
  static async load(parts: EditorCommandParts): Promise<EditorCommands> {
    return new EditorCommands(parts, await loadCommands(parts));
  }

  private constructor(parts: EditorCommandParts, commands: readonly ConversationCommand[]) {
    this.#parts = parts;
    this.#commands = new Map(commands.flatMap((command) => {
      const names = COMMANDS.includes(command)
        ? command.names.filter((name) => OFFERED.includes(name))
        : command.names.slice(0, 1);
      return names.map((name) => [name, command] as const);
    }));
  }

  /** The commands, as an editor shows them. */
  get list(): AcpCommand[] {
    return Array.from(this.#commands, ([name, { summary, argument }]) => ({
      name: name.slice(1),
      description: summary,
      ...(argument !== undefined && { input: { hint: argument } }),
    }));
  }

  /** Runs the command of a prompt; `undefined` if it has none. */
  async run(prompt: string, signal: AbortSignal): Promise<AcpCommandResult | undefined> {
    const [, name = "", argument = ""] = /^(\/[\w-]+)(?:\s+([\s\S]*))?$/.exec(prompt.trim()) ?? [];
    const command = this.#commands.get(name);
    if (!command) return undefined;
    const { client, changes } = this.#parts;
    const view = new EditorView(client);
    const runs = new CommandRuns({ client, signal, changes });
    try {
      await command.run(argument.trim(), await this.#createContext(view, runs));
      await runs.untilIdle();
    } catch (error) {
      if (signal.aborted) throw error;
      return { type: "answer", text: formatError(error) };
    }
    await client.update();
    if (runs.input !== undefined) return { type: "prompt", text: runs.input };
    return { type: "answer", text: view.takeText() };
  }

  async #createContext(view: EditorView, runs: RunControl): Promise<CommandContext> {
    const { host, setup, ...parts } = this.#parts;
    const { agent } = setup;
    const findTool = (name: string) => agent.state.tools.find((tool) => tool.name === name);
    const record = new RecordedConversation({ now: host.now, findTool });
    record.restore(agent.state.messages, await readOtherSpending(parts.sessions.session));
    return {
      ...parts,
      host,
      setup,
      view,
      runs,
      record,
      queue: { texts: [], remove: () => false, clear() {} },
      output: { expandsTools: false, hidesThinking: false, diffLayout: "unified" },
      editor: { editText: refuse },
      listCommands: () => Promise.resolve([...this.#commands.values()]),
      leave() {},
      printHistory: refuse,
      printCall: refuse,
    };
  }
}

interface CommandRunsOptions {
  readonly client: Pick<AcpClient, "show">;
  /** Ends the tasks. */
  readonly signal: AbortSignal;
  /** The file changes by prompt. */
  readonly changes: Pick<CommandContext["changes"], "beginTurn">;
}

/** Runs of a command: a prompt, which the session runs after it, or a task, which ends with it. */
class CommandRuns implements RunControl {
  readonly isRunning = false;
  readonly #options: CommandRunsOptions;
  #task: Promise<void> = Promise.resolve();
  /** The prompt of the command. */
  input: string | undefined;

  constructor(options: CommandRunsOptions) {
    this.#options = options;
  }

  send(text: string): void {
    this.input = text;
  }

  prompt(input: PromptInput): void {
    if (typeof input !== "string") throw createRefusal();
    this.input = input;
  }

  startTask(_label: string, task: (signal: AbortSignal) => Promise<void>): void {
    const { changes, signal } = this.#options;
    this.#task = this.#task.then(() => {
      changes.beginTurn(createTurnId("task", Date.now()));
      return task(signal);
    });
  }

  async withAgent<Result>(agent: Agent, use: () => Promise<Result>): Promise<Result> {
    const unsubscribe = agent.subscribe((event) => this.#options.client.show(event));
    try {
      return await use();
    } finally {
      unsubscribe();
    }
  }

  /** The editor cancels the prompt of a command. */
  abort(): void {}

  async untilIdle(): Promise<void> {
    await this.#task;
  }
}

function refuse(): Promise<never> {
  return Promise.reject(createRefusal());
}

function createRefusal(): UsageError {
  return new UsageError("This command is not available in an editor: start swink in a terminal");
}

function formatError(error: unknown): string {
  const advice = error instanceof CliError && error.advice !== "" ? `\n\n${error.advice}` : "";
  return `${getErrorMessage(error)}${advice}`;
}
