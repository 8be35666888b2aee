/**
 * Background jobs: commands that run while the model continues, such as servers, watchers and long builds.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import { createDeferred } from "../../core/ports/deferred.ts";
import { TextCollector } from "../../core/text/output_limit.ts";
import { OutputReading } from "../../platform/output_reading.ts";
import { settlesWithin } from "../../platform/process_group.ts";
import type { ProcessExit } from "../process/running_process.ts";
import type { Sandbox, SandboxCommand } from "../sandbox/sandbox.ts";
import type { SandboxFiles } from "../sandbox/sandbox_files.ts";
import { toPlainOutput } from "../text/plain_output.ts";
import { CommandOutput } from "./command_output.ts";
import { formatRestoredFiles } from "./restored_files.ts";

/** State of a job at one moment. */
export interface JobSnapshot {
  /** Output since the previous poll. */
  readonly output: string;
  /** Exit status; `undefined` while the job runs. */
  readonly exit: ProcessExit | undefined;
  /** File with the complete output, if that exceeds the limit of one result. */
  readonly file?: string;
}

/** Options for {@linkcode BackgroundJobs.poll}. */
export interface PollOptions {
  /** Maximum wait in milliseconds. */
  readonly waitMs: number;
  /** Ends the wait, not the job. */
  readonly signal: AbortSignal;
}

/** Maximum number of concurrent jobs. */
const MAX_RUNNING_JOBS = 16;

/** Time between SIGTERM and SIGKILL when a job is stopped. */
const STOP_GRACE_MS = 2_000;

/** The background jobs of one agent. */
export class BackgroundJobs {
  readonly #sandbox: Sandbox;
  readonly #jobs = new Map<string, Job>();

  /** Creates an empty list. Jobs run until they are stopped or the sandbox is disposed. */
  constructor(sandbox: Sandbox) {
    this.#sandbox = sandbox;
  }

  /** Starts a command and returns the id of its job. @throws {BadRequestError} When 16 jobs are running. */
  async start(command: string, cwd: string): Promise<string> {
    const running = [...this.#jobs.values()].filter(({ exit }) => exit === undefined);
    if (running.length >= MAX_RUNNING_JOBS) {
      throw new BadRequestError(
        `${MAX_RUNNING_JOBS} jobs are already running: stop one with job_stop`,
      );
    }
    const sandboxCommand = await this.#sandbox.startCommand(command, { cwd });
    const id = String(this.#jobs.size + 1);
    const output = new CommandOutput(() => this.#sandbox.getOutputPath(`job-${id}.txt`));
    this.#jobs.set(id, new Job(sandboxCommand, output, this.#sandbox.files));
    return id;
  }

  /**
   * Returns the new output of a job. If there is none, waits for output or for the end of the job.
   *
   * @throws {BadRequestError} When the id is unknown.
   */
  async poll(id: string, options: PollOptions): Promise<JobSnapshot> {
    return await this.#find(id).poll(options);
  }

  /** Polls a new job. Waits for its end first, so that a command that fails at once is reported as ended. */
  async pollAfterStart(id: string, options: PollOptions): Promise<JobSnapshot> {
    const job = this.#find(id);
    await job.waitForEnd(options);
    return await job.poll({ ...options, waitMs: 0 });
  }

  /** Ends a job and all processes it started. @throws {BadRequestError} When the id is unknown. */
  async stop(id: string): Promise<JobSnapshot> {
    const job = this.#find(id);
    await job.stop(STOP_GRACE_MS);
    return await job.poll({ waitMs: 0, signal: new AbortController().signal });
  }

  #find(id: string): Job {
    const job = this.#jobs.get(id);
    if (job) return job;
    const known = [...this.#jobs.keys()].join(", ") || "none";
    throw new BadRequestError(`Unknown job ${JSON.stringify(id)}; known jobs: ${known}`);
  }
}

class Job {
  readonly #files: SandboxFiles;
  readonly #command: SandboxCommand;
  readonly #output: CommandOutput;
  readonly #ended: Promise<void>;
  #newOutput = new TextCollector();
  #activity = createDeferred();
  #file: string | undefined;
  exit: ProcessExit | undefined;

  constructor(command: SandboxCommand, output: CommandOutput, files: SandboxFiles) {
    this.#files = files;
    this.#command = command;
    this.#output = output;
    this.#ended = this.#watch();
  }

  /** Reads the output until the process and its descendants have ended. Never rejects. */
  async #watch(): Promise<void> {
    const reading = new OutputReading(this.#command.output, (chunk) => this.#receive(chunk));
    const exit = await this.#command.exited;
    try {
      await this.#finish(reading);
    } catch (error) {
      // Nothing may wait for the end of the job, and it must not count as running.
      this.#newOutput.push(`\n[The job failed: ${getErrorMessage(error)}]\n`);
    }
    await this.#output[Symbol.asyncDispose]();
    this.exit = exit;
    this.#activity.resolve();
  }

  async #finish(reading: OutputReading): Promise<void> {
    // Processes that the command left running end with it, except those that are not found, which may hold its output open.
    await this.#command.terminate(0);
    const { restoredFiles = [] } = await this.#command.finish().finally(() => reading.drain());
    for (const notice of formatRestoredFiles(restoredFiles, this.#files)) {
      this.#newOutput.push(`\n${notice}\n`);
    }
    this.#file = (await this.#output.finish()).file;
  }

  async #receive(chunk: Uint8Array): Promise<void> {
    this.#newOutput.push(await this.#output.push(chunk));
    this.#activity.resolve();
  }

  async poll({ waitMs, signal }: PollOptions): Promise<JobSnapshot> {
    if (this.exit === undefined && this.#newOutput.totalCharacters === 0 && waitMs > 0) {
      await waitWithTimeout(this.#activity.promise, { waitMs, signal });
    }
    const hint = this.#output.file && `complete output in ${this.#output.file}`;
    const output = toPlainOutput(this.#newOutput.finish(hint).text);
    this.#newOutput = new TextCollector();
    if (this.exit === undefined) this.#activity = createDeferred();
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

/** Waits until the promise settles, `waitMs` have passed or the signal is aborted. */
async function waitWithTimeout(
  promise: Promise<void>,
  { waitMs, signal }: PollOptions,
): Promise<void> {
  const { promise: cancelled, resolve } = createDeferred();
  const cancel = () => resolve();
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  await settlesWithin(waitMs, Promise.race([promise, cancelled]));
  signal.removeEventListener("abort", cancel);
}
