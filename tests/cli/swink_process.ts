/**
 * Starts the program as a process, for tests.
 *
 * @module
 */

import { choosePackages } from "../../scripts/packages.ts";
import { createDeadline } from "../deadline.ts";
import { root } from "../project.ts";
import { waitUntil } from "../wait_until.ts";

/** Options for `startSwink()`. */
export interface SwinkOptions {
  /** Working directory. */
  readonly cwd?: string;
  /** Environment variables in addition to those of `getBasicEnvironment()`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input: none, an open pipe, or a pipe to the keyboard of a terminal. Default: none. */
  readonly stdin?: "null" | "piped" | "terminal";
  /** The options of Deno for permissions. Default: all. */
  readonly permissions?: readonly string[];
  /** Whether the program waits for a debugger. Default: `false`. */
  readonly waitsForDebugger?: boolean;
}

/** A running process. */
export interface SwinkProcess extends AsyncDisposable {
  /** The process. */
  readonly child: Deno.ChildProcess;
  /** Text of standard output so far. */
  readonly output: string;
  /** Text of standard error so far. */
  readonly messages: string;
  /** Waits until standard output or standard error contains a text. */
  waitForText(text: string): Promise<void>;
  /** Waits until a condition is true. */
  waitFor(condition: () => boolean): Promise<void>;
  /** Closes the pipe from standard output, as a reader that exits does. */
  closeOutput(): Promise<void>;
  /** Sends a signal. */
  kill(signal: Deno.Signal): void;
  /** Waits for the end of the process. */
  waitForExit(): Promise<SwinkExit>;
}

/** Exit code and output of a process. */
export interface SwinkExit {
  readonly code: number;
  readonly output: string;
  readonly messages: string;
}

const { config } = await choosePackages();

/**
 * The command that starts the program, quiet as the README installs it: Deno shows its own progress while it loads
 * modules or waits for another process, and then erases the row of the cursor, which is the input line.
 */
export const SWINK_COMMAND: readonly string[] = [
  Deno.execPath(),
  "run",
  "-A",
  "--quiet",
  "--no-lock",
  "-c",
  config,
  decodeURIComponent(new URL("cli/main.ts", root).pathname),
];

/** Replaces the configuration, the keys and the sessions of the user who runs the tests. */
const programDirectory = Deno.makeTempDirSync({ prefix: "swink_tests_" });
globalThis.addEventListener("unload", () => Deno.removeSync(programDirectory, { recursive: true }));

/** Returns the environment variables that every program needs. */
export function getBasicEnvironment(): Record<string, string> {
  const names = ["PATH", "HOME", "DENO_DIR", "JSR_URL", "TMPDIR"];
  const inherited = Object.fromEntries(names.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
  return { ...inherited, XDG_CONFIG_HOME: programDirectory, XDG_STATE_HOME: programDirectory };
}

/** Starts the program. */
export function startSwink(args: readonly string[], options: SwinkOptions = {}): SwinkProcess {
  const { cwd, env = {}, stdin = "null", waitsForDebugger = false, permissions = ["-A"] } = options;
  const [deno = "", subcommand = "", _all, quiet = "", ...denoArgs] = SWINK_COMMAND;
  // A quiet process does not write the address of the inspector.
  const mode = waitsForDebugger ? "--inspect-wait=127.0.0.1:0" : quiet;
  const command = [deno, subcommand, mode, ...permissions, ...denoArgs, ...args];
  const [program = "", ...programArgs] = stdin === "terminal" ? createTerminal(command) : command;
  const child = new Deno.Command(program, {
    args: programArgs,
    env: { ...getBasicEnvironment(), ...env },
    clearEnv: true,
    stdin: stdin === "null" ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
    ...(cwd !== undefined && { cwd }),
  }).spawn();
  // Not the option `signal`, which sends SIGTERM: the program handles it, and may hang.
  createDeadline().addEventListener("abort", () => killProcess(child));
  const [output, messages] = [new OutputReader(child.stdout), new OutputReader(child.stderr)];
  return {
    child,
    get output() {
      return output.text;
    },
    get messages() {
      return messages.text;
    },
    waitForText: (text) => Promise.any([output.waitForText(text), messages.waitForText(text)]),
    async waitFor(condition) {
      let ended = false;
      void child.status.then(() => ended = true);
      await waitUntil(condition, {
        check() {
          if (ended) throw new Error(`The process ended before: ${condition}\n${messages.text}`);
        },
      });
    },
    closeOutput: () => output.close(),
    kill: (signal) => child.kill(signal),
    async waitForExit() {
      const { code } = await child.status;
      await Promise.all([output.ended, messages.ended]);
      return { code, output: output.text, messages: messages.text };
    },
    async [Symbol.asyncDispose]() {
      if (stdin !== "null") await child.stdin.close().catch(() => {});
      killProcess(child);
      await child.status;
      await Promise.all([output.ended, messages.ended]);
    },
  };
}

function killProcess(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch {
    // It has already ended.
  }
}

/** Returns a command that runs a command in a terminal, and then prints the mode of the terminal. */
function createTerminal(command: readonly string[]): string[] {
  const line = command.map((word) => `'${word}'`).join(" ");
  const script = `trap : INT QUIT; ${line}; code=$?; stty -a; exit $code`;
  return ["script", "--quiet", "--return", "--command", script, "/dev/null"];
}

/** Runs the program to its end. */
export async function runSwink(
  args: readonly string[],
  options: SwinkOptions = {},
): Promise<SwinkExit> {
  await using process = startSwink(args, options);
  return await process.waitForExit();
}

/** Collects the output of a process. */
class OutputReader {
  text = "";
  readonly ended: Promise<void>;
  readonly #closing = new AbortController();
  #waiting: {
    readonly text: string;
    readonly resolve: () => void;
    readonly reject: (reason: Error) => void;
  }[] = [];

  constructor(stream: ReadableStream<Uint8Array>) {
    this.ended = this.#readAll(stream);
  }

  waitForText(text: string): Promise<void> {
    if (this.text.includes(text)) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiting.push({ text, resolve, reject }));
  }

  /** Stops reading and closes the stream. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.ended;
  }

  async #readAll(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    const { signal } = this.#closing;
    const chunks = new WritableStream<Uint8Array>({
      write: (chunk) => {
        this.text += decoder.decode(chunk, { stream: true });
        for (const { text, resolve } of this.#waiting) if (this.text.includes(text)) resolve();
      },
    });
    await stream.pipeTo(chunks, { signal }).catch((error) => {
      if (!signal.aborted) throw error;
    });
    for (const { text, reject } of this.#waiting) {
      reject(new Error(`The process ended without: ${text}\n${this.text}`));
    }
  }
}
