/**
 * Terminals of the client, in which it runs commands and shows their output.
 *
 * @module
 */

import { ClientAnswer } from "./client_answer.ts";
import type { AcpPeer } from "./sdk_package.ts";

/** A command for a terminal of the client. */
export interface AcpTerminalOptions {
  /** The program. */
  readonly command: string;
  /** Its arguments. Default: none. */
  readonly args?: readonly string[] | undefined;
  /** Environment variables, in addition to those of the client. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Absolute path of the working directory. Default: that of the session. */
  readonly cwd?: string | undefined;
  /** Maximum number of bytes of output that the client keeps, the last ones. Default: 1 MB. */
  readonly maxBytes?: number | undefined;
}

/** The output of a terminal. */
export interface AcpTerminalOutput {
  /** The output so far, or its end. */
  readonly output: string;
  /** Whether the beginning of the output is missing. */
  readonly truncated: boolean;
  /** The end of the command; missing while it runs. */
  readonly exitStatus?: AcpTerminalExit | null;
}

/** The end of a command in a terminal. */
export interface AcpTerminalExit {
  /** Exit code; missing if a signal ended the command. */
  readonly exitCode?: number | null;
  /** The signal that ended it, if one did. */
  readonly signal?: string | null;
}

/** A terminal of the client. Disposing of it ends a command that runs and removes the terminal; its output stays visible. */
export interface AcpTerminal extends AsyncDisposable {
  /** Id of the terminal, by which a tool call shows it. */
  readonly id: string;
  /** Returns the output so far. */
  output(): Promise<AcpTerminalOutput>;
  /** Resolves when the command has ended. */
  waitForExit(signal?: AbortSignal): Promise<AcpTerminalExit>;
  /** Ends the command; the terminal stays. */
  kill(): Promise<void>;
}

const MAX_BYTES = 1_000_000;

type RequestOptions = Parameters<AcpPeer["request"]>[2];

/** Starts a command in a terminal of the client. */
export async function createTerminal(
  peer: AcpPeer,
  { command, args, env = {}, cwd, maxBytes = MAX_BYTES }: AcpTerminalOptions,
  sessionId: string,
): Promise<AcpTerminal> {
  const request = async (method: string, params: object, options: RequestOptions = {}) =>
    new ClientAnswer(method, await peer.request(method, { sessionId, ...params }, options) ?? {});
  const created = await request("terminal/create", {
    command,
    ...(args && { args: [...args] }),
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    ...(cwd !== undefined && { cwd }),
    outputByteLimit: maxBytes,
  });
  const terminal = { terminalId: created.readText("terminalId") };
  return {
    id: terminal.terminalId,
    output: async () => toOutput(await request("terminal/output", terminal)),
    waitForExit: async (signal) =>
      toExit(
        await request("terminal/wait_for_exit", terminal, {
          ...(signal && { cancellationSignal: signal, stopWaitingOnCancel: true }),
        }),
      ),
    kill: async () => void await request("terminal/kill", terminal),
    [Symbol.asyncDispose]: async () => void await request("terminal/release", terminal),
  };
}

function toOutput(answer: ClientAnswer): AcpTerminalOutput {
  const exit = answer.findObject("exitStatus");
  return {
    output: answer.readText("output"),
    truncated: answer.isTrue("truncated"),
    ...(exit && { exitStatus: toExit(exit) }),
  };
}

function toExit(answer: ClientAnswer): AcpTerminalExit {
  return {
    exitCode: answer.findNumber("exitCode") ?? null,
    signal: answer.findText("signal") ?? null,
  };
}
