/**
 * Workers in a process of their own, which ends although the worker never returns to its event loop.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { getNodeProcess } from "../../platform/builtin_modules.ts";
import { fromFileUrl } from "../../platform/paths.ts";
import { isDeno } from "../../platform/system.ts";
import { startWorker, type WorkerThread } from "../../platform/worker.ts";
import { type ChildProgram, findChildProgram, getPackageFlags } from "./child_program.ts";
import { createCommandEnvironment, DOWNLOAD_VARIABLES } from "./command_environment.ts";
import { encodeFrame, FrameDecoder } from "./message_frames.ts";
import { type ProcessExit, type RunningProcess, startProcess } from "./running_process.ts";
import {
  MEMORY_EXIT_CODE,
  WORKER_ARGUMENT,
  type WorkerProcessReply,
  type WorkerProcessSettings,
} from "./worker_process_protocol.ts";

/** Options for {@linkcode startIsolatedWorker}. */
export interface IsolatedWorkerOptions {
  /** Growth of the memory of the process, in bytes, at which it ends. Default: 2 GB. */
  readonly maxGrowthBytes?: number | undefined;
}

const MAX_GROWTH_BYTES = 2_000_000_000;

/** Limit of the JavaScript heap, which the content of arrays of bytes is not part of. */
const MAX_HEAP_MEGABYTES = 1_500;

/** Maximum size of a message of the worker. */
const MAX_MESSAGE_BYTES = 100_000_000;

/** The modules of the library. */
const MODULES = new URL("../../", import.meta.url);

/**
 * Starts a worker with a module of the library, which sends a message when it has loaded its modules. From then on its
 * process has no permissions.
 *
 * Where no process can be started, the worker is a thread, which only ends when it returns to its event loop.
 */
export function startIsolatedWorker(
  module: URL,
  options: IsolatedWorkerOptions = {},
): WorkerThread {
  return startWorkerProcess(module, options) ?? startWorker(module);
}

/** Starts a worker as {@linkcode startIsolatedWorker} does; returns `undefined` where no process can be started. */
export function startWorkerProcess(
  module: URL,
  { maxGrowthBytes = MAX_GROWTH_BYTES }: IsolatedWorkerOptions = {},
): WorkerThread | undefined {
  const settings = { module: module.href.slice(MODULES.href.length), maxGrowthBytes };
  const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>>();
  const process = tryStart(settings, readable);
  return process && new WorkerProcess(process, writable.getWriter());
}

function tryStart(
  settings: WorkerProcessSettings,
  input: ReadableStream<Uint8Array<ArrayBuffer>>,
): RunningProcess | undefined {
  try {
    const program = findChildProgram();
    if (!program || !canRun(program.path)) return undefined;
    return startProcess({
      program: program.path,
      args: [...createArguments(program), JSON.stringify(settings)],
      cwd: "/", // where no configuration for Deno or Bun is
      env: createCommandEnvironment({
        passEnvironment: DOWNLOAD_VARIABLES,
        set: { DENO_NO_UPDATE_CHECK: "1" },
      }),
      input,
      changesFiles: false,
    });
  } catch {
    return undefined;
  }
}

/** Whether a program can be started without a question of Deno to the user. */
function canRun(path: string): boolean {
  if (!isDeno) return true;
  // deno-lint-ignore swink/portable -- only Deno has permissions
  return Deno.permissions.querySync({ name: "run", command: path }).state === "granted";
}

function createArguments({ type }: ChildProgram): string[] {
  const main = new URL("./worker_process_main.ts", import.meta.url);
  switch (type) {
    case "swink":
      return [WORKER_ARGUMENT];
    case "deno":
      return ["run", ...createDenoFlags(), main.href];
    case "node":
      return [...createNodeFlags(), fromFileUrl(main)];
    case "bun":
      return [fromFileUrl(main)];
  }
}

function createDenoFlags(): string[] {
  return [
    ...["--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-check"],
    `--v8-flags=--max-old-space-size=${MAX_HEAP_MEGABYTES}`,
    ...getPackageFlags(),
    "--allow-read", // until the worker has loaded its modules and packages
    ...(MODULES.protocol === "file:" ? [] : [`--allow-import=${MODULES.host}`]),
  ];
}

/** From Node 22, the process may neither write files nor start programs. */
function createNodeFlags(): string[] {
  const hasPermissions = getNodeProcess()?.allowedNodeEnvironmentFlags?.has("--permission");
  return [
    `--max-old-space-size=${MAX_HEAP_MEGABYTES}`,
    ...(hasPermissions ? ["--permission", "--allow-fs-read=*", "--allow-worker"] : []),
  ];
}

class WorkerProcess implements WorkerThread {
  readonly #process: RunningProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  /** Resolves when the output has ended. */
  readonly #reading: Promise<void>;
  #onMessage: (message: unknown) => void = () => {};
  #onError: (message: string) => void = () => {};
  /** The message of the error that ended the worker. */
  #failure: string | undefined;
  /** Whether the worker has sent a message, and so has loaded its modules. */
  #isReady = false;

  constructor(
    process: RunningProcess,
    input: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>,
  ) {
    this.#process = process;
    this.#input = input;
    this.#reading = this.#readReplies();
  }

  postMessage(message: unknown): void {
    // A process that has ended reports that by its exit.
    this.#input.write(encodeFrame(message)).catch(() => {});
  }

  onMessage(listener: (message: unknown) => void): void {
    this.#onMessage = listener;
  }

  onError(listener: (message: string) => void): void {
    this.#onError = listener;
    if (this.#failure !== undefined) listener(this.#failure);
  }

  async terminate(): Promise<void> {
    await this.#endProcess();
    await this.#reading;
  }

  async #endProcess(): Promise<void> {
    await this.#process.terminate(0);
    await this.#input.abort().catch(() => {}); // closed by a process that has ended
  }

  async #readReplies(): Promise<void> {
    try {
      const decoder = new FrameDecoder(MAX_MESSAGE_BYTES);
      for await (const chunk of this.#process.output) {
        for (const reply of decoder.push(chunk)) this.#receive(reply as WorkerProcessReply); // from our own module
      }
      this.#fail(describeExit(await this.#process.exited, this.#isReady));
    } catch (error) {
      this.#fail(getErrorMessage(error));
      await this.#endProcess();
    }
  }

  #receive(reply: WorkerProcessReply): void {
    if (reply.type !== "message") return this.#fail(reply.message);
    this.#isReady = true;
    this.#onMessage(reply.message);
  }

  #fail(message: string): void {
    this.#failure ??= message;
    this.#onError(this.#failure);
  }
}

function describeExit({ code, signal }: ProcessExit, isReady: boolean): string {
  if (code === MEMORY_EXIT_CODE) return "it takes too much memory";
  const end = signal ?? `exit code ${code}`;
  return isReady || signal !== null
    ? `its process ended (${end}), as one that takes too much memory does`
    : `its process could not start (${end}); a bundle needs the package @swink/agent outside of it`;
}
