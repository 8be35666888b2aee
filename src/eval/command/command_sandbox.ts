/**
 * The port through which evaluations run commands.
 *
 * @module
 */

/** A running command. */
export interface RunningCommand {
  /** Standard output and errors, in the order of writing. */
  readonly output: ReadableStream<Uint8Array>;
  /** Resolves when the shell has ended. The code is 128 plus the number of the signal if a signal ended it. */
  readonly exited: Promise<{ readonly code: number }>;
  /** Ends the command with its children: SIGTERM, then SIGKILL after `graceMs` milliseconds. */
  terminate(graceMs: number): Promise<void>;
  /** Called after the end of the shell, to end processes that left it. Default: none. */
  finish?(): Promise<unknown>;
}

/** Runs shell commands in a directory. The sandbox of `@swink/agent/tools` is one. */
export interface CommandSandbox extends AsyncDisposable {
  /** Starts a shell command in the directory. */
  startCommand(command: string): Promise<RunningCommand>;
}

/**
 * Port: opens a sandbox for a directory, such as `createSandbox` of `@swink/agent/tools`, which confines commands as far as
 * the kernel can, or `openUnconfined()`.
 */
export type OpenCommandSandbox = (
  options: { readonly cwd: string },
) => CommandSandbox | Promise<CommandSandbox>;
