/**
 * Programs started by `node:child_process`.
 *
 * @module
 */

import type { ChildProcess } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { getBuiltinModule } from "./builtin_modules.ts";
import type { Command, CommandOptions, SystemProcess } from "./process_calls.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** A program to start. */
export class NodeCommand implements Command {
  readonly #program: string;
  readonly #options: CommandOptions;

  /** Creates a command; does not start the program. */
  constructor(program: string, options: CommandOptions) {
    this.#program = program;
    this.#options = options;
  }

  /** Starts the program. */
  spawn(): SystemProcess {
    const { args, cwd, env, detached = false, stdin, stderr } = this.#options;
    const child = getBuiltinModule("node:child_process").spawn(this.#program, args, {
      cwd,
      env,
      detached,
      stdio: [toStdio(stdin), "pipe", toStdio(stderr)],
      windowsHide: true,
    });
    const { pid, stdout } = child;
    if (pid === undefined || !stdout) {
      // The event with the exact reason follows.
      child.on("error", () => {});
      throw createSpawnError(this.#program, cwd);
    }
    return {
      pid,
      stdin: toWritableStream(child.stdin),
      stdout: toReadableStream(stdout),
      stderr: child.stderr ? toReadableStream(child.stderr) : new ReadableStream(),
      status: waitForExit(child),
    };
  }
}

function toStdio(stream: "null" | "piped"): "ignore" | "pipe" {
  return stream === "null" ? "ignore" : "pipe";
}

function createSpawnError(program: string, cwd = "."): Error {
  const message = `Cannot start "${program}" in "${cwd}": the program or the directory does not ` +
    "exist, or the program cannot be executed";
  return Object.assign(new Error(message), { code: "ENOENT" });
}

async function waitForExit(child: ChildProcess): SystemProcess["status"] {
  const { signals } = getBuiltinModule("node:os").constants;
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.on("error", () => {}); // of sending a signal
    child.on("exit", (code, signal) => resolve([code, signal]));
  });
  return { code: code ?? SIGNAL_EXIT_CODE + (signal ? signals[signal] : 0), signal };
}

/** Added to the number of the signal that ended a process, as shells do. */
const SIGNAL_EXIT_CODE = 128;

function toReadableStream(source: Readable): ReadableStream<Bytes> {
  return new ReadableStream({
    start(controller) {
      source.on("data", (chunk: Bytes) => {
        controller.enqueue(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length));
        if ((controller.desiredSize ?? 0) <= 0) source.pause();
      });
      source.on("end", () => controller.close());
      source.on("error", (error) => controller.error(error));
    },
    pull: () => void source.resume(),
    cancel: () => void source.destroy(),
  });
}

/** Converts a stream that is `null` if it is not piped. */
function toWritableStream(target: Writable | null): WritableStream<Bytes> {
  // Each failure is also passed to the callback of a write.
  target?.on("error", () => {});
  return new WritableStream({
    write: (chunk) =>
      new Promise((resolve, reject) => {
        // Node writes an empty chunk, too, which fails if the program has ended.
        if (chunk.length === 0) resolve();
        else target?.write(chunk, (error) => error ? reject(error) : resolve());
      }),
    // A destroyed stream, such as that of a program that has ended, never calls back.
    close: () =>
      new Promise((resolve) => target && !target.destroyed ? target.end(resolve) : resolve()),
    abort: () => void target?.destroy(),
  });
}
