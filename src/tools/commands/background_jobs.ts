/**
 * Commands that go on running while the model does other things: servers, watchers, long builds.
 *
 * @module
 */

import { BadRequestError } from "../../core/errors.ts";
import { CommandOutput } from "./command_output.ts";
import { TextCollector } from "../text/output_limit.ts";
import { toPlainOutput } from "../text/plain_output.ts";
import { type ProcessExit, settlesWithin } from "../process/running_process.ts";
import type { Sandbox, SandboxCommand } from "../sandbox/sandbox.ts";

/** What is known of a job when somebody looks. */
export interface JobSnapshot {
  /** What it wrote since the last look. */
  readonly output: string;
  /** How it ended; `undefined` while it runs. */
  readonly exit: ProcessExit | undefined;
  /** The file with all of its output, when that is more than a look shows. */
  readonly file?: string;
}

/** How a look waits. */
export interface PollOptions {
  /** Longest time in milliseconds. */
  readonly waitMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Jobs at the same time; a model that needs more has lost count. */
const MAX_RUNNING_JOBS = 16;

/** A server may take this long to clean up when it is stopped. */
const STOP_GRACE_MS = 2_000;

/** The jobs of one agent. */
export class BackgroundJobs {
  readonly #sandbox: Sandbox;
  readonly #jobs = new Map<string, Job>();

  /** Makes an empty list over a sandbox, which ends at its disposal what is still running. */
  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** Starts a command; returns the job's id. @throws {BadRequestError} When too many are running. */
  async start(command: string, cwd: string): Promise<string> {
    const running = [...this.#jobs.values()].filter(({ exit }) => exit === undefined);
    if (running.length >= MAX_RUNNING_JOBS) {
      throw new BadRequestError(
        `${MAX_RUNNING_JOBS} jobs are running already: stop one with job_stop`,
      );
    }
    const started = await this.#sandbox.startCommand(command, { cwd });
    const id = String(this.#jobs.size + 1);
    const output = new CommandOutput(() => this.#sandbox.getOutputPath(`job-${id}.txt`));
    this.#jobs.set(id, new Job(started, output));
    return id;
  }

  /** What a job wrote since the last look; waits for something new, or its end, when there is nothing. */
  async poll(id: string, options: PollOptions): Promise<JobSnapshot> {
    return await this.#find(id).poll(options);
  }

  /** The first look at a job: one that ends at once is seen ended. */
  async pollAfterStart(id: string, options: PollOptions): Promise<JobSnapshot> {
    const job = this.#find(id);
    await job.waitForEnd(options);
    return await job.poll({ ...options, waitMs: 0 });
  }

  /** Ends a job and all that it started. */
  async stop(id: string): Promise<JobSnapshot> {
    const job = this.#find(id);
    await job.stop(STOP_GRACE_MS);
    return await job.poll({ waitMs: 0, signal: new AbortController().signal });
  }

  #find(id: string): Job {
    const job = this.#jobs.get(id);
    if (job) return job;
    const known = [...this.#jobs.keys()].join(", ") || "none";
    throw new BadRequestError(`There is no job ${JSON.stringify(id)}; there are: ${known}`);
  }
}

class Job {
  readonly #command: SandboxCommand;
  readonly #output: CommandOutput;
  readonly #ended: Promise<void>;
  #newOutput = new TextCollector();
  #activity = Promise.withResolvers<void>();
  #file: string | undefined;
  exit: ProcessExit | undefined;

  constructor(started: SandboxCommand, output: CommandOutput) {
    this.#command = started;
    this.#output = output;
    this.#ended = this.#watch();
  }

  /** Reads until the process and all that holds its output have ended. */
  async #watch(): Promise<void> {
    const pumping = this.#readOutput();
    const exit = await this.#command.exited;
    // Whatever it started belongs to it, and ends with it.
    await this.#command.terminate(0);
    await this.#command.finish();
    await pumping;
    this.#file = (await this.#output.finish()).file;
    await this.#output[Symbol.asyncDispose]();
    this.exit = exit;
    this.#activity.resolve();
  }

  async #readOutput(): Promise<void> {
    for await (const chunk of this.#command.output) {
      this.#newOutput.push(await this.#output.push(chunk));
      this.#activity.resolve();
    }
  }

  async poll({ waitMs, signal }: PollOptions): Promise<JobSnapshot> {
    if (this.exit === undefined && this.#newOutput.totalCharacters === 0 && waitMs > 0) {
      await waitWithTimeout(this.#activity.promise, { waitMs, signal });
    }
    const hint = this.#output.file && `all of it is in ${this.#output.file}`;
    const output = toPlainOutput(this.#newOutput.finish(hint).text);
    this.#newOutput = new TextCollector();
    if (this.exit === undefined) this.#activity = Promise.withResolvers<void>();
    const file = this.#file ?? this.#output.file;
    return { output, exit: this.exit, ...(file !== undefined && { file }) };
  }

  async waitForEnd(options: PollOptions): Promise<void> {
    await waitWithTimeout(this.#ended, options);
  }

  async stop(graceMs: number): Promise<void> {
    await this.#command.terminate(graceMs);
    await this.#ended;
  }
}

/** Waits for something, for a while, until an abort. */
async function waitWithTimeout(
  promise: Promise<void>,
  { waitMs, signal }: PollOptions,
): Promise<void> {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  const cancel = () => resolve();
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  await settlesWithin(waitMs, Promise.race([promise, cancelled]));
  signal.removeEventListener("abort", cancel);
}
