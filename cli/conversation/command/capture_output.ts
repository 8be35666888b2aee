/**
 * The output of actions of the program that write to a terminal, as lines.
 *
 * @module
 */

import type { Host } from "../../host/host.ts";
import { overrideTerminal } from "../../host/override_terminal.ts";
import type { Output } from "../../host/terminal.ts";
import type { Line } from "../../render/line/line.ts";
import { toLines } from "../view/lines.ts";

/** Runs an action with a host whose output is collected. Returns its lines. */
export async function captureOutput(
  host: Host,
  action: (host: Host) => Promise<unknown>,
): Promise<Line[]> {
  const output = new CollectedOutput();
  await action(overrideTerminal(host, { output, messages: output }));
  return output.text === "" ? [] : toLines(output.text);
}

/** Collects text. It is no terminal, so that it gets no colors. */
class CollectedOutput implements Output {
  readonly isTerminal: boolean = false;
  readonly closed: AbortSignal = new AbortController().signal;
  text = "";

  write(content: string | Uint8Array): Promise<void> {
    this.text += typeof content === "string" ? content : new TextDecoder().decode(content);
    return Promise.resolve();
  }
}
