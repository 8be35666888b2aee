/**
 * The operations on processes in use, with the names and the behaviour of the `Deno` namespace.
 *
 * @module
 */

/** Options for starting a program. */
export interface CommandOptions {
  /** Arguments of the program. */
  readonly args: string[];
  /** Working directory. */
  readonly cwd?: string;
  /** Environment of the program. */
  readonly env: Record<string, string>;
  /** Does not pass the environment of this process on. */
  readonly clearEnv: true;
  /** Starts the program in its own session and process group. */
  readonly detached?: boolean;
  /** Standard input. */
  readonly stdin: "null" | "piped";
  /** Standard output. */
  readonly stdout: "piped";
  /** Standard error. */
  readonly stderr: "null" | "piped";
}

/** A started program. */
export interface SystemProcess {
  /** Id of the process. */
  readonly pid: number;
  /** Standard input, if it is piped. */
  readonly stdin: WritableStream<Uint8Array<ArrayBuffer>>;
  /** Standard output. */
  readonly stdout: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Standard error, if it is piped. */
  readonly stderr: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** Resolves when the process has ended. The code is 128 plus the signal number if a signal ended it. */
  readonly status: Promise<{ readonly code: number; readonly signal: string | null }>;
}

/** A program to start. */
export interface Command {
  /** Starts the program. Throws the error of the system, for example when the program does not exist. */
  spawn(): SystemProcess;
}

/** The operations on processes. */
export interface ProcessCalls {
  /** The operating system and the architecture, with the names that Deno uses: `windows`, `x86_64`, `aarch64`. */
  readonly build: {
    readonly os: string;
    readonly arch: string;
    /** Whether this is a program compiled by `deno compile`. */
    readonly standalone: boolean;
  };
  /** Id of this process. */
  readonly pid: number;
  /** The environment of this process. */
  readonly env: { get(name: string): string | undefined };
  /** Returns the working directory. */
  cwd(): string;
  /** Returns the path of the program of this process, such as `deno` or `node`. */
  execPath(): string;
  /** Returns the user id of this process; `null` on Windows. */
  uid(): number | null;
  /** Sends a signal to a process, or with a negative id to a process group. */
  kill(pid: number, signal: "SIGTERM" | "SIGKILL"): void;
  /** Lets the program end while a timer is active. */
  unrefTimer(timer: ReturnType<typeof setInterval>): void;
  /** A program to start. */
  readonly Command: new (program: string, options: CommandOptions) => Command;
}
