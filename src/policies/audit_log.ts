/**
 * A record of what an agent did.
 *
 * @module
 */

import type { AgentErrorRecord } from "../core/errors.ts";
import { cloneJson, type JsonObject } from "../core/json.ts";
import type { StopReason } from "../core/model.ts";
import type { Policy, PolicyContext } from "../core/policy.ts";
import type { Cost, Usage } from "../core/usage.ts";

/** What every record says. */
export interface AuditRecordBase {
  /** Id of the run. */
  readonly runId: string;
  /** Number of the turn. */
  readonly turn: number;
  /** The model, as `provider/modelId`. */
  readonly model: string;
  /** Milliseconds since the run began. */
  readonly elapsedMs: number;
}

/** One thing that happened, as a JSON value. */
export type AuditRecord =
  | AuditRecordBase & {
    /** A tool call that is about to be approved and run. */
    readonly type: "tool_call";
    readonly toolCallId: string;
    readonly tool: string;
    readonly arguments: JsonObject;
  }
  | AuditRecordBase & {
    /** A turn that has ended. */
    readonly type: "turn";
    readonly stopReason: StopReason;
    readonly usage: Usage;
    readonly cost: Cost;
    readonly toolResults: readonly { readonly toolCallId: string; readonly isError: boolean }[];
  }
  | AuditRecordBase & {
    /** A run that has ended. */
    readonly type: "run";
    readonly stopReason: StopReason;
    readonly usage: Usage;
    readonly cost: Cost;
    readonly error?: AgentErrorRecord;
  };

/** Options of {@linkcode auditLog}. */
export interface AuditLogOptions {
  /** Takes a record; waited for, so that what is told has been written. A failure is a `warning` event. */
  readonly write: (record: AuditRecord) => void | Promise<void>;
}

/**
 * Writes down every tool call before it runs, every turn and every run, failed and aborted ones included.
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
