/**
 * `--input-format stream-json`: a program drives the run with lines of JSON.
 *
 * @module
 */

import type { Agent, PromptInput } from "../../mod.ts";
import { getErrorMessage } from "../../src/core/errors/errors.ts";
import type { ApprovalPrompt } from "../../src/tools/mod.ts";
import { CliError, UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { toJsonLine } from "../render/json_line.ts";
import { readInputLines } from "../stream_json/input_lines.ts";
import type { InputMessage } from "../stream_json/input_message.ts";
import { parseInput } from "../stream_json/parse_input.ts";
import { PromptQueue } from "../stream_json/prompt_queue.ts";
import { WaitingAnswers } from "../stream_json/waiting_answers.ts";
import { type HeadlessRunOptions, openReporter, promptAgent } from "./headless_run.ts";
import { DeferredReporter } from "./report/deferred_reporter.ts";
import { finishRun } from "./report/finish_run.ts";
import { reportRejection } from "./report/report_rejection.ts";

/** Options for `DrivenRun.run()`. */
export interface DrivenRunOptions extends HeadlessRunOptions {
  /** Runs the hooks of a prompt; rejects if one of them blocks it. */
  readonly submit: (prompt: PromptInput, signal: AbortSignal) => Promise<PromptInput>;
}

/** A run that a program drives. */
export class DrivenRun {
  readonly #answers = new WaitingAnswers();

  /** Whether a prompt runs, or its hooks do. */
  #acceptsMessages = false;

  /** Asks the program about a tool call. */
  readonly ask: ApprovalPrompt = (request) => this.#answers.ask(request);

  /**
   * Runs the prompts of the input until it ends. Returns the exit code of the last one.
   *
   * @throws {UsageError} If the input has no prompt.
   */
  async run(options: DrivenRunOptions): Promise<ExitCode> {
    const { interrupt, setup: { agent }, prompt } = options;
    await using reporter = new DeferredReporter(() => openReporter(options));
    await reporter.open();
    const unsubscribe = agent.subscribe((event) => this.#answers.onEvent(event));
    const prompts = new PromptQueue((queued, signal) =>
      this.#runPrompt({ ...options, prompt: queued }, { reporter, signal })
    );
    interrupt.signal.addEventListener("abort", () => prompts.clear());
    if (prompt !== "") prompts.add(prompt);
    await this.#readInput(options, prompts);
    this.#answers.close();
    const exitCode = await prompts.untilEmpty();
    unsubscribe();
    if (interrupt.exitCode !== undefined) return interrupt.exitCode;
    if (exitCode !== undefined) return exitCode;
    throw new UsageError("The input has no prompt", `Write lines such as ${EXAMPLE}`);
  }

  /** Runs a prompt and reports its result, or the error that prevents it. */
  async #runPrompt(
    { submit, ...options }: DrivenRunOptions,
    { reporter, signal }: PromptRunOptions,
  ): Promise<ExitCode> {
    const { interrupt, host, setup } = options;
    const interrupts: HeadlessRunOptions["interrupt"] = {
      signal: AbortSignal.any([interrupt.signal, signal]),
      get exitCode() {
        return interrupt.exitCode;
      },
    };
    const run = { ...options, interrupt: interrupts };
    const startedAt = host.now();
    this.#acceptsMessages = true;
    const ended = await submit(options.prompt, interrupts.signal)
      .then((prompt) => promptAgent({ ...run, prompt }, reporter))
      .then((result) => ({ result }), (error: unknown) => ({ error }));
    await this.#discardMessages(run);
    const refused = this.#answers.takeRefused();
    try {
      const opened = await reporter.open();
      if ("error" in ended) {
        const durationMs = host.now() - startedAt;
        return await reportRejection(run, { ...ended, reporter: opened, durationMs });
      }
      const options = { ...ended, reporter: opened, snapshot: undefined };
      return await finishRun({ ...run, setup: { ...setup, refused } }, options);
    } catch (error) {
      await writeProblem(host, getErrorMessage(error));
      return error instanceof CliError ? error.exitCode : ExitCode.failed;
    }
  }

  /** Removes messages that the run has not read, so that the next run does not read them. */
  async #discardMessages(
    { setup: { agent }, host }: Pick<HeadlessRunOptions, "setup" | "host">,
  ): Promise<void> {
    this.#acceptsMessages = false;
    const { steering, followUp } = agent.queued;
    agent.clearQueues();
    for (
      const { type, count } of [
        { type: "steer", count: steering.length },
        { type: "follow_up", count: followUp.length },
      ]
    ) {
      if (count === 0) continue;
      await writeProblem(host, `the run ended before it read ${count} of type ${type}`);
    }
  }

  async #readInput(options: DrivenRunOptions, prompts: PromptQueue): Promise<void> {
    const { interrupt, host, setup: { agent } } = options;
    const { input, output } = host.terminal;
    const signal = AbortSignal.any([interrupt.signal, output.closed]);
    let line = 0;
    try {
      for await (const bytes of readInputLines(input.bytes, signal)) {
        line++;
        if (bytes.length === 0) continue;
        const problem = await this.#readMessage(bytes, { agent, prompts });
        if (problem !== undefined) await writeProblem(host, `line ${line}: ${problem}`);
      }
    } catch (error) {
      await writeProblem(host, `line ${line + 1}: ${getErrorMessage(error)}; reading ends`);
    }
  }

  /** Reads and applies a message. Returns the reason why it has no effect, if it has none. */
  async #readMessage(bytes: Uint8Array, targets: MessageTargets): Promise<string | undefined> {
    const parsed = await parseInput(bytes);
    if (parsed.type === "invalid") return parsed.reason;
    return this.#apply(parsed.message, targets);
  }

  /** Applies a message. Returns the reason why it has no effect, if it has none. */
  #apply(message: InputMessage, { agent, prompts }: MessageTargets): string | undefined {
    switch (message.type) {
      case "prompt":
        if (isBlank(message.text) && !message.images?.length) return BLANK;
        return prompts.add(toPrompt(message)) ? undefined : "too many prompts wait";
      case "steer":
      case "follow_up":
        if (!this.#acceptsMessages) return `${NO_RUN}; send a prompt`;
        if (isBlank(message.text)) return BLANK;
        if (countQueued(agent) >= MAX_QUEUED) return "too many messages wait";
        if (message.type === "steer") agent.steer(message.text);
        else agent.followUp(message.text);
        return undefined;
      case "interrupt":
        return prompts.interrupt() ? undefined : NO_RUN;
      case "approval": {
        const { toolCallId, decision } = message;
        const isExpected = this.#answers.answer(toolCallId, { ...decision, origin: "person" });
        return isExpected ? undefined : `no tool call ${JSON.stringify(toolCallId)} waits`;
      }
    }
  }
}

interface MessageTargets {
  readonly agent: Agent;
  readonly prompts: PromptQueue;
}

/** Maximum number of messages that a run has not read: every change of the queue is an event with all of them. */
const MAX_QUEUED = 100;

function countQueued({ queued: { steering, followUp } }: Pick<Agent, "queued">): number {
  return steering.length + followUp.length;
}

const BLANK = "text must not be blank";
const NO_RUN = "no run is active";
const EXAMPLE = '{"type":"prompt","text":"Hello"}';

function isBlank(text: string): boolean {
  return text.trim() === "";
}

function toPrompt(
  { text, images = [] }: Extract<InputMessage, { readonly type: "prompt" }>,
): PromptInput {
  if (images.length === 0) return text;
  return {
    text,
    images: images.map((image) => ({ type: "image", source: { type: "base64", ...image } })),
  };
}

interface PromptRunOptions {
  readonly reporter: DeferredReporter;
  /** Ends the run of this prompt. */
  readonly signal: AbortSignal;
}

async function writeProblem({ terminal }: Pick<Host, "terminal">, message: string): Promise<void> {
  await terminal.output.write(toJsonLine({ type: "input_error", message }));
}
