/**
 * Starts runs of a session, and sends messages to the active one.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import type { UserMessage } from "../../core/messages/message.ts";
import { createFailure } from "../http/problem.ts";
import type { QueuedInput, RunInput, SessionDetail } from "../runner/agent_runner.ts";
import { type Call, getSessionKey, readCallBody, respond, type Services } from "./call.ts";

/** Pattern of an idempotency key. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** Sends a prompt. */
export async function sendPrompt(call: Call, services: Services): Promise<Response> {
  const { text, value } = await readCallBody(call, "Prompt", services);
  const id = services.newId();
  const key = getIdempotencyKey(call);
  const message = {
    ...createMessage(value, services),
    id,
    ...(key !== undefined && {
      metadata: { idempotencyKey: key, requestHash: await hash(text) },
    }),
  };
  return await startRun(call, services, { input: { type: "prompt", message } });
}

/** Continues a run that was interrupted or aborted. */
export async function continueRun(call: Call, services: Services): Promise<Response> {
  await readCallBody(call, "Empty", services);
  return await startRun(call, services, { input: { type: "continue" } });
}

/** Returns the tool calls that wait for decisions. */
export async function listApprovals(call: Call, { runner }: Services): Promise<Response> {
  const { pendingApprovals } = await runner.describe(getSessionKey(call));
  return respond({ pendingApprovals });
}

/** Decides on all tool calls that wait. */
export async function decideApprovals(call: Call, services: Services): Promise<Response> {
  const { value } = await readCallBody(call, "Decisions", services);
  const { decisions } = value as {
    readonly decisions: Readonly<Record<string, ApprovalDecision>>;
  };
  const { runId } = await checkDecisions(call, Object.keys(decisions), services);
  // A prototype of the object cannot be set by a member of this name.
  const byPerson = Object.fromEntries(
    Object.entries(decisions).map(([id, decision]) => [id, toPersonal(decision)]),
  );
  const input: RunInput = { type: "approvals", decisions: byPerson };
  return await startRun(call, services, { input, isActive: runId !== undefined });
}

/** Returns a decision with its origin, which a client does not choose. */
function toPersonal(decision: ApprovalDecision): ApprovalDecision {
  return { ...decision, origin: "person" };
}

/** Checks the decisions; returns the session. */
async function checkDecisions(
  call: Call,
  decided: readonly string[],
  { runner }: Services,
): Promise<SessionDetail> {
  const detail = await runner.describe(getSessionKey(call));
  const { status, pendingApprovals } = detail;
  const pending = pendingApprovals.map(({ toolCallId }) => toolCallId);
  if (status !== "awaiting_approval") {
    throw createFailure("not_continuable", "No tool call of the session waits for a decision");
  }
  const missing = pending.filter((id) => !decided.includes(id));
  const unknown = decided.filter((id) => !pending.includes(id));
  if (missing.length + unknown.length === 0) return detail;
  throw createFailure(
    "bad_request",
    `Decide on every pending call and no other: ${
      [...formatIds("missing", missing), ...formatIds("unknown", unknown)].join("; ")
    }`,
  );
}

function formatIds(label: string, ids: readonly string[]): string[] {
  return ids.length === 0 ? [] : [`${label} ${ids.slice(0, 10).join(", ").slice(0, 500)}`];
}

/** Sends a message that the active run reads with its next model call. */
export function steerRun(call: Call, services: Services): Promise<Response> {
  return queueMessage(call, "steer", services);
}

/** Sends a message that the active run reads when it would otherwise end. */
export function followUpRun(call: Call, services: Services): Promise<Response> {
  return queueMessage(call, "follow_up", services);
}

async function queueMessage(
  call: Call,
  type: QueuedInput["type"],
  services: Services,
): Promise<Response> {
  const { value } = await readCallBody(call, "Prompt", services);
  const message = createMessage(value, services);
  const key = getSessionKey(call);
  const id = await services.runner.send(key, { type, message });
  if (id !== undefined) return respond({ id }, 202);
  await services.runner.describe(key); // A session that does not exist is another error.
  throw createFailure(
    "not_running",
    "No run of this session is active in this process: send a prompt",
  );
}

/** Aborts the active run. */
export async function abortRun(call: Call, services: Services): Promise<Response> {
  const { value } = await readCallBody(call, "Abort", services);
  const { reason = "Aborted by the client" } = value as { readonly reason?: string };
  const key = getSessionKey(call);
  const aborted = await services.runner.abort(key, reason);
  if (!aborted) await services.runner.describe(key);
  return respond({ aborted }, 202);
}

/** Starts a run, or passes the input on to one that `isActive` and is counted already. */
async function startRun(
  call: Call,
  services: Services,
  { input, isActive = false }: { readonly input: RunInput; readonly isActive?: boolean },
): Promise<Response> {
  const { runner, usage, metrics } = services;
  const { caller, limits } = call;
  const release = isActive ? () => {} : usage.startRun(caller.tenant, limits);
  try {
    const start = await runner.start(getSessionKey(call), input, { policies: limits.policies });
    switch (start.type) {
      case "started": {
        metrics.add("swink_runs_started_total", "Runs that were started.");
        void countEnd(start.ended, services).finally(release);
        const { runId, eventId } = start;
        const messageId = input.type === "prompt" && { messageId: input.message.id };
        return respond({ ...messageId, runId, eventId }, 202);
      }
      case "resumed": {
        release();
        const { runId, eventId } = start;
        return respond({ runId, eventId }, 202);
      }
      case "repeated": {
        release();
        const { messageId, eventId } = start;
        return respond({ messageId, eventId });
      }
      case "key_reused":
        throw createFailure(
          "idempotency_key_reused",
          "The session has another prompt with this idempotency key: use a new key",
        );
    }
  } catch (error) {
    release();
    throw error;
  }
}

async function countEnd(
  ended: Promise<{ readonly stopReason: string; readonly usage: { readonly total: number } }>,
  { metrics, onError }: Services,
): Promise<void> {
  const add = (stopReason: string) =>
    metrics.add("swink_runs_ended_total", "Runs that have ended, by the reason.", {
      labels: { stop_reason: stopReason },
    });
  try {
    const { stopReason, usage } = await ended;
    add(stopReason);
    metrics.add("swink_tokens_total", "Tokens of all runs.", { by: usage.total });
  } catch (error) {
    add("error");
    onError(error);
  }
}

function createMessage(body: object, { clock }: Services): UserMessage {
  const { text, images = [] } = body as {
    readonly text: string;
    readonly images?: readonly { readonly mediaType: string; readonly data: string }[];
  };
  if (text.trim() === "" && images.length === 0) {
    throw createFailure("bad_request", "The text is blank: send a text or an image");
  }
  return {
    role: "user",
    content: [
      { type: "text", text },
      ...images.map((image) => ({ type: "image", source: { type: "base64", ...image } } as const)),
    ],
    timestamp: clock.now(),
  };
}

function getIdempotencyKey({ request: { headers } }: Call): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (KEY.test(key)) return key;
  throw createFailure("bad_request", "Idempotency-Key must have 1 to 255 visible ASCII characters");
}

async function hash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
