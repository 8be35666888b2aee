/**
 * A policy that records tool calls, turns and runs.
 *
 * @module
 */

import type { AgentErrorRecord } from "../core/errors.ts";
import { cloneJson, type JsonObject } from "../core/json.ts";
import type { StopReason } from "../core/model.ts";
import type { Policy, PolicyContext } from "../core/policy.ts";
import type { Cost, Usage } from "../core/usage.ts";

/** Properties of every audit record. */
export interface AuditRecordBase {
  /** Id of the run. */
  readonly runId: string;
  /** Number of the turn in the run, from 1; 0 if no turn has started. */
  readonly turn: number;
  /** The model, as `provider/modelId`. */
  readonly model: string;
  /** Time since the start of the run, in milliseconds. */
  readonly elapsedMs: number;
}

/** An audit record; a JSON value. */
export type AuditRecord =
  | AuditRecordBase & {
    /** A tool call before its approval. */
    readonly type: "tool_call";
    readonly toolCallId: string;
    readonly tool: string;
    readonly arguments: JsonObject;
  }
  | AuditRecordBase & {
    /** The end of a turn. */
    readonly type: "turn";
    readonly stopReason: StopReason;
    readonly usage: Usage;
    readonly cost: Cost;
    readonly toolResults: readonly { readonly toolCallId: string; readonly isError: boolean }[];
  }
  | AuditRecordBase & {
    /** The end of a run. */
    readonly type: "run";
    readonly stopReason: StopReason;
    readonly usage: Usage;
    readonly cost: Cost;
    readonly error?: AgentErrorRecord;
  };

/** Options for {@linkcode auditLog}. */
export interface AuditLogOptions {
  /**
   * Writes a record. A returned promise is awaited; a failure is reported as a `warning` event and does not end the
   * run.
   */
  readonly write: (record: AuditRecord) => void | Promise<void>;
}

/**
 * Creates a policy that records each tool call before it runs, and each turn and run at its end, including failed and
 * aborted ones.
 *
 * @example
 * ```ts
 * import { auditLog, type AuditRecord } from "@swink/agent/policies";
 *
 * const records: AuditRecord[] = [];
 * const policies = [auditLog({ write: (record) => void records.push(record) })];
 * ```
 */
export function auditLog({ write }: AuditLogOptions): Policy {
  return {
    name: "audit_log",
    preDispatch: async (context) => {
      const { toolCallId, tool: { name: tool } } = context;
      const args = cloneJson(context.arguments);
      await write({
        type: "tool_call",
        ...createRecordBase(context),
        toolCallId,
        tool,
        arguments: args,
      });
    },
    postTurn: async (context) => {
      const { stopReason, usage, cost } = context.message;
      const toolResults = context.toolResults.map(({ toolCallId, isError }) => ({
        toolCallId,
        isError,
      }));
      await write({
        type: "turn",
        ...createRecordBase(context),
        stopReason,
        usage,
        cost,
        toolResults,
      });
    },
    postLoop: async (context) => {
      const { stopReason, usage, cost, error } = context;
      const failure = error && { error: error.toJSON() };
      await write({
        type: "run",
        ...createRecordBase(context),
        stopReason,
        usage,
        cost,
        ...failure,
      });
    },
  };
}

function createRecordBase({ runId, turn, model, elapsedMs }: PolicyContext): AuditRecordBase {
  return { runId, turn, model: `${model.provider}/${model.modelId}`, elapsedMs };
}
