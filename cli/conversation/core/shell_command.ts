/**
 * Commands of the user, which run in the sandbox of the agent.
 *
 * @module
 */

import type { AgentTool, ToolContext } from "../../../mod.ts";
import { getErrorMessage } from "../../../src/core/errors/errors.ts";
import { extractText } from "../../../src/core/messages/content.ts";
import type { Line } from "../../render/line/line.ts";
import { formatCommandNote } from "../../sessions/user_notes.ts";
import type { ConversationView } from "../view/conversation_view.ts";
import { toLine, toLines } from "../view/lines.ts";

/** Options for {@linkcode ShellCommands}. */
export interface ShellCommandsOptions {
  /** The tool that runs commands. */
  readonly shell: AgentTool;
  /** The terminal. */
  readonly view: Pick<ConversationView, "print">;
  /** Called with the last line of the output while a command runs. */
  readonly onOutput: (line: string) => void;
}

/** Runs commands of the user like the agent does: confined, and with changes that can be undone. */
export class ShellCommands {
  readonly #options: ShellCommandsOptions;
  #count = 0;

  constructor(options: ShellCommandsOptions) {
    this.#options = options;
  }

  /** Runs a command and prints its output. Returns both for the model. */
  async run(command: string, signal: AbortSignal): Promise<string> {
    const { view } = this.#options;
    const output = await this.#execute(command, signal);
    await view.print(formatCommandOutput(output));
    return formatCommandNote({ command, output });
  }

  async #execute(command: string, signal: AbortSignal): Promise<string> {
    const { shell } = this.#options;
    try {
      const output = await shell.execute({ command }, this.#createContext(signal));
      return getOutput(output).trimEnd();
    } catch (error) {
      return getErrorMessage(error);
    }
  }

  #createContext(signal: AbortSignal): ToolContext {
    const toolCallId = `user_${++this.#count}`;
    const runId = "user";
    return {
      toolCallId,
      runId,
      signal,
      idempotencyKey: `${runId}:${toolCallId}`,
      run: { runId, depth: 0, background: refuseBackground },
      turn: 1,
      context: undefined,
      messages: [],
      onUpdate: (update) => {
        const text = typeof update === "string" ? update : extractText(update.content);
        const last = text.trimEnd().split("\n").at(-1);
        if (last) this.#options.onOutput(last);
      },
      onEvent: () => Promise.resolve(),
    };
  }
}

/** Matches the result of the tool: the exit code above the output. */
const RESULT = /^(Exit code: (\d+))(?:\n([^]*))?$/;

/** Formats a result with the exit code as its last line, where a long output does not scroll it away. */
export function formatCommandOutput(result: string): Line[] {
  const [, end, code, output = ""] = RESULT.exec(result) ?? [];
  if (end === undefined) return toLines(result);
  return [
    ...(output === "" ? [] : toLines(output)),
    toLine(end, code === "0" ? "faint" : "warning"),
  ];
}

function refuseBackground(): never {
  throw new Error("Commands of the user have no background work");
}

function getOutput(output: Awaited<ReturnType<AgentTool["execute"]>>): string {
  if (typeof output === "string") return output;
  if (typeof output !== "object" || output === null || !("content" in output)) return "";
  return Array.isArray(output.content) ? extractText(output.content) : "";
}
