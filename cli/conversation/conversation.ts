/**
 * A conversation: reads what the user types and does what it means, until the user leaves.
 *
 * @module
 */

import type { PromptInput } from "../../mod.ts";
import { getErrorMessage } from "../../src/core/errors/errors.ts";
import { CliError, UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { CommandContext, Delivery } from "./command/command_context.ts";
import type { ConversationCommand } from "./command/conversation_command.ts";
import type { ConversationOutput } from "./core/conversation_output.ts";
import type { SelectedCall } from "./core/selected_call.ts";
import { classifyLine, hasKeyArgument } from "./input/classify_line.ts";
import type { ConversationAction, ConversationInput } from "./view/conversation_input.ts";

/** Time within which Ctrl+C must be pressed again to leave. */
const REPEAT_MS = 2_000;

/** Options for {@linkcode Conversation}. */
export interface ConversationOptions {
  /** The parts that commands use. */
  readonly context: CommandContext;
  /** Prints errors and notes. */
  readonly output: Pick<ConversationOutput, "printError" | "printNote">;
  /** Selects tool calls. */
  readonly selection: Pick<SelectedCall, "select" | "toggle" | "clear">;
  /** Runs a command of the user, and returns what the model gets of it. */
  readonly runShell: (command: string, signal: AbortSignal) => Promise<string>;
  /** Loads the commands. */
  readonly loadCommands: () => Promise<readonly ConversationCommand[]>;
  /** Ends the conversation with the exit code of a signal. */
  readonly signal: AbortSignal;
  /** Returns the exit code of the signal. */
  readonly getExitCode: () => ExitCode | undefined;
}

/** A line that is not sent before the user confirms it. */
interface HeldLine {
  readonly text: string;
  readonly delivery: Delivery;
}

/** A conversation. */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #exitCode = Promise.withResolvers<ExitCode>();
  #hasEnded = false;
  /** Ends what the conversation waits for. */
  #stopWaiting = (): void => {};
  /** Resolves when the inputs so far are handled, in order. */
  #handled: Promise<void> = Promise.resolve();
  /** The line that was held back; the same line sends it as a text, and so does an empty one where it is not a draft. */
  #held: HeldLine | undefined;
  #interruptedAt = -Infinity;

  constructor(options: ConversationOptions) {
    this.#options = options;
    const { signal, getExitCode } = options;
    const onSignal = () => this.leave(getExitCode() ?? ExitCode.terminated);
    if (signal.aborted) onSignal();
    signal.addEventListener("abort", onSignal, { once: true });
  }

  /** Ends the conversation. */
  leave(exitCode: ExitCode): void {
    this.#hasEnded = true;
    this.#exitCode.resolve(exitCode);
    this.#stopWaiting();
  }

  /** Sends a first text, if there is one, and then what the user types. Resolves when the user leaves. */
  async run(first: PromptInput | undefined): Promise<ExitCode> {
    const { view, runs } = this.#options.context;
    if (first !== undefined) runs.prompt(first);
    while (!this.#hasEnded) {
      if (!view.readsDuringRuns) await this.#waitUnlessEnded(runs.untilIdle());
      if (this.#hasEnded) break;
      const input = await this.#waitUnlessEnded(view.read());
      if (input) this.#handle(input);
      if (!view.readsDuringRuns) await this.#waitUnlessEnded(this.#handled);
    }
    runs.abort();
    await runs.untilIdle();
    return await this.#exitCode.promise;
  }

  /**
   * Waits for a promise; `undefined` if the user leaves before. A race with the promise of the end would keep every input
   * in memory until then.
   */
  async #waitUnlessEnded<Value>(promise: Promise<Value>): Promise<Value | undefined> {
    const { promise: settled, resolve, reject } = Promise.withResolvers<Value | undefined>();
    this.#stopWaiting = () => resolve(undefined);
    if (this.#hasEnded) resolve(undefined);
    promise.then(resolve, reject);
    return await settled;
  }

  /** Does what Ctrl+C does: ends the run, and the program when it is pressed again. */
  async interrupt(): Promise<void> {
    const { context: { runs, host }, output } = this.#options;
    const now = host.now();
    const isRepeated = now - this.#interruptedAt < REPEAT_MS;
    this.#interruptedAt = now;
    if (isRepeated) return this.leave(ExitCode.ok);
    if (runs.isRunning) runs.abort();
    else await output.printNote("Ctrl+C again leaves; so do Ctrl+D and /quit");
  }

  #handle(input: ConversationInput): void {
    const isInterrupt = input.type === "action" && input.name === "interrupt";
    // Only two presses with no other input between them leave.
    if (!isInterrupt) this.#interruptedAt = -Infinity;
    switch (input.type) {
      case "line":
        return this.#enqueue(() => this.#handleLine(input.text, input.delivery));
      case "action":
        return this.#handleAction(input.name, input.text);
      case "end":
        return this.leave(ExitCode.ok);
    }
  }

  /** Does something after the earlier inputs were handled. */
  #enqueue(handle: () => Promise<void>): void {
    this.#handled = this.#handled.then(handle)
      .catch((error) => this.#options.output.printError(getErrorMessage(error)));
  }

  #handleAction(action: ConversationAction, text = ""): void {
    const { selection } = this.#options;
    switch (action) {
      case "abort":
        selection.clear();
        return this.#options.context.runs.abort();
      case "interrupt":
        return void this.interrupt();
      case "quit":
        return this.leave(ExitCode.ok);
      case "expand_tool":
        return selection.toggle();
      case "previous_tool":
        return selection.select(-1);
      case "next_tool":
        return selection.select(1);
      default: {
        const { name, argument = text } = ACTION_COMMANDS[action];
        return this.#enqueue(() => this.#runCommand(name, argument));
      }
    }
  }

  async #handleLine(text: string, delivery: Delivery = "steering"): Promise<void> {
    const { context: { view }, output, loadCommands } = this.#options;
    const commands = await loadCommands();
    const confirmed = this.#takeConfirmed(text);
    const line = classifyLine(confirmed?.text ?? text, {
      commandNames: commands.flatMap(({ names }) => names),
      isConfirmed: confirmed !== undefined,
    });
    switch (line.type) {
      case "empty":
        return;
      case "command":
        if (!hasKeyArgument(line)) view.remember(text);
        await view.echo(hasKeyArgument(line) ? line.name : text);
        return await this.#runCommand(line.name, line.argument);
      case "unknown_command":
        await output.printNote(
          `${line.word} is no command. Did you mean ${line.suggestion}? ${CONFIRM}`,
        );
        return this.#hold({ text, delivery });
      case "sign":
        await output.printNote(`${line.sign} is followed by ${line.meaning}. ${CONFIRM}`);
        return this.#hold({ text, delivery });
      case "secret":
        await output.printNote(
          "This looks like an API key or a password. #key PROVIDER saves a key. " +
            "Enter again sends the line as it is.",
        );
        return this.#hold({ text, delivery });
      case "shell":
        view.remember(text);
        await view.echo(text);
        return this.#runShell(line.command, line.isShared);
      case "prompt": {
        // A key that is sent on purpose is not saved on disk.
        if (!confirmed) view.remember(text);
        const isLater = [line.delivery, delivery, confirmed?.delivery].includes("follow_up");
        return await this.#sendPrompt(line.text, isLater ? "follow_up" : "steering");
      }
    }
  }

  async #sendPrompt(text: string, delivery: Delivery): Promise<void> {
    const { context: { view, runs }, selection } = this.#options;
    selection.clear();
    if (!runs.isRunning) await view.echo(text);
    runs.send(text, delivery);
  }

  /** Shows a line as a draft, until the user has confirmed or changed it. */
  #hold(line: HeldLine): void {
    this.#held = line;
    this.#options.context.view.setDraft(line.text);
  }

  /** Removes the line that was held back; returns it if the user confirms it. */
  #takeConfirmed(text: string): HeldLine | undefined {
    const held = this.#held;
    this.#held = undefined;
    const isSame = text.trim() === held?.text.trim();
    // A draft that the user has cleared is not to be sent.
    const isEnter = text.trim() === "" && !this.#options.context.view.hasDraft;
    return isSame || isEnter ? held : undefined;
  }

  async #runCommand(name: string, argument: string): Promise<void> {
    const { context, output, loadCommands } = this.#options;
    const command = (await loadCommands()).find(({ names }) => names.includes(name));
    if (!command) return;
    const problem = context.runs.isRunning ? getBusyProblem(command, name) : undefined;
    if (problem !== undefined) return await output.printError(problem);
    try {
      if (command.argument === undefined && argument !== "") throw createArgumentError(command);
      await command.run(argument, context);
    } catch (error) {
      const advice = error instanceof CliError ? error.advice : "";
      await output.printError(getErrorMessage(error), advice);
    }
  }

  /** Runs a command of the user; the model reads it with the next text. */
  async #runShell(command: string, isShared: boolean): Promise<void> {
    const { context: { runs, sessions }, output, runShell } = this.#options;
    if (runs.isRunning) {
      return await output.printError(
        "Commands run when the agent has finished: press Esc, or wait",
      );
    }
    runs.startTask(`$ ${command}`, async (signal) => {
      const text = await runShell(command, signal);
      if (isShared && !signal.aborted) await sessions.addText(text);
    });
  }
}

/** The commands of actions. */
const ACTION_COMMANDS: Readonly<
  Record<
    Exclude<
      ConversationAction,
      "abort" | "interrupt" | "quit" | "expand_tool" | "previous_tool" | "next_tool"
    >,
    { readonly name: string; readonly argument?: string }
  >
> = {
  toggle_plan: { name: "/plan" },
  editor: { name: "/editor" },
  help: { name: "#help" },
  theme: { name: "/theme", argument: "next" },
  model: { name: "/model", argument: "next" },
  usage: { name: "/usage" },
};

const CONFIRM = "Enter again sends the line as text.";

function createArgumentError({ names: [name] }: ConversationCommand): UsageError {
  return new UsageError(
    `${name} takes no argument, so it was not run`,
    `To send the line as a text, begin it with another word. #help ${name.slice(1)} describes it.`,
  );
}

function getBusyProblem(
  { worksDuringRuns = false }: ConversationCommand,
  name: string,
): string | undefined {
  if (worksDuringRuns) return undefined;
  return `${name} works when the agent has finished: press Esc to end the run, or wait`;
}
