/**
 * The tool calls of a history.
 *
 * @module
 */

import type { AgentMessage, ToolCallBlock } from "../../../mod.ts";
import type { CallView } from "../../render/tools/call_view.ts";

/** Returns the calls of a history in their order, with numbers from 1. Those without a result have no end. */
export function listCalls(
  messages: readonly AgentMessage[],
): ReadonlyMap<ToolCallBlock, CallView> {
  const calls = new Map<ToolCallBlock, CallView>();
  // Some providers use the same ids in each reply.
  const open = new Map<string, ToolCallBlock>();
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const block of message.content) {
        if (block.type !== "tool_call") continue;
        open.set(block.id, block);
        calls.set(block, createCall(block, { number: calls.size + 1, at: message.timestamp }));
      }
    }
    if (message.role !== "tool_result") continue;
    const { toolCallId, isError, timestamp, ...result } = message;
    const block = open.get(toolCallId);
    const call = block && calls.get(block);
    if (!call) continue;
    open.delete(toolCallId);
    // The time that the tool took is not part of the history.
    const end = { endedAt: timestamp, result, isError };
    calls.set(block, { ...call, startedAt: timestamp, end });
  }
  return calls;
}

function createCall(
  { name, arguments: args }: ToolCallBlock,
  { number, at }: { readonly number: number; readonly at: number },
): CallView {
  return { number, name, arguments: args, startedAt: at };
}
