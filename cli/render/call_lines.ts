/**
 * The lines of tool calls, in call order.
 *
 * @module
 */

import type { JsonObject } from "../../mod.ts";
import type { Activity } from "./activity.ts";
import { toPlainText } from "./plain_text.ts";
import { formatCall, formatToolName } from "./tool_line.ts";

/** A tool call of the current reply. */
export interface ShownCall {
  /** Id of the call. */
  readonly id: string;
  /** Name of the tool, as plain text of at most 64 columns. */
  readonly tool: string;
  /** The most significant arguments in one line. */
  readonly summary: string;
  /** Start of the call, in milliseconds. */
  readonly startedAt: number;
  /** The change that the call makes, as a diff. */
  readonly diff?: string;
}

interface CallEntry {
  readonly id: string;
  call?: ShownCall;
  /** The last line of output. */
  detail?: string;
  /** Writes the lines of the call; set when it has ended. */
  write?: () => Promise<void>;
}

/** Holds back the lines of a call until the earlier calls of the reply have ended. */
export class CallLines {
  #entries: CallEntry[] = [];

  /** Sets the order of the calls of a reply. */
  expect(ids: readonly string[]): void {
    this.#entries.push(...ids.map((id) => ({ id })));
  }

  /** Adds a started call. */
  start(
    { id, name, arguments: args }: { id: string; name: string; arguments: JsonObject },
    context: Pick<ShownCall, "startedAt" | "diff">,
  ): void {
    this.#find(id).call = {
      id,
      tool: formatToolName(name),
      summary: formatCall(name, args),
      ...context,
    };
  }

  /** Sets the start of a call that has waited for others. */
  restart(id: string, startedAt: number): void {
    const entry = this.#find(id);
    if (entry.call) entry.call = { ...entry.call, startedAt };
  }

  /** Sets the last line of the output of a call. */
  update(id: string, output: string): void {
    const lines = toPlainText(output).split("\n").filter((line) => line.trim() !== "");
    this.#find(id).detail = lines.at(-1)?.trim() ?? "";
  }

  /** Ends a call; writes its lines, and those of later calls that wait for it, once the earlier ones have ended. */
  async end(id: string, write: (call: ShownCall | undefined) => Promise<void>): Promise<void> {
    const entry = this.#find(id);
    entry.write = () => write(entry.call);
    while (this.#entries[0]?.write) await this.#entries.shift()?.write?.();
  }

  /** Writes the lines of all calls that have ended, and forgets the others. */
  async flush(): Promise<void> {
    for (const { write } of this.#entries.splice(0)) await write?.();
  }

  /** The first call that has started and not ended. */
  get activity(): Activity | undefined {
    const running = this.#entries.find(({ call, write }) => call && !write);
    if (!running?.call) return undefined;
    const { call: { tool, summary, startedAt }, detail = "" } = running;
    return { label: `${tool} ${summary}`.trimEnd(), startedAt, detail };
  }

  #find(id: string): CallEntry {
    const found = this.#entries.find((entry) => entry.id === id);
    if (found) return found;
    const entry: CallEntry = { id };
    this.#entries.push(entry);
    return entry;
  }
}
