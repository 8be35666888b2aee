/**
 * Programs of the user that answer with a text: key commands, keyrings and hooks.
 *
 * @module
 */

import { OutputReading } from "../../src/platform/output_reading.ts";
import { findTrustedProgram } from "../../src/platform/trusted_path.ts";

/** A program to run. */
export interface ProgramCall {
  /** Name or path of the program, and its arguments. A name is looked up where commands of agents cannot write. */
  readonly command: readonly [string, ...string[]];
  /** Text for its standard input. Default: empty. */
  readonly input?: string;
  /** Working directory. Default: that of this process. */
  readonly cwd?: string;
  /** Environment variables, in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Names of environment variables of this process that the program does not get. Default: none. */
  readonly withoutEnv?: readonly string[];
  /** Time after which the program is killed, in milliseconds. */
  readonly timeoutMs: number;
  /** Kills the program. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether it runs in a process group of its own: it ends with the programs that it has started, and has no terminal.
   * Default: `false`.
   */
  readonly ownsGroup?: boolean;
}

/** The end of a program. */
export type ProgramResult =
  | {
    readonly type: "ended";
    readonly code: number;
    readonly output: string;
    /** Text of its standard error. */
    readonly errors: string;
    /** The first line of its standard error. */
    readonly message: string;
  }
  | { readonly type: "missing" }
  | { readonly type: "timeout" }
  | { readonly type: "aborted" };

/** Maximum length of the output that is read, about: a longer one is cut, and at least as long. */
export const MAX_OUTPUT = 100_000;

/** Returns the call of a shell that runs a command. */
export function toShellCall(command: string): ProgramCall["command"] {
  return Deno.build.os === "windows" ? ["cmd", "/d", "/s", "/c", command] : ["sh", "-c", command];
}

/** Runs a program to its end. */
export async function runProgram(
  { command: [program, ...args], input = "", env = {}, timeoutMs, signal, ...call }: ProgramCall,
): Promise<ProgramResult> {
  const { cwd, ownsGroup = false, withoutEnv = [] } = call;
  const timeout = AbortSignal.timeout(timeoutMs);
  const stop = signal ? AbortSignal.any([timeout, signal]) : timeout;
  if (stop.aborted) return { type: "aborted" };
  const path = resolveProgram(program, env.PATH ?? Deno.env.get("PATH"));
  try {
    await using process = new Deno.Command(path, {
      args,
      ...selectEnv(env, withoutEnv),
      detached: ownsGroup,
      ...(cwd !== undefined && { cwd }),
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const isGroup = ownsGroup && Deno.build.os !== "windows";
    const kill = () => killProcess(isGroup ? -process.pid : process.pid);
    stop.addEventListener("abort", kill, { once: true });
    const drained = Promise.withResolvers<void>();
    const end = Promise.race([drained.promise, untilAborted(stop)]);
    const [outputs, diagnostics] = [
      new ProgramOutput(process.stdout),
      new ProgramOutput(process.stderr),
    ];
    const writing = writeText(process.stdin, input, end);
    const { code } = await process.status;
    const [output, errors] = await Promise.all([outputs.finish(stop), diagnostics.finish(stop)]);
    drained.resolve();
    await writing;
    stop.removeEventListener("abort", kill);
    if (stop.aborted) return { type: timeout.aborted ? "timeout" : "aborted" };
    return { type: "ended", code, output, errors, message: errors.trim().split("\n", 1)[0] ?? "" };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { type: "missing" };
    if (error instanceof Deno.errors.PermissionDenied) return { type: "missing" };
    throw error;
  }
}

/**
 * Returns the path of a program, which a command could have made in a directory of the project that is in `PATH`, such as the
 * `bin` of a virtual environment. One that is nowhere else is that of the system: with the working directory `/`, as in many
 * containers, commands can write all directories, so that hooks could not run.
 */
function resolveProgram(program: string, path: string | undefined): string {
  if (program.includes("/") || Deno.build.os === "windows" || path === undefined) return program;
  return findTrustedProgram(program, path) ??
    (program === "sh" ? "/bin/sh" : `/usr/bin/${program}`);
}

function selectEnv(
  env: Readonly<Record<string, string>>,
  without: readonly string[],
): Pick<Deno.CommandOptions, "env" | "clearEnv"> {
  if (without.length === 0) return { env };
  const inherited = Object.entries(Deno.env.toObject()).filter(([name]) => !without.includes(name));
  return { env: { ...Object.fromEntries(inherited), ...env }, clearEnv: true };
}

/** Kills a process, or the group of a negative id. */
function killProcess(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/**
 * Writes a text and closes the stream. `end` ends the wait: a program that this one has started may keep the stream open
 * without reading it, and a write that is under way cannot be aborted.
 */
async function writeText(
  stream: WritableStream<Uint8Array>,
  text: string,
  end: Promise<void>,
): Promise<void> {
  const writer = stream.getWriter();
  void end.then(() => writer.abort()).catch(() => {});
  const write = async () => {
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  };
  // It fails if the program has ended without reading its input.
  await Promise.race([write().catch(() => {}), end]);
}

/** The output of a program, of which the beginning is kept. */
class ProgramOutput {
  readonly #reading: OutputReading;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reading = new OutputReading(stream, (chunk) => {
      if (this.#text.length < MAX_OUTPUT) {
        this.#text += this.#decoder.decode(chunk, { stream: true });
      }
    });
  }

  /** Waits for the output that the program has left, unless it was stopped. Programs that it has started may hold it open. */
  async finish({ aborted }: AbortSignal): Promise<string> {
    await (aborted ? this.#reading.stop() : this.#reading.drain());
    return this.#text;
  }
}

/** Returns the reason why a program failed, as a sentence without a full stop. */
export function describeFailure(
  { command: [program], timeoutMs }: Pick<ProgramCall, "command" | "timeoutMs">,
  result: ProgramResult,
): string {
  switch (result.type) {
    case "missing":
      return `${program} is not installed`;
    case "timeout":
      return `${program} did not end within ${timeoutMs / 1_000} s`;
    case "aborted":
      return `${program} was interrupted`;
    case "ended": {
      const reason = result.message === "" ? "" : `: ${result.message}`;
      return `${program} failed with exit code ${result.code}${reason}`;
    }
  }
}
