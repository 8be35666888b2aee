/**
 * Programs of the user that answer with a text: key commands, keyrings and hooks.
 *
 * @module
 */

/** A program to run. */
export interface ProgramCall {
  /** Name or path of the program, and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** Text for its standard input. Default: empty. */
  readonly input?: string;
  /** Working directory. Default: that of this process. */
  readonly cwd?: string;
  /** Environment variables, in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Time after which the program is killed, in milliseconds. */
  readonly timeoutMs: number;
  /** Kills the program. */
  readonly signal?: AbortSignal | undefined;
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

/** Maximum length of the output that is read. */
const MAX_OUTPUT = 100_000;

/** Returns the call of a shell that runs a command. */
export function toShellCall(command: string): ProgramCall["command"] {
  return Deno.build.os === "windows" ? ["cmd", "/d", "/s", "/c", command] : ["sh", "-c", command];
}

/** Runs a program to its end. */
export async function runProgram(
  { command: [program, ...args], input = "", env = {}, cwd, timeoutMs, signal }: ProgramCall,
): Promise<ProgramResult> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const stop = signal ? AbortSignal.any([timeout, signal]) : timeout;
  if (stop.aborted) return { type: "aborted" };
  try {
    await using process = new Deno.Command(program, {
      args,
      env,
      ...(cwd !== undefined && { cwd }),
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const kill = () => {
      try {
        process.kill("SIGKILL");
      } catch {
        // It has ended.
      }
    };
    stop.addEventListener("abort", kill, { once: true });
    const [output, errors, { code }] = await Promise.all([
      readText(process.stdout, stop),
      readText(process.stderr, stop),
      process.status,
      writeText(process.stdin, input),
    ]);
    stop.removeEventListener("abort", kill);
    if (stop.aborted) return { type: timeout.aborted ? "timeout" : "aborted" };
    return { type: "ended", code, output, errors, message: errors.trim().split("\n", 1)[0] ?? "" };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { type: "missing" };
    if (error instanceof Deno.errors.PermissionDenied) return { type: "missing" };
    throw error;
  }
}

async function writeText(stream: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stream.getWriter();
  try {
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  } catch {
    // The program ended without reading its input.
  }
}

/**
 * Reads a stream to its end, and keeps its beginning. An abort ends reading, since programs that a killed one has started
 * may keep the stream open.
 */
async function readText(stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  let text = "";
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    if (text.length < MAX_OUTPUT) text += decoder.decode(read.value, { stream: true });
  }
  signal.removeEventListener("abort", cancel);
  return text;
}

/** Returns the reason why a program failed, as a sentence without a full stop. */
export function describeFailure(
  { command: [program] }: Pick<ProgramCall, "command">,
  result: ProgramResult,
): string {
  switch (result.type) {
    case "missing":
      return `${program} is not installed`;
    case "timeout":
      return `${program} did not answer`;
    case "aborted":
      return `${program} was interrupted`;
    case "ended": {
      const reason = result.message === "" ? "" : `: ${result.message}`;
      return `${program} failed with exit code ${result.code}${reason}`;
    }
  }
}
