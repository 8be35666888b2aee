/**
 * The list of the tools of a server, which may change.
 *
 * @module
 */

import { getErrorMessage } from "../../core/errors/errors.ts";
import { isJsonEqual } from "../../core/json/json_equal.ts";
import type { Clock } from "../../core/ports/ports.ts";
import type { ReportProblem } from "../protocol/repair_message.ts";
import type { ServerTool } from "../protocol/server_lists.ts";
import { withTimeLimit } from "../transport/time_limit.ts";
import type { Session } from "./session.ts";

/** Minimum time between two requests for the list. */
const REFRESH_MS = 1_000;

/** Options for {@linkcode ToolList}. */
export interface ToolListOptions {
  readonly clock: Clock;
  /** Maximum time for reading the list, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends reading. */
  readonly signal: AbortSignal;
  readonly report: ReportProblem;
  /** Called when a refreshed list differs from the previous one. */
  readonly onChange: () => void;
}

/** The tools of a server. */
export class ToolList {
  readonly #options: ToolListOptions;
  #tools: readonly ServerTool[] = [];
  #outdated: Session | undefined;
  #refreshing: Promise<void> | undefined;

  /** Creates an empty list. */
  constructor(options: ToolListOptions) {
    this.#options = options;
  }

  /** The tools, sorted by name. One that has not changed stays the same object. */
  get tools(): readonly ServerTool[] {
    return this.#tools;
  }

  /** Reads the list; returns whether it has changed. */
  async read(session: Session): Promise<boolean> {
    const { clock, timeoutMs, signal } = this.#options;
    const listed = await withTimeLimit((signal) => session.list("tools/list", signal), {
      clock,
      milliseconds: timeoutMs,
      signal,
      message: `The server did not list its tools within ${timeoutMs} ms`,
    });
    const tools = this.#merge(listed as readonly ServerTool[]); // repaired by the transport
    if (session.isClosed || isSameList(tools, this.#tools)) return false;
    this.#tools = tools;
    return true;
  }

  /** Reads the list again, soon and once for many changes. Failures are reported. */
  refresh(session: Session): void {
    this.#outdated = session;
    this.#refreshing ??= this.#refresh();
  }

  async #refresh(): Promise<void> {
    const { clock, signal, report, onChange } = this.#options;
    while (this.#outdated && !signal.aborted) {
      const session = this.#outdated;
      this.#outdated = undefined;
      try {
        if (!session.isClosed && await this.read(session)) onChange();
      } catch (error) {
        report(`changed its tools, but did not list them: ${getErrorMessage(error)}`);
      }
      await clock.sleep(REFRESH_MS, signal);
    }
    // At once: a change that is reported after the last check begins the next refresh.
    this.#refreshing = undefined;
  }

  /** Of two tools with the same name the first is kept. */
  #merge(listed: readonly ServerTool[]): readonly ServerTool[] {
    const known = new Map(this.#tools.map((tool) => [tool.name, tool]));
    const tools = new Map<string, ServerTool>();
    for (const tool of listed) {
      if (tools.has(tool.name)) {
        this.#options.report(`lists the tool ${JSON.stringify(tool.name)} twice`);
        continue;
      }
      const previous = known.get(tool.name);
      tools.set(tool.name, previous && isJsonEqual(previous, tool) ? previous : tool);
    }
    return [...tools.values()].sort((left, right) => left.name < right.name ? -1 : 1);
  }
}

/** Whether two lists have the same objects. */
export function isSameList(left: readonly object[], right: readonly object[]): boolean {
  return left.length === right.length && left.every((item, index) => item === right[index]);
}
