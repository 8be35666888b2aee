/**
 * The commands that tests run, for Node and Bun.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import process from "node:process";
import { NodeCommand } from "../../src/platform/node_command.ts";
import type { CommandOptions } from "../../src/platform/process_calls.ts";

/** Output of a program that has ended. */
export interface CommandOutput {
  readonly success: boolean;
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

/** The part of `Deno.Command` that tests use. */
export class TestCommand extends NodeCommand {
  readonly #program: string;
  readonly #options: Partial<CommandOptions>;

  /** Creates a command; does not start the program. */
  constructor(program: string, options: Partial<CommandOptions> = {}) {
    super(program, options as CommandOptions);
    this.#program = program;
    this.#options = options;
  }

  /** Runs the program until it ends. */
  output(): Promise<CommandOutput> {
    return Promise.resolve(this.outputSync());
  }

  /** Runs the program until it ends. */
  outputSync(): CommandOutput {
    const { args = [], cwd, env = {}, clearEnv } = this.#options;
    const { status, stdout, stderr, error } = spawnSync(this.#program, args, {
      ...(cwd !== undefined && { cwd }),
      env: clearEnv ? env : { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    if (error) throw error;
    return { success: status === 0, code: status ?? 1, stdout, stderr };
  }
}
