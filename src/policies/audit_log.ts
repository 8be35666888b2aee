/**
 * A policy that records tool calls, turns and runs.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { describeValue } from "../core/errors/describe_value.ts";
import { type AgentErrorRecord, BadRequestError } from "../core/errors/errors.ts";
import type {
  Policy,
  PolicyContext,
  PostLoopContext,
  PostTurnContext,
  PreDispatchContext,
} from "../core/hooks/policy.ts";
import { cloneJson, type JsonObject } from "../core/json/json.ts";
import type { StopReason } from "../core/models/model.ts";
import type { Cost, Usage } from "../core/models/usage.ts";

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
   * Writes a record. A returned promise is awaited. A failure for a turn or a run is reported as a `warning` event and
   * does not end the run.
   */
  readonly write: (record: AuditRecord) => void | Promise<void>;
  /**
   * Effect of a record of a tool call that cannot be written. `deny`: the call is refused, since it would be missing in
   * the log. `ignore`: the call runs, and the failure is reported as a `warning` event at the end of the turn. Default:
   * `"deny"`.
   */
  readonly onError?: "deny" | "ignore" | undefined;
}

/**
 * Creates a policy that records each tool call before it runs, and each turn and run at its end, including failed and
 * aborted ones. A call whose record cannot be written does not run. Put it after the policies that change arguments, so
 * that it records those with which a call runs.
 *
 * @throws {BadRequestError} If `write` is no function, or `onError` has another value.
 *
 * @example
 * ```ts
 * import { auditLog, type AuditRecord } from "@swink/agent/policies";
 *
 * const records: AuditRecord[] = [];
 * const policies = [auditLog({ write: (record) => void records.push(record) })];
 * ```
 */
export function auditLog(options: AuditLogOptions): Policy {
  checkObject(options, "Pass options with a function write");
  checkNames(options, ["write", "onError"], "auditLog()");
  const { write, onError = "deny" } = options;
  if (typeof write !== "function") {
    throw new BadRequestError(`write must be a function, not ${describeValue(write)}`);
  }
  assertOnError(onError);
  const ignored = new Map<string, unknown>();
  // A copy, so that a writer may mask it.
  const writeCopy = (record: AuditRecord) => write(cloneJson(record));
  return {
    name: "audit_log",
    async preDispatch(context) {
      try {
        await writeCopy(createCallRecord(context));
      } catch (thrown) {
        if (onError === "deny") throw thrown;
        ignored.set(context.runId, thrown);
      }
    },
    async postTurn(context) {
      const { runId } = context;
      const hasFailed = ignored.has(runId);
      const failure = ignored.get(runId);
      ignored.delete(runId);
      await writeCopy(createTurnRecord(context));
      // Reported by the loop as a warning.
      if (hasFailed) throw failure;
    },
    postLoop: async (context) => await writeCopy(createRunRecord(context)),
  };
}

function assertOnError(onError: unknown): void {
  if (onError === "deny" || onError === "ignore") return;
  throw new BadRequestError(`onError must be "deny" or "ignore", not ${describeValue(onError)}`);
}

function createCallRecord(context: PreDispatchContext): AuditRecord {
  const { toolCallId, tool: { name: tool }, arguments: args } = context;
  return {
    type: "tool_call",
    ...createRecordBase(context),
    toolCallId,
    tool,
    arguments: args as JsonObject,
  };
}

function createTurnRecord(context: PostTurnContext): AuditRecord {
  const { stopReason, usage, cost } = context.message;
  const toolResults = context.toolResults.map(({ toolCallId, isError }) => ({
    toolCallId,
    isError,
  }));
  return {
    type: "turn",
    ...createRecordBase(context),
    stopReason,
    usage,
    cost,
    toolResults,
  };
}

function createRunRecord(context: PostLoopContext): AuditRecord {
  const { stopReason, usage, cost, error } = context;
  const failure = error && { error: error.toJSON() };
  return { type: "run", ...createRecordBase(context), stopReason, usage, cost, ...failure };
}

function createRecordBase({ runId, turn, model, elapsedMs }: PolicyContext): AuditRecordBase {
  return { runId, turn, model: `${model.provider}/${model.modelId}`, elapsedMs };
}
