/**
 * The commands that tests run, for Node and Bun.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import process from "node:process";
import { NodeCommand } from "../../src/platform/node_command.ts";
import type { CommandOptions, SystemProcess } from "../../src/platform/process_calls.ts";

/** How a program has ended. */
export interface CommandStatus {
  readonly success: boolean;
  readonly code: number;
  readonly signal: string | null;
}

/** Output of a program that has ended. */
export interface CommandOutput extends CommandStatus {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

/** The part of `Deno.ChildProcess` that tests use. */
export interface TestProcess extends Omit<SystemProcess, "status"> {
  readonly status: Promise<CommandStatus>;
  kill(signal?: NodeJS.Signals): void;
  /** Reads what the program writes until it ends. */
  output(): Promise<CommandOutput>;
}

/** Matches options of `deno run` and `deno eval` that other runtimes do not have. */
const DENO_FLAG = /^(--no-(check|config|lock|prompt)|--quiet|-A|--allow-\w+)$/;

/** The part of `Deno.Command` that tests use. */
export class TestCommand {
  readonly #program: string;
  readonly #options: CommandOptions;

  /** Creates a command; does not start the program. */
  constructor(program: string, options: Partial<CommandOptions> = {}) {
    const { args = [], env = {}, clearEnv } = options;
    this.#program = program;
    this.#options = {
      ...options as CommandOptions,
      args: program === process.execPath ? toRuntimeArgs(args) : args,
      env: clearEnv ? env : { ...process.env as typeof env, ...env },
    };
  }

  /** Starts the program. */
  spawn(): TestProcess {
    const child = new NodeCommand(this.#program, this.#options).spawn();
    const status = child.status.then((end) => ({ ...end, success: end.code === 0 }));
    return {
      ...child,
      status,
      kill: (signal = "SIGTERM") => void process.kill(child.pid, signal),
      output: async () => {
        const [stdout, stderr] = await Promise.all([child.stdout, child.stderr].map(readBytes));
        return { ...await status, stdout, stderr } as CommandOutput;
      },
    };
  }

  /** Runs the program until it ends. */
  output(): Promise<CommandOutput> {
    return Promise.resolve(this.outputSync());
  }

  /** Runs the program until it ends. */
  outputSync(): CommandOutput {
    const { args, cwd, env } = this.#options;
    const { status, signal, stdout, stderr, error } = spawnSync(this.#program, args, {
      ...(cwd !== undefined && { cwd }),
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (error) throw error;
    return { success: status === 0, code: status ?? 1, signal, stdout, stderr };
  }
}

/** Converts the arguments of `deno run` and `deno eval` into those of this runtime. */
function toRuntimeArgs(args: string[]): string[] {
  const [subcommand] = args;
  const rest = args.slice(1).filter((arg) => !DENO_FLAG.test(arg));
  if (subcommand === "run") return rest;
  if (subcommand !== "eval") return args;
  return "bun" in process.versions ? ["-e", ...rest] : ["--input-type=module", "-e", ...rest];
}

async function readBytes(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<Uint8Array> {
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
