/**
 * The updates of tool calls.
 *
 * @module
 */

import type { FileChange } from "../../core/diff/file_change.ts";
import type { ToolExecutionEndEvent } from "../../core/events/event.ts";
import type { ToolUpdate } from "../../core/messages/tool_result.ts";
import type { AcpToolCallFields, AcpToolContent, AcpUpdate } from "./acp_update.ts";
import { toContents } from "./content.ts";
import {
  type CallDescriber,
  type DescribedCall,
  describeFor,
  toArgumentContents,
  toChange,
  toDiffs,
  toTerminalId,
} from "./describe_call.ts";

/** Options for `new CallUpdates()`. */
export interface CallUpdatesOptions extends CallDescriber {
  /** Whether an id is that of a terminal of the client that the session has started. Default: none is. */
  readonly isTerminal?: ((id: string) => boolean) | undefined;
}

/** A call about which the user is asked. */
export interface ApprovedCall extends DescribedCall {
  /** Id of the call. */
  readonly toolCallId: string;
  /** The changes that it will make. */
  readonly changes?: readonly FileChange[] | undefined;
}

/** Maps the calls of a session and of its sub-agents. */
export class CallUpdates {
  readonly #options: CallUpdatesOptions;
  /** The changes that calls will make. */
  readonly #changes = new Map<string, readonly FileChange[]>();
  /** Ids of the terminals that the client shows, by the ids of their calls, which have not ended. */
  readonly #terminals = new Map<string, string>();

  /** Creates it. */
  constructor(options: CallUpdatesOptions) {
    this.#options = options;
  }

  /** Forgets the changes of calls that have not been executed. */
  startRun(): void {
    this.#changes.clear();
  }

  /** Forgets the calls that have not ended. */
  endRun(): void {
    this.#changes.clear();
    this.#terminals.clear();
  }

  /** Keeps the changes that a call will make, for its updates. */
  expectChanges(toolCallId: string, changes: readonly FileChange[]): void {
    this.#changes.set(toolCallId, changes);
  }

  /** Returns id, title, kind and files of a call. */
  describe(
    toolCallId: string,
    { name, arguments: args }: DescribedCall,
  ): AcpToolCallFields & { readonly title: string } {
    const changes = this.#changes.get(toolCallId);
    return { toolCallId, ...describeFor(this.#options, { name, arguments: args }, changes) };
  }

  /** Returns the fields of a call by which the user is asked for its approval. */
  describeApproval(call: ApprovedCall): AcpToolCallFields {
    const { toolCallId, changes = [] } = call;
    this.expectChanges(toolCallId, changes);
    const described = this.describe(toolCallId, call);
    const diffs = toDiffs(changes, this.#options.toPath);
    const isShown = diffs.length > 0 && diffs.length === changes.length;
    return {
      ...described,
      status: "pending" as const,
      rawInput: call.arguments,
      content: isShown ? diffs : toArgumentContents(described.title, call.arguments),
    };
  }

  /** Returns the update for the progress of a call. */
  update(toolCallId: string, update: ToolUpdate): AcpUpdate {
    const content = this.#toContent(update);
    for (const part of content) {
      if (part.type === "terminal") this.#terminals.set(toolCallId, part.terminalId);
    }
    return { sessionUpdate: "tool_call_update", toolCallId, content };
  }

  /** Returns the last update of a call. */
  end(
    toolCallId: string,
    { name, result, isError }: Pick<ToolExecutionEndEvent, "name" | "result" | "isError">,
  ): AcpUpdate {
    const change = toChange(name, result.details);
    const changes = change ? [change] : this.#changes.get(toolCallId) ?? [];
    this.#changes.delete(toolCallId);
    const diffs = isError ? [] : toDiffs(changes, this.#options.toPath);
    const content = this.#toEndContent(toolCallId, result);
    return {
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: isError ? "failed" : "completed",
      content: diffs.length > 0 ? diffs : content,
    };
  }

  /** Returns the content of a result. That of a cancelled call does not know its terminal, whose output stays visible. */
  #toEndContent(toolCallId: string, result: ToolExecutionEndEvent["result"]): AcpToolContent[] {
    const content = this.#toContent(result);
    const terminalId = this.#terminals.get(toolCallId);
    this.#terminals.delete(toolCallId);
    if (terminalId === undefined || content.some(({ type }) => type === "terminal")) return content;
    return [{ type: "terminal", terminalId }, ...content];
  }

  /** Any tool may return the id of a terminal; only those of this session are shown. */
  #toContent(update: ToolUpdate): AcpToolContent[] {
    const terminalId = typeof update === "string" ? undefined : toTerminalId(update.details);
    if (terminalId !== undefined && this.#options.isTerminal?.(terminalId)) {
      return [{ type: "terminal", terminalId }];
    }
    const contents = typeof update === "string"
      ? [{ type: "text", text: update } as const]
      : toContents(update.content);
    return contents.map((content) => ({ type: "content", content }));
  }
}
